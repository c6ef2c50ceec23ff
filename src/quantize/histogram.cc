#include "quantize/histogram.h"

#include <algorithm>
#include <cmath>

namespace mete {

void Histogram::Add(std::span<const float> values) {
  float low = 0, high = 0;
  bool finite = true;
  for (const float v : values) {
    low = std::min(low, v);
    high = std::max(high, v);
    finite &= std::isfinite(v);
  }
  if (!finite) {
    low = high = 0;
    for (const float v : values)
      if (std::isfinite(v)) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
  }
  Widen(std::max(-double(low), double(high)));
  const double per_width = width_ > 0 ? 1 / width_ : 0;
  int64_t zeros = 0, skipped = 0;
  float least = count_ ? low_ : INFINITY, most = count_ ? high_ : -INFINITY;
  for (const float v : values) {
    if (!finite && !std::isfinite(v)) {
      ++skipped;
      continue;
    }
    least = std::min(least, v);
    most = std::max(most, v);
    if (v == 0) ++zeros;
    else ++bins_[size_t(int(std::floor(double(v) * per_width)) + kSide)];
  }
  count_ += int64_t(values.size()) - skipped;
  zeros_ += zeros;
  not_finite_ += skipped;
  if (count_ > 0) {
    low_ = least;
    high_ = most;
  }
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
  const double needed = std::exp2(std::floor(std::log2(largest / kSide)) + 1);
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
