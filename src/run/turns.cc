#include "run/turns.h"

#include "run/plan_runner.h"

namespace mete {
namespace {

constexpr int kRounds = 7;  // guess: a median that a disturbance or two do not move

}  // namespace

std::vector<double> MediansInTurns(size_t count, const std::function<double(size_t)>& run_us) {
  std::vector<std::vector<double>> us(count);
  for (int round = -1; round < kRounds; ++round)
    for (size_t i = 0; i < count; ++i)
      if (const double run = run_us(i); round >= 0) us[i].push_back(run);
  std::vector<double> medians;
  for (std::vector<double>& runs : us) medians.push_back(MedianOf(std::move(runs)));
  return medians;
}

}  // namespace mete
