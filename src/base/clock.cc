#include "base/clock.h"

namespace mete {
namespace {

class SteadyClock : public Clock {
 public:
  Time Now() const override { return std::chrono::steady_clock::now(); }
  void Wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Time until) override {
    if (until == Time::max()) changed.wait(lock);
    else changed.wait_until(lock, until);
  }
};

}  // namespace

Clock& Clock::Steady() {
  static SteadyClock clock;
  return clock;
}

}  // namespace mete
