// Draws the sizes of probe networks, with fixed seeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "zoo/random.h"

namespace mete::zoo {

// The most multiply-adds of a layer that Winograd or an instruction for bytes computes in less than half the
// time of its products: 4 ms on a core with 200 GFLOP/s. This value is a guess: beyond it time is
// proportional to work, and short networks run more often.
constexpr double kMostWideWork = 400e6;

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  bool Chance(float probability) { return random_.Uniform() < probability; }
  template <class T>
  T Of(std::initializer_list<T> list) {
    return list.begin()[random_.Bits() % list.size()];
  }
  // Draws a number of channels, small numbers as often as large ones. Most are multiples of 16 or more, as in
  // most networks.
  int Channels(int64_t least, int64_t most) {
    const double x =
        double(least) * std::pow(double(std::max(least, most)) / double(least), double(random_.Uniform()));
    int step = Of({2, 8, 8, 16, 16, 32, 32, 32, 64, 64});
    while (step > 2 && step > x) step /= 2;
    return std::max(step, int(x) / step * step);
  }

 private:
  Random random_;
};

}  // namespace mete::zoo
