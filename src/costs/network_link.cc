#include "costs/network_link.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/problems.h"

namespace mete {
namespace {

double BytesPerMs(double mbit_per_s) { return mbit_per_s * 1e3 / 8; }

// The spread of transfers that MDInference's users had, mean and standard deviation (site.md): at home 92.0
// and 48.4 ms, over LTE 364.7 and 170.6. Of log-normal times with these, which is a guess, the 95th
// percentile is exp(1.645 s) times the median, s^2 = ln(1 + (sd / mean)^2).
const Figure kLateAtHome{
    2.26, "derived: log-normal times with the spread of MDInference's home network, 92.0 +- 48.4 ms"};
const Figure kLateOverLte{
    2.08, "derived: log-normal times with the spread of MDInference's LTE, 364.7 +- 170.6 ms"};

NamedLink OfDads(const std::string& name, double up_mbit_per_s) {
  return {"dads-" + name,
          {0, "derived: DADS counts bytes / rate alone"},
          {0, "derived: DADS counts bytes / rate alone"},
          {up_mbit_per_s, "DADS (INFOCOM 2019): the uplinks of its experiments"},
          {1e6, "derived: DADS leaves out the answer"},
          {1, "derived: DADS has no spread"}};
}

}  // namespace

double SlowStartMs(const NetworkLink& link, double mbit_per_s, int64_t bytes) {
  const double rate = BytesPerMs(mbit_per_s), acknowledged_ms = link.round_trip_ms + kSegmentBytes / rate;
  double ms = 0, sent = 0;
  // The windows double, so the loop ends where one lasts for a round trip.
  for (double window = link.first_window_bytes; window > 0 && sent + window < double(bytes); window *= 2) {
    const double gap_ms = acknowledged_ms - window / rate;
    if (gap_ms <= 0) break;
    ms += gap_ms;
    sent += window;
  }
  return ms;
}

ExchangeParts PartsOfExchange(const NetworkLink& link, int64_t up_bytes, int64_t down_bytes,
                              Connection connection) {
  ExchangeParts parts;
  parts.round_trip_ms = link.round_trip_ms;
  parts.bytes_ms = double(up_bytes) / BytesPerMs(link.up_mbit_per_s) +
                   double(down_bytes) / BytesPerMs(link.down_mbit_per_s);
  if (connection == Connection::kCold) parts.connect_ms = link.connect_ms;
  if (connection != Connection::kWarm)
    parts.slow_start_ms =
        SlowStartMs(link, link.up_mbit_per_s, up_bytes) + SlowStartMs(link, link.down_mbit_per_s, down_bytes);
  return parts;
}

double ExchangeMs(const NetworkLink& link, int64_t up_bytes, int64_t down_bytes, Connection connection) {
  return PartsOfExchange(link, up_bytes, down_bytes, connection).ms();
}

LinkCosts PoolLinkOf(const NetworkLink& link) {
  // the far end sends what comes down
  return {link.round_trip_ms * 1e3 / 2, 0, link.down_mbit_per_s, link.up_mbit_per_s};
}

void Verify(const NetworkLink& link, const std::string& where) {
  Problems problems;
  for (const auto& [name, ms] :
       {std::pair("connect_ms", link.connect_ms), {"round_trip_ms", link.round_trip_ms}})
    problems.Try([&, name = name, ms = ms] {
      if (!std::isfinite(ms) || ms < 0) Invalid(where, "{} is no time; got {}, expected 0 or more", name, ms);
    });
  for (const double rate : {link.up_mbit_per_s, link.down_mbit_per_s})
    problems.Try([&] {
      if (!std::isfinite(rate) || rate <= 0)
        Invalid(where, "a link has no such rate; got {} Mbit/s, expected more than 0", rate);
    });
  problems.Try([&] {
    if (!std::isfinite(link.first_window_bytes) || link.first_window_bytes < 0)
      Invalid(where, "a window has no such size; got {} bytes, expected 0 or more", link.first_window_bytes);
  });
  problems.Try([&] {
    if (!std::isfinite(link.late_ratio) || link.late_ratio < 1)
      Invalid(where, "the 95th percentile is below the median; got a ratio of {}, expected 1 or more",
              link.late_ratio);
  });
  problems.ThrowIfAny();
}

std::span<const NamedLink> NamedLinks() {
  static const std::vector<NamedLink> profiles{
      {"3g",
       {300, "guess: TCP and TLS 1.3, two round trips, and the radio wakes up"},
       {120, "guess"},
       {1.1, "DADS (INFOCOM 2019): its 3G uplink"},
       {5, "guess"},
       kLateOverLte},
      {"lte",
       {120, "derived: TCP and TLS 1.3, two round trips"},
       {60, "guess: 30 ms each way"},
       {5.85, "DADS (INFOCOM 2019): its 4G uplink"},
       {20, "guess"},
       kLateOverLte},
      {"wifi",
       {20, "derived: TCP and TLS 1.3, two round trips"},
       {10, "guess: a home's router and a server of the same city"},
       {18.88, "DADS (INFOCOM 2019): its Wi-Fi uplink"},
       {50, "guess"},
       kLateAtHome},
      {"lan",
       {1, "derived: TCP and TLS 1.3, two round trips"},
       {0.5, "guess: a switch, and a process that is woken on both sides"},
       {941, "derived: 1 Gbit/s less headers, 1448 of 1538 bytes of each frame"},
       {941, "derived: as up_mbit_per_s"},
       {1.2, "guess"}},
      OfDads("cat1", 0.13),
      OfDads("3g", 1.1),
      OfDads("4g", 5.85),
      OfDads("wifi", 18.88)};
  return profiles;
}

const NamedLink& FindNamedLink(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const NamedLink& profile : NamedLinks()) {
    if (profile.name == name) return profile;
    names.push_back(profile.name);
  }
  Invalid(where, "is no link; got '{}', expected one of: {}", Printable(name), fmt::join(names, ", "));
}

}  // namespace mete
