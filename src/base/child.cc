#include "base/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "mete/engine.h"

namespace mete {
namespace {

// This value is a guess: the time between SIGTERM and SIGKILL, and from then on. Avahi's programs need 1 ms
// to end.
constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::milliseconds kNap{5};
// of a wait for output, before the clock is looked at again
constexpr std::chrono::milliseconds kSlice{100};
constexpr size_t kMostSaid = 200;  // characters of a line that goes into a message
constexpr int kNoProgram = 127;    // the exit status that shells use for a missing program

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& t : texts) pointers.push_back(t.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool IsCancelled(const CancelToken* cancel) { return cancel && cancel->cancelled(); }

bool IsSet(const std::vector<std::string>& variables, std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  return std::any_of(variables.begin(), variables.end(),
                     [&](const std::string& v) { return v.starts_with(name); });
}

// Returns the environment of this process with `variables`, and with messages in English, because callers
// look for certain messages.
std::vector<std::string> Environment(std::vector<std::string> variables) {
  variables.emplace_back("LC_ALL=C");
  const size_t own = variables.size();
  for (char** e = environ; e && *e; ++e)
    if (!IsSet({variables.begin(), variables.begin() + std::ptrdiff_t(own)}, *e)) variables.emplace_back(*e);
  return variables;
}

void CloseIfOpen(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// Runs in the child between fork() and exec. Makes system calls only, because other threads may have held
// locks at the time of the fork.
[[noreturn]] void Become(const char* path, char** arguments, char** environment, int input, int pipe,
                         pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNoProgram);  // the parent ended before prctl() took effect
  if (dup2(input, 0) >= 0 && dup2(pipe, 1) >= 0 && dup2(pipe, 2) >= 0) execve(path, arguments, environment);
  _exit(kNoProgram);
}

}  // namespace

std::string FindProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "";
  while (!folders.empty()) {
    const size_t colon = std::min(folders.find(':'), folders.size());
    const std::string file = std::string(folders.substr(0, colon)) + "/" + name;
    struct stat facts;
    const bool is_file =
        stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && access(file.c_str(), X_OK) == 0;
    // a relative folder of PATH is skipped: the current folder must not decide which program runs
    if (is_file && file[0] == '/' && colon > 0) return file;
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return "";
}

std::string LastLine(std::string output) {
  while (output.ends_with('\n')) output.pop_back();
  const size_t before = output.rfind('\n');
  return Printable(output.substr(before == output.npos ? 0 : before + 1).substr(0, kMostSaid));
}

// Standard input is a socket, because writing to one whose reader has ended raises no signal.
Child::Child(const std::string& path, const std::vector<std::string>& arguments, WhenFull when_full,
             Clock& clock, const CancelToken* cancel, const ChildSettings& settings)
    : clock_(clock), cancel_(cancel) {
  std::vector<std::string> words{path}, environment = Environment(settings.variables);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv = Pointers(words), envp = Pointers(environment);
  int output[2] = {-1, -1}, input[2] = {-1, -1};
  if (!settings.has_input) input[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
  else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0) input[0] = -1;
  const bool good = input[0] >= 0 && pipe2(output, O_CLOEXEC) == 0;
  if (good && when_full == WhenFull::kLose) fcntl(output[1], F_SETFL, O_NONBLOCK);
  const pid_t parent = getpid();
  pid_ = good ? fork() : -1;
  if (pid_ == 0) Become(path.c_str(), argv.data(), envp.data(), input[0], output[1], parent);
  const int why = errno;
  CloseIfOpen(input[0]);
  CloseIfOpen(output[1]);
  in_ = input[1];
  out_ = output[0];
  if (pid_ > 0) return;
  CloseIfOpen(in_);
  CloseIfOpen(out_);
  Fail(Code::kUnavailable, path, "cannot start the program: {}", std::strerror(why));
}

Child::~Child() {
  CloseInput();
  if (pid_ > 0) kill(pid_, SIGTERM);
  Clock& steady = Clock::Steady();  // a clock that stands still must not keep this object
  if (!EndsBefore(steady.Now() + kPatience, steady, nullptr)) {
    kill(pid_, SIGKILL);
    EndsBefore(steady.Now() + kPatience, steady, nullptr);
  }
  close(out_);
}

void Child::Read(std::string& text, size_t most_bytes, const std::string& until, Clock::Time deadline) {
  char buffer[4096];
  while (text.size() < most_bytes) {
    const auto left = IsCancelled(cancel_)
                          ? std::chrono::milliseconds(0)
                          : std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_.Now());
    pollfd ready{out_, POLLIN, 0};
    const int events = poll(&ready, 1, int(std::clamp(left, std::chrono::milliseconds(0), kSlice).count()));
    if (events < 0 && errno != EINTR) return;
    if (events <= 0 && left.count() <= 0) return;
    if (events <= 0) continue;
    const ssize_t bytes = read(out_, buffer, std::min(sizeof buffer, most_bytes - text.size()));
    if (bytes <= 0) return;
    text.append(buffer, size_t(bytes));
    if (!until.empty() && text.find(until) != text.npos) return;
  }
}

bool Child::Write(const std::string& text) {
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t bytes = send(in_, left.data(), left.size(), MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    left.remove_prefix(size_t(bytes));
  }
  return true;
}

void Child::CloseInput() { CloseIfOpen(in_); }

bool Child::Reap(int options) {
  int status = 0;
  pid_t done = 0;
  do done = waitpid(pid_, &status, options);
  while (done < 0 && errno == EINTR);
  if (done == 0) return false;
  status_ = done < 0 ? kNoProgram : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = -1;
  return true;
}

bool Child::Running() { return pid_ > 0 && !Reap(WNOHANG); }

bool Child::EndsBefore(Clock::Time deadline, Clock& clock, const CancelToken* cancel) {
  while (Running() && !IsCancelled(cancel) && clock.Now() < deadline) std::this_thread::sleep_for(kNap);
  return !Running();
}

}  // namespace mete
