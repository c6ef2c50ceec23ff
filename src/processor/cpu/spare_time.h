// A share of the time of runs for work beside them: the work never takes more than this share in the sum,
// except for its last step.
#pragma once

#include "base/clock.h"

namespace mete {

class SpareTime {
 public:
  // A tenth. This value is a guess: an answer that takes 10 % longer is not noticed, and a session of 1 s of
  // measurements has settled after 10 s of runs.
  static constexpr double kShare = 0.1;

  explicit SpareTime(Clock& clock) : clock_(clock) {}

  // A run has begun at `begin` and ends now.
  void Earn(Clock::Time begin) { left_ += kShare * Ns(clock_.Now() - begin); }
  Clock::Time Now() const { return clock_.Now(); }

  // Does steps of `work` while time is left that runs have earned. A step may take longer than what is left;
  // later runs then earn the difference first. `work` has done(), Resume() and Step(). Returns whether any
  // step was done.
  template <class Work>
  bool Spend(Work& work) {
    if (work.done() || left_ <= 0) return false;
    const Clock::Time begin = clock_.Now();
    const double earned = left_;
    work.Resume();
    do {
      work.Step();
      left_ = earned - Ns(clock_.Now() - begin);
    } while (!work.done() && left_ > 0);
    return true;
  }

 private:
  static double Ns(Clock::Duration d) { return std::chrono::duration<double, std::nano>(d).count(); }

  Clock& clock_;
  double left_ = 0;  // ns
};

}  // namespace mete
