// slowcore: makes one core slow for any program, for experiments with cores of unequal speed.
#include <algorithm>
#include <string_view>

#include "apps/mete/program.h"
#include "tools/slowcore/report.h"

namespace mete::slowcore {
namespace {

int Run(const Options& options, const cli::Context& context) {
  Signals signals;
  const Outcome outcome = RunSession(options, signals, context);
  PrintOutcome(options, outcome, context);
  return outcome.exit_code;
}

void AddFlags(CLI::App& app, Options& options, cli::Context& context) {
  AddOptions(app, options);
  app.set_version_flag("--version", "slowcore " METE_VERSION);
  app.add_flag("--json", context.json, "answer in JSON (errors too)");
}

// The words after -- are the command of another program: no word among them is a flag of slowcore.
int Main(int argc, char** argv) {
  Options options;
  char** mark =
      std::find_if(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--"; });
  if (mark != argv + argc) options.command.emplace(mark + 1, argv + argc);
  int exit_code = 0;  // exit code of the command
  const auto build = [&](CLI::App& app, cli::Context& context) {
    AddFlags(app, options, context);
    context.command = [&] { exit_code = Run(options, context); };
  };
  cli::Context context;
  const int exit = cli::RunProgram({"slowcore", build}, context, int(mark - argv), argv);
  return exit == cli::kOk ? exit_code : exit;
}

}  // namespace
}  // namespace mete::slowcore

int main(int argc, char** argv) { return mete::slowcore::Main(argc, argv); }
