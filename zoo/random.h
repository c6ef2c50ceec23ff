// Random weights that are the same on every machine. The generator uses only integers and correctly rounded
// arithmetic, not logarithms or cosines, whose last bits differ between C libraries.
#pragma once

#include <cstdint>

namespace mete::zoo {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64 (Steele, Lea, Flood 2014).
  uint64_t Bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Returns a number in [0, 1).
  float Uniform() { return float(Bits() >> 40) * 0x1p-24f; }

  // Returns a number with mean 0 and variance 1: the sum of four uniform 16-bit numbers (Irwin-Hall), within
  // +-3.46.
  float Normal() {
    constexpr float kPerStep = 1.7320508f / 65536;  // four uniforms have the variance 1/3
    const uint64_t bits = Bits();
    const int64_t sum = int64_t(bits & 0xffff) + int64_t(bits >> 16 & 0xffff) + int64_t(bits >> 32 & 0xffff) +
                        int64_t(bits >> 48);
    return float(sum - 131070) * kPerStep;
  }

 private:
  uint64_t state_;
};

}  // namespace mete::zoo
