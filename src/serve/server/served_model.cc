#include "serve/server/served_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "base/error.h"
#include "base/problems.h"
#include "image/scaled_picture.h"

namespace mete::serve {
namespace {

constexpr int kTimedRuns = 3;     // guess: the least of three is near what a run takes on a busy machine
constexpr int kMostInBatch = 16;  // guess: latency grows with the batch, and little is gained beyond
// A batch pays where a row of it takes this share of a request alone or less. This value is a guess: less
// would not be seen in the noise, and a batch's requests end together.
constexpr double kWorthwhile = 0.9;

Model LoadFor(const std::string& path, const std::string& precision, Slots& slots) {
  LoadOptions options;
  if (!precision.empty()) options.precision = precision;
  std::optional<LoadTurn> turn;  // "auto" is chosen by some runs on all cores; all else is this thread's work
  if (precision == "auto") turn.emplace(slots);
  return Model::Load(path, options);
}

// A session that is to measure its kernels before its first run is made by estimates, which is this thread's
// work, and measures them in its turns.
std::unique_ptr<Session> SessionOf(const Model& model, SessionOptions options, int slot, Slots& slots) {
  const bool measures = options.tune == Tune::kBefore;
  if (measures) options.tune = Tune::kAfter;
  auto session = std::make_unique<Session>(model, options);
  if (!measures || session->settled()) return session;
  LoadTurn turn(slots, slot);
  session->Settle([&] { return turn.Pause(); });
  return session;
}

bool FirstIsOpen(const Port& port) {
  return port.declared.known() && port.declared.rank() > 0 && port.declared[0] < 0;
}

// Whether `shape` fits the port: its open dimensions may have any size from 1 on.
bool Fits(const Port& port, const Shape& shape) {
  const Shape& declared = port.declared.known() ? port.declared : port.shape;
  if (!declared.known()) return true;
  if (declared.rank() != shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i)
    if (declared[i] < 0 ? shape[i] < 1 : declared[i] != shape[i]) return false;
  return true;
}

std::string ShapeText(const Port& port) {
  const Shape& declared = port.declared.known() ? port.declared : port.shape;
  if (!declared.known()) return "any shape";
  return fmt::format("[{}]", fmt::join(declared.begin(), declared.end(), ","));
}

std::string NamesOf(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back("'" + port.name + "'");
  return fmt::format("{}", fmt::join(names, ", "));
}

int IndexOf(const std::vector<Port>& ports, const std::string& name) {
  const auto port = std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == name; });
  return port == ports.end() ? -1 : int(port - ports.begin());
}

void CheckTensor(const Port& port, const NamedTensor& input, const std::string& where,
                 SharedProblems& problems) {
  if (port.type != DType::kUnknown && port.type != input.tensor.type())
    problems.Add(where, fmt::format("has another datatype; got {}, expected {}",
                                    DatatypeOf(input.tensor.type()), DatatypeOf(port.type)));
  if (!Fits(port, input.shape))
    problems.Add(where, fmt::format("has another shape; got [{}], expected {}",
                                    fmt::join(input.shape.begin(), input.shape.end(), ","), ShapeText(port)));
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    Fail(Code::kNotFound, path, "cannot be read; expected a file of labels");
  return text.str();
}

void CheckDatatypes(const char* what, const std::vector<Port>& ports) {
  for (const Port& port : ports)
    if (port.type != DType::kUnknown && *DatatypeOf(port.type) == '\0')
      Fail(Code::kUnimplemented, fmt::format("{} '{}'", what, port.name),
           "cannot be served; got {}, for which the protocol has no datatype; try a Cast in the model",
           Name(port.type));
}

}  // namespace

SessionOptions NarrowOptions(const SlotCores& cores, int i) {
  SessionOptions options = cores.session;
  if (cores.slots == 1) return options;
  options.threads = 1;
  if (options.cores.empty()) return options;
  options.cores = {options.cores.at(size_t(i))};
  if (!options.speeds.empty()) options.speeds = {cores.session.speeds.at(size_t(i))};
  return options;
}

ServedModel::ServedModel(const std::string& path, const std::string& precision, const SlotCores& cores,
                         Slots& slots)
    : model_(LoadFor(path, precision, slots)), count_processor_(cores.count_processor) {
  wide_ = cores.wide ? std::make_unique<Session>(cores.wide(model_))
                     : SessionOf(model_, cores.session, OwnWork::kAllSlots, slots);
  if (count_processor_ && !cores.wide_processors.empty()) {
    home_ = cores.wide_processors[0];
    for (const std::string& name : cores.wide_processors) count_processor_(name, 0);
  }
  if (cores.slots == 1) narrow_.push_back(std::move(wide_));
  // Each takes the times that the one before it has measured.
  for (int i = 0; i < cores.slots && wide_; ++i)
    narrow_.push_back(SessionOf(model_, NarrowOptions(cores, i), i, slots));
  notes_ = model_.notes();
  CheckDatatypes("input", inputs());
  CheckDatatypes("output", outputs());
  open_batch_ = !inputs().empty() && std::all_of(inputs().begin(), inputs().end(), FirstIsOpen);
  ReadPictureSettings(path);
}

void ServedModel::ReadPictureSettings(const std::string& path) {
  int classes = 0;
  for (size_t i = 0; i < outputs().size(); ++i)
    if (CanBeClasses(outputs()[i].shape)) classified_ = ++classes == 1 ? int(i) : -1;
  if (inputs().size() != 1) {
    why_no_pictures_ = fmt::format("the model has {} inputs", inputs().size());
    return;
  }
  const Port& port = inputs()[0];
  if (!PictureShapeOf(port.shape).known) {
    why_no_pictures_ =
        fmt::format("input '{}' of shape {} takes no pictures", port.name, ToString(port.shape));
    return;
  }
  const PortScale of = port.scale.value_or(PortScale());
  preprocess_ = PreprocessFor(path, port.type, port.shape, of.scale, int(of.zero_point));
  if (!preprocess_.values_known)
    why_no_pictures_ = fmt::format("nothing says which values pixels must have; try a file {} with a recipe",
                                   PreprocessPath(path));
  if (!preprocess_.labels.empty()) labels_ = LabelsIn(ReadText(preprocess_.labels));
  if (preprocess_.classify.empty()) return;
  classified_ = IndexOf(outputs(), preprocess_.classify);
  if (classified_ < 0)
    Invalid(PreprocessPath(path), "'classify' names no output; got '{}', expected one of {}",
            preprocess_.classify, NamesOf(outputs()));
}

std::vector<Tensor> ServedModel::InputsOf(const InferRequest& request) const {
  SharedProblems problems;
  std::vector<Tensor> tensors(inputs().size());
  std::vector<bool> given(inputs().size());
  for (const NamedTensor& input : request.inputs) {
    const std::string where = fmt::format("input '{}'", Printable(input.name));
    const int i = IndexOf(inputs(), input.name);
    if (i < 0) {
      problems.Add(where, "the model has no such input; expected " + NamesOf(inputs()));
      continue;
    }
    if (given[size_t(i)]) problems.Add(where, "is there twice");
    given[size_t(i)] = true;
    if (input.is_bytes() && !takes_pictures()) problems.Add(where, "takes no BYTES; " + why_no_pictures_);
    if (input.is_bytes()) continue;
    CheckTensor(inputs()[size_t(i)], input, where, problems);
    tensors[size_t(i)] = input.tensor;
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i]) problems.Add(fmt::format("input '{}'", inputs()[i].name), "is missing");
  problems.ThrowIfAny();
  return tensors;
}

std::vector<size_t> ServedModel::OutputsOf(const InferRequest& request) const {
  std::vector<size_t> indices;
  if (request.outputs.empty())
    for (size_t i = 0; i < outputs().size(); ++i) indices.push_back(i);
  for (const RequestedOutput& output : request.outputs) {
    const int i = IndexOf(outputs(), output.name);
    if (i < 0)
      Invalid(fmt::format("output '{}'", Printable(output.name)), "the model has no such output; expected {}",
              NamesOf(outputs()));
    indices.push_back(size_t(i));
  }
  return indices;
}

void ServedModel::CheckPictures(size_t count, int64_t input_bytes) const {
  const Port& port = inputs()[0];
  if (!open_batch_ && int64_t(count) != pictures_at_once())
    Invalid(fmt::format("input '{}'", port.name), "takes {} pictures; got {}", pictures_at_once(), count);
  const int64_t rows = std::max<int64_t>(port.shape.rank() > 0 ? port.shape[0] : 1, 1);
  const int64_t bytes = port.shape.Elements() / rows * int64_t(SizeOf(port.type));
  if (bytes > 0 && int64_t(count) > std::max<int64_t>(input_bytes / bytes, 1))
    Fail(Code::kResourceExhausted, fmt::format("input '{}'", port.name),
         "has too many pictures; got {}, expected {} at most", count,
         std::max<int64_t>(input_bytes / bytes, 1));
}

Shape ServedModel::ShapeFor(size_t pictures) const {
  Shape shape = inputs()[0].shape;
  if (open_batch_) shape[0] = int64_t(pictures);
  return shape;
}

std::vector<Image> ServedModel::Decode(const std::vector<std::string>& pictures, int64_t most_pixels) const {
  std::vector<Image> images;
  for (const std::string& picture : pictures) {
    const std::span bytes(reinterpret_cast<const std::byte*>(picture.data()), picture.size());
    DecodeOptions options;
    options.max_pixels = most_pixels;
    DecodedPicture decoded = DecodeScaled(bytes, "picture", preprocess_, ShapeFor(pictures.size()), options);
    images.push_back(std::move(decoded.image));
    most_pixels -= decoded.pixels;
  }
  return images;
}

Tensor ServedModel::Scale(const std::vector<Image>& images) const {
  return MakeInput(images, preprocess_, ShapeFor(images.size()));
}

std::vector<Tensor> ServedModel::Run(int slot, bool wide, const std::vector<Tensor>& inputs) {
  if (wide_ && !wide) return narrow_.at(size_t(slot))->Run(std::span<const Tensor>(inputs));
  RunReport report;
  Session& session = wide_ ? *wide_ : *narrow_.at(size_t(slot));
  std::vector<Tensor> outputs = session.Run(std::span<const Tensor>(inputs), {.report = &report});
  CountProcessors(report);
  return outputs;
}

std::optional<PlanFigures> ServedModel::plan() const {
  if (home_.empty()) return {};
  const PoolStats stats = WideSession().pool_stats();
  PlanFigures plan{.predicted_s = stats.predicted_us * 1e-6,
                   .measured_s = stats.usual_us * 1e-6,
                   .plans = stats.plans,
                   .retries = stats.retries,
                   .losses = stats.lost,
                   .parts = {}};
  for (const PoolStats::Part& part : stats.parts)
    plan.parts.push_back({part.processor, part.compute_us * 1e-6, part.weights_bytes, part.values_bytes});
  return plan;
}

void ServedModel::CountProcessors(const RunReport& report) const {
  if (home_.empty()) return;
  // of a request that was computed again, most of the time is the wait for the processor that failed
  if (report.alone && !report.retried) count_processor_(home_, report.us * 1e-6);
  for (size_t p = 0; p < report.compute_us.size(); ++p)
    count_processor_(report.processors[p], report.compute_us[p] * 1e-6);
}

std::vector<Tensor> ServedModel::MadeUp(int64_t rows) const {
  std::vector<Tensor> tensors;
  for (const Port& port : inputs()) {
    Shape shape = port.shape;
    if (open_batch_ && rows > 0) shape[0] = rows;
    tensors.emplace_back(port.type == DType::kUnknown ? DType::kF32 : port.type, shape);  // zeros
  }
  return tensors;
}

Nanoseconds ServedModel::TimeOf(int slot, bool wide, const std::vector<Tensor>& inputs, LoadTurn& turn) {
  Nanoseconds least = INT64_MAX;
  for (int i = 0; i < kTimedRuns; ++i) {
    turn.Pause();
    const Nanoseconds start = NowNs();
    Run(slot, wide, inputs);
    least = std::min(least, NowNs() - start);
  }
  return least;
}

ModelTimes ServedModel::WarmUp(const ModelSettings& settings, Slots& slots) {
  ModelTimes times;
  times.waiting_per_slot = settings.queue_per_slot;
  const std::vector<Tensor> one = MadeUp(open_batch_ ? 1 : 0);
  const auto warm_up = [&](int slot, bool wide, LoadTurn& turn) {
    for (int run = 0; run < std::max(settings.warm_up_runs, 1); ++run) {
      turn.Pause();
      Run(slot, wide, one);
    }
  };
  for (int slot = 1; slot < int(narrow_.size()); ++slot) {
    LoadTurn turn(slots, slot);
    warm_up(slot, /*wide=*/false, turn);
  }
  if (wide_) {
    LoadTurn turn(slots);
    warm_up(0, /*wide=*/true, turn);
    times.wide = TimeOf(0, /*wide=*/true, one, turn);
  }
  LoadTurn turn(slots, 0);
  warm_up(0, /*wide=*/false, turn);
  times.narrow = TimeOf(0, /*wide=*/false, one, turn);
  if (!wide_) times.wide = times.narrow;
  turn.Pause();
  open_outputs_ = open_batch_ && OutputsHave(2);
  if (open_outputs_)
    times.most_in_batch =
        settings.most_in_batch > 0 ? settings.most_in_batch : MostInBatch(times.narrow, turn);
  return times;
}

bool ServedModel::OutputsHave(int64_t rows) {
  try {
    return HaveRows(Run(0, false, MadeUp(rows)), rows);
  } catch (const Error&) {
    return false;  // the file leaves the batch open, and its nodes do not
  }
}

// The largest batch of which a row takes clearly less than a request alone.
int ServedModel::MostInBatch(Nanoseconds narrow, LoadTurn& turn) {
  int most = 1;
  for (int rows = 2; rows <= kMostInBatch; rows *= 2) {
    const std::vector<Tensor> several = MadeUp(rows);
    turn.Pause();
    if (!OutputsHave(rows)) break;
    if (double(TimeOf(0, /*wide=*/false, several, turn)) > kWorthwhile * double(narrow) * rows) break;
    most = rows;
  }
  return most;
}

bool HaveRows(const std::vector<Tensor>& outputs, int64_t rows) {
  return std::all_of(outputs.begin(), outputs.end(), [&](const Tensor& output) {
    return output.shape().rank() > 0 && output.shape()[0] == rows;
  });
}

}  // namespace mete::serve
