// mete compare: measures a model on other engines too. The command finds bench/peers/run.sh, which does the
// work, and passes the flags on.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/open_problem.h"
#include "checks.h"
#include "commands.h"
#include "installed_files.h"
#include "model_flags.h"
#include "terminal.h"

namespace mete::cli {
namespace fs = std::filesystem;

namespace {

struct CompareFlags {
  std::string model;
  std::vector<std::string> shapes;
  std::vector<int> threads{1};
  std::vector<int> cores;
  int rounds = 0;
  bool markdown = false;
};

fs::path FindScript() {
  const fs::path script = FindInstalled({"share/mete/peers/run.sh", "bench/peers/run.sh"});
  if (!script.empty()) return script;
  throw Error(
      Code::kUnavailable,
      fmt::format(
          "[compare] the script is missing; got none above {}, expected share/mete/peers/run.sh (installed) "
          "or "
          "bench/peers/run.sh (source tree); try 'cmake --install', or a mete built in its source tree",
          ThisProgram().parent_path().string()));
}

// Captures what a program writes on stderr if --json is set: then stderr must have nothing but JSON.
class KeptErrors {
 public:
  explicit KeptErrors(bool keep) : file_(keep ? std::tmpfile() : nullptr) {
    posix_spawn_file_actions_init(&actions_);
    if (file_) posix_spawn_file_actions_adddup2(&actions_, fileno(file_), STDERR_FILENO);
  }
  ~KeptErrors() {
    posix_spawn_file_actions_destroy(&actions_);
    if (file_) std::fclose(file_);
  }
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  std::string Text() const {
    constexpr size_t kMost = 4000;  // guess: enough for the beginning of the error
    std::string text(kMost, '\0');
    if (!file_) return "";
    std::rewind(file_);
    text.resize(std::fread(text.data(), 1, text.size(), file_));
    return text;
  }

 private:
  FILE* file_;
  posix_spawn_file_actions_t actions_;
};

// Runs the program `words` to its end, on this process's terminal, and returns its exit code.
int RunToEnd(std::vector<std::string> words, const KeptErrors& errors) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int problem = posix_spawn(&child, argv[0], errors.actions(), nullptr, argv.data(), environ))
    throw Error(Code::kUnavailable,
                fmt::format("[{}] cannot start it: {}", words[0], std::strerror(problem)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw Error(Code::kInternal, fmt::format("[{}] lost: {}", words[0], std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Compare(const CompareFlags& flags, const Context& context) {
  const fs::path program = ThisProgram();
  std::error_code error;
  if (!flags.model.ends_with(".onnx"))
    throw UsageError(fmt::format(
        "[MODEL] the other engines read ONNX alone; got '{}', expected a .onnx file; try 'mete bench'",
        flags.model));
  if (!fs::is_regular_file(flags.model, error)) FailToOpen(flags.model, error ? error.value() : EISDIR);
  std::vector<std::string> words{FindScript().string(),
                                 "--mete",
                                 program.string(),
                                 "--models",
                                 fs::absolute(flags.model).string(),
                                 "--no-save",
                                 "--threads",
                                 fmt::format("{}", fmt::join(flags.threads, ","))};
  if (!flags.cores.empty())
    words.insert(words.end(), {"--cores", fmt::format("{}", fmt::join(flags.cores, ","))});
  if (flags.rounds > 0) words.insert(words.end(), {"--rounds", fmt::format("{}", flags.rounds)});
  for (const std::string& shape : flags.shapes) words.insert(words.end(), {"--shape", shape});
  if (flags.markdown) words.push_back("--markdown");
  if (context.json) words.insert(words.end(), {"--json", "-"});
  const KeptErrors errors(context.json);
  const int code = RunToEnd(words, errors);
  CheckCancelled(context);
  if (code == 0) return;
  throw Error(code == kBadFile ? Code::kInvalidArgument : Code::kUnavailable,
              fmt::format("[compare] {} ended with {}; its own words {}{}", words[0], code,
                          context.json ? "were: " : "are above", errors.Text()));
}

}  // namespace

void AddCompare(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("compare", "measure a model here and on ONNX Runtime, OpenVINO and ncnn, in turn");
  auto flags = std::make_shared<CompareFlags>();
  command->add_option("MODEL", flags->model, "an ONNX model (.onnx)")->required();
  command
      ->add_option("--shape", flags->shapes, "shape of an input that the file leaves open; may be repeated")
      ->type_name("NAME=1x3x224x224")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Model");
  command->add_option("--threads", flags->threads, "threads of every engine; several numbers: one table each")
      ->type_name("1,2,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(Between(1, 1024))
      ->capture_default_str()
      ->group("Machine");
  command->add_option("--cores", flags->cores, "CPU numbers to pin every engine to (default: the last ones)")
      ->type_name("0,1,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Machine");
  command->add_option("--rounds", flags->rounds, "turns of each engine")
      ->type_name("N")
      ->check(Between(1, 10000))
      ->group("Measurement");
  command->add_flag("--markdown", flags->markdown, "tables in Markdown")->group("Report");
  AddJsonFlag(*command, context);
  command->footer(
      "The first call installs the other engines from PyPI into a virtual environment of its own, which "
      "takes network and some minutes.\n\n"
      "Examples:\n"
      "  mete compare resnet50.onnx --threads 1,2\n"
      "  mete compare net.onnx --shape data=1x3x224x224 --cores 1 --json");
  command->callback([flags, &context] { context.command = [flags, &context] { Compare(*flags, context); }; });
}

}  // namespace mete::cli
