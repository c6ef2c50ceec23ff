// Moves frames between two devices as a link of given rates and delays does.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/json.h"
#include "tools/delayline/line/one_way.h"
#include "tools/delayline/tap.h"

namespace mete::delayline {

// The frames on their way from one device to the other. Times are those of the monotonic clock.
class FramesOneWay {
 public:
  FramesOneWay(const Tap& from, const Tap& to, uint64_t seed) : from_(from), to_(to), times_({}, seed) {}

  void Change(const WaySettings& settings, int64_t now_ns) { times_.Change(settings, now_ns); }
  // Takes what was sent, kMostAtOnce frames at most.
  void Take();
  // Hands over the frames that have arrived by `now_ns`.
  void Deliver(int64_t now_ns);
  // Returns when the next frame arrives; INT64_MAX if none is on its way.
  int64_t NextArrival() const { return frames_.empty() ? INT64_MAX : frames_.front().arrives_ns; }
  // Returns {"frames", "bytes", "dropped", "latest_us"}: frames and their bytes that were handed over, frames
  // that the queue or the receiving device dropped, and how late the latest frame was.
  nlohmann::ordered_json Counts() const;

 private:
  struct Frame {
    int64_t arrives_ns;
    std::vector<std::byte> bytes;
  };

  const Tap& from_;
  const Tap& to_;
  OneWay times_;
  std::deque<Frame> frames_;
  int64_t delivered_ = 0, delivered_bytes_ = 0, dropped_ = 0, latest_ns_ = 0;
};

// A link between two devices, told by lines on stdin what it is. A line is a JSON object:
//   {"up": {"mbit", "delay_ms", "jitter_ms", "queue_bytes"}, "down": {the same}}
// `up` is the direction from the first device to the second; a direction that is not there stays as it is.
// The answer is a line on stdout, {"up": counts, "down": counts}, or {"error": text} where nothing was
// changed.
class Relay {
 public:
  Relay(const Tap& first, const Tap& second);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Goes on until stdin ends. Error UNAVAILABLE if a device is gone.
  void Run();

 private:
  void Watch(int fd);
  void SetTimer();
  bool ReadCommands();
  std::string Obey(const std::string& line);

  FramesOneWay up_, down_;
  int epoll_ = -1, timer_ = -1;
  int64_t timer_ns_ = INT64_MAX;
  std::string unread_;  // the beginning of a line
};

}  // namespace mete::delayline
