// Builds the whole tree of commands.
#include <fmt/format.h>

#include "commands.h"
#include "model_flags.h"
#include "terminal.h"

namespace mete::cli {
namespace {

std::string Footer() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeRow& row : kExitCodes) text += fmt::format("  {}  {}\n", int(row.code), row.meaning);
  text += "\nEnvironment:\n";
  for (const EnvironmentRow& row : kEnvironment) text += fmt::format("  {:<12} {}\n", row.name, row.meaning);
  return text +
         "\nExamples:\n"
         "  mete run mobilenet_v2.onnx cat.jpg --preprocess mobilenet --labels imagenet.txt\n"
         "  mete bench mobilenet_v2.onnx\n"
         "  mete inspect mobilenet_v2.onnx --explain";
}

void PrintManPage(const CLI::App& app, const Context& context) {
  if (context.json) PrintJson({{"man", ManPage(app)}});
  else fmt::print("{}", ManPage(app));
}

}  // namespace

void BuildCli(CLI::App& app, Context& context) {
  app.description("Mete runs neural networks (ONNX, TensorFlow Lite, Caffe) on processors of unequal speed.");
  app.set_version_flag("-V,--version", "mete " METE_VERSION, "print the version");
  app.footer(Footer());
  app.require_subcommand(0, 1);
  AddJsonFlag(app, context);
  AddRun(app, context);
  AddBench(app, context);
  AddCompare(app, context);
  AddInspect(app, context);
  AddMachine(app, context);
  AddPlan(app, context);
  AddProfile(app, context);
  AddQuantize(app, context);
  AddSimulate(app, context);
  AddReport(app, context);
  AddTop(app, context);
  AddServe(app, context);
  AddDevices(app, context);
  AddKeys(app, context);
  AddWorker(app, context);
  AddZoo(app, context);
  AddCompletion(app, context);
  AddHelp(app, context);
  app.add_flag_callback(
      "--man", [&] { context.command = [&] { PrintManPage(app, context); }; },
      "print the manual page (roff)");
}

}  // namespace mete::cli
