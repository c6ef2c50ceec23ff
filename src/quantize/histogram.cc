#include "quantize/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mete {
namespace {

// Far above the least float, so that 1 / width is a float; values below it are all but 0.
const double kLeastWidth = std::exp2(-100);

struct Bounds {
  float low = INFINITY, high = -INFINITY;  // of the finite values
  bool finite = true;
};

// std::floor() for numbers of bins, in instructions that every x86-64 and Arm has for vectors.
int32_t FloorOf(float x) {
  const auto whole = int32_t(x);
  return whole - (float(whole) > x ? 1 : 0);
}

// Looks at the values in lanes, which a loop over vectors does at once.
Bounds BoundsOf(std::span<const float> values) {
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> low, high;
  std::array<int, kLanes> bad{};
  low.fill(INFINITY);
  high.fill(-INFINITY);
  const auto look = [&](size_t i, size_t lane) {
    const float v = values[i];
    const bool finite = std::abs(v) <= std::numeric_limits<float>::max();
    low[lane] = finite && v < low[lane] ? v : low[lane];
    high[lane] = finite && v > high[lane] ? v : high[lane];
    bad[lane] |= !finite;
  };
  const size_t whole = values.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) look(i + lane, lane);
  for (size_t i = whole; i < values.size(); ++i) look(i, i - whole);
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end()),
          std::none_of(bad.begin(), bad.end(), [](int b) { return b != 0; })};
}

}  // namespace

void Histogram::Add(std::span<const float> values) {
  const Bounds bounds = BoundsOf(values);
  if (bounds.low > bounds.high) {  // no finite value
    not_finite_ += int64_t(values.size());
    return;
  }
  Widen(std::max(-double(bounds.low), double(bounds.high)));
  const int64_t skipped = bounds.finite ? AddBins<true>(values) : AddBins<false>(values);
  low_ = count_ ? std::min(low_, bounds.low) : bounds.low;
  high_ = count_ ? std::max(high_, bounds.high) : bounds.high;
  count_ += int64_t(values.size()) - skipped;
  not_finite_ += skipped;
}

// Counts the values in their bins, and returns how many are not finite.
template <bool kAllFinite>
int64_t Histogram::AddBins(std::span<const float> values) {
  // A float times a power of two is exact, so that every value falls into its bin.
  const float per_width = width_ > 0 ? float(1 / width_) : 0;
  std::array<int32_t, 256> bin;  // indices first, in a loop over vectors
  int64_t zeros = 0, skipped = 0;
  for (size_t from = 0; from < values.size(); from += bin.size()) {
    const size_t count = std::min(bin.size(), values.size() - from);
    for (size_t i = 0; i < count; ++i) {
      const float v = values[from + i];
      const bool counts = kAllFinite || std::isfinite(v);
      if (!kAllFinite) skipped += !counts;
      zeros += v == 0;
      bin[i] = v == 0 || !counts ? 2 * kSide : FloorOf(v * per_width) + kSide;
    }
    for (size_t i = 0; i < count; ++i) ++bins_[size_t(bin[i])];
  }
  zeros_ += zeros;
  return skipped;
}

void Histogram::Merge(const Histogram& other) {
  Histogram from = other;
  if (from.width_ > 0) Widen(from.width_ * kSide / 2);
  while (from.width_ > 0 && from.width_ < width_) from.Halve();
  while (width_ > 0 && width_ < from.width_) Halve();
  for (size_t i = 0; i < bins_.size(); ++i) bins_[i] += from.bins_[i];
  low_ = count_ == 0 ? from.low_ : from.count_ == 0 ? low_ : std::min(low_, from.low_);
  high_ = count_ == 0 ? from.high_ : from.count_ == 0 ? high_ : std::max(high_, from.high_);
  count_ += from.count_;
  zeros_ += from.zeros_;
  not_finite_ += from.not_finite_;
}

// Makes the bins wide enough for values of this size.
void Histogram::Widen(double largest) {
  if (largest == 0) return;
  // one more than needed for a value at the edge itself, which belongs to the bin behind it
  const double needed = std::max(std::exp2(std::floor(std::log2(largest / kSide)) + 1), kLeastWidth);
  if (width_ == 0) width_ = needed;
  while (width_ < needed) Halve();
}

void Histogram::Halve() {
  std::vector<int64_t> wider(bins_.size());
  for (int i = 0; i < 2 * kSide; ++i) wider[size_t((i + kSide) / 2)] += bins_[size_t(i)];
  bins_ = std::move(wider);
  width_ *= 2;
}

}  // namespace mete
