#include "costs/link_estimate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "mete/statistics.h"

namespace mete {
namespace {

// Guess: with fewer exchanges one outlier is a third of the slopes.
constexpr size_t kEnoughForALine = 4;
// Guess: the 95th percentile of fewer is their largest one.
constexpr size_t kEnoughForLate = 20;
// Guess: no prior is so many times too slow. It bounds what transfers show that are not longer than the round
// trip is held for.
constexpr double kMostTimesFaster = 10;
// Slow start depends on rate and round trip, which are fitted without it. Each round takes it off as the last
// round's link has it; the third one changes figures by less than a thousandth.
constexpr int kRounds = 4;

double Median(std::vector<double> values) { return Summarize(std::move(values)).median; }

// A point of the line: the time of an exchange without all that does not grow with its bytes nor is the round
// trip.
struct Point {
  double bytes, ms;
};

Point PointOf(const ObservedExchange& e, const NetworkLink& link) {
  const ExchangeParts parts = PartsOfExchange(link, e.up_bytes, e.down_bytes, e.connection);
  const double down_ms = ExchangeMs(link, 0, e.down_bytes, Connection::kWarm) - link.round_trip_ms;
  return {double(e.up_bytes), e.ms - parts.connect_ms - parts.slow_start_ms - down_ms};
}

// What is within the first window takes a round trip, whose variation is longer than its bytes take on a fast
// link.
bool TellsRate(double up_bytes) { return up_bytes > kFirstWindowBytes; }

// Returns the median slope between two points of which one tells the rate and has at least twice the bytes of
// the other; nothing if there are too few.
std::optional<double> SlopeOf(const std::vector<Point>& points) {
  std::vector<double> slopes;
  for (const Point& from : points)
    for (const Point& to : points)
      if (TellsRate(to.bytes) && to.bytes >= 2 * from.bytes)
        slopes.push_back((to.ms - from.ms) / (to.bytes - from.bytes));
  if (points.size() < kEnoughForALine || slopes.size() < points.size()) return std::nullopt;
  const double slope = Median(std::move(slopes));
  return slope > 0 ? std::optional(slope) : std::nullopt;
}

std::vector<double> RatiosTo(const NetworkLink& link, std::span<const ObservedExchange> exchanges) {
  std::vector<double> ratios;
  for (const ObservedExchange& e : exchanges)
    ratios.push_back(e.ms / std::max(1e-3, ExchangeMs(link, e.up_bytes, e.down_bytes, e.connection)));
  return ratios;
}

NetworkLink Slower(NetworkLink link, double trips_by, double rates_by) {
  trips_by = std::max(1e-3, trips_by);
  rates_by = std::max(1e-3, rates_by);
  link.connect_ms *= trips_by;
  link.round_trip_ms *= trips_by;
  link.up_mbit_per_s /= rates_by;
  link.down_mbit_per_s /= rates_by;
  return link;
}

bool IsTransfer(const ObservedExchange& exchange) { return TellsRate(double(exchange.up_bytes)); }

// Returns the prior as slow as the exchanges show, without a line through them. Beside exchanges that
// tell the round trip, the prior's rates count as those of one transfer, so that a single one that was held
// up does not make a slow link of a fast one.
NetworkLink Scaled(const NetworkLink& prior, std::vector<ObservedExchange> exchanges) {
  const auto middle = std::partition(exchanges.begin(), exchanges.end(), IsTransfer);
  const std::span transfers(exchanges.begin(), middle), others(middle, exchanges.end());
  if (others.empty()) {
    const double by = Median(RatiosTo(prior, transfers));
    return Slower(prior, by, by);
  }
  const NetworkLink link = Slower(prior, Median(RatiosTo(prior, others)), 1);
  std::vector<double> ratios{1};
  for (const ObservedExchange& e : transfers) {
    const ExchangeParts parts = PartsOfExchange(link, e.up_bytes, e.down_bytes, e.connection);
    ratios.push_back(std::max(1 / kMostTimesFaster, (e.ms - parts.connect_ms - parts.round_trip_ms) /
                                                        (parts.bytes_ms + parts.slow_start_ms)));
  }
  return Slower(link, 1, Median(std::move(ratios)));
}

}  // namespace

void Remember(std::vector<ObservedExchange>& last, const ObservedExchange& exchange) {
  last.push_back(exchange);
  if (last.size() <= kKeptExchanges) return;
  const auto transfers = size_t(std::count_if(last.begin(), last.end(), IsTransfer));
  last.erase(std::find_if(last.begin(), last.end(), [&](const ObservedExchange& e) {
    return (IsTransfer(e) ? transfers : last.size() - transfers) > kLeastOfAKind;
  }));
}

LinkEstimate::LinkEstimate(const NetworkLink& prior) : prior_(prior), link_(prior) { Verify(prior, "link"); }

void LinkEstimate::Observe(std::span<const ObservedExchange> exchanges) {
  for (const ObservedExchange& e : exchanges) {
    if (e.up_bytes < 0 || e.down_bytes < 0 || !std::isfinite(e.ms) || e.ms < 0)
      Invalid("link", "no exchange is such; got {} and {} bytes in {} ms, expected 0 or more", e.up_bytes,
              e.down_bytes, e.ms);
    Remember(last_, e);
  }
  if (!last_.empty()) Fit();
}

void LinkEstimate::Fit() {
  link_ = Scaled(prior_, last_);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Point> points;
    for (const ObservedExchange& e : last_) points.push_back(PointOf(e, link_));
    const std::optional<double> slope = SlopeOf(points);
    if (!slope) break;
    std::vector<double> rests;
    for (const Point& p : points) rests.push_back(p.ms - *slope * p.bytes);
    link_.up_mbit_per_s = 8e-3 / *slope;
    link_.round_trip_ms = std::max(0.0, Median(std::move(rests)));
    link_.down_mbit_per_s = prior_.down_mbit_per_s;
  }
  std::vector<double> connects;
  for (const ObservedExchange& e : last_)
    if (e.connection == Connection::kCold)
      connects.push_back(e.ms - ExchangeMs(link_, e.up_bytes, e.down_bytes, Connection::kIdle));
  if (!connects.empty()) link_.connect_ms = std::max(0.0, Median(std::move(connects)));
  link_.late_ratio = prior_.late_ratio;
  if (last_.size() >= kEnoughForLate)
    if (const Spread spread = Summarize(RatiosTo(link_, last_)); spread.median > 0)
      link_.late_ratio = std::max(1.0, spread.p95 / spread.median);
}

}  // namespace mete
