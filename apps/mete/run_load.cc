#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "run_parts.h"

namespace mete::cli {
namespace {

// Returns the port that takes the pictures: the only one for which --input gives no tensor.
int PicturePort(const Model& model, const std::vector<Tensor>& inputs) {
  const int port = FirstMissing(inputs);
  if (port < 0)
    throw UsageError("[--input] gives every input already; got pictures, too; try without pictures");
  for (size_t i = size_t(port) + 1; i < inputs.size(); ++i)
    if (!inputs[i].has_value())
      throw UsageError(
          fmt::format("[--input] a picture cannot fill every input; got none for '{0}', expected a tensor; "
                      "try --input {0}=FILE",
                      model.inputs()[i].name));
  return port;
}

// Returns the inputs of the first run, by which --precision auto measures; none: they are not there.
std::vector<std::vector<Tensor>> FirstInputs(const RunFlags& flags, const Loaded& loaded) {
  std::vector<Tensor> inputs = loaded.inputs;
  if (loaded.picture_port >= 0) {
    const int64_t batch = loaded.port().shape[0];
    if (batch < 1 || batch > int64_t(flags.pictures.size())) return {};
    const std::span<const std::string> first = std::span(flags.pictures).first(size_t(batch));
    inputs[size_t(loaded.picture_port)] = ReadPictures(first, loaded.preprocess, loaded.port()).tensor;
  }
  if (FirstMissing(inputs) >= 0) return {};
  return {inputs};
}

}  // namespace

Loaded LoadWithInputs(const RunFlags& flags, const std::vector<TensorFile>& files, int64_t batch,
                      double* load_ms, const Context& context) {
  ModelFlags load = flags.model;
  const int64_t pictures = int64_t(flags.pictures.size());
  if (pictures > 0) load.batch = batch > 0 ? batch : std::clamp<int64_t>(load.batch, 1, pictures);
  std::map<std::string, Shape> tensors = ShapesOf(files);
  const bool chooses = load.precision == "auto";
  if (chooses) load.precision = ModelFlags().precision;  // until the inputs are known
  const auto load_model = [&] { return LoadQuietly(load, context, load_ms, tensors); };
  Loaded loaded{load_model(), {}, -1, {}};
  loaded.inputs = PlaceTensors(loaded.model, files);
  const auto finish = [&] {
    if (chooses) {
      load.precision = flags.model.precision;
      load.samples = FirstInputs(flags, loaded);
      loaded.model = load_model();
    }
    PrintNotes(loaded.model, context);
    return loaded;
  };
  if (flags.pictures.empty()) return finish();
  loaded.picture_port = PicturePort(loaded.model, loaded.inputs);
  loaded.preprocess = PreprocessOf(flags.model.model, loaded.port(), flags.preprocess);
  if (const Shape wanted = WantedShape(loaded.port(), loaded.preprocess); wanted != loaded.port().shape) {
    tensors[loaded.port().name] = wanted;
    loaded.model = load_model();
    loaded.inputs = PlaceTensors(loaded.model, files);
  }
  CheckPictures(loaded.port(), loaded.preprocess, flags.preprocess, flags.model.model);
  return finish();
}

void CheckBatches(const RunFlags& flags, const Port& port) {
  const int64_t batch = port.shape[0], pictures = int64_t(flags.pictures.size());
  if (batch < 1)
    throw UsageError(fmt::format("[--shape] input {} takes no pictures at all; try a first dimension of 1",
                                 DescribePort(port)));
  if (flags.model.batch > 0 && std::min(flags.model.batch, pictures) != batch)
    throw UsageError(
        fmt::format("[--batch] input {} has another batch; got {}, expected {}; try without --batch",
                    DescribePort(port), flags.model.batch, batch));
  if (pictures % batch == 0) return;
  const bool is_open = port.declared.rank() > 0 && port.declared[0] < 0;
  if (!is_open)
    throw UsageError(
        fmt::format("[IMAGE] input {} takes {} pictures at once; got {}, expected a multiple of {}",
                    DescribePort(port), batch, pictures, batch));
  if (flags.pool.given())
    throw UsageError(fmt::format(
        "[--batch] with --processors each batch is whole; got {} pictures, expected a multiple of {}",
        pictures, batch));
  for (const std::string& shape : flags.model.shapes)
    if (shape.find('x') != std::string::npos)
      throw UsageError(
          fmt::format("[--shape] input {} takes {} pictures at once; got {}, expected a multiple of {}; try "
                      "--batch instead of "
                      "--shape",
                      DescribePort(port), batch, pictures, batch));
}

void CheckInputsAreThere(const RunFlags& flags, const Loaded& loaded) {
  const int open = FirstMissing(loaded.inputs);
  if (!flags.pictures.empty() || open < 0) return;
  const Port& port = loaded.model.inputs()[size_t(open)];
  throw UsageError(fmt::format("[run] nothing to run on: input {} is missing; try {}--input {}=FILE.npy",
                               DescribePort(port), PictureShapeOf(port.shape).known ? "a picture, or " : "",
                               port.name));
}

}  // namespace mete::cli
