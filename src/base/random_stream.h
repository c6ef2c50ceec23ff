// The random numbers that operators give (RandomUniform, Multinomial). A number is a function of a seed and
// of its place alone, so a run gives the same numbers as the one before, in whatever order they are computed.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace mete {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), which mixes the bits
// of a counter; the constants are those of its paper.
inline uint64_t MixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
inline constexpr uint64_t kMixStep = 0x9e3779b97f4a7c15u;

class RandomStream {
 public:
  // The seeds of ONNX are floats. Mixing them first sets the counters of two streams far apart.
  explicit RandomStream(float seed) : key_(MixBits(std::bit_cast<uint32_t>(seed) + kMixStep)) {}

  // The number at a place of [0, 1), in steps of 2^-53.
  double Uniform(uint64_t place) const {
    return double(MixBits(key_ + (place + 1) * kMixStep) >> 11) * 0x1p-53;
  }
  // The normal number at a place, of mean 0 and deviation 1, by Box and Muller's method of two uniform ones.
  double Normal(uint64_t place) const {
    const double radius = std::sqrt(-2 * std::log1p(-Uniform(2 * place)));
    return radius * std::cos(6.283185307179586 * Uniform(2 * place + 1));
  }

 private:
  uint64_t key_;
};

// A seed for an operator that has none: a whole number below 2^24, which a float holds exactly, by the name
// of the node (FNV-1a, 64 bits), so that two nodes of a model give different numbers.
inline float SeedOf(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ uint8_t(c)) * 0x100000001b3u;
  return float(MixBits(hash) >> 40);
}

}  // namespace mete
