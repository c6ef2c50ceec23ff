#include "processor/opencl/kernels/window.h"

#include <algorithm>

#include "base/error.h"
#include "processor/opencl/kernels/functions.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

// Work-items of a work-group: a multiple of the 32 or 64 threads that GPUs run in step, and enough that
// PoCL's cost of a work-group does not count.
constexpr int64_t kGroup = 64;

int64_t OrElse(int64_t stride, int64_t channels) { return stride ? stride : channels; }

// The work-items of a kernel over windows: c, ox, oy and n are the first channel, the first of `columns`
// pixels, its row and its image.
struct Items {
  const ConvShape& s;
  int64_t vector, columns;

  int64_t vectors() const { return CeilDiv(s.out_channels, vector); }
  int64_t per_row() const { return CeilDiv(s.out_width, columns); }
  int64_t count() const { return s.batch * s.out_height * per_row() * vectors(); }

  void Set(KernelText& k) const {
    k.group[0] = kGroup;
    k.items[0] = RoundUp(count(), kGroup);
  }
  void Write(Writer& w) const {
    w.Line("const int item=get_global_id(0);\nif(item>={})return;", count());
    w.Line("const int c=item%{}*{},ox=min(item/{}%{}*{},{});", vectors(), vector, vectors(), per_row(),
           columns, s.out_width - columns);
    w.Line("const int oy=item/{}%{},n=item/{};", vectors() * per_row(), s.out_height,
           vectors() * per_row() * s.out_height);
    w.Line("const int iy=oy*{}-{},ix=ox*{}-{};", s.stride_y, s.pad_top, s.stride_x, s.pad_left);
  }
  // Writes the statements that `of_lanes` returns for the valid lanes of a vector.
  template <class F>
  void ForLanes(Writer& w, const F& of_lanes) const {
    const int64_t last = s.out_channels - (vectors() - 1) * vector;
    if (last == vector) return of_lanes(int(vector));
    w.Line("if(c<{}){{", s.out_channels - last);
    if (vectors() > 1) of_lanes(int(vector));
    w.Line("}}else{{");
    of_lanes(int(last));
    w.Line("}}");
  }
};

void Check(const char* where, const ConvShape& s, int columns) {
  CheckElements(where, {s.batch * s.in_height * s.in_width * OrElse(s.in_pixel_stride, s.in_channels),
                        s.out_pixels() * OrElse(s.out_pixel_stride, s.out_channels)});
  if (s.in_channels != s.out_channels)
    Invalid(where, "the channels differ; got {} and {}, expected as many outputs as inputs", s.in_channels,
            s.out_channels);
  if (columns < 1 || columns > s.out_width)
    Invalid(where, "a work-item has too many pixels; got {}, expected 1 to {}", columns, s.out_width);
}

// The epilogue of sums of bytes, for one pixel.
void StoreBytes(Writer& w, const DepthwiseSpec& spec, int vector, int lanes, int pixel) {
  const ByteSums& bytes = *spec.bytes;
  const std::string n = vector == 1 ? "" : std::to_string(vector);
  std::string bias;
  for (int i = 0; spec.bias && i < vector; ++i)
    bias += (i ? "," : "") + (i < lanes ? fmt::format("bias[c+{}]", i) : "0");
  w.Line("const int{0} sum=convert_int{0}_rte(s{1}){2};", n, pixel,
         spec.bias ? fmt::format("+(int{})({})", n, bias) : "");
  w.Line("{0} v=convert_{0}(sum)*{1};", FloatVector(vector),
         LoadLanes(DType::kF32, vector, lanes, "scales", "c"));
  if (spec.output != DType::kF32)
    w.Line("v=clamp(rint(v),{},{})+{};", FloatLiteral(bytes.least), FloatLiteral(bytes.most),
           FloatLiteral(float(bytes.output_zero)));
}

void StoreDepthwise(Writer& w, const DepthwiseSpec& spec, int vector, int columns, int lanes) {
  const ConvShape& s = spec.shape;
  const int64_t stride = OrElse(s.out_pixel_stride, s.out_channels);
  const std::string bias =
      spec.bias && !spec.bytes ? "+" + LoadLanes(DType::kF32, vector, lanes, "bias", "c") : "";
  for (int p = 0; p < columns; ++p) {
    w.Line("{{");
    if (spec.bytes) StoreBytes(w, spec, vector, lanes, p);
    else w.Line("{} v=s{}{};", FloatVector(vector), p, bias);
    if (spec.residual)
      w.Line("v+={};", LoadLanes(spec.output, vector, lanes, "residual",
                                 fmt::format("(pixel+{})*{}+c", p, s.out_channels)));
    w.Line("v={};", FunctionText(spec.activation, vector, "v"));
    w.Line("{}}}", StoreLanes(spec.output, vector, lanes, "v", PointerText("output", spec.output_first),
                              fmt::format("(pixel+{})*{}+c", p, stride)));
  }
}

}  // namespace

KernelText DepthwiseKernel(const DepthwiseSpec& spec, int vector, int columns) {
  const ConvShape& s = spec.shape;
  Check("GPU depthwise convolution", s, columns);
  if (s.groups != s.in_channels)
    Invalid("GPU depthwise convolution", "the groups are not the channels; got {} groups of {} channels",
            s.groups, s.in_channels);
  const Items items{s, vector, columns};
  const int64_t stride = OrElse(s.in_pixel_stride, s.in_channels);
  const std::string type = FloatVector(vector), out = ElementName(spec.output);
  KernelText k;
  k.name = "depthwise";
  items.Set(k);
  Writer w;
  Arguments arguments;
  arguments.Add("const " + ElementName(spec.input), "input")
      .Add("const " + ElementName(spec.weights), "weights");
  if (spec.bytes) arguments.Add("const float", "scales");
  if (spec.bias) arguments.Add(spec.bytes ? "const int" : "const float", "bias");
  if (spec.residual) arguments.Add("const " + out, "residual");
  w.Line("{}", arguments.Add(out, "output").Head(k));
  items.Write(w);
  for (int p = 0; p < columns; ++p) w.Line("{} s{}=0;", type, p);
  items.ForLanes(w, [&](int lanes) {
    w.Line("for(int ky=0;ky<{};++ky){{const int y=iy+ky*{};\nif((uint)y>={}u)continue;", s.kernel_height,
           s.dilation_y, s.in_height);
    w.Line("for(int kx=0;kx<{};++kx){{const int x=ix+kx*{};", s.kernel_width, s.dilation_x);
    w.Line("const {} b={};", type,
           LoadLanes(spec.weights, vector, lanes, "weights",
                     fmt::format("(ky*{}+kx)*{}+c", s.kernel_width, s.in_channels)));
    w.Line("const int at=((n*{}+y)*{}+x)*{}+c+{};", s.in_height, s.in_width, stride, spec.input_first);
    const std::string zero = spec.bytes ? fmt::format("-({})", spec.bytes->input_zero) : "";
    for (int p = 0; p < columns; ++p)
      w.Line("if((uint)(x+{})<{}u)s{}=mad({}{},b,s{});", p * s.stride_x, s.in_width, p,
             LoadLanes(spec.input, vector, lanes, "input", fmt::format("at+{}", p * s.stride_x * stride)),
             zero, p);
    w.Line("}}}}");
  });
  w.Line("const int pixel=(n*{}+oy)*{}+ox;", s.out_height, s.out_width);
  items.ForLanes(w, [&](int lanes) { StoreDepthwise(w, spec, vector, columns, lanes); });
  w.Line("}}");
  k.source = w.text();
  return k;
}

KernelText PoolKernel(const PoolShape& shape, DType type, int vector, const std::optional<BytePool>& bytes) {
  const ConvShape& s = shape.window;
  Check("GPU pool", s, 1);
  const bool most = shape.kind == PoolKind::kMax;
  const Items items{s, vector, 1};
  const int64_t in = OrElse(s.in_pixel_stride, s.in_channels),
                out = OrElse(s.out_pixel_stride, s.out_channels);
  KernelText k;
  k.name = "pool";
  items.Set(k);
  Writer w;
  if (bytes) w.Line("#pragma OPENCL FP_CONTRACT OFF");  // each step rounds
  w.Line("{}",
         Arguments().Add("const " + ElementName(type), "input").Add(ElementName(type), "output").Head(k));
  items.Write(w);
  w.Line("{} v={};\nint taps=0;", FloatVector(vector), most ? "-INFINITY" : "0.0f");
  items.ForLanes(w, [&](int lanes) {
    w.Line("for(int ky=0;ky<{};++ky)for(int kx=0;kx<{};++kx){{const int y=iy+ky*{},x=ix+kx*{};",
           s.kernel_height, s.kernel_width, s.dilation_y, s.dilation_x);
    if (shape.count_include_pad)
      w.Line("taps+=y<{}&&x<{};", s.in_height + shape.pad_bottom, s.in_width + shape.pad_right);
    w.Line("if((uint)y>={}u||(uint)x>={}u)continue;", s.in_height, s.in_width);
    if (!shape.count_include_pad) w.Line("++taps;");
    const std::string tap = LoadLanes(type, vector, lanes, "input",
                                      fmt::format("((n*{}+y)*{}+x)*{}+c", s.in_height, s.in_width, in));
    if (most) w.Line("v=max(v,{});}}", tap);
    else if (bytes)
      w.Line("v+=({}-{})*{};}}", tap, FloatLiteral(bytes->x_zero), FloatLiteral(bytes->x_scale));
    else w.Line("v+={};}}", tap);
  });
  if (!most) w.Line("v/=(float)max(taps,1);");
  if (bytes) w.Line("v=v/{}+{};", FloatLiteral(bytes->y_scale), FloatLiteral(bytes->y_zero));
  items.ForLanes(w, [&](int lanes) {
    w.Line("{}", StoreLanes(type, vector, lanes, "v", "output",
                            fmt::format("((n*{}+oy)*{}+ox)*{}+c", s.out_height, s.out_width, out)));
  });
  w.Line("}}");
  k.source = w.text();
  return k;
}

}  // namespace mete::opencl
