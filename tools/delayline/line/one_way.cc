#include "tools/delayline/line/one_way.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace mete::delayline {
namespace {

using Json = nlohmann::ordered_json;

struct Range {
  double least, most;
};
// These values are guesses. A frame takes 1.2 s at the lowest rate; above the highest one, a single thread is
// the limit and not the link.
constexpr Range kMbit{0.01, 1000};
constexpr Range kMs{0, 2000};                     // guess: twice what a satellite's link takes
constexpr Range kQueueBytes{2 * 1538, 16 << 20};  // two whole frames, so that the link never waits; a guess
constexpr double kMostBytesUnderWay = 64 << 20;   // guess: of memory that frames on their way may take

double Number(const Json& j, const std::string& where, const char* key, double otherwise,
              const Range& range) {
  if (!j.contains(key)) return otherwise;
  const Json& value = j.at(key);
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (number >= range.least && number <= range.most) return number;
  Invalid(where, "'{}' is no number in its range; got {}, expected {} to {}", key,
          JsonText(value, -1).substr(0, 100), range.least, range.most);
}

void CheckKeys(const Json& j, const std::string& where) {
  for (const auto& [key, value] : Object(j, where, "a direction").items())
    if (key != "mbit" && key != "delay_ms" && key != "jitter_ms" && key != "queue_bytes")
      Invalid(where, "unknown key; got '{}', expected mbit, delay_ms, jitter_ms or queue_bytes",
              Printable(key.substr(0, 100)));
}

int64_t Ns(double ms) { return std::llround(ms * 1e6); }

// Mb/s are bits for each microsecond.
int64_t TimeOnLink(double bytes, double mbit) { return std::llround(bytes * 8e3 / mbit); }

}  // namespace

WaySettings WaySettingsFrom(const Json& j, const std::string& where) {
  CheckKeys(j, where);
  const WaySettings d;
  const WaySettings s{Number(j, where, "mbit", d.mbit, kMbit), Number(j, where, "delay_ms", d.delay_ms, kMs),
                      Number(j, where, "jitter_ms", d.jitter_ms, kMs),
                      int64_t(Number(j, where, "queue_bytes", double(d.queue_bytes), kQueueBytes))};
  const double under_way = s.mbit * (s.delay_ms + s.jitter_ms) * 125;  // 125 bytes for each Mb/s and ms
  if (under_way > kMostBytesUnderWay)
    Invalid(where, "too many bytes are under way; got {:.0f} ({} Mb/s for {} ms), expected at most {:.0f}",
            under_way, s.mbit, s.delay_ms + s.jitter_ms, kMostBytesUnderWay);
  return s;
}

// What waits at `now_ns` is what the link has still to send, so no frame has to be looked at for it.
std::optional<int64_t> OneWay::Take(int64_t bytes, int64_t now_ns) {
  const double wire_bytes = double(bytes + kWireBytes);
  const int64_t start_ns = std::max(now_ns, free_ns_);
  if (TimeOnLink(double(settings_.queue_bytes) - wire_bytes, settings_.mbit) < start_ns - now_ns) return {};
  free_ns_ = start_ns + TimeOnLink(wire_bytes, settings_.mbit);
  last_arrival_ns_ = std::max(last_arrival_ns_, free_ns_ + Ns(settings_.delay_ms) + Jitter());
  return last_arrival_ns_;
}

void OneWay::Change(const WaySettings& settings, int64_t now_ns) {
  settings_ = settings;
  free_ns_ = now_ns;
}

// The function does not use std::uniform_real_distribution, because its numbers differ between libraries.
int64_t OneWay::Jitter() { return Ns(settings_.jitter_ms * (double(random_() >> 11) * 0x1p-53)); }

}  // namespace mete::delayline
