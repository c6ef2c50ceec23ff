// Kernels of operators that give random numbers. An element follows from the seed and its place alone.
#include <algorithm>
#include <cmath>

#include "base/random_stream.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/tensor_kernels.h"

namespace mete {
namespace {

RandomStream StreamOf(const RefArgs& args) { return RandomStream(args.attributes.Float("seed", 0)); }

// Returns `count` elements from `start` on, as a list.
View PartOf(const View& v, int64_t start, int64_t count) {
  return {v.as<std::byte>() + start * int64_t(SizeOf(v.type)), v.type, Shape{count}};
}

// Writes value(i) to each element i. A block is small, so that an output of bytes needs no doubles of its
// size.
template <class F>
void Fill(const View& out, F value) {
  constexpr int64_t kBlock = 512;
  double block[kBlock];
  for (int64_t start = 0, n = out.elements(); start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    for (int64_t i = 0; i < count; ++i) block[i] = value(start + i);
    WriteDoubles(block, PartOf(out, start, count));
  }
}

// Turns logarithms of probabilities, up to a factor, into sums of the probabilities from the first class on.
void ToRunningSums(double* row, int64_t classes) {
  const double most = *std::max_element(row, row + classes);
  double sum = 0;
  for (int64_t i = 0; i < classes; ++i) row[i] = sum += std::exp(row[i] - most);
  if (!(sum >= 1))  // also where the largest is infinite or one is no number
    Invalid("Multinomial", "a row has no probabilities; got a sum of {}, expected finite logarithms", sum);
}

}  // namespace

// Rounding to the output's type may give `high` itself.
void RunRandomUniform(RefArgs& args) {
  const RandomStream random = StreamOf(args);
  const double low = args.attributes.Float("low", 0), high = args.attributes.Float("high", 1);
  Fill(args.out[0], [&](int64_t i) { return low + (high - low) * random.Uniform(uint64_t(i)); });
}

void RunRandomNormal(RefArgs& args) {
  const RandomStream random = StreamOf(args);
  const double mean = args.attributes.Float("mean", 0), scale = args.attributes.Float("scale", 1);
  Fill(args.out[0], [&](int64_t i) { return mean + scale * random.Normal(uint64_t(i)); });
}

void RunBernoulli(RefArgs& args) {
  const RandomStream random = StreamOf(args);
  double* odds = args.scratch.Get<double>(size_t(args.in[0].elements()));
  ReadDoubles(args.in[0], odds);
  Fill(args.out[0], [&](int64_t i) { return random.Uniform(uint64_t(i)) < odds[i] ? 1.0 : 0.0; });
}

void RunMultinomial(RefArgs& args) {
  const RandomStream random = StreamOf(args);
  const View& out = args.out[0];
  const int64_t classes = args.in[0].shape[1], samples = out.shape[1];
  if (out.elements() == 0) return;
  double* sums = args.scratch.Get<double>(size_t(args.in[0].elements()));
  ReadDoubles(args.in[0], sums);
  for (int64_t row = 0; row < out.shape[0]; ++row, sums += classes) {
    ToRunningSums(sums, classes);
    Fill(PartOf(out, row * samples, samples), [&](int64_t i) {
      const double at = random.Uniform(uint64_t(row * samples + i)) * sums[classes - 1];
      return double(std::upper_bound(sums, sums + classes - 1, at) - sums);
    });
  }
}

}  // namespace mete
