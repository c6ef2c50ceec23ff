// SIGINT, SIGTERM, SIGHUP and SIGCHLD, taken one by one when the program is ready for them.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

namespace mete::slowcore {

// Blocks these signals, so that they wait for Wait(). The object must be made before any thread. The
// destructor restores the former state.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Returns the next signal, or nothing if none comes within `timeout_ns`. Without a timeout the function may
  // return nothing early.
  std::optional<int> Wait(std::optional<int64_t> timeout_ns);
  const sigset_t& former_mask() const { return former_; }  // the mask with which a child must start

 private:
  sigset_t waited_, former_;
  struct sigaction former_child_;
};

}  // namespace mete::slowcore
