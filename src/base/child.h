// A child process that is started without a shell. Its output is read with bounds and deadlines.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"

namespace mete {

class CancelToken;

// Returns the path of the executable `name` in PATH, or "".
std::string FindProgram(const std::string& name);

// Returns the last line of a program's output for an error message: printable, of 200 characters at most.
std::string LastLine(std::string output);

struct ChildSettings {
  std::vector<std::string> variables = {};  // "NAME=value", in place of those of this process
  bool has_input = false;                   // whether standard input is what Write() says, or empty
};

class Child {
 public:
  enum class WhenFull { kWait, kLose };  // what happens to the output when the pipe is full

  // Starts the program at `path` in the C locale. This object reads the program's standard output and its
  // errors. The kernel kills the program when the thread that started it
  // ends. Deadlines are those of `clock`, to which this object keeps a reference. Once `cancel` is cancelled,
  // which may be null, all deadlines have passed; waits notice it within 100 ms. Error UNAVAILABLE.
  Child(const std::string& path, const std::vector<std::string>& arguments, WhenFull when_full, Clock& clock,
        const CancelToken* cancel = nullptr, const ChildSettings& settings = {});
  // Sends SIGTERM, then SIGKILL if the program goes on; takes a second at the longest. A program that hangs
  // within the kernel, in a driver, is left to itself.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Appends the program's output to `text` until the program closes it, or `text` has `most_bytes`, or
  // `until` (if not empty) is in `text`, or the deadline has passed and all that was written is read.
  void Read(std::string& text, size_t most_bytes, const std::string& until, Clock::Time deadline);

  // Gives `text` to the program, which has an input. Returns false if it does not read it any more.
  bool Write(const std::string& text);
  void CloseInput();  // the program finds the end of its input

  bool Running();
  pid_t pid() const { return pid_; }  // -1 once it is known to have ended
  // waits until the program has ended or the deadline has passed
  bool EndsBefore(Clock::Time deadline) { return EndsBefore(deadline, clock_, cancel_); }
  // of a program that has ended: its exit status, or 128 + the signal that ended it
  int status() const { return status_; }

 private:
  bool EndsBefore(Clock::Time deadline, Clock& clock, const CancelToken* cancel);
  bool Reap(int options);

  Clock& clock_;
  const CancelToken* const cancel_;
  pid_t pid_ = -1;  // -1: the program has ended and status_ is known
  int in_ = -1, out_ = -1;
  int status_ = 0;
};

}  // namespace mete
