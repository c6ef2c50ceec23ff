#include "schedule/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "schedule/policies.h"

namespace mete {
namespace {

constexpr double kLittleShare = 0.5;  // MNN uses this share on every chip

// Returns a share of 1 for the fastest workers and of kLittleShare for all others.
std::vector<double> FixedShares(const std::vector<WorkerSpeed>& workers) {
  double fastest = 0;
  for (const WorkerSpeed& w : workers) fastest = std::max(fastest, w.speed);
  std::vector<double> shares;
  for (const WorkerSpeed& w : workers) shares.push_back(w.speed < fastest ? kLittleShare : 1);
  return shares;
}

}  // namespace

std::vector<WorkerSpeed> WorkersOf(const std::vector<double>& speeds) {
  std::vector<WorkerSpeed> workers;
  std::vector<double> clusters;
  for (const double speed : speeds) {
    const auto known = std::find(clusters.begin(), clusters.end(), speed);
    workers.push_back({int(known - clusters.begin()), speed});
    if (known == clusters.end()) clusters.push_back(speed);
  }
  return workers;
}

const std::vector<std::string>& PolicyNames() {
  static const std::vector<std::string> names{"equal", "ratio", "asymo", "sani", "adaptive"};
  return names;
}

std::unique_ptr<Policy> MakePolicy(std::string_view name, const std::vector<WorkerSpeed>& workers,
                                   TakeCost cost) {
  if (workers.empty()) Invalid("policy", "no workers");
  for (const WorkerSpeed& w : workers)
    if (!(w.speed > 0)) Invalid("policy", "a worker's speed must be positive; got {}", w.speed);
  if (name == "equal") return MakeFixed(std::vector<double>(workers.size(), 1));
  if (name == "ratio") return MakeFixed(FixedShares(workers));
  if (name == "asymo") return MakeAsymo(workers, cost);
  if (name == "sani") return MakeSani(workers);
  if (name == "adaptive") return MakeAdaptive(workers, cost);
  Invalid("policy", "unknown policy; got '{}', expected one of {}", name, fmt::join(PolicyNames(), ", "));
}

}  // namespace mete
