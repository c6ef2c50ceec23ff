#include "costs/energy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/error.h"
#include "graph/flops.h"
#include "graph/traits.h"

namespace mete {
namespace {

// This value is a guess. A combination of two clusters' settings took 3 us with a thousand nodes: 12 s in
// all.
constexpr double kMostWays = 4e6;
// per cluster; this value is a guess: 64 frequencies x 64 cores, which take 64 MiB with a thousand nodes
constexpr int kMostSettings = 4096;
constexpr int kWaysBetween = 1024;    // combinations between two checks of the token: about 3 ms
constexpr size_t kMostRunnersUp = 5;  // this value is a guess: a user reads about as many
constexpr double kMostMs = 1e9;       // this value is a guess: eleven days

// Time and energy per byte at a data-reuse rate, for one frequency and number of cores.
struct PerByte {
  double ns = 0, joules = 0;  // `joules` is in nanojoules: watts times nanoseconds
};

PerByte At(const EnergyPoint& p) {
  const double ns = p.flops_per_byte / p.gflops;
  return {ns, p.watts * ns};
}

PerByte Interpolate(const EnergyPoint* begin, const EnergyPoint* end, double rate) {
  const EnergyPoint* above =
      std::find_if(begin, end, [&](const EnergyPoint& p) { return p.flops_per_byte >= rate; });
  if (above == begin) return At(*begin);
  const PerByte low = At(above[-1]);
  if (above == end) {
    const double more = rate / above[-1].flops_per_byte;
    return {low.ns * more, low.joules * more};
  }
  const PerByte high = At(*above);
  const double t = (rate - above[-1].flops_per_byte) / (above->flops_per_byte - above[-1].flops_per_byte);
  return {low.ns + t * (high.ns - low.ns), low.joules + t * (high.joules - low.joules)};
}

// One setting of one cluster: the speed and the watts for each node.
struct Option {
  ClusterSetting setting;
  double node_ns = 0;
  std::vector<double> per_ns, watts;  // by node; per_ns: how many such nodes per nanosecond
};

Option OptionOf(const ClusterCurves& cluster, const EnergyPoint* begin, const EnergyPoint* end,
                const ModelWork& work) {
  Option option{{begin->khz, begin->cores}, cluster.node_us * 1e3, {}, {}};
  for (const NodeWork& node : work.nodes) {
    const PerByte byte = Interpolate(begin, end, double(node.flops) / double(node.bytes));
    option.per_ns.push_back(1 / (byte.ns * double(node.bytes)));
    option.watts.push_back(byte.joules / byte.ns);
  }
  return option;
}

// Returns the frequency of the curves that is nearest to `khz`.
int64_t Nearest(const ClusterCurves& cluster, int64_t khz) {
  const auto farther = [&](const EnergyPoint& a, const EnergyPoint& b) {
    return std::abs(a.khz - khz) < std::abs(b.khz - khz);
  };
  return std::min_element(cluster.points.begin(), cluster.points.end(), farther)->khz;
}

// Returns the options of a cluster: to take no part, and every frequency with every number of cores; only the
// frequency `only` if it is given.
std::vector<Option> OptionsOf(const ClusterCurves& cluster, const ModelWork& work, const int64_t* only) {
  const std::vector<double> nothing(work.nodes.size());
  std::vector<Option> options{{{}, 0, nothing, nothing}};
  const EnergyPoint *at = cluster.points.data(), *last = at + cluster.points.size();
  while (at != last) {
    const auto of_another = [&](const EnergyPoint& p) { return p.khz != at->khz || p.cores != at->cores; };
    const EnergyPoint* end = std::find_if(at, last, of_another);
    if (!only || at->khz == *only) options.push_back(OptionOf(cluster, at, end, work));
    at = end;
  }
  return options;
}

// Throws Error if the cluster has more than kMostSettings settings (frequencies with a number of cores).
void CheckSettings(const ClusterCurves& cluster) {
  const auto is_same = [](const EnergyPoint& a, const EnergyPoint& b) {
    return a.khz == b.khz && a.cores == b.cores;
  };
  size_t settings = 1;
  for (size_t i = 1; i < cluster.points.size(); ++i)
    settings += !is_same(cluster.points[i - 1], cluster.points[i]);
  if (settings > size_t{kMostSettings})
    Invalid(Printable(cluster.name.substr(0, 40)),
            "too many settings; got {}, expected {} at most; try energy curves of fewer frequencies",
            settings, kMostSettings);
}

class Search {
 public:
  Search(const EnergyCurves& curves, const ModelWork& work, const Objective& objective,
         const EnergySearch& search)
      : curves_(curves), work_(work), objective_(objective), search_(search) {
    const std::vector<int64_t>& at_khz = search.at_khz;
    double ways = 1;
    for (size_t c = 0; c < curves.clusters.size(); ++c) {
      CheckSettings(curves.clusters[c]);
      const int64_t only = at_khz.empty() ? 0 : Nearest(curves.clusters[c], at_khz.at(c));
      options_.push_back(OptionsOf(curves.clusters[c], work, at_khz.empty() ? nullptr : &only));
      ways *= double(options_.back().size());
    }
    if (ways > kMostWays)
      Invalid("energy of " + curves.machine,
              "too many ways to choose from; got {:.3g}, expected {:.0f} at most; try energy curves of "
              "fewer frequencies or numbers of cores",
              ways, kMostWays);
    all_ = int(ways);
    chosen_.resize(options_.size());
  }

  EnergyChoice Do() {
    Try(0);
    EnergyChoice choice{.best = best_.at(BestSet()), .fastest = fastest_};
    choice.meets = Meets(choice.best);
    for (const auto& [set, candidate] : best_)
      if (set != SetOf(choice.best)) choice.runners_up.push_back(candidate);
    std::sort(choice.runners_up.begin(), choice.runners_up.end(),
              [&](auto& a, auto& b) { return Better(a, b); });
    if (choice.runners_up.size() > kMostRunnersUp) choice.runners_up.resize(kMostRunnersUp);
    choice.reason = Reason(choice);
    return choice;
  }

 private:
  using Set = std::vector<int>;  // number of cores of each cluster

  static Set SetOf(const EnergyCandidate& candidate) {
    Set set;
    for (const ClusterSetting& c : candidate.clusters) set.push_back(c.cores);
    return set;
  }

  bool Meets(const EnergyCandidate& c) const { return objective_.most_ms == 0 || c.ms <= objective_.most_ms; }

  static bool Faster(const EnergyCandidate& a, const EnergyCandidate& b) {
    return std::pair(a.ms, a.joules) < std::pair(b.ms, b.joules);
  }

  // A candidate that meets the time is better than one that does not. Of two that meet it, the one with less
  // energy is better; of two that do not, the faster one.
  bool Better(const EnergyCandidate& a, const EnergyCandidate& b) const {
    if (Meets(a) != Meets(b)) return Meets(a);
    return Meets(a) ? std::pair(a.joules, a.ms) < std::pair(b.joules, b.ms) : Faster(a, b);
  }

  Set BestSet() const {
    const auto best = std::min_element(best_.begin(), best_.end(),
                                       [&](auto& a, auto& b) { return Better(a.second, b.second); });
    return best->first;
  }

  void Try(size_t cluster) {
    if (cluster == options_.size()) {
      Look();
      return Keep();
    }
    for (const Option& option : options_[cluster]) {
      chosen_[cluster] = &option;
      Try(cluster + 1);
    }
  }

  // Checks the token and reports progress, every kWaysBetween combinations.
  void Look() {
    if (tried_++ % kWaysBetween != 0) return;
    if (search_.cancel && search_.cancel->cancelled())
      Fail(Code::kCancelled, "energy of " + curves_.machine, "the choice was interrupted");
    if (search_.progress) search_.progress(tried_ - 1, all_);
  }

  void Keep() {
    EnergyCandidate candidate = Sum();
    if (!(candidate.ms > 0)) return;  // no cluster takes part
    ++ways_;
    meeting_ += Meets(candidate);
    if (fastest_.clusters.empty() || Faster(candidate, fastest_)) fastest_ = candidate;
    const auto [known, is_new] = best_.try_emplace(SetOf(candidate), candidate);
    if (!is_new && Better(candidate, known->second)) known->second = std::move(candidate);
  }

  EnergyCandidate Sum() const {
    EnergyCandidate candidate;
    int cores = 0;
    double hand_over_ns = 0, ns = 0, nanojoules = 0;
    for (const Option* option : chosen_) {
      candidate.clusters.push_back(option->setting);
      cores += option->setting.cores;
      hand_over_ns = std::max(hand_over_ns, option->node_ns);
    }
    if (cores == 0) return candidate;
    for (size_t n = 0; n < work_.nodes.size(); ++n) {
      const double node_ns = NodeNs(n) + (cores > 1 ? hand_over_ns : 0);
      double watts = 0;
      for (const Option* option : chosen_) watts += option->watts[n];
      ns += node_ns;
      nanojoules += node_ns * watts;
    }
    candidate.ms = ns * 1e-6;
    candidate.joules = nanojoules * 1e-9;
    return candidate;
  }

  double NodeNs(size_t n) const {
    double per_ns = 0;
    for (const Option* option : chosen_) per_ns += option->per_ns[n];
    const double memory_ns =
        curves_.gbytes_per_s > 0 ? double(work_.nodes[n].bytes) / curves_.gbytes_per_s : 0;
    return std::max(1 / per_ns, memory_ns);
  }

  std::string Reason(const EnergyChoice& choice) const {
    if (!choice.meets)
      return fmt::format("none of {} ways takes at most {:g} ms: the fastest", ways_, objective_.most_ms);
    const std::string within = objective_.most_ms > 0
                                   ? fmt::format(", {} of them within {:g} ms", meeting_, objective_.most_ms)
                                   : "";
    return fmt::format(
        "the least energy of {} ways{}; {:.0f} % less than the fastest, at {:.2f} times its time", ways_,
        within, 100 * (1 - choice.best.joules / fastest_.joules), choice.best.ms / fastest_.ms);
  }

  const EnergyCurves& curves_;
  const ModelWork& work_;
  const Objective objective_;
  const EnergySearch& search_;
  std::vector<std::vector<Option>> options_;
  std::vector<const Option*> chosen_;
  std::map<Set, EnergyCandidate> best_;  // by set of cores
  EnergyCandidate fastest_;
  int64_t ways_ = 0, meeting_ = 0;
  int tried_ = 0, all_ = 0;
};

}  // namespace

Objective ParseObjective(std::string_view text, const std::string& where) {
  constexpr std::string_view kLatency = "latency=";
  if (text == "energy") return {};
  double n = 0;
  if (text.starts_with(kLatency)) {
    const char *begin = text.data() + kLatency.size(), *last = text.data() + text.size();
    const auto [end, error] = std::from_chars(begin, last, n);
    const std::string_view unit(end, size_t(last - end));
    const double ms = unit == "ms" ? n : unit == "us" ? n * 1e-3 : unit == "s" ? n * 1e3 : 0;
    if (error == std::errc() && ms > 0 && ms <= kMostMs) return {ms};
  }
  Invalid(where, "not an objective; got '{}', expected energy, or a time such as latency=30ms",
          Printable(std::string(text.substr(0, 40))));
}

ModelWork WorkOf(const Graph& graph) {
  ModelWork work;
  for (const Node& node : graph.nodes) {
    if (IsViewOperator(node.op)) continue;
    const NodeWork w{Flops(graph, node), BytesMoved(graph, node)};
    if (w.bytes <= 0) {
      ++work.unknown;
      continue;
    }
    const ValueId input = node.input(0);
    work.int8 += w.flops > 0 && input != kNoValue && SizeOf(graph.value(input).type) == 1;
    work.nodes.push_back(w);
  }
  return work;
}

EnergyChoice ChooseEnergy(const EnergyCurves& curves, const ModelWork& work, const Objective& objective,
                          const EnergySearch& search) {
  Verify(curves);
  if (work.nodes.empty())
    Invalid("energy of " + curves.machine,
            "nothing to choose for; no node computes anything of a known size");
  const size_t frequencies = search.at_khz.size();
  if (frequencies > 0 && frequencies != curves.clusters.size())
    Invalid("energy of " + curves.machine, "wrong number of frequencies; got {}, expected {}", frequencies,
            curves.clusters.size());
  return Search(curves, work, objective, search).Do();
}

std::string ToText(const EnergyCurves& curves, const EnergyCandidate& candidate) {
  std::vector<std::string> parts;
  for (size_t c = 0; c < candidate.clusters.size(); ++c) {
    const auto [khz, cores] = candidate.clusters[c];
    if (cores == 0) continue;
    const std::string clock = khz > 0 ? fmt::format("{:.0f} MHz", double(khz) * 1e-3) : "its own clock";
    parts.push_back(
        fmt::format("{} {} core{} at {}", curves.clusters[c].name, cores, cores == 1 ? "" : "s", clock));
  }
  return fmt::format("{}", fmt::join(parts, " + "));
}

}  // namespace mete
