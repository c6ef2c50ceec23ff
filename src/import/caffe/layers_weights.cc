// Conversions of Convolution, Deconvolution, InnerProduct, Parameter, Pooling and SPP.
#include <algorithm>

#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

using mete::Ints;
using Repeated = google::protobuf::RepeatedField<uint32_t>;

// The _h and _w fields of a layer.
struct HeightWidth {
  bool given = false;  // at least one of the two
  int64_t h = 0, w = 0;
};

// Returns a value for each spatial dimension: from the list, which holds one value for all dimensions or one
// for each, or from the _h and _w fields.
Ints Spatial(Layer& l, const char* what, const Repeated& list, const HeightWidth& hw, int dims,
             int64_t fallback) {
  if (hw.given) {
    if (!list.empty() || dims != 2)
      l.Bad("{0} is given as {0}_h and {0}_w beside a list, or for {1} dimensions", what, dims);
    return {hw.h, hw.w};
  }
  if (list.empty()) return Ints(size_t(dims), fallback);
  if (list.size() != 1 && list.size() != dims)
    l.Bad("{} has the wrong number of values; got {}, expected 1 or {}", what, list.size(), dims);
  Ints values(size_t(dims), list.Get(0));
  if (list.size() == dims) std::copy(list.begin(), list.end(), values.begin());
  return values;
}

Ints Twice(const Ints& pads) {
  Ints both = pads;
  both.insert(both.end(), pads.begin(), pads.end());
  return both;
}

void NeedPositive(Layer& l, const char* what, const Ints& values) {
  if (std::any_of(values.begin(), values.end(), [](int64_t v) { return v < 1; }))
    l.Bad("{} must be from 1 on; got {}", what, fmt::join(values, "x"));
}

struct ConvForm {
  Ints kernel;
  int64_t outputs, group, channels;
  Attributes attributes;
};

ConvForm ReadConvolution(Layer& l) {
  const auto& p = l.p.convolution_param();
  if (l.Axis(p.axis()) != 1) l.Bad("convolution along axis {} is not supported; expected 1", p.axis());
  const int dims = l.shape().rank() - 2;
  if (dims < 1 || dims > 3)
    l.Bad("convolution over {} is not supported; expected 3 to 5 dimensions", ToString(l.shape()));
  ConvForm f;
  f.kernel = Spatial(l, "kernel", p.kernel_size(),
                     {p.has_kernel_h() || p.has_kernel_w(), p.kernel_h(), p.kernel_w()}, dims, 0);
  const Ints stride = Spatial(l, "stride", p.stride(),
                              {p.has_stride_h() || p.has_stride_w(), p.stride_h(), p.stride_w()}, dims, 1);
  const Ints pad =
      Spatial(l, "pad", p.pad(), {p.has_pad_h() || p.has_pad_w(), p.pad_h(), p.pad_w()}, dims, 0);
  const Ints dilation = Spatial(l, "dilation", p.dilation(), {}, dims, 1);
  NeedPositive(l, "kernel", f.kernel);
  NeedPositive(l, "stride", stride);
  NeedPositive(l, "dilation", dilation);
  f.outputs = p.num_output();
  f.channels = l.shape()[1];
  // The depthwise layer types of several forks have one group for each channel.
  f.group = l.p.type() == "Convolution" || l.p.type() == "Deconvolution" ? int64_t(p.group()) : f.channels;
  if (f.outputs < 1 || f.group < 1 || f.outputs % f.group || f.channels % f.group)
    l.Bad("groups do not divide the channels; got {} groups for {} channels in and {} out", f.group,
          f.channels, f.outputs);
  f.attributes.Set("kernel_shape", f.kernel);
  f.attributes.Set("strides", stride);
  f.attributes.Set("pads", Twice(pad));
  f.attributes.Set("dilations", dilation);
  f.attributes.Set("group", f.group);
  return f;
}

void EmitConvolution(Layer& l, const char* op, const ConvForm& f, int64_t rows, int64_t columns) {
  Shape shape{rows, columns};
  for (int64_t k : f.kernel) shape.push_back(k);
  std::vector<ValueId> inputs = {l.in(), l.Weight(0, shape, "weight")};
  if (l.p.convolution_param().bias_term()) inputs.push_back(l.Weight(1, Shape{f.outputs}, "bias"));
  l.SetTop(0, l.Emit(op, std::move(inputs), f.attributes));
}

void Convolution(Layer& l) {
  const ConvForm f = ReadConvolution(l);
  EmitConvolution(l, "Conv", f, f.outputs, f.channels / f.group);
}

void Deconvolution(Layer& l) {
  const ConvForm f = ReadConvolution(l);
  EmitConvolution(l, "ConvTranspose", f, f.channels, f.outputs / f.group);
}

// A layer type of V0 only: it puts zeros around the picture for the convolution that follows.
void Padding(Layer& l) {
  const int64_t pad = l.p.convolution_param().pad_size() ? l.p.convolution_param().pad(0) : 0;
  if (l.shape().rank() != 4) l.Bad("padding needs 4 dimensions; got {}", ToString(l.shape()));
  l.SetTop(0, l.Emit("Pad", {l.in(), l.Ints("pads", Ints{0, 0, pad, pad, 0, 0, pad, pad})}));
}

void InnerProduct(Layer& l) {
  const auto& p = l.p.inner_product_param();
  const int axis = l.Axis(p.axis());
  const Shape in = l.shape();
  const int64_t depth = in.Elements(axis, in.rank()), outputs = p.num_output();
  if (outputs < 1) l.Bad("num_output must be from 1 on; got {}", outputs);
  ValueId x = l.in();
  if (in.rank() != 2 || axis != 1)
    x = axis == 1 ? l.Emit("Flatten", {x}) : l.Emit("Reshape", {x, l.Ints("rows", Ints{-1, depth})});
  Attributes attributes;
  attributes.Set("transB", int64_t(!p.transpose()));
  std::vector<ValueId> inputs = {
      x, l.Weight(0, p.transpose() ? Shape{depth, outputs} : Shape{outputs, depth}, "weight")};
  if (p.bias_term()) inputs.push_back(l.Weight(1, Shape{outputs}, "bias"));
  ValueId y = l.Emit("Gemm", std::move(inputs), attributes);
  if (axis != 1) {
    Ints out(in.begin(), in.begin() + axis);
    if (axis > 0) out[0] = -1;  // the batch, which a session may change
    out.push_back(outputs);
    y = l.Emit("Reshape", {y, l.Ints("shape", out)});
  }
  l.SetTop(0, y);
}

// Returns one value for each of the two directions: `both` twice, or `h` and `w`.
Ints Pair(bool has_both, int64_t both, int64_t h, int64_t w) {
  return has_both ? Ints{both, both} : Ints{h, w};
}

Attributes PoolWindow(Layer& l, const caffe::PoolingParameter& p) {
  const bool hw = p.has_kernel_h() || p.has_kernel_w();
  const Ints kernel = Pair(!hw, p.kernel_size(), p.kernel_h(), p.kernel_w());
  const Ints stride = Pair(!p.has_stride_h() && !p.has_stride_w(), p.stride(), p.stride_h(), p.stride_w());
  const Ints pad = Pair(!p.has_pad_h() && !p.has_pad_w(), p.pad(), p.pad_h(), p.pad_w());
  NeedPositive(l, "kernel", kernel);
  NeedPositive(l, "stride", stride);
  for (size_t i = 0; i < 2; ++i)
    if (pad[i] >= kernel[i])
      l.Bad("pad must be smaller than the kernel; got {} and {}", fmt::join(pad, "x"),
            fmt::join(kernel, "x"));
  Attributes a;
  a.Set("kernel_shape", kernel);
  a.Set("strides", stride);
  a.Set("pads", Twice(pad));
  a.Set("ceil_mode", int64_t(p.round_mode() == caffe::PoolingParameter::CEIL && p.ceil_mode()));
  a.Set("mete_caffe", int64_t(1));
  return a;
}

void NeedPoolable(Layer& l, caffe::PoolingParameter::PoolMethod method) {
  if (l.shape().rank() != 4) l.Bad("pooling needs 4 dimensions; got {}", ToString(l.shape()));
  if (method == caffe::PoolingParameter::STOCHASTIC)
    Fail(Code::kUnimplemented, l.p.name(), "stochastic pooling is not supported");
}

void Pooling(Layer& l) {
  const auto& p = l.p.pooling_param();
  NeedPoolable(l, p.pool());
  const bool max = p.pool() == caffe::PoolingParameter::MAX;
  if (!max && l.tops() > 1) l.Bad("only MAX pooling has a second top");
  if (p.global_pooling()) {
    if (l.tops() > 1)
      Fail(Code::kUnimplemented, l.p.name(), "global pooling with a second top is not supported");
    return l.SetTop(0, l.Emit(max ? "GlobalMaxPool" : "GlobalAveragePool", {l.in()}));
  }
  const auto made = l.EmitAll(max ? "MaxPool" : "AveragePool", {l.in()}, PoolWindow(l, p), l.tops());
  for (int i = 0; i < l.tops(); ++i) l.SetTop(i, made[size_t(i)]);
}

// Returns the windows of a level of a pyramid: `bins` in each direction, with padding around the picture
// where they do not divide it. Caffe refuses padding as large as a window, and so does PoolWindow().
caffe::PoolingParameter PyramidWindow(const Shape& picture, uint32_t bins) {
  const auto size = [&](int64_t extent) { return uint32_t((extent + bins - 1) / bins); };
  const auto pad = [&](int64_t extent) { return uint32_t((size(extent) * bins - extent + 1) / 2); };
  caffe::PoolingParameter p;
  p.set_kernel_h(size(picture[2]));
  p.set_kernel_w(size(picture[3]));
  p.set_stride_h(p.kernel_h());
  p.set_stride_w(p.kernel_w());
  p.set_pad_h(pad(picture[2]));
  p.set_pad_w(pad(picture[3]));
  return p;
}

// Spatial pyramid pooling: one row of the maxima or averages of 1 x 1, 2 x 2, 4 x 4, ... windows.
void Spp(Layer& l) {
  const auto& p = l.p.spp_param();
  constexpr uint32_t kMost = 16;  // levels: more than a picture of 32,767 pixels has
  NeedPoolable(l, p.pool());
  if (p.pyramid_height() < 1 || p.pyramid_height() > kMost)
    l.Bad("pyramid_height is out of range; got {}, expected 1 to {}", p.pyramid_height(), kMost);
  std::vector<ValueId> levels;
  for (uint32_t level = 0; level < p.pyramid_height(); ++level)
    levels.push_back(l.Emit(p.pool() == caffe::PoolingParameter::MAX ? "MaxPool" : "AveragePool", {l.in()},
                            PoolWindow(l, PyramidWindow(l.shape(), 1u << level))));
  if (levels.size() == 1) return l.SetTop(0, levels[0]);  // Caffe leaves it as it is
  for (ValueId& level : levels) level = l.Emit("Flatten", {level});
  Attributes axis;
  axis.Set("axis", int64_t(1));
  l.SetTop(0, l.Emit("Concat", std::move(levels), axis));
}

// The blob itself is the output.
void Parameter(Layer& l) {
  const auto& dims = l.p.parameter_param().shape().dim();
  l.SetTop(0, l.Weight(0, Shape(std::span<const int64_t>(dims.data(), size_t(dims.size()))), "values"));
}

constexpr LayerType kWeightsLayers[] = {
    {"Convolution", 1, 1, 1, Convolution},
    {"ConvolutionDepthwise", 1, 1, 1, Convolution},
    {"DepthwiseConvolution", 1, 1, 1, Convolution},
    {"Deconvolution", 1, 1, 1, Deconvolution},
    {"InnerProduct", 1, 1, 1, InnerProduct},
    {"Padding", 1, 1, 1, Padding},
    {"Parameter", 0, 0, 1, Parameter},
    {"Pooling", 1, 1, 2, Pooling},
    {"SPP", 1, 1, 1, Spp},
};

}  // namespace

std::span<const LayerType> WeightLayers() { return kWeightsLayers; }

}  // namespace mete::caffe_import
