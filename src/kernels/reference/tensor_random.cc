// Kernels of operators that give random numbers. An element follows from the seed and its place alone.
#include <algorithm>
#include <cmath>

#include "base/random_stream.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/tensor_kernels.h"

namespace mete {
namespace {

RandomStream StreamOf(const RefArgs& args) { return RandomStream(args.attributes.Float("seed", 0)); }

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
  const int64_t n = args.out[0].elements();
  double* values = args.scratch.Get<double>(size_t(n));
  for (int64_t i = 0; i < n; ++i) values[i] = low + (high - low) * random.Uniform(uint64_t(i));
  WriteDoubles(values, args.out[0]);
}

void RunRandomNormal(RefArgs& args) {
  const RandomStream random = StreamOf(args);
  const double mean = args.attributes.Float("mean", 0), scale = args.attributes.Float("scale", 1);
  const int64_t n = args.out[0].elements();
  double* values = args.scratch.Get<double>(size_t(n));
  for (int64_t i = 0; i < n; ++i) values[i] = mean + scale * random.Normal(uint64_t(i));
  WriteDoubles(values, args.out[0]);
}

void RunBernoulli(RefArgs& args) {
  const RandomStream random = StreamOf(args);
  const int64_t n = args.out[0].elements();
  double* values = args.scratch.Get<double>(size_t(n));
  ReadDoubles(args.in[0], values);
  for (int64_t i = 0; i < n; ++i) values[i] = random.Uniform(uint64_t(i)) < values[i] ? 1 : 0;
  WriteDoubles(values, args.out[0]);
}

void RunMultinomial(RefArgs& args) {
  const RandomStream random = StreamOf(args);
  const View& out = args.out[0];
  const int64_t classes = args.in[0].shape[1], samples = out.shape[1];
  if (out.elements() == 0) return;
  double* sums = args.scratch.Get<double>(size_t(args.in[0].elements()));
  double* chosen = args.scratch.Get<double>(size_t(out.elements()));
  ReadDoubles(args.in[0], sums);
  for (int64_t row = 0; row < out.shape[0]; ++row, sums += classes) {
    ToRunningSums(sums, classes);
    for (int64_t i = row * samples; i < (row + 1) * samples; ++i) {
      const double at = random.Uniform(uint64_t(i)) * sums[classes - 1];
      chosen[i] = double(std::upper_bound(sums, sums + classes - 1, at) - sums);
    }
  }
  WriteDoubles(chosen, out);
}

}  // namespace mete
