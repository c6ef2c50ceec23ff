#include "serve/server/guest.h"

#include <algorithm>

#include "base/clock.h"
#include "serve/server/infer_job.h"

namespace mete::serve {

void GuestJob::GiveUp(Refusal why) {
  const Outcome outcome = OutcomeOf(why, 0);
  done.set_exception(std::make_exception_ptr(Error(outcome.code, outcome.error)));
}

Computed ComputeGuestJob(GuestJob& job, const GuestPlace& place,
                         const std::function<void(Nanoseconds)>& count) {
  const Nanoseconds began = NowNs();
  std::exception_ptr problem;
  try {
    job.work(place);
  } catch (...) {
    problem = std::current_exception();
  }
  const Nanoseconds time = std::max<Nanoseconds>(NowNs() - began, 1);
  count(time);
  if (problem) job.done.set_exception(problem);
  else job.done.set_value();
  return {problem ? 0 : time, nullptr};
}

}  // namespace mete::serve
