// The time after which a lost processor is tried again. It doubles until the processor has served for a
// while. An answer is not enough, because a processor that cannot serve may answer each time.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "mete/error.h"

namespace mete {

// Returns true for an error that does not pass by itself: another version of the protocol, a token that is
// not accepted, no memory for a share, a program that the worker does not know.
inline bool IsRefusal(Code code) {
  return code == Code::kFailedPrecondition || code == Code::kResourceExhausted ||
         code == Code::kUnimplemented || code == Code::kInvalidArgument;
}

class BackOff {
 public:
  enum class Loss { kMayPass, kRefusal };  // kRefusal: it answers and does not serve

  // guess: a worker that is started again is there after this time
  static constexpr std::chrono::milliseconds kFirst{250};
  // guess: little beside the minutes for which a board was away
  static constexpr std::chrono::milliseconds kMost{10'000};
  // After this time without trouble a processor counts as one that never had any: if it fails every two
  // seconds, one request of 20 ms in a hundred is computed twice, which costs less than to do without the
  // processor. With 30 s, a worker that was killed every three seconds was used for a tenth of the requests.
  static constexpr std::chrono::seconds kWell{2};

  // The processor has a part of the plan in use from now on. A second call changes nothing.
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
