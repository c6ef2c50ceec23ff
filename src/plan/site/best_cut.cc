#include "plan/site/best_cut.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace mete {
namespace {

// Of slow start, which makes bytes dearer up to a size and not behind it: factors of a byte's price. Guess:
// the first windows take up to some ten times as long as their bytes.
constexpr double kDearer[] = {1, 1.25, 1.5, 2, 3, 5, 10};
// Guess: each try halves an interval of prices, or moves them by a third; tests compare the cuts with all
// there are.
constexpr int kTries = 24;
// Guess: networks with more have many heads, and one of each pair is forced.
constexpr size_t kMostPairs = 64;

bool IsInTime(const SiteWay& way, const SiteObjective& objective) {
  return objective.deadline_ms <= 0 || way.late_ms <= objective.deadline_ms;
}

CutRates Sum(const CutRates& a, const CutRates& b, double times) {
  return {a.device_us + times * b.device_us, a.server_us + times * b.server_us, a.up_byte + times * b.up_byte,
          a.down_byte + times * b.down_byte, a.load_us + times * b.load_us};
}

class CutSearch {
 public:
  CutSearch(const SiteModel& model, const SiteObjective& objective) : model_(model), objective_(objective) {
    best_.candidate = SiteCandidate::kCut;
    best_.why_not = "no cut leaves layers on both sides that these can compute";
    for (const int first : model.cuts().firsts)
      for (const int last : model.cuts().lasts)
        if (first != last) pairs_.push_back({first, last});
    if (pairs_.size() > kMostPairs) pairs_ = {{}};
  }

  SiteWay Do() {
    if (const OnDevice& ready = model_.costs().cut.ready; !ready.empty()) Weigh(ready);
    for (const OnDevice& prefix : Prefixes(model_.cuts())) Weigh(prefix);
    switch (objective_.of) {
      case PoolObjective::kLatency: TryDearer(model_.TimeRates()); break;
      case PoolObjective::kEnergy: TryEnergy(); break;
      case PoolObjective::kThroughput: TryStages(); break;
    }
    if (!IsSum()) Climb();
    return std::move(best_);
  }

 private:
  SiteWay Weigh(const OnDevice& on_device) {
    SiteWay way = model_.Cut(on_device);
    if (IsBetter(way, best_, objective_) || (best_.on_device.empty() && !best_.can()))
      best_ = way;  // or why the first one cannot be
    return way;
  }

  // Returns the best of the cheapest cuts; one that cannot be, if there is none. Each has a first layer on
  // the device and a last one on the server, as every cut has.
  SiteWay Try(const CutRates& rates) {
    const CutPrices prices = model_.Prices(rates);
    std::optional<OnDevice> cheapest;
    for (const ForcedLayers& pair : pairs_)
      if (auto cut = CheapestCut(prices, pair);
          cut && IsCut(*cut) && (!cheapest || PriceOf(prices, *cut) < PriceOf(prices, *cheapest)))
        cheapest = std::move(cut);
    if (cheapest) return Weigh(*cheapest);
    SiteWay none;
    none.why_not = "no cut has a price";
    return none;
  }

  bool IsSum() const {
    const bool warm = model_.costs().connection == Connection::kWarm;
    return objective_.of != PoolObjective::kThroughput && warm && objective_.deadline_ms <= 0;
  }

  // Moves single layers to the other side while that is better.
  void Climb() {
    for (int i = 0; i < kTries && best_.can(); ++i) {
      const OnDevice before = best_.on_device;
      for (size_t l = 0; l < before.size(); ++l) {
        OnDevice other = best_.on_device;
        other[l] = !other[l];
        if (IsCut(other)) Weigh(other);
      }
      if (best_.on_device == before) return;
    }
  }

  static bool IsCut(const OnDevice& on_device) {
    return std::find(on_device.begin(), on_device.end(), !on_device[0]) != on_device.end();
  }

  void TryDearer(CutRates rates) {
    const CutRates once = rates;
    for (const double by : kDearer) {
      rates.up_byte = by * once.up_byte;
      Try(rates);
      if (model_.costs().connection == Connection::kWarm) return;
    }
  }

  // The least joules in time: joules and a price of time, which grows until the cheapest cut is in time.
  void TryEnergy() {
    const std::optional<CutRates> joules = model_.EnergyRates();
    if (!joules) return;
    TryDearer(*joules);
    if (objective_.deadline_ms <= 0) return;
    TryDearer(model_.TimeRates());
    // Joules for a microsecond from none to all that count.
    double low = 0, high = 1e3 * joules->device_us + 1e-3;
    for (int i = 0; i < kTries; ++i) {
      const double middle = (low + high) / 2;
      const SiteWay way = Try(Sum(*joules, model_.TimeRates(), middle));
      (way.can() && IsInTime(way, objective_) ? high : low) = middle;
    }
  }

  // The least time of the busiest stage: weights of the stages, of which the busiest one's grow. The weights
  // of a cut that is the best for some weights converge to it (multiplicative weights); others are not found.
  void TryStages() {
    const CutRates time = model_.TimeRates();
    std::array<double, 4> weights{1, 1, 1, 1};  // device, server, up, down
    for (int i = 0; i < kTries; ++i) {
      const SiteWay way = Try({weights[0] * time.device_us, weights[1] * time.server_us,
                               weights[2] * time.up_byte, weights[3] * time.down_byte, 0});
      if (!way.can()) return;
      const std::array<double, 4> stages = StagesOf(way);
      const double busiest = *std::max_element(stages.begin(), stages.end());
      for (size_t s = 0; s < stages.size() && busiest > 0; ++s)
        weights[s] *= std::exp(stages[s] / busiest / std::sqrt(i + 1.0));
    }
  }

  std::array<double, 4> StagesOf(const SiteWay& way) const {
    const CutRates time = model_.TimeRates();
    return {way.device_ms * 1e3, way.server_ms * 1e3, double(way.up_bytes) * time.up_byte,
            double(way.down_bytes) * time.down_byte};
  }

  const SiteModel& model_;
  const SiteObjective& objective_;
  std::vector<ForcedLayers> pairs_;  // one or more
  SiteWay best_;
};

}  // namespace

bool IsBetter(const SiteWay& a, const SiteWay& b, const SiteObjective& objective) {
  if (!a.can() || !b.can()) return a.can() && !b.can();
  switch (objective.of) {
    case PoolObjective::kLatency: return a.steps.total_ms() < b.steps.total_ms();
    case PoolObjective::kThroughput: return a.period_ms < b.period_ms;
    case PoolObjective::kEnergy: break;
  }
  if (!a.joules || !b.joules) return a.joules && !b.joules;
  const bool a_in_time = IsInTime(a, objective), b_in_time = IsInTime(b, objective);
  if (a_in_time != b_in_time) return a_in_time;
  return a_in_time ? *a.joules < *b.joules : a.steps.total_ms() < b.steps.total_ms();
}

SiteWay BestCut(const SiteModel& model, const SiteObjective& objective, const std::string& why_none) {
  const SiteCosts& costs = model.costs();
  if (!costs.has_server) return model.Cut(OnDevice(model.cuts().layers.size(), true));
  if (!why_none.empty()) {
    SiteWay way;
    way.candidate = SiteCandidate::kCut;
    way.why_not = why_none;
    return way;
  }
  return CutSearch(model, objective).Do();
}

}  // namespace mete
