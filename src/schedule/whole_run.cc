#include "schedule/whole_run.h"

#include <fmt/format.h>

namespace mete {
namespace {

// Regions that all workers have done in less than so much of what the caller would have needed are no reason
// to try it alone. Guess: what costs a little everywhere is no more than the rest. Three small networks had
// 0.86 to 1.04 beside a core slowed to 0.35, 0.70 to 0.89 beside one emulated at 0.4, where trials are made
// in vain now and then, and 0.49 to 0.71 on two equal cores (measured).
constexpr double kClearlySooner = 0.85;
constexpr int kLeastSeen = 8;  // runs before others are doubted: speeds are learned in the first of them

}  // namespace

bool WholeRun::BeginAlone() {
  ways_.Next(ways_.other() || (ways_.seen() >= kLeastSeen && together_over_alone_ > kClearlySooner));
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
