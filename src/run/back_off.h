// When a processor that is lost is tried again: after a time that doubles until it has served for a while.
// That it answers is not enough, as one that cannot serve may answer each time.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "mete/error.h"

namespace mete {

// What will not pass by itself: another version of the protocol, a token that is not accepted, no memory for
// a share, a program that it does not know.
inline bool IsRefusal(Code code) {
  return code == Code::kFailedPrecondition || code == Code::kResourceExhausted ||
         code == Code::kUnimplemented || code == Code::kInvalidArgument;
}

class BackOff {
 public:
  enum class Loss { kMayPass, kRefusal };  // kRefusal: it is there, and that will not pass by itself

  // guess: a worker that is started again is there after so long
  static constexpr std::chrono::milliseconds kFirst{250};
  // guess: nobody minds to wait so long for a board that was away for minutes
  static constexpr std::chrono::milliseconds kMost{10'000};
  // After so long without trouble a processor is as one that never had any: what fails every two seconds
  // costs one request in a hundred of 20 ms a second time, less than to go without it. With 30 s a worker
  // that was killed every three was used for a tenth of the requests.
  static constexpr std::chrono::seconds kWell{2};

  // It has a part of what is computed from now on; nothing new where it had one already.
  void Serves(Clock::Time now) {
    if (!serving_since_) serving_since_ = now;
  }
  void Lost(Clock::Time now, Loss loss) {
    if (serving_since_ && now - *serving_since_ > kWell) wait_ = {};
    serving_since_.reset();
    wait_ = loss == Loss::kRefusal ? kMost : std::clamp<Clock::Duration>(wait_ * 2, kFirst, kMost);
    next_try_ = now + wait_;
  }
  bool Due(Clock::Time now) const { return now >= next_try_; }

 private:
  Clock::Duration wait_{};
  Clock::Time next_try_;
  std::optional<Clock::Time> serving_since_;
};

inline BackOff::Loss LossOf(Code code) {
  return IsRefusal(code) ? BackOff::Loss::kRefusal : BackOff::Loss::kMayPass;
}

}  // namespace mete
