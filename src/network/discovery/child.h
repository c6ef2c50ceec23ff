// A child process that is started without a shell. Its output is read with bounds and deadlines.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace mete {

// Returns the path of the executable `name` in PATH, or "".
std::string FindProgram(const std::string& name);

class Child {
 public:
  enum class WhenFull { kWait, kLose };  // what happens to the output when the pipe is full

  // Starts the program at `path` in the C locale with an empty standard input. This object reads the
  // program's standard output and its errors. The kernel kills the program when the thread that started it
  // ends. Error UNAVAILABLE.
  Child(const std::string& path, const std::vector<std::string>& arguments,
        WhenFull when_full = WhenFull::kWait);
  ~Child();  // sends SIGTERM, then SIGKILL if the program goes on; takes half a second at the longest
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Appends the program's output to `text` until the program closes it, or `text` has `most_bytes`, or
  // `until` (if not empty) is in `text`, or the deadline has passed.
  void Read(std::string& text, size_t most_bytes, const std::string& until,
            std::chrono::steady_clock::time_point deadline);

  bool Running();
  // waits until the program has ended or the deadline has passed
  bool EndsBefore(std::chrono::steady_clock::time_point deadline);
  // of a program that has ended: its exit status, or 128 + the signal that ended it
  int status() const { return status_; }

 private:
  bool Reap(int options);

  pid_t pid_ = -1;  // -1: the program has ended and status_ is known
  int out_ = -1;
  int status_ = 0;
};

}  // namespace mete
