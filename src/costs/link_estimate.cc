#include "costs/link_estimate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "mete/statistics.h"

namespace mete {
namespace {

// Guess: some seconds of use, and half a thousand slopes.
constexpr size_t kKept = 32;
// Guess: with fewer exchanges one outlier is a third of the slopes.
constexpr size_t kEnoughForALine = 4;
// Guess: the 95th percentile of fewer is their largest one.
constexpr size_t kEnoughForLate = 20;
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

// Returns the median slope between two points of which one has at least twice the bytes of the other; nothing
// if there are too few.
std::optional<double> SlopeOf(const std::vector<Point>& points) {
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t j = 0; j < points.size(); ++j)
      if (points[j].bytes >= 2 * points[i].bytes && points[j].bytes > 0)
        slopes.push_back((points[j].ms - points[i].ms) / (points[j].bytes - points[i].bytes));
  if (points.size() < kEnoughForALine || slopes.size() < points.size()) return std::nullopt;
  const double slope = Median(std::move(slopes));
  return slope > 0 ? std::optional(slope) : std::nullopt;
}

std::vector<double> RatiosTo(const NetworkLink& link, const std::deque<ObservedExchange>& exchanges) {
  std::vector<double> ratios;
  for (const ObservedExchange& e : exchanges)
    ratios.push_back(e.ms / std::max(1e-3, ExchangeMs(link, e.up_bytes, e.down_bytes, e.connection)));
  return ratios;
}

// Returns the link with all of its times as many times as long.
NetworkLink Slower(NetworkLink link, double by) {
  by = std::max(1e-3, by);
  link.connect_ms *= by;
  link.round_trip_ms *= by;
  link.up_mbit_per_s /= by;
  link.down_mbit_per_s /= by;
  return link;
}

}  // namespace

LinkEstimate::LinkEstimate(const NetworkLink& prior) : prior_(prior), link_(prior) { Verify(prior, "link"); }

void LinkEstimate::Observe(std::span<const ObservedExchange> exchanges) {
  for (const ObservedExchange& e : exchanges) {
    if (e.up_bytes < 0 || e.down_bytes < 0 || !std::isfinite(e.ms) || e.ms < 0)
      Invalid("link", "no exchange is such; got {} and {} bytes in {} ms, expected 0 or more", e.up_bytes,
              e.down_bytes, e.ms);
    last_.push_back(e);
    if (last_.size() > kKept) last_.pop_front();
  }
  if (!last_.empty()) Fit();
}

void LinkEstimate::Fit() {
  link_ = Slower(prior_, Median(RatiosTo(prior_, last_)));
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
