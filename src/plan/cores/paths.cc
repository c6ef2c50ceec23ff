#include "plan/cores/paths.h"

#include <algorithm>

#include "plan/cores/cores.h"
#include "schedule/policy.h"

namespace mete {
namespace {

// Decisions for the first nodes, and the time at which they end.
struct Path {
  double end_ns = 0;
  // By thread. A node always has the first threads, so that these worked last.
  std::vector<double> idle_since_ns;
  std::vector<Decision> decisions;

  int Awake() const {
    const auto sleeps = [&](double since) { return end_ns - since > double(kSpinNs); };
    return int(std::find_if(idle_since_ns.begin() + 1, idle_since_ns.end(), sleeps) - idle_since_ns.begin());
  }
};

class Search {
 public:
  Search(const Costs& costs, const Prediction& prediction) : costs_(costs), prediction_(prediction) {}

  std::vector<Decision> Do() {
    paths_ = {Path{0, std::vector<double>(size_t(prediction_.threads()), 0), {}}};
    for (size_t node = 0; node < costs_.nodes.size(); ++node) Extend(node);
    return std::min_element(paths_.begin(), paths_.end(), Sooner)->decisions;
  }

 private:
  static bool Sooner(const Path& a, const Path& b) { return a.end_ns < b.end_ns; }

  void Extend(size_t node) {
    if (!costs_.nodes[node].computes()) {
      for (Path& path : paths_) path.decisions.push_back({1, path.Awake()});
      return;
    }
    std::vector<Path> longer;
    for (const int threads : WorthIt(prediction_, node)) longer.push_back(BestTo(node, threads));
    paths_ = std::move(longer);
  }

  // Returns the path that ends first, with this node on `threads` threads.
  Path BestTo(size_t node, int threads) {
    const Path* best = nullptr;
    double soonest = 0;
    for (const Path& path : paths_) {
      const double end = path.end_ns + Ns(node, threads, path.Awake());
      if (!best || end < soonest) {
        best = &path;
        soonest = end;
      }
    }
    Path path = *best;
    path.decisions.push_back({threads, best->Awake()});
    path.end_ns = soonest;
    std::fill_n(path.idle_since_ns.begin(), threads, soonest);
    return path;
  }

  double Ns(size_t node, int threads, int awake) { return prediction_.Ns(node, threads, std::max(awake, 1)); }

  const Costs& costs_;
  const Prediction& prediction_;
  std::vector<Path> paths_;  // one per number of threads of the last node that computes
};

}  // namespace

std::vector<int> WorthIt(const Prediction& prediction, size_t node) {
  std::vector<int> counts;
  double least = 0;
  for (const int count : prediction.Counts()) {
    const double ns = prediction.Ns(node, count, count);
    if (counts.empty() || ns < (1 - kLeastGain) * least) {
      counts.push_back(count);
      least = ns;
    }
  }
  return counts;
}

std::vector<Decision> BestPath(const Costs& costs, const Prediction& prediction) {
  return Search(costs, prediction).Do();
}

}  // namespace mete
