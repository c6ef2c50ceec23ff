// mete run: pictures or tensors through a model.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "commands.h"
#include "hosts.h"
#include "inputs.h"
#include "left_frequencies.h"
#include "mete/io.h"
#include "model_flags.h"
#include "objective.h"
#include "output_folder.h"
#include "ranking.h"
#include "stopwatch.h"
#include "terminal.h"

namespace mete::cli {
namespace {

constexpr int64_t kFirstValues = 8;  // of an output, on one line of a terminal

struct RunFlags {
  ModelFlags model;
  HostsFlags hosts;
  std::vector<std::string> pictures;
  std::vector<std::string> inputs;
  PreprocessFlags preprocess;
  bool softmax = false;
  std::string classify;
  std::string output;
};

// What a run gave, and for which picture (empty: for tensors).
struct Answer {
  std::string picture;
  std::vector<Tensor> outputs;
  double ms = 0;
};

// Everything that the answers have in common.
struct Job {
  const RunFlags& flags;
  const Context& context;
  const Model& model;
  // The session's Run().
  std::function<std::vector<Tensor>(const std::vector<Tensor>&, const RunOptions&)> run;
  Preprocess preprocess;
  std::vector<std::string> labels;
  int classified = -1;  // the output that is ranked; -1: none
  Trace trace;          // of the last run
  std::vector<Tensor> inputs;  // and what it ran on
};

// The output to rank: the one asked for, or a picture's only one.
int ClassifiedOutput(const Model& model, const RunFlags& flags) {
  const auto& ports = model.outputs();
  if (flags.classify.empty()) return !flags.pictures.empty() && ports.size() == 1 ? 0 : -1;
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].name == flags.classify) return int(i);
  throw UsageError(fmt::format("[--classify] the model has no output '{}'; try mete inspect", flags.classify));
}

Answer RunOnce(Job& job, const std::string& picture, const std::vector<Tensor>& inputs) {
  RunOptions options{job.context.cancel, job.flags.model.traced() ? &job.trace : nullptr};
  job.inputs = inputs;
  const Stopwatch watch;
  Answer answer{picture, job.run(inputs, options), 0};
  answer.ms = watch.ms();
  return answer;
}

std::string FirstValues(const Tensor& t) {
  std::string out;
  for (int64_t i = 0; i < std::min(t.elements(), kFirstValues); ++i)
    out += fmt::format("{}{:.6g}", i > 0 ? " " : "", ElementAt(t.view(), i));
  return out + (t.elements() > kFirstValues ? " ..." : "");
}

void PrintOutputs(const Job& job, const Answer& answer) {
  Rows rows{{"output", "type", "shape", "first values"}};
  for (size_t i = 0; i < answer.outputs.size(); ++i) {
    const Tensor& t = answer.outputs[i];
    rows.push_back({job.model.outputs()[i].name, Name(t.type()), ToString(t.shape()), FirstValues(t)});
  }
  fmt::print("{}", FormatTable(rows, "llll"));
}

void PrintClasses(const std::vector<Ranked>& ranked) {
  Rows rows{{"class", "label", "score"}};
  for (const Ranked& r : ranked) rows.push_back({std::to_string(r.index), r.label, fmt::format("{:.4f}", r.score)});
  fmt::print("{}", FormatTable(rows, "rlr"));
}

Json OutputJson(const Port& port, const Tensor& t) {
  std::vector<double> first;
  for (int64_t i = 0; i < std::min(t.elements(), kFirstValues); ++i) first.push_back(ElementAt(t.view(), i));
  return {
      {"name", port.name}, {"type", Name(t.type())}, {"shape", std::vector<int64_t>(t.shape().begin(), t.shape().end())}, {"first", first}};
}

Json AnswerJson(const Job& job, const Answer& answer, const std::vector<Ranked>& ranked) {
  Json json;
  if (!answer.picture.empty()) json["image"] = answer.picture;
  json["ms"] = answer.ms;
  if (job.classified >= 0) {
    json["top"] = Json::array();
    for (const Ranked& r : ranked) json["top"].push_back({{"class", r.index}, {"label", r.label}, {"score", r.score}});
  }
  json["outputs"] = Json::array();
  for (size_t i = 0; i < answer.outputs.size(); ++i) json["outputs"].push_back(OutputJson(job.model.outputs()[i], answer.outputs[i]));
  return json;
}

void PrintAnswer(const Job& job, const Answer& answer, const std::vector<Ranked>& ranked) {
  const Style style = StyleOf(1);
  if (!answer.picture.empty()) fmt::print("{}{}{}\n", style.bold, answer.picture, style.reset);
  if (job.classified >= 0) PrintClasses(ranked);
  else PrintOutputs(job, answer);
  fmt::print("answered in {}\n\n", FormatMs(answer.ms));
}

void AddOutputs(const Job& job, const Answer& answer, OutputFolder& folder) {
  const std::string prefix = job.flags.pictures.size() > 1 ? std::filesystem::path(answer.picture).stem().string() + "." : "";
  for (size_t i = 0; i < answer.outputs.size(); ++i) folder.Add(prefix + job.model.outputs()[i].name, answer.outputs[i].view());
}

// Prints the answer, or gives it as JSON.
Json Report(const Job& job, const Answer& answer, OutputFolder& folder) {
  AddOutputs(job, answer, folder);
  std::vector<Ranked> ranked;
  if (job.classified >= 0)
    ranked = Rank(answer.outputs[size_t(job.classified)].view(), job.preprocess.top_k, job.flags.softmax, job.labels);
  if (job.context.json) return AnswerJson(job, answer, ranked);
  PrintAnswer(job, answer, ranked);
  return {};
}

// The port that takes the pictures: the only one that --input leaves open.
size_t PicturePort(const Model& model, std::vector<Tensor>& inputs) {
  const int port = FirstMissing(inputs);
  if (port < 0) throw UsageError("[--input] gives every input already; try without pictures");
  for (size_t i = size_t(port) + 1; i < inputs.size(); ++i)
    if (!inputs[i].has_value())
      throw UsageError(fmt::format("[--input] a picture cannot fill every input; try --input {}=FILE", model.inputs()[i].name));
  return size_t(port);
}

Json RunPictures(Job& job, std::vector<Tensor> inputs, OutputFolder& folder) {
  const size_t at = PicturePort(job.model, inputs);
  const Port& port = job.model.inputs()[at];
  Json results = Json::array();
  std::string note, last_note;
  std::unique_ptr<Progress> progress;
  if (job.context.json) progress = std::make_unique<Progress>("picture");
  for (size_t i = 0; i < job.flags.pictures.size(); ++i) {
    CheckCancelled(job.context);
    inputs[at] = ReadPicture(job.flags.pictures[i], job.preprocess, port, &note);
    if (note != last_note) PrintNote(last_note = note);
    results.push_back(Report(job, RunOnce(job, job.flags.pictures[i], inputs), folder));
    if (progress) progress->Update(int(i) + 1, int(job.flags.pictures.size()));
  }
  return results;
}

Json RunTensors(Job& job, const std::vector<Tensor>& inputs, OutputFolder& folder) {
  const Answer answer = [&] {
    const Progress progress("running");
    return RunOnce(job, "", inputs);
  }();
  return Json::array({Report(job, answer, folder)});
}

// What --devices adds to the answer: the devices' part, and how far what they give is from this device's own.
Json ReportDevices(DevicesSession& session, const Job& job, const std::vector<Tensor>& outputs) {
  const double apart = LargestDifference(outputs, session.alone().Run(job.inputs));
  const DevicesPlan plan = session.plan();
  const std::string text = PlanText(plan);
  if (!job.context.json)
    fmt::print("devices: {}; predicted {}; floats travel as {}: at most {:.2g} of the largest value apart from this device's own answer\n",
               text, FormatMs(plan.predicted_us * 1e-3), job.flags.hosts.transfer, apart);
  return {{"plan", text},
          {"predicted_ms", plan.predicted_us * 1e-3},
          {"transfer", job.flags.hosts.transfer},
          {"largest_difference", apart}};
}

void Run(const RunFlags& flags, const Context& context) {
  CheckObjective(flags.model, flags.hosts.given());
  PutBackLeftFrequencies();
  double load_ms = 0;
  const Model model = flags.hosts.given() ? LoadDivisible(flags.model, &load_ms) : LoadModel(flags.model, &load_ms);
  std::vector<Tensor> inputs = ReadInputs(model, flags.inputs);
  const int classified = ClassifiedOutput(model, flags);
  const int open = FirstMissing(inputs);
  Preprocess preprocess = PreprocessFor(flags.model.model, open >= 0 ? model.inputs()[size_t(open)] : Port{}, flags.preprocess);
  if (flags.pictures.empty() && open >= 0) {
    const Port& port = model.inputs()[size_t(open)];
    throw UsageError(fmt::format("[run] nothing to run on: input {} is missing; try a picture, or --input {}=FILE.npy", DescribePort(port),
                                 port.name));
  }
  std::vector<std::string> labels = preprocess.labels.empty() ? std::vector<std::string>() : ReadLabels(preprocess.labels);
  ModelFlags chosen = flags.model;
  const auto frequencies = flags.hosts.given() ? nullptr : ApplyObjective(model, chosen, context);  // as long as the session
  const auto devices = flags.hosts.given() ? MakeDevicesSession(model, chosen, flags.hosts, context) : nullptr;
  std::optional<Session> own;
  if (!devices) own.emplace(MakeSession(model, chosen, context));
  Session& session = devices ? devices->alone() : *own;
  OutputFolder folder(flags.output);
  std::vector<Tensor> last;
  const auto run = [&](const std::vector<Tensor>& in, const RunOptions& options) {
    return last = devices ? devices->Run(in) : session.Run(in, options);
  };
  Job job{flags, context, model, run, std::move(preprocess), std::move(labels), classified, {}, {}};
  Json results = flags.pictures.empty() ? RunTensors(job, inputs, folder) : RunPictures(job, std::move(inputs), folder);
  const auto files = folder.Commit();
  Json json{
      {"model", flags.model.model}, {"load_ms", load_ms}, {"prepare_ms", session.stats().prepare_ms}, {"results", std::move(results)}};
  if (!files.empty()) json["files"] = files;
  json["notes"] = model.notes();
  if (devices) json["devices"] = ReportDevices(*devices, job, last);
  if (!context.json) fmt::print("loaded in {}, prepared in {}\n", FormatMs(load_ms), FormatMs(session.stats().prepare_ms));
  ReportPlan(session, flags.model, context, [&](Trace* trace) { session.Run(job.inputs, {context.cancel, trace}); }, json);
  ReportTrace(job.trace, flags.model, context, json);
  if (context.json) PrintJson(json);
}

}  // namespace

void AddRun(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("run", "run a model on pictures or tensors");
  auto flags = std::make_shared<RunFlags>();
  AddModelFlags(*command, flags->model);
  AddObjectiveFlag(*command, flags->model);
  command->add_option("IMAGE", flags->pictures, "pictures to classify: JPEG, PNG, BMP, PPM");
  command->add_option("--input", flags->inputs, "a tensor from a .npy, .pb (ONNX TensorProto) or .bin (raw) file; may be repeated")
      ->type_name("NAME=FILE")->take_all()->expected(1)->group("Tensors");
  command->add_option("--output", flags->output, "write every output to DIR as .npy, all or none")->type_name("DIR")->group("Tensors");
  AddHostsFlags(*command, flags->hosts);
  AddPreprocessFlags(*command, flags->preprocess);
  command->add_flag("--softmax", flags->softmax, "turn scores into probabilities first")->group("Pictures");
  command->add_option("--classify", flags->classify, "rank this output (default: a picture's only one)")
      ->type_name("NAME")
      ->group("Pictures");
  AddJsonFlag(*command, context);
  command->footer(
      "Examples:\n"
      "  mete run mobilenet_v2.onnx cat.jpg --mean 127.5 --scale 0.0078431 --labels imagenet.txt\n"
      "  mete run deploy.prototxt cat.jpg --weights net.caffemodel --channels bgr --mean 104,117,123 --softmax\n"
      "  mete run encoder.onnx --input ids=ids.npy --input mask=mask.npy --output results --profile");
  command->callback([flags, &context] { context.command = [flags, &context] { Run(*flags, context); }; });
}

}  // namespace mete::cli
