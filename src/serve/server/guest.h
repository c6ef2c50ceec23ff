// Work in a server's slots that is no request for one of its models, such as a share of another device's.
#pragma once

#include <functional>
#include <future>
#include <vector>

#include "serve/server/slots.h"

namespace mete::serve {

// Where a guest computes: on all cores of the slots, or on one core.
struct GuestPlace {
  bool wide = false;
  int slot = 0;   // of !wide
  int core = -1;  // of !wide; -1: any
};
using GuestWork = std::function<void(const GuestPlace&)>;

struct GuestJob : Job {
  explicit GuestJob(const GuestWork& work) : work(work) {}
  void GiveUp(Refusal why) override;

  const GuestWork& work;  // the caller's, who waits for `done`
  std::promise<void> done;
};

// Computes one guest's job. Errors of its work go to its caller. `count` is told how long it occupied the
// slot, before its caller is told that it is done; it throws nothing.
Computed ComputeGuestJob(GuestJob& job, const GuestPlace& place,
                         const std::function<void(Nanoseconds)>& count);

}  // namespace mete::serve
