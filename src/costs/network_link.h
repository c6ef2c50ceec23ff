// The link of a device to a server over a shared network, such as a home's Wi-Fi or a mobile network.
// Unlike LinkCosts (pool.h), whose ends hold their connections open and warm, it has what a single request
// meets: a connection that is not there yet, and TCP's slow start.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "costs/pool.h"
#include "machine/file.h"

namespace mete {

// What a request finds.
//   warm   a connection whose window is as large as the link needs
//   idle   an open connection that was not used for a while: its window is the first one again (RFC 5681, 4.1)
//   cold   none: it is connected first, and then is as an idle one
enum class Connection { kWarm, kIdle, kCold };

// A segment of TCP over Ethernet: 1500 bytes less 40 of headers. The first window has ten of them (RFC 6928).
inline constexpr double kSegmentBytes = 1460, kFirstWindowBytes = 10 * kSegmentBytes;

struct NetworkLink {
  double connect_ms = 0;     // until a new connection takes the first byte of a request
  double round_trip_ms = 0;  // of a message without content and its answer
  // from the device, to it, as a stream has it: less than the line's rate by headers
  double up_mbit_per_s = 1, down_mbit_per_s = 1;
  double first_window_bytes = kFirstWindowBytes;
  double late_ratio = 1;  // the 95th percentile of a transfer's time over its median, which all other figures
                          // predict; 1 or more

  bool operator==(const NetworkLink&) const = default;
};

// Returns the time for which a sender with its first window has to wait for acknowledgements while the link
// is idle. It sends a window of w bytes in w / rate and the next one, of twice the size, when the first
// segment has been acknowledged; so each window that is shorter than a round trip leaves a gap, if bytes are
// left. For example at 60 ms and 5.85 Mbit/s: 42 ms behind 14.6 kB, 22 ms more behind 43.8 kB.
double SlowStartMs(const NetworkLink& link, double mbit_per_s, int64_t bytes);

// The parts of the time from sending a request until its answer has come, without what the server takes in
// between.
struct ExchangeParts {
  double connect_ms = 0, round_trip_ms = 0;
  double bytes_ms = 0;  // of both directions, by the rates
  double slow_start_ms = 0;

  double ms() const { return connect_ms + round_trip_ms + bytes_ms + slow_start_ms; }
};
ExchangeParts PartsOfExchange(const NetworkLink& link, int64_t up_bytes, int64_t down_bytes,
                              Connection connection);
double ExchangeMs(const NetworkLink& link, int64_t up_bytes, int64_t down_bytes, Connection connection);

// Returns the link with a connection that is open and warm as a link of a pool, of the processor at its far
// end.
LinkCosts PoolLinkOf(const NetworkLink& link);

// Throws one Error that lists all figures that no link has.
void Verify(const NetworkLink& link, const std::string& where);

// The link as JSON, so that a later use begins with what an earlier one has seen (LinkEstimate). Returns a
// verified link; throws Error with `where`.
std::string ToJson(const NetworkLink& link);
NetworkLink NetworkLinkFromJson(const std::string& text, const std::string& where);

// A link with a name and the sources of its figures.
struct NamedLink {
  std::string name;
  Figure connect_ms, round_trip_ms, up_mbit_per_s, down_mbit_per_s, late_ratio;

  NetworkLink link() const {
    return {connect_ms.value,      round_trip_ms.value, up_mbit_per_s.value,
            down_mbit_per_s.value, kFirstWindowBytes,   late_ratio.value};
  }
};

// 3g, lte, wifi, lan; and the uplinks of DADS's experiments, which count nothing but bytes / rate: dads-cat1,
// dads-3g, dads-4g, dads-wifi.
std::span<const NamedLink> NamedLinks();
const NamedLink& FindNamedLink(const std::string& name,
                               const std::string& where);  // Error for an unknown name

}  // namespace mete
