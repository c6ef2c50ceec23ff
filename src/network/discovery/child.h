// A program that runs beside us, without a shell, and is read from with bounds and deadlines.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace mete {

// The executable of that name in PATH, or "".
std::string FindProgram(const std::string& name);

class Child {
 public:
  enum class WhenFull { kWait, kLose };  // what nobody reads

  // Starts the program at `path` in the C locale with nothing to read; all that it writes is ours. It is
  // killed when the thread that starts it ends. Error UNAVAILABLE.
  Child(const std::string& path, const std::vector<std::string>& arguments,
        WhenFull when_full = WhenFull::kWait);
  ~Child();  // SIGTERM, and SIGKILL where that does not do; takes half a second at the longest
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Appends what it writes until it is done, or `text` has `most_bytes`, or `until` is in it (where not
  // empty), or the time is up.
  void Read(std::string& text, size_t most_bytes, const std::string& until,
            std::chrono::steady_clock::time_point deadline);

  bool Running();
  bool EndsBefore(std::chrono::steady_clock::time_point deadline);  // waits
  // of one that has ended: its exit status, or 128 + the signal that ended it
  int status() const { return status_; }

 private:
  bool Reap(int options);

  pid_t pid_ = -1;  // -1: it has ended and status_ is known
  int out_ = -1;
  int status_ = 0;
};

}  // namespace mete
