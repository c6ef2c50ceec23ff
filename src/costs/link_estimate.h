// What a link has shown itself to be in use: its figures follow the last exchanges, and few outliers do not
// change them. A pure value that is told what happened; it has no clock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costs/network_link.h"

namespace mete {

struct ObservedExchange {
  int64_t up_bytes = 0, down_bytes = 0;
  double ms = 0;  // as ExchangeMs(): without the time that the server says it took
  Connection connection = Connection::kWarm;
};

inline constexpr size_t kKeptExchanges = 32;  // guess: some seconds of use, and half a thousand slopes
inline constexpr size_t kLeastOfAKind = 4;    // guess: one of them may be an outlier
// Adds an exchange to the last ones. Of more than kKeptExchanges the oldest one is forgotten, unless there
// are only kLeastOfAKind of its kind: transfers, which send more than the first window, tell the rate, and
// the others tell the round trip. For example, a device that asks the server about its load before each
// photo, and then answers a hundred photos itself, still knows the rate that it saw before.
void Remember(std::vector<ObservedExchange>& last, const ObservedExchange& exchange);

class LinkEstimate {
 public:
  explicit LinkEstimate(const NetworkLink& prior);  // of a profile, or of an earlier use

  // Error if an exchange cannot be: negative bytes or times.
  void Observe(const ObservedExchange& exchange) { Observe(std::span(&exchange, 1)); }
  void Observe(std::span<const ObservedExchange> exchanges);  // the oldest first
  // Returns the link that explains the last exchanges. Round trip and uplink are those of a line through the
  // exchanges (Theil and Sen: the median of the slopes between any two), where transfers and their sizes are
  // enough. Otherwise the prior's figures are scaled: the rates as transfers show, the other figures as the
  // others do; where all are transfers, all figures alike, which predicts exchanges of these sizes. The
  // downlink is the prior's: answers are small.
  const NetworkLink& link() const { return link_; }
  int observed() const { return int(last_.size()); }

 private:
  void Fit();

  const NetworkLink prior_;
  NetworkLink link_;
  std::vector<ObservedExchange> last_;
};

}  // namespace mete
