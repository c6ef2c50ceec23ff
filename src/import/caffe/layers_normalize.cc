// Conversions of layers that shift and scale their input: Axpy, BatchNorm, Bias, BN, LRN, MVN, Normalize and
// Scale.
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

// Returns the shape of a value for each channel.
Shape Channels(Layer& l) {
  if (l.shape().rank() < 2) l.Bad("{} needs 2 dimensions or more; got {}", l.p.type(), ToString(l.shape()));
  return Shape{l.shape()[1]};
}

void BatchNorm(Layer& l) {
  const auto& p = l.p.batch_norm_param();
  if (!p.use_global_stats())
    Fail(Code::kUnimplemented, l.p.name(),
         "BatchNorm over the batch itself is not supported; try use_global_stats: true");
  const Shape channels = Channels(l);
  // NVIDIA's fork has a factor and a summand behind Caffe's three blobs, and takes no smaller eps than 1e-5.
  const bool nvidias = p.scale_bias() || p.has_scale_filler() || p.has_bias_filler();
  if (!nvidias) l.NeedAtMostBlobs(3, "scale_bias: true");
  const ValueId mean = l.Weight(0, channels, "mean"), variance = l.Weight(1, channels, "variance"),
                count = l.Weight(2, Shape{1}, "factor");
  const std::vector<float> ones(size_t(channels[0]), 1.0f), zeros(size_t(channels[0]), 0.0f);
  Attributes a;
  a.Set("epsilon", nvidias ? std::max(p.eps(), 1e-5f) : p.eps());
  std::vector<ValueId> inputs = {
      l.in(), nvidias ? l.Weight(3, channels, "scale") : l.Floats("scale", channels, ones),
      nvidias ? l.Weight(4, channels, "shift") : l.Floats("shift", channels, zeros), mean, variance};
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

// SegNet's BN: a script behind the training has folded the statistics into a factor and a summand.
void SegNetsBn(Layer& l, const Shape& channels) {
  if (l.p.bn_param().bn_mode() != caffe::BNParameter::INFERENCE)
    Fail(Code::kUnimplemented, l.p.name(),
         "BN over the batch itself is not supported; got bn_mode: LEARN, expected INFERENCE; try the net for "
         "inference with the weights that SegNet's compute_bn_statistics.py writes");
  l.NeedAtMostBlobs(2, "the BN of PSPNet, with slope_filler");
  const Shape aligned = Aligned(l, 1, channels);
  const ValueId scaled = l.Emit("Mul", {l.in(), l.Weight(0, channels, aligned, "scale")});
  l.SetTop(0, l.Emit("Add", {scaled, l.Weight(1, channels, aligned, "shift")}));
}

// PSPNet's BN: the averages of the training are blobs of their own, as they are.
void PspNetsBn(Layer& l, const Shape& channels) {
  l.NeedAtMostBlobs(4, "the net that belongs to these weights");
  Attributes a;
  a.Set("epsilon", l.p.bn_param().eps());
  l.SetTop(0, l.Emit("BatchNormalization",
                     {l.in(), l.Weight(0, channels, "slope"), l.Weight(1, channels, "bias"),
                      l.Weight(2, channels, "mean"), l.Weight(3, channels, "variance")},
                     a));
}

void Bn(Layer& l) {
  const auto& p = l.p.bn_param();
  const Shape channels = Channels(l);
  const bool segnets = p.has_bn_mode() || p.has_scale_filler() || p.has_shift_filler() || l.blob_count() == 2;
  return segnets ? SegNetsBn(l, channels) : PspNetsBn(l, channels);
}

void Bias(Layer& l) {
  const auto& p = l.p.bias_param();
  const int axis = l.Axis(p.axis());
  if (l.bottoms() == 2) return l.SetTop(0, l.Emit("Add", {l.in(), SecondBottom(l, axis)}));
  const Shape part = Part(l, axis, p.num_axes());
  l.SetTop(0, l.Emit("Add", {l.in(), l.Weight(0, part, Aligned(l, axis, part), "bias")}));
}

// Returns bottom 0 times bottom 1 plus bottom 2, where bottom 0 has a factor for each channel of each image.
void Axpy(Layer& l) {
  const Shape factors = l.shape(0), x = l.shape(1);
  Shape aligned(x.dims().first(size_t(std::min(x.rank(), 2))));
  while (aligned.rank() < x.rank()) aligned.push_back(1);
  const bool fit = x.rank() >= 2 && l.shape(2) == x && factors.rank() >= 2 && factors[0] == x[0] &&
                   factors[1] == x[1] && factors.Elements(2, factors.rank()) == 1;
  if (!fit)
    l.Bad("the bottoms do not fit; got {}, {} and {}, expected a factor for each channel and twice one shape",
          ToString(factors), ToString(x), ToString(l.shape(2)));
  const ValueId factor = factors == aligned ? l.in(0) : l.EmitReshape(l.in(0), aligned);
  l.SetTop(0, l.Emit("Add", {l.Emit("Mul", {l.in(1), factor}), l.in(2)}));
}

// Each channel of each image, or each image, gets a mean of 0 and a standard deviation of 1.
void Mvn(Layer& l) {
  const auto& p = l.p.mvn_param();
  const int first = p.across_channels() ? 1 : 2;
  if (l.shape().rank() <= first)
    l.Bad("MVN needs {} dimensions or more; got {}", first + 1, ToString(l.shape()));
  mete::Ints axes;
  for (int axis = first; axis < l.shape().rank(); ++axis) axes.push_back(axis);
  const ValueId over = l.Ints("axes", axes);
  ValueId y = l.Emit("Sub", {l.in(), l.Emit("ReduceMean", {l.in(), over})});
  if (p.normalize_variance()) {
    const ValueId deviation = l.Emit("Sqrt", {l.Emit("ReduceMean", {l.Emit("Mul", {y, y}), over})});
    y = l.Emit("Div", {y, l.Emit("Add", {deviation, l.Scalar("eps", p.eps())})});
  }
  l.SetTop(0, y);
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
  const Shape channels = Channels(l);
  Attributes a;
  a.Set("across_spatial", int64_t(p.across_spatial()));
  a.Set("channel_shared", int64_t(p.channel_shared()));
  a.Set("eps", p.eps());
  l.SetTop(0, l.Emit("mete.Normalize",
                     {l.in(), l.Weight(0, p.channel_shared() ? Shape{1} : channels, "scale")}, a));
}

constexpr LayerType kNormalizeLayers[] = {
    {"Axpy", 3, 3, 1, Axpy},           {"BN", 1, 1, 1, Bn},       {"BatchNorm", 1, 1, 1, BatchNorm},
    {"Bias", 1, 2, 1, Bias},           {"LRN", 1, 1, 1, Lrn},     {"MVN", 1, 1, 1, Mvn},
    {"Normalize", 1, 1, 1, Normalize}, {"Scale", 1, 2, 1, Scale},
};

}  // namespace

std::span<const LayerType> NormalizeLayers() { return kNormalizeLayers; }

}  // namespace mete::caffe_import
