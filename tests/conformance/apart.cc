// Runs a case in a child process.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "case.h"

namespace mete::conformance {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitMemory = false;  // sanitizers reserve terabytes of address space
#else
constexpr bool kLimitMemory = true;
#endif

[[noreturn]] void RunChild(int pipe_end, const std::string& folder, int seconds, size_t memory_bytes) {
  const rlimit memory{memory_bytes, memory_bytes};
  if (kLimitMemory) setrlimit(RLIMIT_AS, &memory);
  alarm(unsigned(seconds));  // SIGALRM ends the child
  const Outcome outcome = RunCase(folder);
  const std::string text = std::string(Name(outcome.status)) + "\t" + outcome.reason;
  const ssize_t written = write(pipe_end, text.data(), std::min<size_t>(text.size(), 4096));
  _exit(written > 0 ? 0 : 1);
}

std::string ReadAll(int pipe_end) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(pipe_end, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, size_t(n));
  }
}

// Replaces tabs and line breaks, which would break the table.
std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

Outcome RunCaseApart(const std::string& folder, int seconds, size_t memory_bytes) {
  int ends[2];
  if (pipe(ends) != 0) return {Status::kCrashed, "cannot make a pipe"};
  const pid_t child = fork();
  if (child < 0) return {Status::kCrashed, "cannot fork"};
  if (child == 0) {
    close(ends[0]);
    RunChild(ends[1], folder, seconds, memory_bytes);
  }
  close(ends[1]);
  const std::string text = ReadAll(ends[0]);
  close(ends[0]);
  int state = 0;
  waitpid(child, &state, 0);
  if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM)
    return {Status::kCrashed, fmt::format("took more than {} s", seconds)};
  if (WIFSIGNALED(state)) return {Status::kCrashed, fmt::format("signal {}", strsignal(WTERMSIG(state)))};
  const size_t tab = text.find('\t');
  if (tab == std::string::npos || WEXITSTATUS(state) != 0)
    return {Status::kCrashed, fmt::format("exit status {}", WEXITSTATUS(state))};
  return {StatusOf(text.substr(0, tab)), OneLine(text.substr(tab + 1))};
}

}  // namespace mete::conformance
