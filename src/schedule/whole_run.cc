#include "schedule/whole_run.h"

#include <fmt/format.h>

namespace mete {
namespace {

// A run by the calling worker alone is tried only if the regions took more than this fraction of the time
// that it would need for them alone. This value is a guess: the small costs that single regions do not show
// are no more than the remaining fraction. Three small networks had ratios of 0.86 to 1.04 beside a core
// slowed to 0.35, of 0.70 to 0.89 beside a core emulated at 0.4, where some trials are in vain, and of 0.49
// to 0.71 on two equal cores (measured).
constexpr double kClearlySooner = 0.85;
constexpr int kLeastSeen = 8;  // runs before the first trial: the policy learns speeds in the first runs

}  // namespace

bool WholeRun::BeginAlone() {
  ways_.Next(
      {.promising = ways_.other() || (ways_.seen() >= kLeastSeen && together_over_alone_ > kClearlySooner)});
  return ways_.other();
}

void WholeRun::Learn(double ns, const Policy::Times& regions) {
  ways_.Learn(ways_.other(), ns);
  if (ways_.other() || regions.alone_ns <= 0) return;
  together_over_alone_ +=
      ways_.usual_gain() * (regions.together_ns / regions.alone_ns - together_over_alone_);
}

std::string WholeRun::text() const {
  if (ways_.other_ns() == 0) return "";
  const double all = ways_.usual_ns() * 1e-6, alone = ways_.other_ns() * 1e-6;
  if (ways_.keeps_other())
    return fmt::format("on the calling thread alone, {:.2f} ms; with all threads {:.2f} ms", alone, all);
  return fmt::format("on all threads, {:.2f} ms; on the calling thread alone {:.2f} ms", all, alone);
}

}  // namespace mete
