// Conversions of layers that shift and scale their input: BatchNorm, Scale, Bias, LRN and Normalize.
#include <algorithm>

#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

// Returns blob i times `factor`. Caffe stores moving averages as sums, and the number of steps in a blob of
// its own.
std::vector<float> Averages(const Blobs& blobs, int i, float factor) {
  const auto& b = blobs.Get(i);
  std::vector<float> out(b.data().begin(), b.data().end());
  if (out.empty()) out.assign(b.double_data().begin(), b.double_data().end());
  for (float& v : out) v *= factor;
  return out;
}

void BatchNorm(Layer& l) {
  const auto& p = l.p.batch_norm_param();
  if (!p.use_global_stats())
    Fail(Code::kUnimplemented, l.p.name(),
         "BatchNorm over the batch itself is not supported; try use_global_stats: true");
  if (l.shape().rank() < 2) l.Bad("BatchNorm needs 2 dimensions or more; got {}", ToString(l.shape()));
  const Shape channels{l.shape()[1]};
  const ValueId mean = l.Weight(0, channels, "mean"), variance = l.Weight(1, channels, "variance"),
                count = l.Weight(2, Shape{1}, "factor");
  const std::vector<float> ones(size_t(channels[0]), 1.0f), zeros(size_t(channels[0]), 0.0f);
  Attributes a;
  a.Set("epsilon", p.eps());
  std::vector<ValueId> inputs = {l.in(), l.Floats("scale", channels, ones),
                                 l.Floats("shift", channels, zeros), mean, variance};
  if (l.IsConstant(mean) && l.IsConstant(variance) && l.IsConstant(count)) {
    const float steps = Averages(l.blobs(), 2, 1)[0], factor = steps == 0 ? 0 : 1 / steps;
    inputs[3] = l.Floats("mean", channels, Averages(l.blobs(), 0, factor));
    inputs[4] = l.Floats("variance", channels, Averages(l.blobs(), 1, factor));
  }
  l.SetTop(0, l.Emit("BatchNormalization", std::move(inputs), a));
}

// Returns the dimensions [axis, axis + count) of bottom 0; a count of -1 means all dimensions from `axis` on.
Shape Part(Layer& l, int axis, int count) {
  const Shape& in = l.shape();
  const int end = count < 0 ? in.rank() : axis + count;
  if (count < -1 || end > in.rank())
    l.Bad("num_axes is out of range; got {} from axis {} of {}", count, axis, ToString(in));
  return Shape(in.dims().subspan(size_t(axis), size_t(end - axis)));
}

// Returns `part` with ones behind it, so that it broadcasts to the dimensions of bottom 0 from `axis` on.
Shape Aligned(Layer& l, int axis, Shape part) {
  while (part.rank() > 0 && part.rank() < l.shape().rank() - axis) part.push_back(1);
  return part;
}

// Returns bottom 1 for use as the factor or summand. Its dimensions must equal those of bottom 0 from `axis`
// on.
ValueId SecondBottom(Layer& l, int axis) {
  const Shape part = l.shape(1);
  if (part.rank() > l.shape().rank() - axis || Part(l, axis, part.rank()) != part)
    l.Bad("the bottoms do not fit; got {} and {}, from axis {} on", ToString(l.shape()), ToString(part),
          axis);
  const Shape aligned = Aligned(l, axis, part);
  return aligned == part ? l.in(1) : l.EmitReshape(l.in(1), aligned);
}

void Scale(Layer& l) {
  const auto& p = l.p.scale_param();
  const int axis = l.Axis(p.axis());
  const bool own = l.bottoms() == 1;
  const Shape part = own ? Part(l, axis, p.num_axes()) : l.shape(1);
  ValueId y = l.Emit(
      "Mul", {l.in(), own ? l.Weight(0, part, Aligned(l, axis, part), "scale") : SecondBottom(l, axis)});
  if (p.bias_term()) y = l.Emit("Add", {y, l.Weight(own ? 1 : 0, part, Aligned(l, axis, part), "bias")});
  l.SetTop(0, y);
}

void Bias(Layer& l) {
  const auto& p = l.p.bias_param();
  const int axis = l.Axis(p.axis());
  if (l.bottoms() == 2) return l.SetTop(0, l.Emit("Add", {l.in(), SecondBottom(l, axis)}));
  const Shape part = Part(l, axis, p.num_axes());
  l.SetTop(0, l.Emit("Add", {l.in(), l.Weight(0, part, Aligned(l, axis, part), "bias")}));
}

void Lrn(Layer& l) {
  const auto& p = l.p.lrn_param();
  if (p.local_size() % 2 == 0) l.Bad("local_size must be odd; got {}", p.local_size());
  const bool within = p.norm_region() == caffe::LRNParameter::WITHIN_CHANNEL;
  Attributes a;
  a.Set("size", int64_t(p.local_size()));
  a.Set("alpha", p.alpha());
  a.Set("beta", p.beta());
  a.Set("bias", within ? 1.0f : p.k());  // Caffe ignores k within channels
  l.SetTop(0, l.Emit(within ? "mete.LRNWithin" : "LRN", {l.in()}, a));
}

void Normalize(Layer& l) {
  const auto& p = l.p.norm_param();
  if (l.shape().rank() < 2) l.Bad("Normalize needs 2 dimensions or more; got {}", ToString(l.shape()));
  Attributes a;
  a.Set("across_spatial", int64_t(p.across_spatial()));
  a.Set("channel_shared", int64_t(p.channel_shared()));
  a.Set("eps", p.eps());
  l.SetTop(0, l.Emit("mete.Normalize",
                     {l.in(), l.Weight(0, p.channel_shared() ? Shape{1} : Shape{l.shape()[1]}, "scale")}, a));
}

constexpr LayerType kLayers[] = {
    {"BatchNorm", 1, 1, 1, BatchNorm}, {"Bias", 1, 2, 1, Bias},   {"LRN", 1, 1, 1, Lrn},
    {"Normalize", 1, 1, 1, Normalize}, {"Scale", 1, 2, 1, Scale},
};

}  // namespace

std::span<const LayerType> NormalizeLayers() { return kLayers; }

}  // namespace mete::caffe_import
