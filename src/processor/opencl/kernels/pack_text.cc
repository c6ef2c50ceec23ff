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
  w.Line("{}global const {}* restrict weights,{}global {}* restrict packed){{", Head(k),
         ElementName(from.type), from.bias ? "global const float* restrict bias," : "",
         ElementName(spec.weights));
  w.Line("const int lane=get_global_id(0),panel=get_global_id(1);");
  w.Line("if(panel=={}){{", p.sets * p.panels);
  w.Line(
      "global float* b=(global float*)((global uchar*)packed+{}),*zeros=(global float*)((global "
      "uchar*)packed+{});",
      p.bias_at, p.zeros_at);
  w.Line("for(int g=0;g<{};++g)for(int i=0;i<{};++i){{const int m=i*{}+lane;", s.groups, p.panels,
         p.panel_channels);
  w.Line("b[g*{}+m]={};}}", p.panels * p.panel_channels,
         from.bias ? fmt::format("m<{0}?bias[g*{0}+m]:0.0f", outputs) : "0.0f");
  w.Line("for(int i=lane;i<{};i+={})zeros[i]=0.0f;\nreturn;}}", inputs, p.panel_channels);
  w.Line("const int set=panel/{0},m=panel%{0}*{1}+lane,g=set%{2},image=set/{2};", p.panels, p.panel_channels,
         s.groups);
  w.Line("global {}* to=packed+panel*{}+lane;", ElementName(spec.weights), p.steps * p.panel_channels);
  w.Line("global const {}* at=weights+image/{}*{}+g/{}*{}+m*{};", ElementName(from.type), from.image_repeat,
         from.image, from.group_repeat, from.group ? from.group : outputs * from.output, from.output);
  w.Line("for(int ky=0;ky<{};++ky)for(int kx=0;kx<{};++kx)for(int c=0;c<{};++c){{", s.kernel_height,
         s.kernel_width, inputs);
  w.Line("const float v=m<{}?{}:0.0f;", outputs,
         LoadText(from.type, 1, "at", fmt::format("c*{}+ky*{}+kx*{}", from.channel, from.tap_row, from.tap)));
  w.Line("{}to+={};}}}}", StoreText(spec.weights, 1, "v", "to", "0"), p.panel_channels);
  k.source = w.text();
  return k;
}

}  // namespace mete::opencl
