#include "processor/opencl/kernels/convolution.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {

PackSource OnnxWeights(const ConvShape& s, bool bias) {
  const int64_t taps = s.kernel_height * s.kernel_width, channels = s.in_channels / s.groups;
  return {.output = channels * taps, .channel = taps, .tap_row = s.kernel_width, .tap = 1, .bias = bias};
}

PackSource RowsOfK(int64_t k, int64_t n, bool bias) {
  return {.image = k * n, .output = 1, .channel = n, .bias = bias};
}

PackSource RowsOfN(int64_t k, int64_t n, bool bias) {
  return {.image = k * n, .output = k, .channel = 1, .bias = bias};
}

namespace {

void PackBias(Writer& w, const ConvSpec& spec, const PackedConv& p, const PackSource& from) {
  const ConvShape& s = spec.shape;
  const int64_t inputs = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
  w.Line(
      "global float* b=(global float*)((global uchar*)packed+{}),*zeros=(global float*)((global "
      "uchar*)packed+{});",
      p.bias_at, p.zeros_at);
  w.Line("for(int g=0;g<{};++g)for(int i=0;i<{};++i){{const int m=i*{}+lane;", s.groups, p.panels,
         p.panel_channels);
  w.Line("b[g*{}+m]={};}}", p.panels * p.panel_channels,
         from.bias ? fmt::format("m<{0}?bias[g*{0}+m]:0.0f", outputs) : "0.0f");
  w.Line("for(int i=lane;i<{};i+={})zeros[i]=0.0f;\nreturn;}}", inputs, p.panel_channels);
}

// What the sums of bytes start with: the bias minus what the input's zero point adds to them. Padding reads
// as the zero point.
void PackByteStarts(Writer& w, const ConvSpec& spec, const PackedConv& p, const PackSource& from) {
  const ConvShape& s = spec.shape;
  const int64_t inputs = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
  w.Line("global int* b=(global int*)((global uchar*)packed+{});", p.bias_at);
  w.Line("global float* f=(global float*)((global uchar*)packed+{});", p.scale_at);
  w.Line("global {}* zeros=(global {}*)((global uchar*)packed+{});", ElementName(spec.input),
         ElementName(spec.input), p.zeros_at);
  w.Line("for(int g=0;g<{};++g)for(int i=0;i<{};++i){{const int m=i*{}+lane,to=g*{}+m;", s.groups, p.panels,
         p.panel_channels, p.panels * p.panel_channels);
  w.Line("int sum=0;if(m<{}){{global const {}* at=weights+g*{}+m*{};", outputs, ElementName(from.type),
         from.group ? from.group : outputs * from.output, from.output);
  w.Line("for(int ky=0;ky<{};++ky)for(int kx=0;kx<{};++kx)for(int c=0;c<{};++c)", s.kernel_height,
         s.kernel_width, inputs);
  w.Line("sum+=(int)at[c*{}+ky*{}+kx*{}]-({});}}", from.channel, from.tap_row, from.tap, from.zero);
  w.Line("b[to]={}-({})*sum;f[to]=m<{}?scales[g*{}+m]:0.0f;}}",
         from.bias ? fmt::format("(m<{0}?bias[g*{0}+m]:0)", outputs) : "0", spec.bytes->input_zero, outputs,
         outputs);
  w.Line("for(int i=lane;i<{};i+={})zeros[i]={};\nreturn;}}", inputs, p.panel_channels,
         spec.bytes->input_zero);
}

}  // namespace

// Work-item (x, y) writes channel x of a panel in all of its steps, y counts panels of all sets; those of the
// last y write bias and zeros.
KernelText PackKernel(const ConvSpec& spec, const Tile& tile, const PackSource& from) {
  const ConvShape& s = spec.shape;
  const PackedConv p = PackedSizes(spec, tile);
  const int64_t inputs = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
  KernelText k;
  k.name = "pack";
  k.items = {p.panel_channels, p.sets * p.panels + 1, 1};
  Writer w;
  w.Line("{}global const {}* restrict weights,{}", Head(k), ElementName(from.type),
         spec.bytes ? "global const float* restrict scales," : "");
  if (from.bias) w.Line("global const {}* restrict bias,", spec.bytes ? "int" : "float");
  w.Line("global {}* restrict packed){{", ElementName(spec.weights));
  w.Line("const int lane=get_global_id(0),panel=get_global_id(1);");
  w.Line("if(panel=={}){{", p.sets * p.panels);
  if (spec.bytes) PackByteStarts(w, spec, p, from);
  else PackBias(w, spec, p, from);
  w.Line("const int set=panel/{0},m=panel%{0}*{1}+lane,g=set%{2},image=set/{2};", p.panels, p.panel_channels,
         s.groups);
  w.Line("global {}* to=packed+panel*{}+lane;", ElementName(spec.weights), p.steps * p.panel_channels);
  w.Line("global const {}* at=weights+image/{}*{}+g/{}*{}+m*{};", ElementName(from.type), from.image_repeat,
         from.image, from.group_repeat, from.group ? from.group : outputs * from.output, from.output);
  w.Line("for(int ky=0;ky<{};++ky)for(int kx=0;kx<{};++kx)for(int c=0;c<{};++c){{", s.kernel_height,
         s.kernel_width, inputs);
  w.Line("const float v=m<{}?{}{}:0.0f;", outputs,
         LoadText(from.type, 1, "at", fmt::format("c*{}+ky*{}+kx*{}", from.channel, from.tap_row, from.tap)),
         from.zero ? fmt::format("-({})", from.zero) : "");
  w.Line("{}to+={};}}}}", StoreText(spec.weights, 1, "v", "to", "0"), p.panel_channels);
  k.source = w.text();
  return k;
}

}  // namespace mete::opencl
