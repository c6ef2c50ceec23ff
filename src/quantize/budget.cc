#include "quantize/budget.h"

#include <algorithm>

#include "base/error.h"

namespace mete {

std::vector<std::string> LayersByHarm(const Calibration& c, const QuantizeOptions& options,
                                      const Runs& runs) {
  const Places places = FindPlaces(c.graph, options.kept);
  std::vector<std::string> layers;
  for (size_t n = 0; n < c.graph.nodes.size(); ++n)
    if (places.computes[n]) layers.push_back(c.graph.nodes[n].name);
  runs.Stage("ranking layers, layer");
  std::vector<std::pair<double, std::string>> by_db;
  const Runs quiet{runs.processor};
  for (size_t i = 0; i < layers.size(); ++i) {
    if (runs.progress) runs.progress(i, layers.size());
    QuantizeOptions without = options;
    without.kept.insert(layers[i]);
    const Graph graph = Quantize(c, without).graph;
    by_db.emplace_back(-SignalToNoiseOf(c.answers, AnswersOf(graph, c.judged, quiet)), layers[i]);
  }
  std::stable_sort(by_db.begin(), by_db.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < layers.size(); ++i) layers[i] = by_db[i].second;
  return layers;
}

std::optional<size_t> LeastKept(size_t most, double budget, const std::function<double(size_t)>& points) {
  if (points(0) <= budget) return 0;
  size_t fails = 0, serves = 1;
  while (points(std::min(serves, most)) > budget) {
    if (serves >= most) return std::nullopt;
    fails = serves;
    serves *= 2;
  }
  serves = std::min(serves, most);
  while (serves - fails > 1) {
    const size_t middle = fails + (serves - fails) / 2;
    (points(middle) <= budget ? serves : fails) = middle;
  }
  return serves;
}

Budgeted QuantizeWithin(double budget, const Calibration& c, const QuantizeOptions& options,
                        const Samples& holdout, const Runs& runs) {
  const Runs quiet{runs.processor};
  const Answers exact = AnswersOf(c.graph, holdout, quiet);
  if (!ChangedClasses(exact, exact))
    Invalid("--drop",
            "no output has scores of classes, so nothing tells how many answers change; try --keep");
  std::vector<std::string> layers;  // ranked only where some must stay in floats
  const auto with = [&](size_t kept) {
    if (kept > 0 && layers.empty()) layers = LayersByHarm(c, options, runs);
    Budgeted b;
    b.kept.assign(layers.begin(), layers.begin() + std::ptrdiff_t(kept));
    QuantizeOptions some = options;
    some.kept.insert(b.kept.begin(), b.kept.end());
    b.quantized = Quantize(c, some);
    b.changed = *ChangedClasses(exact, AnswersOf(b.quantized.graph, holdout, quiet));
    return b;
  };
  const Places places = FindPlaces(c.graph, options.kept);
  const auto all = size_t(std::count(places.computes.begin(), places.computes.end(), true));
  const size_t most = all / 2;
  std::optional<Budgeted> best;
  const auto least = LeastKept(most, budget, [&](size_t kept) {
    Budgeted b = with(kept);
    if (!best || b.changed.points() < best->changed.points()) best = b;
    return b.changed.points();
  });
  if (!least)
    Fail(Code::kFailedPrecondition, "--drop",
         "cannot be met; got {:.3g} points ({} of {} pictures change their class) with {} of {} layers in "
         "floats, "
         "expected at most {:.3g}; try more pictures, or --drop {:.3g}",
         best->changed.points(), best->changed.pictures, best->changed.of, best->kept.size(), all, budget,
         best->changed.points());
  return with(*least);
}

}  // namespace mete
