// Kernels of normalizations over an axis, over the last axes, or over any set of axes.
#include <algorithm>

#include "kernels/reference/iterate.h"
#include "kernels/reference/normalization.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

// A parameter that broadcasts to the input: its values as doubles, and its steps for an iteration over the
// input.
struct Parameter {
  const double* values = nullptr;
  Steps steps{};

  Parameter(RefArgs& args, size_t input, double absent) {
    const bool there = args.has(input);
    double* to = args.scratch.Get<double>(there ? size_t(args.in[input].elements()) : 1);
    if (there) {
      ReadDoubles(args.in[input], to);
      steps = BroadcastSteps(args.in[input].shape, args.in[0].shape);
    } else {
      *to = absent;
    }
    values = to;
  }
};

// Computes out = (x - mean) * factor * scale + bias, with one mean and one factor for each run of `size`
// elements.
void ScaleRows(RefArgs& args, int64_t size, const double* mean, const double* factor) {
  const Parameter scale(args, 1, 1), bias(args, 2, 0);
  VisitFloat(args.in[0].type, [&]<class T>() {
    const T* in = args.in[0].as<T>();
    T* out = args.out[0].as<T>();
    int64_t i = 0;
    ForEach<2>(args.in[0].shape, {scale.steps, bias.steps}, [&](const auto& at) {
      const int64_t row = i / size;
      out[i] =
          FromDouble<T>((double(in[i]) - mean[row]) * factor[row] * scale.values[at[0]] + bias.values[at[1]]);
      ++i;
    });
  });
}

void WriteRows(const View& out, const double* values) {
  if (!out.present()) return;
  VisitFloat(out.type, [&]<class T>() {
    for (int64_t i = 0, n = out.elements(); i < n; ++i) out.as<T>()[i] = FromDouble<T>(values[i]);
  });
}

// What is 0 of the values that rows are divided by: their deviations from the mean, or the values themselves.
enum class Around { kMean, kZero };

// Layer normalization subtracts the mean, RMS normalization does not.
void NormalizeRows(RefArgs& args, Around around) {
  const bool centred = around == Around::kMean;
  const Shape& shape = args.in[0].shape;
  const int axis = WrapAxis(args.attributes.Int("axis", -1), shape.rank());
  const int64_t rows = shape.Elements(0, axis), size = shape.Elements(axis, shape.rank());
  const double epsilon = args.attributes.Float("epsilon", 1e-5f);
  double *mean = args.scratch.Get<double>(size_t(rows)), *factor = args.scratch.Get<double>(size_t(rows));
  VisitFloat(args.in[0].type, [&]<class T>() {
    for (int64_t r = 0; r < rows; ++r) {
      const T* in = args.in[0].as<T>() + r * size;
      const Moments m =
          MomentsOf(size, [&](auto f) { std::for_each(in, in + size, [&](T x) { f(double(x)); }); });
      mean[r] = centred ? m.mean : 0;
      factor[r] = 1 / std::sqrt(m.variance + (centred ? 0 : m.mean * m.mean) + epsilon);
    }
  });
  ScaleRows(args, size, mean, factor);
  if (args.wants(1)) WriteRows(args.out[1], mean);
  if (args.wants(2)) WriteRows(args.out[2], factor);
}

void LpNormalization(RefArgs& args) {
  const Shape& shape = args.in[0].shape;
  const AxisSplit split(shape, WrapAxis(args.attributes.Int("axis", -1), shape.rank()));
  const bool squares = args.attributes.Int("p", 2) == 2;
  VisitFloat(args.in[0].type, [&]<class T>() {
    split.ForEachLine([&](int64_t at) {
      const T* in = args.in[0].as<T>() + at;
      double norm = 0;
      for (int64_t j = 0; j < split.length; ++j) {
        const double x = double(in[j * split.inner]);
        norm += squares ? x * x : std::abs(x);
      }
      if (squares) norm = std::sqrt(norm);
      for (int64_t j = 0; j < split.length; ++j)
        args.out[0].as<T>()[at + j * split.inner] =
            FromDouble<T>(norm == 0 ? 0 : double(in[j * split.inner]) / norm);
    });
  });
}

void MeanVarianceNormalization(RefArgs& args) {
  constexpr double kEpsilon = 1e-9;  // added to the standard deviation, as ONNX defines it
  const Shape& shape = args.in[0].shape;
  AxisMask mask{};
  if (!args.attributes.Has("axes")) mask = {true, false, true, true};
  for (int64_t axis : args.attributes.IntList("axes")) mask[size_t(WrapAxis(axis, shape.rank()))] = true;
  const PartedShape parted(shape, mask);
  VisitFloat(args.in[0].type, [&]<class T>() {
    ForEach<1>(parted.kept, {parted.kept_steps}, [&](const auto& start) {
      const T* in = args.in[0].as<T>() + start[0];
      T* out = args.out[0].as<T>() + start[0];
      auto each = [&](auto f) {
        ForEach<1>(parted.reduced, {parted.reduced_steps}, [&](const auto& at) { f(at[0]); });
      };
      const Moments m =
          MomentsOf(parted.reduced.Elements(), [&](auto f) { each([&](int64_t at) { f(double(in[at])); }); });
      const double factor = 1 / (std::sqrt(m.variance) + kEpsilon);
      each([&](int64_t at) { out[at] = FromDouble<T>((double(in[at]) - m.mean) * factor); });
    });
  });
}

// Computes the Normalize layer of Caffe's SSD branch: each sample, or each of its pixels, is divided by its
// L2 norm.
void Normalize(RefArgs& args) {
  const Shape& shape = args.in[0].shape;
  const bool across = args.attributes.Int("across_spatial", 1) != 0,
             shared = args.attributes.Int("channel_shared", 1) != 0;
  const double eps = args.attributes.Float("eps", 1e-10f);
  const AxisSplit split(shape, 1, across ? shape.rank() - 1 : 1);
  const int64_t pixels = shape.Elements(2, shape.rank());
  double* scale = args.scratch.Get<double>(size_t(args.in[1].elements()));
  ReadDoubles(args.in[1], scale);
  VisitFloat(args.in[0].type, [&]<class T>() {
    split.ForEachLine([&](int64_t start) {
      const T* in = args.in[0].as<T>() + start;
      double sum = eps;
      for (int64_t j = 0; j < split.length; ++j)
        sum += double(in[j * split.inner]) * double(in[j * split.inner]);
      for (int64_t j = 0; j < split.length; ++j) {
        const double factor = scale[shared ? 0 : across ? j / pixels : j] / std::sqrt(sum);
        args.out[0].as<T>()[start + j * split.inner] = FromDouble<T>(double(in[j * split.inner]) * factor);
      }
    });
  });
}

constexpr RefEntry kNormalizationLineEntries[] = {
    {"LayerNormalization", [](RefArgs& args) { NormalizeRows(args, Around::kMean); }},
    {"LpNormalization", LpNormalization},
    {"MeanVarianceNormalization", MeanVarianceNormalization},
    {"RMSNormalization", [](RefArgs& args) { NormalizeRows(args, Around::kZero); }},
    {"mete.Normalize", Normalize},
};

}  // namespace

std::span<const RefEntry> LineNormReferences() { return kNormalizationLineEntries; }

}  // namespace mete
