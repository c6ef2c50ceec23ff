// mete quantize: makes an 8-bit network of one in floats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/nearest.h"
#include "calibration.h"
#include "checks.h"
#include "commands.h"
#include "engine/model.h"
#include "engine/open_divisible.h"
#include "export/onnx/onnx_file.h"
#include "export/onnx/onnx_form.h"
#include "graph/bodies.h"
#include "inputs.h"
#include "model_flags.h"
#include "passes/pass.h"
#include "pictures.h"
#include "processor/cpu/cpu.h"
#include "quantize/budget.h"
#include "quantize/dynamic.h"
#include "quantize/quantize.h"
#include "quantize_report.h"
#include "stopwatch.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

constexpr const char* kGroup = "Quantization";
// The samples by which layers are compared in the report.
constexpr size_t kReported = 8;
// With --drop every fourth picture is kept back: 16 of the 64 pictures that are usual.
constexpr size_t kHoldoutStep = 4;

struct QuantizeFlags {
  ModelFlags model;
  PictureFlags preprocess;
  std::vector<std::string> calibrate;
  std::string output;
  std::string method = "auto";
  std::string activations = "auto";
  double percentile = 99.99;
  int pictures = 64;
  double drop = -1;  // below 0: no budget
  std::vector<std::string> keep;
  bool no_bias_correction = false;
  bool no_equalization = false;
};

// The graph to quantize, and the inputs that its file will declare.
struct Source {
  Model model;
  Graph graph;
  std::vector<Port> inputs;
};

// Loads the model with the passes whose results are operators of every ONNX engine. Where the file's open
// sizes cannot stay open, a note says so.
Source Load(const QuantizeFlags& flags, const Context& context) {
  ModelFlags load = flags.model;
  for (const char* pass : {"fuse-quantized", "fuse-patterns"}) load.disabled_passes.emplace_back(pass);
  Model model = LoadQuietly(load, context);
  if (!flags.calibrate.empty() && model.inputs().size() == 1) {
    const Port& port = model.inputs()[0];
    const Shape wanted = WantedShape(port, PreprocessOf(flags.model.model, port, flags.preprocess));
    if (wanted != port.shape) model = LoadQuietly(load, context, nullptr, {{port.name, wanted}});
  }
  Source source{model, DivisibleOf(model), {}};
  if (std::optional<Graph> open = OpenDivisibleOf(model)) {
    source.graph = *std::move(open);
    source.inputs = model.inputs();
  } else {
    PrintNote(context,
              "shapes in the model follow from the sizes of its inputs, so the file that is written takes "
              "the loaded sizes alone; try --shape for others");
  }
  WriteEveryTransposedConvolution(source.graph);
  NameValues(source.graph);
  CheckOnnxForm(InOnnxForm(source.graph));
  return source;
}

// Error if a name of --keep is no node's.
void CheckKept(const QuantizeFlags& flags, const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  for (const std::string& name : flags.keep)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError(fmt::format(
          "[--keep] no node has this name; got '{}'{}; 'mete inspect {} --text --no-optimize' has the names",
          name, ExpectedOneOf(name, names), flags.model.model));
}

// UsageError unless pictures fill the only input and it is known how.
Preprocess PreprocessFor(const QuantizeFlags& flags, const Model& model) {
  if (model.inputs().size() != 1)
    throw UsageError(
        fmt::format("[--calibrate] pictures fill one input; got a model with {}, expected 1; try "
                    "--activations dynamic, which needs no calibration",
                    model.inputs().size()));
  const Port& port = model.inputs()[0];
  const Preprocess p = PreprocessOf(flags.model.model, port, flags.preprocess);
  CheckPictures(port, p, flags.preprocess, flags.model.model);
  if (!p.values_known && port.type == DType::kF32)
    throw UsageError(
        fmt::format("[{}] nothing says how pictures become input '{}', and ranges of wrong pictures are "
                    "wrong; try --preprocess with a recipe ('mete help preprocess'; raw for pixels from 0 "
                    "to 255), or {} beside the model",
                    flags.model.model, port.name,
                    std::filesystem::path(PreprocessPath(flags.model.model)).filename().string()));
  return p;
}

QuantizeOptions OptionsOf(const QuantizeFlags& flags) {
  QuantizeOptions options;
  options.ranges = {RangeMethodOf(flags.method), flags.percentile};
  options.activations = flags.activations == "i8" ? DType::kI8 : DType::kU8;
  options.correct_biases = !flags.no_bias_correction;
  options.equalize = !flags.no_equalization;
  options.kept = {flags.keep.begin(), flags.keep.end()};
  return options;
}

// All samples, or with a budget those of the calibration and the holdout.
struct Divided {
  Samples calibration, holdout;
};
Divided Divide(const CalibrationPictures& pictures, bool hold_out) {
  std::vector<size_t> used, held;
  for (size_t i = 0; i < pictures.count(); ++i)
    (hold_out && i % kHoldoutStep == kHoldoutStep - 1 ? held : used).push_back(i);
  const auto samples = [&](const std::vector<size_t>& of) {
    return Samples{of.size(),
                   [&pictures, of](size_t i) { return std::vector<Tensor>{pictures.Read(of[i])}; }};
  };
  return {samples(used), samples(held)};
}

Graph QuantizeStatically(const QuantizeFlags& flags, const Source& source, const Context& context,
                         QuantizeReport& report) {
  CheckIsOfFloats(source.graph);
  const std::vector<std::string> paths = FindPictures(flags.calibrate, size_t(flags.pictures));
  const CalibrationPictures pictures(paths, PreprocessFor(flags, source.model), source.model.inputs()[0],
                                     context);
  const bool budget = flags.drop >= 0;
  const Divided samples = Divide(pictures, budget);
  if (budget && samples.holdout.count == 0)
    throw UsageError(
        fmt::format("[--drop] a fourth of the pictures is kept back to count changed classes; got {} "
                    "pictures, expected at least {}",
                    pictures.count(), kHoldoutStep));
  SessionOptions session = SessionOptions::Estimated(flags.model.threads);
  session.cores = flags.model.cores;
  Cpu cpu("cpu", session);
  Progress progress(context, "calibrating, picture");
  const Runs runs{cpu,
                  [&](size_t done, size_t all) {
                    CheckCancelled(context);
                    progress.Update(int(done), int(all));
                  },
                  [&](const std::string& stage) { progress.SetLabel(stage); }};
  QuantizeOptions options = OptionsOf(flags);
  const Calibration calibration = Calibrate(source.graph, options, samples.calibration, runs);
  options.ranges = calibration.ranges;
  Budgeted done;
  if (budget) done = QuantizeWithin(flags.drop, calibration, options, samples.holdout, runs);
  else done.quantized = Quantize(calibration, options);
  runs.Stage("measuring layers, picture");
  report.pictures = int(pictures.count());
  report.unreadable = int(pictures.unreadable());
  report.method = std::string(NameOf(calibration.ranges.method));
  report.equalized = calibration.equalized;
  report.biases_corrected = options.correct_biases;
  if (HasAnswers(calibration.answers))
    report.answers_db =
        SignalToNoiseOf(calibration.answers, AnswersOf(done.quantized.graph, calibration.judged, runs));
  report.kept = done.kept;
  report.kept.insert(report.kept.begin(), flags.keep.begin(), flags.keep.end());
  if (budget) report.holdout = done.changed;
  report.layers =
      LayerErrors(calibration.graph, done.quantized.graph, SomeOf(samples.calibration, kReported), runs);
  return std::move(done.quantized.graph);
}

// UsageError if the file that is written would replace the model.
void CheckIsAnotherFile(const QuantizeFlags& flags) {
  std::error_code missing;
  if (std::filesystem::equivalent(flags.model.model, flags.output, missing))
    throw UsageError(
        fmt::format("[-o] the file would replace the model; got '{}'; try another name", flags.output));
}

// Says which flags have no effect on products with a scale for each run.
void NoteIgnored(const QuantizeFlags& flags, const Context& context) {
  std::vector<std::string> ignored;
  if (!flags.calibrate.empty()) ignored.emplace_back("--calibrate");
  if (flags.method != "auto") ignored.emplace_back("--method");
  if (flags.no_bias_correction) ignored.emplace_back("--no-bias-correction");
  if (flags.no_equalization) ignored.emplace_back("--no-equalization");
  if (ignored.empty()) return;
  PrintNote(context,
            fmt::format("activations are dynamic, so these flags have no effect: {}; try --activations u8",
                        fmt::join(ignored, ", ")));
}

void Quantize(const QuantizeFlags& flags, const Context& context) {
  const Stopwatch watch;
  CheckCores(flags.model);
  CheckMayWrite(flags.output);
  CheckIsAnotherFile(flags);
  for (const std::string& path : flags.calibrate) CheckPicturesPath(path);
  Source source = Load(flags, context);
  CheckKept(flags, source.graph);
  QuantizeReport report;
  const bool dynamic =
      flags.activations == "dynamic" || (flags.activations == "auto" && HasAttention(source.graph));
  if (dynamic && flags.drop >= 0)
    throw UsageError("[--drop] needs activations with fixed scales; got dynamic ones; try --activations u8");
  if (dynamic) NoteIgnored(flags, context);
  if (!dynamic && flags.calibrate.empty())
    throw UsageError(
        "[--calibrate] ranges of activations follow from pictures; got none; try --calibrate FOLDER, or "
        "--activations dynamic");
  const Graph graph = dynamic ? QuantizeDynamically(source.graph, {flags.keep.begin(), flags.keep.end()})
                              : QuantizeStatically(flags, source, context, report);
  CheckCancelled(context);
  const std::string file = OnnxFileOf(graph, {source.inputs, {}});
  WriteTextFile(flags.output, file);
  report.model = flags.model.model;
  report.file = flags.output;
  report.bytes = int64_t(file.size());
  report.bytes_before = ConstantBytesWithBodies(source.graph);
  report.opset = OpsetOf(graph);
  report.activations = dynamic ? "dynamic" : Name(OptionsOf(flags).activations);
  report.ms = watch.ms();
  Report(report, context);
}

}  // namespace

void AddQuantize(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("quantize", "make an 8-bit network of one in floats");
  auto flags = std::make_shared<QuantizeFlags>();
  command
      ->add_option("MODEL", flags->model.model,
                   "an ONNX model (.onnx), a TensorFlow Lite model (.tflite), or a Caffe network (.prototxt) "
                   "in floats")
      ->required();
  command
      ->add_option("-o,--output", flags->output,
                   "the file to write: ONNX with QuantizeLinear and DequantizeLinear")
      ->type_name("FILE.onnx")
      ->required();
  command
      ->add_option("--calibrate", flags->calibrate,
                   "pictures as the network will get them, or folders of them; may be repeated")
      ->type_name("IMAGES")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      ->add_option("--pictures", flags->pictures, "at most so many of them, spread evenly over their names")
      ->type_name("N")
      ->check(Between(1, 1 << 20))
      ->capture_default_str()
      ->group(kGroup);
  std::vector<std::string> methods;
  for (const std::string_view name : RangeMethodNames()) methods.emplace_back(name);
  command
      ->add_option(
          "--method", flags->method,
          "how ranges of activations are found: from the least to the largest value (minmax), without the "
          "values farthest out (percentile), by least divergence (entropy) or least squared error (mse); "
          "auto: minmax, unless another one brings the answers clearly nearer to those in floats")
      ->type_name("NAME")
      ->check(OneOf(methods))
      ->capture_default_str()
      ->group(kGroup);
  command->add_option("--percentile", flags->percentile, "the values that --method percentile covers")
      ->type_name("P")
      ->check(Between(90, 100))
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_option(
          "--activations", flags->activations,
          "u8 or i8: fixed scales from the pictures. dynamic: a scale for each run, in matrix products "
          "alone, without pictures. auto: dynamic for networks with attention, else u8")
      ->type_name("TYPE")
      ->check(OneOf({"auto", "u8", "i8", "dynamic"}))
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_option(
          "--drop", flags->drop,
          "keep the most sensitive layers in floats until at most so many percent of a fourth of the "
          "pictures, which calibration does not see, get another class than in floats")
      ->type_name("POINTS")
      ->check(Between(0, 100))
      ->group(kGroup);
  command->add_option("--keep", flags->keep, "a node that stays in floats; may be repeated")
      ->type_name("NODE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kGroup);
  command->add_flag("--no-bias-correction", flags->no_bias_correction, "leave the biases as they are")
      ->group(kGroup);
  command
      ->add_flag("--no-equalization", flags->no_equalization,
                 "never scale channels between layers so that their ranges become alike")
      ->group(kGroup);
  AddPictureFlags(*command, flags->preprocess, PictureKeys::kPixels);
  command
      ->add_option(
          "--shape", flags->model.shapes,
          "what the file leaves open: an input's shape (data=1x3x224x224) or a dimension's size (T=128); may "
          "be repeated")
      ->type_name("SHAPE")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Model");
  command
      ->add_option("--weights", flags->model.weights, "the .caffemodel of a .prototxt that has another name")
      ->type_name("FILE")
      ->group("Model");
  command
      ->add_option("--threads", flags->model.threads,
                   "threads; 0: one for every core that this process may use")
      ->type_name("N")
      ->check(Between(0, 1024))
      ->capture_default_str()
      ->group("Machine");
  AddJsonFlag(*command, context);
  command->footer(
      "The pictures need the preprocessing that the model was trained with, as for 'mete run'. The report "
      "lists the "
      "layers whose outputs are farthest from those in floats: 20 dB are an error of a tenth, 40 dB of a "
      "hundredth.\n"
      "\n"
      "Examples:\n"
      "  mete quantize mobilenet_v2.onnx --calibrate pictures --preprocess mobilenet -o "
      "mobilenet_v2.int8.onnx\n"
      "  mete quantize net.onnx --calibrate pictures --preprocess imagenet-torch --drop 1 -o "
      "net.int8.onnx\n"
      "  mete quantize decoder.onnx -o decoder.int8.onnx --activations dynamic");
  command->callback(
      [flags, &context] { context.command = [flags, &context] { Quantize(*flags, context); }; });
}

}  // namespace mete::cli
