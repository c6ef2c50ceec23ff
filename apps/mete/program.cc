#include "program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <sstream>
#include <string_view>

#include "help.h"
#include "parse_problem.h"
#include "terminal.h"

namespace mete::cli {
namespace {

// The parser stops at the first error, perhaps before it has seen --json.
bool WantsJson(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* a) { return std::string_view(a) == "--json"; });
}

// The parser reports --help and --version as exceptions.
int PrintAbout(const CLI::App& app, const CLI::ParseError& e, const Context& context) {
  if (!context.json) return app.exit(e);
  std::ostringstream text;
  app.exit(e, text, text);
  if (dynamic_cast<const CLI::CallForVersion*>(&e))
    PrintJson({{"name", app.get_name()}, {"version", METE_VERSION}});
  else PrintJson({{"help", text.str()}});
  return kOk;
}

class Frame {
 public:
  Frame(const Program& program, Context& context)
      : program_(program), context_(context), app_("", program.name) {
    context.program = program.name;
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.set_help_flag("-h,--help", "print this help");
  }

  int Run(int argc, char** argv) {
    context_.json = WantsJson(argc, argv);
    try {
      Command(argc, argv);
      return kOk;
    } catch (const CLI::ParseError& e) {
      return ParseProblem(e);
    } catch (const UsageError& e) {
      return Report(kUsage, "USAGE", e.what());
    } catch (const Error& e) {
      return Report(ExitCodeOf(e.code()), CodeName(e.code()), e.what());
    } catch (const std::bad_alloc&) {
      return Report(kFailure, CodeName(Code::kResourceExhausted),
                    fmt::format("[{}] out of memory", program_.name));
    } catch (const std::exception& e) {
      return Report(kFailure, CodeName(Code::kInternal), fmt::format("[{}] {}", program_.name, e.what()));
    }
  }

 private:
  void Command(int argc, char** argv) {
    program_.build(app_, context_);
    app_.parse(argc, argv);
    if (!context_.command)
      throw UsageError(fmt::format("[usage] no command; try '{} --help'", program_.name));
    context_.command();
    if (std::fflush(stdout) != 0) throw Error(Code::kUnavailable, "[stdout] cannot write the answer");
  }

  int ParseProblem(const CLI::ParseError& e) {
    const bool about = e.get_exit_code() == 0;
    // for example "mete simulat --help"
    if (const auto unknown = app_.remaining(true); about && !unknown.empty())
      return Report(kUsage, "USAGE", DescribeParseProblem(app_, CLI::ExtrasError(app_.get_name(), unknown)));
    if (about) return PrintAbout(app_, e, context_);
    return Report(kUsage, "USAGE", DescribeParseProblem(app_, e));
  }

  int Report(ExitCode exit, const std::string& code, const std::string& message) {
    std::fflush(stdout);
    PrintError(context_, code, message);
    return exit;
  }

  const Program& program_;
  Context& context_;
  CLI::App app_;
};

}  // namespace

int RunProgram(const Program& program, Context& context, int argc, char** argv) {
  return Frame(program, context).Run(argc, argv);
}

}  // namespace mete::cli
