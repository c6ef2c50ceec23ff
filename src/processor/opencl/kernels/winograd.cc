#include "processor/opencl/kernels/winograd.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernels/fast/winograd/matrices.h"
#include "kernels/fast/winograd/winograd.h"
#include "processor/opencl/kernels/functions.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

constexpr const char* kWhere = "GPU Winograd convolution";
constexpr int64_t kGroup = 64;  // as in window.cc

int64_t OrElse(int64_t stride, int64_t channels) { return stride ? stride : channels; }
int64_t TileRows(const ConvShape& s, int m) { return CeilDiv(s.out_height, m); }
int64_t TileColumns(const ConvShape& s, int m) { return CeilDiv(s.out_width, m); }

void Check(const WinogradSpec& spec) {
  const ConvShape& s = spec.conv.shape;
  if (!TakesWinogradOnGpu(spec.conv) || (spec.m != 2 && spec.m != 4))
    Invalid(kWhere,
            "the convolution or its tile has no kernel; got {}x{} and m = {}, expected 3x3, stride 1 and m = "
            "2 or 4",
            s.kernel_height, s.kernel_width, spec.m);
  if (spec.tiles < 1 || spec.first_tile < 0 || spec.first_tile + spec.tiles > WinogradTiles(s, spec.m))
    Invalid(kWhere, "the tiles are not those of the output; got {} from {} on, expected at most {}",
            spec.tiles, spec.first_tile, WinogradTiles(s, spec.m));
  CheckElements(
      kWhere,
      {s.batch * s.in_height * s.in_width * OrElse(s.in_pixel_stride, s.in_channels) + spec.conv.input_first,
       s.out_pixels() * OrElse(s.out_pixel_stride, s.out_channels) + spec.conv.output_first});
  WinogradProduct(spec);
}

// Returns the sum of the terms with coefficients other than 0.
std::string SumText(const std::vector<std::pair<double, std::string>>& terms) {
  std::string text;
  for (const auto& [factor, name] : terms) {
    if (factor == 0) continue;
    if (!text.empty() || factor < 0) text += factor < 0 ? "-" : "+";
    text += std::abs(factor) == 1 ? name : fmt::format("{}*{}", FloatLiteral(float(std::abs(factor))), name);
  }
  return text.empty() ? "0.0f" : text;
}

// Names of variables: `all` and two numbers, the row and the column.
std::string At(const char* all, size_t row, size_t column) { return fmt::format("{}{}{}", all, row, column); }

// Writes statements that declare to(p) = sum over j of B^T[p][j] from(j). Rows 2k + 1 and 2k + 2 are the sum
// and the difference of the parts over even and over odd j.
template <class Matrices, class From, class To>
void TransformInput(Writer& w, const std::string& type, const From& from, const To& to) {
  const auto& b = Matrices::kInput;
  constexpr size_t size = std::size(Matrices::kInput);
  const auto part = [&](size_t row, size_t parity) {
    std::vector<std::pair<double, std::string>> terms;
    for (size_t j = 0; j < size; ++j)
      if (parity == 2 || j % 2 == parity) terms.emplace_back(b[row][j], from(j));
    return SumText(terms);
  };
  for (size_t row : {size_t{0}, size - 1}) w.Line("const {} {}={};", type, to(row), part(row, 2));
  for (size_t row = 1; row + 1 < size; row += 2)
    w.Line("const {0} {1}=({3})+({4}),{2}=({3})-({4});", type, to(row), to(row + 1), part(row, 0),
           part(row, 1));
}

// Writes statements that declare to(i) = sum over p of A^T[i][p] from(p), from sums and differences of pairs.
template <class Matrices, class From, class To>
void TransformOutput(Writer& w, const std::string& type, const From& from, const To& to) {
  const auto& a = Matrices::kOutput;
  constexpr size_t size = std::size(Matrices::kInput);
  w.Line("{{");
  for (size_t p = 1; p + 1 < size; p += 2)
    w.Line("const {0} s{1}={2}+{3},d{1}={2}-{3};", type, p, from(p), from(p + 1));
  for (size_t i = 0; i < std::size(a); ++i) {
    std::vector<std::pair<double, std::string>> terms = {{a[i][0], from(0)}};
    for (size_t p = 1; p + 1 < size; p += 2)
      terms.emplace_back(a[i][p], (i % 2 ? "d" : "s") + std::to_string(p));
    terms.emplace_back(a[i][size - 1], from(size - 1));
    w.Line("{}={};", to(i), SumText(terms));
  }
  w.Line("}}");
}

// The work-items of both transformations: one for each tile and vector of channels.
struct Items {
  const WinogradSpec& spec;
  int64_t channels;
  int vector;

  Items(const WinogradSpec& all, int64_t count, int most)
      : spec(all), channels(count), vector(VectorWidth(most)) {
    while (channels % vector) vector /= 2;
  }
  int64_t count() const { return spec.tiles * (channels / vector); }
  void Set(KernelText& k) const {
    k.group[0] = kGroup;
    k.items[0] = RoundUp(count(), kGroup);
  }
  // Declares c, tile, n, y and x: the first channel, the tile in this part, its image and first output pixel.
  void Write(Writer& w) const {
    const ConvShape& s = spec.conv.shape;
    const int64_t rows = TileRows(s, spec.m), columns = TileColumns(s, spec.m);
    w.Line("const int item=get_global_id(0);\nif(item>={})return;", count());
    w.Line("const int c=item%{0}*{1},tile=item/{0},t=tile+{2};", channels / vector, vector, spec.first_tile);
    w.Line("const int n=t/{0},y=t/{1}%{2}*{3},x=t%{1}*{3};", rows * columns, columns, rows, spec.m);
  }
};

template <class Matrices>
void WriteInput(Writer& w, const WinogradSpec& spec, const Items& items) {
  constexpr size_t size = std::size(Matrices::kInput);
  const ConvShape& s = spec.conv.shape;
  const int64_t stride = OrElse(s.in_pixel_stride, s.in_channels);
  const std::string type = FloatVector(items.vector);
  w.Line("const int iy=y-{},ix=x-{},at=((n*{}+iy)*{}+ix)*{}+{}+c;", s.pad_top, s.pad_left, s.in_height,
         s.in_width, stride, spec.conv.input_first);
  w.Line("const bool inside=iy>=0&&ix>=0&&iy<={}&&ix<={};", s.in_height - int64_t(size),
         s.in_width - int64_t(size));
  for (size_t y = 0; y < size; ++y) {
    for (size_t q = 0; q < size; ++q) w.Line("{} {};", type, At("h", y, q));
    w.Line("{{{} x0,x1,x2,x3,x4,x5;\nif(inside){{", type);
    const auto load = [&](size_t x) {
      return LoadText(spec.conv.input, items.vector, "input",
                      fmt::format("at+{}", (int64_t(y) * s.in_width + int64_t(x)) * stride));
    };
    for (size_t x = 0; x < size; ++x) w.Line("x{}={};", x, load(x));
    w.Line("}}else{{\nconst bool row=(uint)(iy+{})<{}u;", y, s.in_height);
    for (size_t x = 0; x < size; ++x)
      w.Line("x{0}=0;if(row&&(uint)(ix+{0})<{1}u)x{0}={2};", x, s.in_width, load(x));
    w.Line("}}\n");
    TransformInput<Matrices>(
        w, type, [](size_t x) { return fmt::format("x{}", x); },
        [](size_t q) { return fmt::format("r{}", q); });
    for (size_t q = 0; q < size; ++q) w.Line("{}=r{};", At("h", y, q), q);
    w.Line("}}");
  }
  for (size_t q = 0; q < size; ++q) {
    w.Line("{{");
    TransformInput<Matrices>(
        w, type, [&](size_t y) { return At("h", y, q); }, [](size_t p) { return fmt::format("r{}", p); });
    for (size_t p = 0; p < size; ++p)
      w.Line("{}",
             StoreText(DType::kF32, items.vector, fmt::format("r{}", p), "transformed",
                       fmt::format("({}+tile)*{}+c", int64_t(p * size + q) * spec.tiles, s.in_channels)));
    w.Line("}}");
  }
}

void StorePixel(Writer& w, const WinogradSpec& spec, const Items& items, size_t i, size_t j) {
  const ConvShape& s = spec.conv.shape;
  const int64_t stride = OrElse(s.out_pixel_stride, s.out_channels);
  const int64_t pixel = int64_t(i) * s.out_width + int64_t(j);
  w.Line("if(y+{}<{}&&x+{}<{}){{{} v={}{};", i, s.out_height, j, s.out_width, FloatVector(items.vector),
         At("o", i, j), spec.bias ? "+bias" : "");
  if (spec.conv.residual)
    w.Line("v+={};", LoadText(spec.conv.output, items.vector, "residual",
                              fmt::format("(pixel+{})*{}+c", pixel,
                                          OrElse(spec.conv.residual_stride, s.out_channels))));
  w.Line("v={};", FunctionText(spec.conv.activation, items.vector, "v"));
  w.Line("{}}}", StoreText(spec.conv.output, items.vector, "v", PointerText("output", spec.conv.output_first),
                           fmt::format("(pixel+{})*{}+c", pixel, stride)));
}

template <class Matrices>
void WriteOutput(Writer& w, const WinogradSpec& spec, const Items& items) {
  constexpr size_t size = std::size(Matrices::kInput), m = std::size(Matrices::kOutput);
  const ConvShape& s = spec.conv.shape;
  const std::string type = FloatVector(items.vector);
  for (size_t q = 0; q < size; ++q) {
    for (size_t i = 0; i < m; ++i) w.Line("{} {};", type, At("h", i, q));
    w.Line("{{");
    for (size_t p = 0; p < size; ++p)
      w.Line("const {} x{}={};", type, p,
             LoadText(DType::kF32, items.vector, "products",
                      fmt::format("({}+tile)*{}+c", int64_t(p * size + q) * spec.tiles, s.out_channels)));
    TransformOutput<Matrices>(
        w, type, [](size_t p) { return fmt::format("x{}", p); }, [&](size_t i) { return At("h", i, q); });
    w.Line("}}");
  }
  w.Line("const int pixel=(n*{}+y)*{}+x;", s.out_height, s.out_width);
  if (spec.bias) w.Line("const {} bias={};", type, LoadText(DType::kF32, items.vector, "biases", "c"));
  for (size_t i = 0; i < m; ++i) {
    w.Line("{{");
    for (size_t j = 0; j < m; ++j) w.Line("{} {};", type, At("o", i, j));
    TransformOutput<Matrices>(
        w, type, [&](size_t q) { return At("h", i, q); }, [&](size_t j) { return At("o", i, j); });
    for (size_t j = 0; j < m; ++j) StorePixel(w, spec, items, i, j);
    w.Line("}}");
  }
}

}  // namespace

bool TakesWinogradOnGpu(const ConvSpec& spec) {
  return TakesWinograd(spec.shape) && spec.weights == DType::kF32 && spec.scale == 1 &&
         !spec.weights_per_image;
}

// On PoCL with one core of AVX-512, the 3x3 layers of ResNet-50 and VGG-16 from 64 channels on, in GFLOP/s of
// the plain sum: ConvKernel 190 to 245, m = 4 of at least 49 tiles 390 to 550, m = 2 of 16 and 49 tiles 275
// and 340 to 357, where m = 4 has 4 and 16 tiles and 150 and 300. Each product reads the weights of its
// position, so few tiles do not pay for four times as many weights. 32 tiles and channels are between what
// was measured.
int ChooseWinograd(const ConvSpec& spec) {
  constexpr int64_t kTiles = 32, kChannels = 32;
  const ConvShape& s = spec.shape;
  if (!TakesWinogradOnGpu(spec) || std::min(s.in_channels, s.out_channels) < kChannels) return 0;
  if (WinogradTiles(s, 4) >= kTiles) return 4;
  return WinogradTiles(s, 2) >= kTiles / 2 ? 2 : 0;
}

int64_t WinogradTiles(const ConvShape& s, int m) { return s.batch * TileRows(s, m) * TileColumns(s, m); }

ConvSpec WinogradProduct(const WinogradSpec& spec) {
  const ConvShape& s = spec.conv.shape;
  const int64_t positions = int64_t{spec.m + 2} * (spec.m + 2);
  CheckElements(kWhere, {positions * spec.tiles * s.in_channels, positions * spec.tiles * s.out_channels});
  return {.shape = SizedProduct(positions, spec.tiles, s.out_channels, s.in_channels),
          .weights_per_image = true};
}

KernelText WinogradInputKernel(const WinogradSpec& spec, int vector) {
  Check(spec);
  const Items items(spec, spec.conv.shape.in_channels, vector);
  KernelText k;
  k.name = "winograd_input";
  items.Set(k);
  Writer w;
  w.Line(
      "{}",
      Arguments().Add("const " + ElementName(spec.conv.input), "input").Add("float", "transformed").Head(k));
  items.Write(w);
  WithWinograd(spec.m, [&](auto matrices) { WriteInput<decltype(matrices)>(w, spec, items); });
  w.Line("}}");
  k.source = w.text();
  return k;
}

KernelText WinogradOutputKernel(const WinogradSpec& spec, int vector) {
  Check(spec);
  const Items items(spec, spec.conv.shape.out_channels, vector);
  const std::string out = ElementName(spec.conv.output);
  KernelText k;
  k.name = "winograd_output";
  items.Set(k);
  Writer w;
  Arguments arguments;
  arguments.Add("const float", "products");
  if (spec.bias) arguments.Add("const float", "biases");
  if (spec.conv.residual) arguments.Add("const " + out, "residual");
  w.Line("{}", arguments.Add(out, "output").Head(k));
  items.Write(w);
  WithWinograd(spec.m, [&](auto matrices) { WriteOutput<decltype(matrices)>(w, spec, items); });
  w.Line("}}");
  k.source = w.text();
  return k;
}

}  // namespace mete::opencl
