// mete report: a page with pictures of what a model does on its processors.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "checks.h"
#include "commands.h"
#include "objective.h"
#include "report/parts.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

// guess: an odd number, whose median has a spread of a percent or two
constexpr int kRuns = 21;

std::string OutputOf(const ReportFlags& flags) {
  if (!flags.output.empty()) return flags.output;
  return std::filesystem::path(flags.model.model).stem().string() + ".html";
}

bool IsSaved(const std::string& path) { return std::filesystem::path(path).extension() == ".json"; }

// The names of the options that the user has given, without those that say where the page goes.
std::vector<std::string> GivenOf(const CLI::App& command) {
  std::vector<std::string> given;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && !option->get_positional() && !option->check_lname("output") &&
        !option->check_lname("json"))
      given.push_back(option->get_name());
  return given;
}

Report Make(const ReportFlags& flags, const Context& context) {
  if (!flags.pool.given() && (!flags.machine.empty() || !flags.model.objective.empty()))
    throw UsageError(
        fmt::format("[{}] is of several processors; expected --processors as well; try --processors cpu,gpu",
                    flags.machine.empty() ? "--objective" : "--machine"));
  if (IsSaved(flags.model.model)) {
    if (!flags.given.empty())
      throw UsageError(fmt::format(
          "[{}] {} not go with a file that was written before; expected -o and --json alone; try a model",
          fmt::join(flags.given, ", "), flags.given.size() == 1 ? "does" : "do"));
    return ReportOfFile(flags.model.model);
  }
  return flags.pool.given() ? ReportOfPool(flags, context) : ReportOfSession(flags, context);
}

void ReportCommand(const ReportFlags& flags, const Context& context) {
  const std::string output = OutputOf(flags);
  std::error_code missing;
  if (std::filesystem::equivalent(flags.model.model, output, missing))
    throw UsageError(
        fmt::format("[-o] the page would replace what it shows; got '{}'; try another name", output));
  CheckMayWrite(output);
  const Report report = Make(flags, context);
  const std::string page = PageOf(report);
  WriteTextFile(output, page);
  if (context.json) {
    PrintJson({{"page", output}, {"bytes", page.size()}, {"says", report.says}});
    return;
  }
  // they have names of the model's file
  for (const std::string& sentence : report.says) PrintText(ForTerminals(sentence));
  PrintText(fmt::format("\n{} has the pictures, {}; any browser opens it.", output,
                        FormatBytes(int64_t(page.size()))));
}

constexpr const char* kFooter =
    R"(The page is one file that loads nothing from elsewhere: threads or processors over time, which of them computes what, each node
beside the machine's limits (a roofline), time by operator, memory over time, predicted beside measured, what else was weighed, and
energy beside latency. What a report has no figures for is left out.

A model is run --runs times on inputs of random numbers, or of --input, and the run of median length is shown. With --processors
the plan is shown, in virtual time; if the processors are here, it is run as well. A file that ends in .json is one that another
command has written: --trace or --save-plan, or the JSON of bench, run, inspect and simulate.

Examples:
  mete report resnet50.onnx --threads 2 -o resnet50.html
  mete report resnet50.onnx --cores 0:1.0,1:0.4
  mete report vgg16.onnx --processors rk3399x6
  mete report resnet50.onnx --machine snapdragon-855 --processors cpu,gpu
  mete bench resnet50.onnx --explain --json > bench.json; mete report bench.json)";

}  // namespace

void AddReport(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("report", "write a page with pictures: who computes what, when, at what cost");
  auto flags = std::make_shared<ReportFlags>();
  AddLoadFlags(*command, flags->model);
  AddSessionFlags(*command, flags->model);
  command->add_option("-o,--output", flags->output, "the page (default: the model's name with .html, here)")
      ->type_name("FILE.html")
      ->group("Report");
  command->add_option("--runs", flags->runs, "runs, of which the one of median length is shown")
      ->type_name("N")
      ->check(Between(1, 1000))
      ->default_val(kRuns)
      ->group("Measurement");
  command->add_option("--input", flags->inputs, "a tensor of an input; may be repeated")
      ->type_name("[NAME=]FILE.npy")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Measurement");
  command->add_option("--seed", flags->seed, "seed of the random inputs")
      ->type_name("N")
      ->capture_default_str()
      ->group("Measurement");
  command
      ->add_option("--processors", flags->pool.processors,
                   "several processors: a list such as cpu:0,cpu:1 or cpu,gpu, a file of devices and "
                   "processors, or cpu,gpu of --machine")
      ->type_name("LIST|FILE")
      ->group("Devices");
  command
      ->add_option("--machine", flags->machine, "with --processors: a board that is not here (boards/*.toml)")
      ->type_name("FILE.toml")
      ->group("Devices");
  command
      ->add_option("--planner", flags->pool.planner, "who plans: dynamic (ours), or others to compare with")
      ->type_name("NAME")
      ->check(OneOf(PoolPlanners()))
      ->capture_default_str()
      ->needs("--processors")
      ->group("Devices");
  command
      ->add_option("--objective", flags->model.objective,
                   "what the plan has least of: latency, throughput or energy")
      ->type_name("NAME")
      ->check(OneOf(PoolObjectives()))
      ->group("Devices");
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback([flags, command, &context] {
    flags->given = GivenOf(*command);
    context.command = [flags, &context] { ReportCommand(*flags, context); };
  });
}

}  // namespace mete::cli
