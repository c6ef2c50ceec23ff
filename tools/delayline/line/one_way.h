// One direction of a link in virtual time: when a frame that is sent now arrives, or that it is dropped. No
// clock and no bytes of frames are here; the caller tells the time and keeps the frames.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "base/json.h"

namespace mete::delayline {

struct WaySettings {
  double mbit = 100;                 // rate in 10^6 bits of a wire a second
  double delay_ms = 0;               // from the end of a frame at the sender to its end at the receiver
  double jitter_ms = 0;              // the most that is added to the delay of a frame, evenly distributed
  int64_t queue_bytes = 256 * 1024;  // bytes on a wire that may wait for the link, the frame on it included
};

// A frame takes 24 bytes more on a wire than a device shows: preamble 8, checksum 4, gap 12 (IEEE 802.3), as
// tools/lab counts on its other links.
inline constexpr int64_t kWireBytes = 24;

// Reads {"mbit": .., "delay_ms": .., "jitter_ms": .., "queue_bytes": ..}; what is not there keeps its
// default. Throws INVALID_ARGUMENT that names `where` for an unknown key and for a number out of range.
WaySettings WaySettingsFrom(const nlohmann::ordered_json& j, const std::string& where);

// A frame leaves its sender when the link is free, occupies the link for its bytes by the rate, and travels
// for the delay. Frames arrive in the order in which they were sent, and none is lost behind the queue.
class OneWay {
 public:
  explicit OneWay(const WaySettings& settings, uint64_t seed = 1) : settings_(settings), random_(seed) {}

  // Takes a frame of `bytes` as its device shows it. Returns when it arrives; nothing if the queue is full,
  // which drops it. `now_ns` does not decrease between calls.
  std::optional<int64_t> Take(int64_t bytes, int64_t now_ns);

  // Applies to frames that are taken from now on. Frames on their way arrive when they would have, and later
  // frames arrive behind them.
  void Change(const WaySettings& settings, int64_t now_ns);

 private:
  int64_t Jitter();

  WaySettings settings_;
  std::mt19937_64 random_;
  int64_t free_ns_ = INT64_MIN;          // when the last frame has left the link
  int64_t last_arrival_ns_ = INT64_MIN;  // of the frames that were taken
};

}  // namespace mete::delayline
