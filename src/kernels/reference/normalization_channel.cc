// Kernels of normalizations with one set of parameters for each channel, and of local response normalization.
#include <algorithm>

#include "kernels/reference/iterate.h"
#include "kernels/reference/normalization.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

double* Doubles(RefArgs& args, size_t input) {
  double* values = args.scratch.Get<double>(size_t(args.in[input].elements()));
  ReadDoubles(args.in[input], values);
  return values;
}

void WriteDoubles(const double* from, const View& to) {
  VisitFloat(to.type, [&]<class T>() {
    for (int64_t i = 0, n = to.elements(); i < n; ++i) to.as<T>()[i] = FromDouble<T>(from[i]);
  });
}

AxisSplit ChannelSplit(const RefArgs& args) {
  const Shape& shape = args.in[0].shape;
  if (shape.rank() == 1) return AxisSplit(Shape{shape[0], 1}, 1);
  return AxisSplit(shape, args.attributes.String("layout", "NCHW") == "NHWC" ? shape.rank() - 1 : 1);
}

// Replaces every element x by f(x, channel).
template <class F>
void MapChannels(RefArgs& args, const AxisSplit& split, F f) {
  VisitFloat(args.in[0].type, [&]<class T>() {
    const T* in = args.in[0].as<T>();
    T* out = args.out[0].as<T>();
    for (int64_t o = 0; o < split.outer; ++o)
      for (int64_t c = 0; c < split.length; ++c)
        for (int64_t i = 0; i < split.inner; ++i) *out++ = FromDouble<T>(f(double(*in++), c));
  });
}

Moments ChannelMoments(const RefArgs& args, const AxisSplit& split, int64_t channel) {
  return VisitFloat(args.in[0].type, [&]<class T>() {
    return MomentsOf(split.outer * split.inner, [&](auto f) {
      for (int64_t o = 0; o < split.outer; ++o)
        for (int64_t i = 0; i < split.inner; ++i)
          f(double(args.in[0].as<T>()[(o * split.length + channel) * split.inner + i]));
    });
  });
}

// Replaces mean and variance by the statistics of the batch, as in training, and moves the running statistics
// towards them.
void UseBatchMoments(RefArgs& args, const AxisSplit& split, double* mean, double* variance) {
  const double momentum = args.attributes.Float("momentum", 0.9f);
  double* running = args.scratch.Get<double>(size_t(2 * split.length));
  for (int64_t c = 0; c < split.length; ++c) {
    const Moments batch = ChannelMoments(args, split, c);
    running[c] = mean[c] * momentum + batch.mean * (1 - momentum);
    running[split.length + c] = variance[c] * momentum + batch.variance * (1 - momentum);
    mean[c] = batch.mean;
    variance[c] = batch.variance;
  }
  if (args.wants(1)) WriteDoubles(running, args.out[1]);
  if (args.wants(2)) WriteDoubles(running + split.length, args.out[2]);
}

void BatchNormalization(RefArgs& args) {
  const AxisSplit split = ChannelSplit(args);
  const double epsilon = args.attributes.Float("epsilon", 1e-5f);
  double *scale = Doubles(args, 1), *mean = Doubles(args, 3), *variance = Doubles(args, 4);
  const double* bias = Doubles(args, 2);
  if (args.attributes.Int("training_mode", 0) != 0) UseBatchMoments(args, split, mean, variance);
  for (int64_t c = 0; c < split.length; ++c) scale[c] /= std::sqrt(variance[c] + epsilon);
  MapChannels(args, split, [=](double x, int64_t c) { return (x - mean[c]) * scale[c] + bias[c]; });
}

// Normalizes each sample's channels in `groups` groups, which lie in memory one after the other.
void NormalizeGroups(RefArgs& args, int64_t groups) {
  const Shape& shape = args.in[0].shape;
  const int64_t pixels = shape.Elements(2, shape.rank()), size = groups == 0 ? 0 : shape[1] / groups * pixels;
  const double epsilon = args.attributes.Float("epsilon", 1e-5f);
  const double *scale = Doubles(args, 1), *bias = Doubles(args, 2);
  if (shape.Elements() == 0) return;
  VisitFloat(args.in[0].type, [&]<class T>() {
    for (int64_t g = 0; g < shape[0] * groups; ++g) {
      const T* in = args.in[0].as<T>() + g * size;
      T* out = args.out[0].as<T>() + g * size;
      const Moments moments =
          MomentsOf(size, [&](auto f) { std::for_each(in, in + size, [&](T x) { f(double(x)); }); });
      const double factor = 1 / std::sqrt(moments.variance + epsilon);
      const int64_t first_channel = g % groups * (shape[1] / groups);
      for (int64_t i = 0; i < size; ++i) {
        const int64_t c = first_channel + i / pixels;
        out[i] = FromDouble<T>((double(in[i]) - moments.mean) * factor * scale[c] + bias[c]);
      }
    }
  });
}

void GroupNormalization(RefArgs& args) { NormalizeGroups(args, args.attributes.Int("num_groups", 1)); }
void InstanceNormalization(RefArgs& args) { NormalizeGroups(args, args.in[0].shape[1]); }

void Lrn(RefArgs& args) {
  const AxisSplit split = ChannelSplit(args);
  // A window that is wider than this covers no more channels.
  const int64_t size = std::min(args.attributes.Int("size", 1), 2 * split.length + 1);
  const double alpha = args.attributes.Float("alpha", 1e-4f) / double(args.attributes.Int("size", 1));
  const double beta = args.attributes.Float("beta", 0.75f), bias = args.attributes.Float("bias", 1);
  const int64_t before = (size - 1) / 2, after = size / 2;
  VisitFloat(args.in[0].type, [&]<class T>() {
    split.ForEachLine([&](int64_t at) {
      const T* in = args.in[0].as<T>() + at;
      T* out = args.out[0].as<T>() + at;
      for (int64_t c = 0; c < split.length; ++c) {
        double sum = 0;
        for (int64_t k = std::max<int64_t>(0, c - before); k <= std::min(split.length - 1, c + after); ++k)
          sum += double(in[k * split.inner]) * double(in[k * split.inner]);
        out[c * split.inner] =
            FromDouble<T>(double(in[c * split.inner]) * std::pow(bias + alpha * sum, -beta));
      }
    });
  });
}

// Computes Caffe's within-channel form for one plane. The window is size x size pixels, and padding counts in
// its mean.
template <class T>
void LrnPlane(const T* in, T* out, int64_t height, int64_t width, int64_t reach, double alpha, double beta,
              double bias) {
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      double sum = 0;
      for (int64_t v = std::max<int64_t>(0, y - reach); v <= std::min(height - 1, y + reach); ++v)
        for (int64_t u = std::max<int64_t>(0, x - reach); u <= std::min(width - 1, x + reach); ++u)
          sum += double(in[v * width + u]) * double(in[v * width + u]);
      out[y * width + x] = FromDouble<T>(double(in[y * width + x]) * std::pow(bias + alpha * sum, -beta));
    }
}

void LrnWithin(RefArgs& args) {
  const Shape& shape = args.in[0].shape;
  const int64_t height = shape[shape.rank() - 2], width = shape.back(), size = args.attributes.Int("size", 5);
  const int64_t reach = std::min((size - 1) / 2, std::max(height, width));
  const double alpha = args.attributes.Float("alpha", 1) / (double(size) * double(size));
  const double beta = args.attributes.Float("beta", 0.75f), bias = args.attributes.Float("bias", 1);
  VisitFloat(args.in[0].type, [&]<class T>() {
    for (int64_t plane = 0, n = shape.Elements(0, shape.rank() - 2); plane < n; ++plane)
      LrnPlane(args.in[0].as<T>() + plane * height * width, args.out[0].as<T>() + plane * height * width,
               height, width, reach, alpha, beta, bias);
  });
}

constexpr RefEntry kNormalizationChannelEntries[] = {
    {"BatchNormalization", BatchNormalization},
    {"GroupNormalization", GroupNormalization},
    {"InstanceNormalization", InstanceNormalization},
    {"LRN", Lrn},
    {"mete.LRNWithin", LrnWithin},
};

}  // namespace

std::span<const RefEntry> ChannelNormReferences() { return kNormalizationChannelEntries; }

}  // namespace mete
