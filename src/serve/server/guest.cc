#include "serve/server/guest.h"

#include <algorithm>

#include "base/clock.h"
#include "serve/server/infer_job.h"

namespace mete::serve {

void GuestJob::GiveUp(Refusal why) {
  const Outcome outcome = OutcomeOf(why, 0);
  done.set_exception(std::make_exception_ptr(Error(outcome.code, outcome.error)));
}

Computed ComputeGuestJob(GuestJob& job, const GuestPlace& place) {
  const Nanoseconds began = NowNs();
  try {
    job.work(place);
  } catch (...) {
    job.done.set_exception(std::current_exception());
    return {};
  }
  const Nanoseconds time = std::max<Nanoseconds>(NowNs() - began, 1);
  job.done.set_value();
  return {time, nullptr};
}

}  // namespace mete::serve
