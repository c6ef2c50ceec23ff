#include "tools/slowcore/command.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "apps/mete/context.h"
#include "base/error.h"

namespace mete::slowcore {
namespace {

struct Attributes {
  explicit Attributes(const sigset_t& mask) {
    posix_spawnattr_init(&value);
    posix_spawnattr_setsigmask(&value, &mask);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGMASK);
  }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  posix_spawnattr_t value;
};

pid_t Start(const std::vector<std::string>& words, const sigset_t& mask) {
  std::vector<char*> argv;
  // posix_spawn does not change the words
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const Attributes attributes(mask);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], nullptr, &attributes.value, argv.data(), environ);
  if (error == 0) return pid;
  throw cli::UsageError(
      fmt::format("[--] the command cannot be started; got '{}' ({}), expected a program with its arguments",
                  Printable(words[0]), std::strerror(error)));
}

}  // namespace

int RunCommand(const std::vector<std::string>& words, Signals& signals) {
  const pid_t pid = Start(words, signals.former_mask());
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    const std::optional<int> signal = signals.Wait(std::nullopt);
    if (signal && *signal != SIGCHLD) kill(pid, *signal);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace mete::slowcore
