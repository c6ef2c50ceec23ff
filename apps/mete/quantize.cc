// mete quantize: makes an 8-bit network of one in floats.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "calibration.h"
#include "checks.h"
#include "commands.h"
#include "engine/model.h"
#include "export/onnx/onnx_file.h"
#include "inputs.h"
#include "model_flags.h"
#include "pictures.h"
#include "processor/cpu/cpu.h"
#include "quantize/quantize.h"
#include "stopwatch.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

struct QuantizeFlags {
  ModelFlags model;
  PictureFlags preprocess;
  std::vector<std::string> calibrate;
  std::string output;
  std::string method = "auto";
  std::string activations = "u8";
  double percentile = 99.99;
  int pictures = 64;
  std::vector<std::string> keep;
  bool no_bias_correction = false;
  bool no_equalization = false;
};

// The passes whose results are operators of every ONNX engine.
std::vector<std::string> PassesLeftOut() {
  std::vector<std::string> names{"fuse-quantized", "fuse-patterns"};
  return names;
}

Model Load(const QuantizeFlags& flags, const Context& context) {
  ModelFlags load = flags.model;
  load.disabled_passes = PassesLeftOut();
  return LoadModel(load, context);
}

void Quantize(const QuantizeFlags& flags, const Context& context) {
  const Stopwatch watch;
  CheckCores(flags.model);
  CheckMayWrite(flags.output);
  const std::vector<std::string> paths = FindPictures(flags.calibrate, size_t(flags.pictures));
  const Model model = Load(flags, context);
  const Port& port = model.inputs()[0];
  const Preprocess preprocess = PreprocessOf(flags.model.model, port, flags.preprocess);
  CheckPictures(port, preprocess, flags.preprocess, flags.model.model);
  const CalibrationPictures pictures(paths, preprocess, port, context);
  SessionOptions session = SessionOptions::Estimated(flags.model.threads);
  session.cores = flags.model.cores;
  Cpu cpu("cpu", session);
  Progress progress(context, "calibrating, picture");
  const Runs runs{cpu, [&](size_t done, size_t all) {
                    CheckCancelled(context);
                    progress.Update(int(done), int(all));
                  }};
  const Samples samples{pictures.count(), [&](size_t i) { return std::vector<Tensor>{pictures.Read(i)}; }};
  QuantizeOptions options;
  options.ranges = {RangeMethodOf(flags.method), flags.percentile};
  options.activations = DTypeOf(flags.activations);
  options.correct_biases = !flags.no_bias_correction;
  options.equalize = !flags.no_equalization;
  options.kept = {flags.keep.begin(), flags.keep.end()};
  const Calibration calibration = Calibrate(DivisibleOf(model), options, samples, runs);
  options.ranges = calibration.ranges;
  const Quantized quantized = mete::Quantize(calibration, options, runs);
  fmt::print("{} {} {:.2f} dB\n", int(calibration.ranges.method), calibration.equalized, calibration.answers_db);
  WriteTextFile(flags.output, OnnxFileOf(quantized.graph, {model.inputs(), {}}));
  fmt::print("{}: in {}\n", flags.output, FormatMs(watch.ms()));
}

}  // namespace

void AddQuantize(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("quantize", "make an 8-bit network of one in floats");
  auto flags = std::make_shared<QuantizeFlags>();
  AddLoadFlags(*command, flags->model);
  command->add_option("--calibrate", flags->calibrate, "pictures, or folders of them")
      ->type_name("IMAGES")
      ->required();
  command->add_option("-o,--output", flags->output, "the file to write")->type_name("FILE.onnx")->required();
  std::vector<std::string> methods;
  for (const std::string_view name : RangeMethodNames()) methods.emplace_back(name);
  command->add_option("--method", flags->method, "how ranges are found")->check(OneOf(methods));
  command->add_option("--activations", flags->activations, "type")->check(OneOf({"u8", "i8"}));
  command->add_option("--percentile", flags->percentile, "of --method percentile");
  command->add_option("--pictures", flags->pictures, "at most")->check(Between(1, 1 << 20));
  command->add_option("--keep", flags->keep, "nodes that stay in floats")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--no-bias-correction", flags->no_bias_correction, "");
  command->add_flag("--no-equalization", flags->no_equalization, "");
  AddPictureFlags(*command, flags->preprocess);
  AddJsonFlag(*command, context);
  command->callback(
      [flags, &context] { context.command = [flags, &context] { Quantize(*flags, context); }; });
}

}  // namespace mete::cli
