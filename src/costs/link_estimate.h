// What a link has shown itself to be in use: its figures follow the last exchanges, and few outliers do not
// change them. A pure value that is told what happened; it has no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "costs/network_link.h"

namespace mete {

struct ObservedExchange {
  int64_t up_bytes = 0, down_bytes = 0;
  double ms = 0;  // as ExchangeMs(): without the time that the server says it took
  Connection connection = Connection::kWarm;
};

class LinkEstimate {
 public:
  explicit LinkEstimate(const NetworkLink& prior);  // of a profile, or of an earlier use

  // Error if an exchange cannot be: negative bytes or times.
  void Observe(const ObservedExchange& exchange) { Observe(std::span(&exchange, 1)); }
  void Observe(std::span<const ObservedExchange> exchanges);  // the oldest first
  // Returns the link that explains the last exchanges. Round trip and uplink are those of a line through the
  // exchanges (Theil and Sen: the median of the slopes between any two), where their sizes differ enough;
  // otherwise both are the prior's, scaled alike, which predicts exchanges of these sizes. The downlink is
  // the prior's: answers are small.
  const NetworkLink& link() const { return link_; }
  int observed() const { return int(last_.size()); }

 private:
  void Fit();

  const NetworkLink prior_;
  NetworkLink link_;
  std::deque<ObservedExchange> last_;
};

}  // namespace mete
