// SIGINT, SIGTERM, SIGHUP and the end of children, taken one by one where the program is ready for them.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

namespace mete::slowcore {

// Made before any thread: from then on these signals wait. The former state is back when it goes.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // The next signal, or none within `timeout_ns`. Without a timeout it may return none early.
  std::optional<int> Wait(std::optional<int64_t> timeout_ns);
  const sigset_t& former_mask() const { return former_; }  // what a child shall start with

 private:
  sigset_t waited_, former_;
  struct sigaction former_child_;
};

}  // namespace mete::slowcore
