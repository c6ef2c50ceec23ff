// A process that starts a model and answers, as `mete bench --on-command` does: its steps, and its runs on
// command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/child.h"
#include "costs/starts.h"

namespace mete {

struct StartCommand {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> variables;  // "NAME=value"
};

// Returns the steps of a start from a process's output: a line of JSON in it has the times "ready_ns",
// "read_ns", "loaded_ns" and "answered_ns" of the monotonic clock, which was `spawn_ns` before the process
// was made. Error UNAVAILABLE with what the process said last if there is no such line.
StartSteps StepsOf(const std::string& output, int64_t spawn_ns);

class StartedProcess {
 public:
  // Starts the process and waits for its first answer. Error UNAVAILABLE with its last words if it ends
  // before, CANCELLED.
  StartedProcess(const StartCommand& command, const CancelToken* cancel);
  // Ends the process by the end of its input.
  ~StartedProcess();

  const StartSteps& steps() const { return steps_; }
  int pid() const { return int(child_.pid()); }

  // Asks for one more answer. Returns the milliseconds until it came, measured here.
  double RunMs();
  // Asks the process to measure what it still has to measure of its kernels.
  void Settle() { RunMs(); }
  // Asks it to let go of the pages of files that it maps.
  void Release();

 private:
  // Sends a command and returns the line that answers it.
  std::string Ask(const std::string& command);
  // Reads until a line of JSON is there. Returns it with all that was said before it.
  std::string ReadAnswer();

  const CancelToken* const cancel_;
  const int64_t spawn_ns_;
  Child child_;
  StartSteps steps_;
};

}  // namespace mete
