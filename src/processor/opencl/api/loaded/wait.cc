// A wait with a deadline, which OpenCL lacks: the driver's call when a command ends wakes the thread.
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "processor/opencl/api/loaded/state.h"

namespace mete::opencl {
namespace {

// What the driver's thread and the waiting one have in common. A command that never ends keeps it.
struct Alarm {
  std::mutex mutex;
  std::condition_variable changed;
  bool rang = false;
};

void CL_CALLBACK Ring(cl_event, cl_int, void* kept) {
  const std::unique_ptr<std::shared_ptr<Alarm>> alarm(static_cast<std::shared_ptr<Alarm>*>(kept));
  const std::lock_guard lock((*alarm)->mutex);
  (*alarm)->rang = true;
  (*alarm)->changed.notify_all();
}

}  // namespace

bool Event::WaitUntil(Clock::Time deadline, Clock::Duration spin, Clock& clock) const {
  for (const Clock::Time end = std::min(deadline, clock.Now() + spin); clock.Now() < end;)
    if (done()) return true;
  if (done()) return true;
  const ContextState& of = Of(object_);
  const auto alarm = std::make_shared<Alarm>();
  auto kept = std::make_unique<std::shared_ptr<Alarm>>(alarm);
  of.Check(of.cl.clSetEventCallback(static_cast<cl_event>(get()), CL_COMPLETE, Ring, kept.get()),
           "clSetEventCallback");
  (void)kept.release();  // Ring() frees it
  {
    std::unique_lock lock(alarm->mutex);
    if (!clock.WaitUntil(alarm->changed, lock, deadline, [&] { return alarm->rang; })) return false;
  }
  // The driver may ring a little before the event's own status says so.
  Wait();
  return done();
}

}  // namespace mete::opencl
