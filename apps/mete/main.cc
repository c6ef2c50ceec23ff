// The command line's frame: interrupts, errors, exit codes.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <sstream>
#include <string_view>

#include "commands.h"
#include "terminal.h"

namespace mete::cli {
namespace {

CancelToken g_cancel;  // a signal handler reaches nothing but a global

extern "C" void OnInterrupt(int signal) {
  g_cancel.Cancel();
  std::signal(signal, SIG_DFL);  // the next one kills
}

int ReportError(const Context& context, ExitCode exit, const std::string& code, const std::string& message) {
  std::fflush(stdout);
  PrintError(context.json, code, message);
  return exit;
}

// The parser stops at its first complaint, perhaps before it has seen --json.
bool WantsJson(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* a) { return std::string_view(a) == "--json"; });
}

std::string CommandPath(const CLI::App& app) {
  std::string path = "mete";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands()[0];
    path += " " + at->get_name();
  }
  return path;
}

// --help and --version reach us as exceptions.
int PrintAbout(const CLI::App& app, const CLI::ParseError& e, const Context& context) {
  if (!context.json) return app.exit(e);
  std::ostringstream text;
  app.exit(e, text, text);
  if (dynamic_cast<const CLI::CallForVersion*>(&e)) PrintJson({{"name", "mete"}, {"version", METE_VERSION}});
  else PrintJson({{"help", text.str()}});
  return kOk;
}

int ParseProblem(const CLI::App& app, const CLI::ParseError& e, const Context& context) {
  if (e.get_exit_code() == 0) return PrintAbout(app, e, context);
  return ReportError(context, kUsage, "USAGE", fmt::format("[usage] {}; try '{} --help'", e.what(), CommandPath(app)));
}

int Main(int argc, char** argv) {
  Context context;
  context.json = WantsJson(argc, argv);
  context.cancel = &g_cancel;
  CLI::App app("", "mete");
  try {
    BuildCli(app, context);
    app.parse(argc, argv);
    if (!context.command) throw UsageError("[usage] no command; try 'mete --help'");
    context.command();
    if (std::fflush(stdout) != 0) throw Error(Code::kUnavailable, "[stdout] cannot write the answer");
    return kOk;
  } catch (const CLI::ParseError& e) {
    return ParseProblem(app, e, context);
  } catch (const UsageError& e) {
    return ReportError(context, kUsage, "USAGE", e.what());
  } catch (const Error& e) {
    return ReportError(context, ExitCodeOf(e.code()), CodeName(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return ReportError(context, kFailure, CodeName(Code::kResourceExhausted), "[mete] out of memory");
  } catch (const std::exception& e) {
    return ReportError(context, kFailure, CodeName(Code::kInternal), fmt::format("[mete] {}", e.what()));
  }
}

}  // namespace
}  // namespace mete::cli

int main(int argc, char** argv) {
  std::signal(SIGINT, mete::cli::OnInterrupt);
  return mete::cli::Main(argc, argv);
}
