// What ends a run between two of its steps: the cancellation by its caller, or its deadline.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "mete/engine.h"

namespace mete {

// A part of RunOptions: what bodies of control flow have of them.
struct Stops {
  const CancelToken* cancel = nullptr;
  Clock::Time deadline = Clock::Time::max();

  explicit Stops(const RunOptions& options) : cancel(options.cancel), deadline(options.deadline) {}
  Stops() = default;
};

// Throws CANCELLED or DEADLINE_EXCEEDED if the run is to end before the step `where`. Reads no clock for a
// run without a deadline.
inline void ThrowIfStopped(const Stops& stops, const std::string& where) {
  if (stops.cancel && stops.cancel->cancelled())
    Fail(Code::kCancelled, where, "the run was cancelled before this step");
  if (stops.deadline == Clock::Time::max()) return;
  const Clock::Time now = Clock::Steady().Now();
  if (now >= stops.deadline)
    Fail(Code::kDeadlineExceeded, where,
         "the run's deadline was {:.3g} ms before this step; try a later RunOptions::deadline",
         std::chrono::duration<double, std::milli>(now - stops.deadline).count());
}

}  // namespace mete
