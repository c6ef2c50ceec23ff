// How often the values of a tensor fall into which range, over any number of runs, in bounded memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mete {

// Bins have one width, a power of two, and lie on both sides of 0. A value beyond the last bin doubles the
// width, and pairs of bins become one, so that the result does not depend on the order of the values. Values
// that are exactly 0, most of them behind a Relu, are counted apart: they are quantized without error.
class Histogram {
 public:
  // Bins on each side of 0. Values of one sign that fill at least half of them have four bins or more for
  // each of 256 levels.
  static constexpr int kSide = 2048;

  void Add(std::span<const float> values);
  void Merge(const Histogram& other);

  bool empty() const { return count_ == 0; }
  int64_t count() const { return count_; }  // of the finite values
  int64_t zeros() const { return zeros_; }
  int64_t not_finite() const { return not_finite_; }
  // The smallest and the largest finite value; 0 and 0 if there is none.
  float low() const { return count_ ? low_ : 0; }
  float high() const { return count_ ? high_ : 0; }

  double width() const { return width_; }
  // Values from (i - kSide) * width to below (i + 1 - kSide) * width, without those that are 0.
  std::span<const int64_t> bins() const { return std::span(bins_).first(size_t(2 * kSide)); }
  double CentreOf(int i) const { return (double(i - kSide) + 0.5) * width_; }

 private:
  template <bool kAllFinite>
  int64_t AddBins(std::span<const float> values);
  void Widen(double largest);
  void Halve();

  // The last one is a bin for values that no bin counts.
  std::vector<int64_t> bins_ = std::vector<int64_t>(size_t(2 * kSide) + 1);
  double width_ = 0;  // 0: only zeros were added
  int64_t count_ = 0, zeros_ = 0, not_finite_ = 0;
  float low_ = 0, high_ = 0;
};

}  // namespace mete
