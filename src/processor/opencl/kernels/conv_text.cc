#include "processor/opencl/kernels/conv_text.h"

#include <algorithm>

#include "base/error.h"

namespace mete::opencl {
namespace {

int64_t OrElse(int64_t stride, int64_t channels) { return stride ? stride : channels; }

// The taps of output pixels along one dimension.
struct Line {
  int64_t in, out, kernel, stride, dilation, pad, tile;

  int64_t tiles() const { return CeilDiv(out, tile); }
  // Whether all taps of the `tile` outputs from `first` on lie in the image.
  bool Inside(int64_t first) const {
    const int64_t low = first * stride - pad, high = low + (tile - 1) * stride + (kernel - 1) * dilation;
    return low >= 0 && high < in;
  }
  int64_t First(int64_t number) const { return std::min(number * tile, out - tile); }
  int64_t CountInside() const {
    int64_t count = 0;
    for (int64_t i = 0; i < tiles(); ++i) count += Inside(First(i));
    return count;
  }
};

Line LineX(const ConvShape& s, int64_t tile) {
  return {s.in_width, s.out_width, s.kernel_width, s.stride_x, s.dilation_x, s.pad_left, tile};
}
Line LineY(const ConvShape& s, int64_t tile) {
  return {s.in_height, s.out_height, s.kernel_height, s.stride_y, s.dilation_y, s.pad_top, tile};
}

bool WholeSums(const ConvSpec& spec) { return spec.bytes && spec.bytes->whole; }

}  // namespace

ConvText::ConvText(const ConvSpec& flattened, const Tile& tile)
    : spec_(flattened),
      s_(spec_.shape),
      tile_(tile),
      packed_(PackedSizes(spec_, tile)),
      group_inputs_(s_.in_channels / s_.groups),
      group_outputs_(s_.out_channels / s_.groups),
      in_stride_(OrElse(s_.in_pixel_stride, s_.in_channels)),
      out_stride_(OrElse(s_.out_pixel_stride, s_.out_channels)),
      in_image_(OrElse(spec_.input_image, s_.in_height * s_.in_width * in_stride_)),
      out_image_(OrElse(spec_.output_image, s_.out_height * s_.out_width * out_stride_)),
      tiles_x_(CeilDiv(s_.out_width, tile.columns)),
      tiles_y_(CeilDiv(s_.out_height, tile.rows)),
      channel_tiles_(CeilDiv(group_outputs_, tile.channels())),
      rows_leave_(LineY(s_, 1).CountInside() < s_.out_height),
      skips_rows_(tile.rows == 1 && !spec_.bytes) {
  if (tile.rows > s_.out_height || tile.columns > s_.out_width || tile.unroll % tile.input_vector)
    Invalid("GPU convolution",
            "the tile does not fit; got {}, expected at most {} x {} pixels and whole reads of inputs",
            ToString(tile), s_.out_height, s_.out_width);
}

KernelText ConvText::Write() {
  KernelText k;
  k.name = "conv";
  const std::array<int64_t, 2> group = {tile_.group_pixels, tile_.group_channels};
  const std::array<int64_t, 2> count = {s_.batch * tiles_y_ * tiles_x_, s_.groups * channel_tiles_};
  for (size_t i : {0u, 1u}) {
    const size_t dimension = tile_.channels_first ? 1 - i : i;
    k.group[dimension] = group[i];
    k.items[dimension] = RoundUp(count[i], group[i]);
  }
  if (WholeSums(spec_)) w_.Line("#define MAC(a,b,c) ((a)*(b)+(c))");
  else w_.Line("#ifdef FP_FAST_FMAF\n#define MAC fma\n#else\n#define MAC mad\n#endif");
  w_.Line("{}", Taken().Head(k));
  Position();
  Sums();
  const bool some_inside = AnyTile(true), some_at_edges = AnyTile(false);
  if (some_inside && some_at_edges) {
    const Line x = LineX(s_, tile_.columns), y = LineY(s_, tile_.rows);
    w_.Line("const bool inside=ix>=0&&ix<{}{};", x.in - (x.tile - 1) * x.stride - (x.kernel - 1) * x.dilation,
            skips_rows_ ? ""
                        : fmt::format("&&iy>=0&&iy<{}",
                                      y.in - (y.tile - 1) * y.stride - (y.kernel - 1) * y.dilation));
    w_.Line("if(inside){{");
    SumInside();
    w_.Line("}}else{{");
    SumAtEdges();
    w_.Line("}}");
  } else if (some_inside) {
    SumInside();
  } else {
    SumAtEdges();
  }
  Store();
  w_.Line("}}");
  k.source = w_.text();
  return k;
}

// A tile of one row leaves out rows of taps outside the image, so its rows need not be inside.
bool ConvText::AnyTile(bool inside) const {
  const Line x = LineX(s_, tile_.columns), y = LineY(s_, tile_.rows);
  const int64_t columns = x.CountInside(), rows = skips_rows_ ? y.tiles() : y.CountInside();
  return inside ? columns * rows > 0 : columns * rows < x.tiles() * y.tiles();
}

Arguments ConvText::Taken() const {
  const std::string out = ElementName(spec_.output);
  Arguments arguments;
  arguments.Add("const " + ElementName(spec_.input), "input");
  arguments.Add("const " + ElementName(spec_.weights), "packed");
  if (spec_.residual) arguments.Add("const " + out, "residual");
  return arguments.Add(out, "output");
}

void ConvText::Position() {
  const int pixels = tile_.channels_first ? 1 : 0;
  w_.Line("const int tile=get_global_id({}),part=get_global_id({});", pixels, 1 - pixels);
  if (tile_.group_pixels > 1) w_.Line("if(tile>={})return;", s_.batch * tiles_y_ * tiles_x_);
  if (tile_.group_channels > 1) w_.Line("if(part>={})return;", s_.groups * channel_tiles_);
  w_.Line("const int g=part/{0},t=part%{0};", channel_tiles_);
  w_.Line("const int n=tile/{},oy=min(tile/{}%{}*{},{}),ox=min(tile%{}*{},{});", tiles_x_ * tiles_y_,
          tiles_x_, tiles_y_, tile_.rows, s_.out_height - tile_.rows, tiles_x_, tile_.columns,
          s_.out_width - tile_.columns);
  w_.Line("const int iy=oy*{}-{},ix=ox*{}-{};", s_.stride_y, s_.pad_top, s_.stride_x, s_.pad_left);
  const std::string set = spec_.weights_per_image ? fmt::format("(n*{}+g)", s_.groups) : "g";
  w_.Line("global const {}* wp=packed+({}*{}+t/{})*{}+t%{}*{};", ElementName(spec_.weights), set,
          packed_.panels, tile_.panel_tiles, packed_.steps * packed_.panel_channels, tile_.panel_tiles,
          tile_.channels());
}

void ConvText::Sums() {
  for (int p = 0; p < tile_.pixels(); ++p)
    for (int v = 0; v < tile_.vectors; ++v) w_.Line("{} c{}_{}=0;", SumType(tile_.vector), p, v);
}

int64_t ConvText::InputOffset(int pixel) const {
  const int64_t row = pixel / tile_.columns, column = pixel % tile_.columns;
  return (row * s_.stride_y * s_.in_width + column * s_.stride_x) * in_stride_;
}

void ConvText::SkipRow(int64_t steps) {
  if (skips_rows_ && rows_leave_)
    w_.Line("if((uint)(iy+ky*{})>={}u){{wp+={};continue;}}", s_.dilation_y, s_.in_height,
            steps * packed_.panel_channels);
}

void ConvText::SumInside() {
  const int64_t row = s_.kernel_width * group_inputs_;
  // The taps of a row lie one behind the other if nothing is between their channels.
  const bool joined = s_.kernel_width == 1 || (s_.dilation_x == 1 && in_stride_ == group_inputs_);
  std::vector<std::string> pointers;
  for (int p = 0; p < tile_.pixels(); ++p) pointers.push_back(fmt::format("xp+{}", InputOffset(p)));
  w_.Line("for(int ky=0;ky<{};++ky){{", s_.kernel_height);
  SkipRow(row);
  w_.Line("global const {}* xp={}+n*{}+((iy+ky*{})*{}+ix)*{}+g*{};", ElementName(spec_.input),
          PointerText("input", spec_.input_first), in_image_, s_.dilation_y, s_.in_width, in_stride_,
          group_inputs_);
  if (joined) {
    Run(row, pointers);
  } else {
    w_.Line("for(int kx=0;kx<{};++kx){{", s_.kernel_width);
    Run(group_inputs_, pointers);
    w_.Line("xp+={};}}", s_.dilation_x * in_stride_);
  }
  w_.Line("}}");
}

void ConvText::SumAtEdges() {
  const std::string type = ElementName(spec_.input);
  w_.Line("global const {0}* zeros=(global const {0}*)((global const uchar*)packed+{1});", type,
          packed_.zeros_at);
  w_.Line("for(int ky=0;ky<{};++ky){{", s_.kernel_height);
  SkipRow(s_.kernel_width * group_inputs_);
  w_.Line("for(int kx=0;kx<{};++kx){{", s_.kernel_width);
  w_.Line("const int y=iy+ky*{},x=ix+kx*{};", s_.dilation_y, s_.dilation_x);
  w_.Line("const int at=n*{}+(y*{}+x)*{}+g*{}+{};", in_image_, s_.in_width, in_stride_, group_inputs_,
          spec_.input_first);
  std::vector<std::string> pointers;
  for (int p = 0; p < tile_.pixels(); ++p) {
    const int64_t row = p / tile_.columns * s_.stride_y, column = p % tile_.columns * s_.stride_x;
    const std::string in_rows =
        !skips_rows_ ? fmt::format("&&(uint)(y+{})<{}u", row, s_.in_height) : std::string();
    w_.Line("global const {}* p{}=(uint)(x+{})<{}u{}?input+(at+{}):zeros;", type, p, column, s_.in_width,
            in_rows, InputOffset(p));
    pointers.push_back(fmt::format("p{}", p));
  }
  Run(group_inputs_, pointers);
  w_.Line("}}}}");
}

void ConvText::Run(int64_t length, const std::vector<std::string>& pointers) {
  const int64_t whole = length / tile_.unroll * tile_.unroll;
  if (whole > 0) {
    w_.Line("for(int k=0;k<{};k+={}){{", whole, tile_.unroll);
    Steps(0, tile_.unroll, pointers, "k");
    w_.Line("wp+={};}}", tile_.unroll * packed_.panel_channels);
  }
  if (whole == length) return;
  Steps(0, length - whole, pointers, std::to_string(whole));
  w_.Line("wp+={};", (length - whole) * packed_.panel_channels);
}

void ConvText::Steps(int64_t first, int64_t count, const std::vector<std::string>& pointers,
                     const std::string& k) {
  while (count > 0) {
    const int width = count >= tile_.input_vector ? tile_.input_vector : 1;
    w_.Line("{{");
    for (size_t p = 0; p < pointers.size(); ++p)
      w_.Line("const {} a{}={};", SumType(width), p,
              Load(spec_.input, width, pointers[p], fmt::format("{}+{}", k, first)));
    for (int lane = 0; lane < width; ++lane) {
      std::vector<std::string> inputs;
      for (size_t p = 0; p < pointers.size(); ++p)
        inputs.push_back(LaneText(fmt::format("a{}", p), width, lane));
      Step(first + lane, inputs);
    }
    w_.Line("}}");
    first += width;
    count -= width;
  }
}

void ConvText::Step(int64_t step, const std::vector<std::string>& inputs) {
  const std::string type = SumType(tile_.vector);
  w_.Line("{{");
  for (int v = 0; v < tile_.vectors; ++v)
    w_.Line("const {} b{}={};", type, v,
            Load(spec_.weights, tile_.vector, "wp",
                 std::to_string(step * packed_.panel_channels + v * tile_.vector)));
  for (size_t p = 0; p < inputs.size(); ++p)
    for (int v = 0; v < tile_.vectors; ++v)
      w_.Line("c{0}_{1}=MAC(({2})({3}),b{1},c{0}_{1});", p, v, type, inputs[p]);
  w_.Line("}}");
}

std::string ConvText::SumType(int width) const {
  return (WholeSums(spec_) ? "int" : "float") + (width == 1 ? "" : std::to_string(width));
}

std::string ConvText::Load(DType type, int width, const std::string& pointer,
                           const std::string& offset) const {
  const std::string text = LoadText(type, width, pointer, offset);
  return WholeSums(spec_) ? fmt::format("convert_{}({})", SumType(width), text) : text;
}

KernelText ConvKernel(const ConvSpec& spec, const Tile& tile) {
  return ConvText(Flattened(spec), tile).Write();
}

}  // namespace mete::opencl
