#include "kernels/fast/winograd/winograd.h"

#include <algorithm>

#include "kernels/fast/bytes/byte_elementwise.h"
#include "kernels/fast/winograd/winograd_code.h"

namespace mete {
namespace {

// The matrices of a pass, [position][tile][channel]. The strides are in elements.
struct PassMatrices {
  float* data;
  int64_t row_stride, position_stride;

  PassMatrices From(int64_t tile) const { return {data + tile * row_stride, row_stride, position_stride}; }
};

int64_t RoundUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Returns matrices whose rows have `channels` values, rounded up to whole vectors. The positions are an odd
// number of cache lines apart, so that the positions of one tile do not all fall into the same set of a
// cache.
PassMatrices Matrices(const WinogradPlan& plan, int64_t tiles, int64_t channels, float* data) {
  const int64_t row = RoundUp(channels, plan.code->lanes);
  return {data, row, RoundUp(tiles * row, 32) + 16};
}

PassMatrices InputMatrices(const WinogradPlan& plan, float* scratch) {
  return Matrices(plan, plan.pass, plan.shape.in_channels, scratch);
}

PassMatrices ProductMatrices(const WinogradPlan& plan, float* scratch) {
  return Matrices(plan, plan.pass, plan.shape.out_channels, scratch);
}

// Returns the transformed inputs of all tiles.
PassMatrices Transformed(const WinogradPlan& plan, float* data) {
  return Matrices(plan, plan.tiles, plan.shape.in_channels, data);
}

PassMatrices Products(const WinogradPlan& plan, float* data) {
  return Matrices(plan, plan.tiles, plan.shape.out_channels, data);
}

int64_t LengthOf(const WinogradPlan& plan, const PassMatrices& m) {
  return plan.positions * m.position_stride;
}

// Returns the number of tiles of a pass. A pass reads all weights once. If the weights fit the second-level
// cache, the matrices of the pass should fit beside them. Otherwise the weights come from a more distant
// level, and the longer the passes, the less often they are read.
int64_t PassLength(const WinogradPlan& plan) {
  // Both constants were measured with AVX-512 and 1.25 MiB of second-level cache, for passes of 8 .. 256
  // tiles. For 56x56x64, whose weights fit, 16 .. 24 tiles are best with m = 4, and 16 .. 96 tiles take the
  // same time with m = 2. For 112x112x128 and 56x56x256, whose weights do not fit, 96 .. 128 tiles are best.
  constexpr int64_t kCache = 960 << 10;
  constexpr int64_t kLongest = 128;
  const int64_t tile_bytes =
      plan.positions * (plan.shape.in_channels + plan.shape.out_channels) * int64_t{sizeof(float)};
  const int64_t left = kCache - static_cast<int64_t>(PackedWinogradBytes(plan)), step = plan.gemm.row_step;
  const int64_t near = left / tile_bytes / step * step;
  return std::min({plan.tiles, kLongest, near >= 2 * step ? near : kLongest});
}

struct TilePlace {
  int64_t image, y, x;  // image, row and column of the tile's first output pixel
};

TilePlace Locate(const WinogradPlan& plan, int64_t tile) {
  const int64_t in_image = tile % (plan.tile_rows * plan.tile_columns);
  return {tile / (plan.tile_rows * plan.tile_columns), in_image / plan.tile_columns * plan.tile,
          in_image % plan.tile_columns * plan.tile};
}

TileRange Inside(int64_t begin, int64_t size, int length) {
  const int64_t first = std::clamp<int64_t>(-begin, 0, length);
  return {static_cast<int>(first), static_cast<int>(std::clamp<int64_t>(size - begin, first, length))};
}

template <class Element>
InputTile<Element> InputAt(const WinogradPlan& plan, const Element* input, int64_t tile) {
  const ConvShape& s = plan.shape;
  const TilePlace p = Locate(plan, tile);
  const int64_t pixel = s.in_pixel_stride ? s.in_pixel_stride : s.in_channels, y = p.y - s.pad_top,
                x = p.x - s.pad_left;
  return {input + ((p.image * s.in_height + y) * s.in_width + x) * pixel, s.in_width * pixel, pixel,
          Inside(y, s.in_height, plan.tile + 2), Inside(x, s.in_width, plan.tile + 2)};
}

// Returns the number of a tile's first output pixel.
int64_t PixelOf(const WinogradPlan& plan, int64_t tile) {
  const TilePlace p = Locate(plan, tile);
  return (p.image * plan.shape.out_height + p.y) * plan.shape.out_width + p.x;
}

template <class Element>
OutputPlace<Element> PlaceAt(const WinogradPlan& plan, int64_t tile, int64_t column, Element* output) {
  const ConvShape& s = plan.shape;
  const TilePlace p = Locate(plan, tile);
  const int64_t stride = s.out_pixel_stride ? s.out_pixel_stride : s.out_channels;
  return {output + PixelOf(plan, tile) * stride + column, s.out_width * stride, stride,
          static_cast<int>(std::min<int64_t>(plan.tile, s.out_height - p.y)),
          static_cast<int>(std::min<int64_t>(plan.tile, s.out_width - p.x))};
}

// Floats as the ends of a convolution, like WinogradBytes.
struct FloatEnds {
  const float* input;
  const Epilogue* epilogue;
  float* output;
};

void ForwardOne(const WinogradPlan& plan, const FloatEnds& floats, int64_t tile, float* to, int64_t stride) {
  plan.code->forward[plan.tile / 2 - 1](InputAt(plan, floats.input, tile), plan.shape.in_channels, to,
                                        stride);
}

void ForwardOne(const WinogradPlan& plan, const WinogradBytes& bytes, int64_t tile, float* to,
                int64_t stride) {
  plan.code->bytes_forward[plan.tile / 2 - 1](InputAt(plan, bytes.input, tile), bytes, plan.shape.in_channels,
                                              to, stride);
}

void BackwardOne(const WinogradPlan& plan, const FloatEnds& floats, int64_t tile, Range columns,
                 const float* from, int64_t stride) {
  const Epilogue& e = *floats.epilogue;
  const OutputPlace<float> place = PlaceAt(plan, tile, columns.begin, floats.output);
  const int64_t residual_stride = e.residual_stride ? e.residual_stride : place.pixel_stride;
  const OutputTile to = {
      place,
      e.residual ? e.residual + PixelOf(plan, tile) * residual_stride + columns.begin : nullptr,
      plan.shape.out_width * residual_stride,
      residual_stride,
      e.bias ? e.bias + columns.begin : nullptr,
  };
  plan.code->backward[plan.tile / 2 - 1](to, e.activation, columns.size(), from, stride);
}

void BackwardOne(const WinogradPlan& plan, const WinogradBytes& bytes, int64_t tile, Range columns,
                 const float* from, int64_t stride) {
  const ByteOutputTile to = {PlaceAt(plan, tile, columns.begin, bytes.output), bytes.bias + columns.begin,
                             bytes.scale + columns.begin};
  plan.code->bytes_backward[plan.tile / 2 - 1](to, bytes, columns.size(), from, stride);
  if (!bytes.table) return;
  for (int y = 0; y < to.rows; ++y)
    for (int x = 0; x < to.columns; ++x) {
      uint8_t* pixel = to.output + y * to.row_stride + x * to.pixel_stride;
      RunByteTable(bytes.table, pixel, {0, columns.size()}, pixel);
    }
}

template <class Ends>
void Forward(const WinogradPlan& plan, const Ends& ends, Range tiles, const PassMatrices& to) {
  for (int64_t t = 0; t < tiles.size(); ++t)
    ForwardOne(plan, ends, tiles.begin + t, to.data + t * to.row_stride, to.position_stride);
}

// Computes the product of one position for rows that begin at in.data, and prefetches the weights of the next
// position.
void Multiply(const WinogradPlan& plan, int64_t position, const PassMatrices& in, const float* packed,
              Range rows, Range panels, const PassMatrices& out) {
  const Panels& split = plan.gemm.split;
  const int64_t channels = plan.shape.in_channels;
  const auto weights = [&](int64_t p) {
    return packed + p % plan.positions * split.padded_columns() * channels;
  };
  RunGemm(plan.gemm, in.data + position * in.position_stride, in.row_stride, weights(position), {}, rows,
          panels, out.data + position * out.position_stride, out.row_stride,
          weights(position + 1) + split.Columns(panels.begin).begin * channels);
}

// Transforms products back and writes the outputs of `tiles`. `from` begins with the products of the first
// tile.
template <class Ends>
void Backward(const WinogradPlan& plan, const PassMatrices& from, const Ends& ends, Range tiles,
              Range panels) {
  const Range columns = {plan.gemm.split.Columns(panels.begin).begin,
                         std::min(plan.gemm.split.Columns(panels.end - 1).end, plan.shape.out_channels)};
  for (int64_t t = 0; t < tiles.size(); ++t)
    BackwardOne(plan, ends, tiles.begin + t, columns, from.data + t * from.row_stride + columns.begin,
                from.position_stride);
}

// Computes a block in passes.
template <class Ends>
void RunPasses(const WinogradPlan& plan, const Ends& ends, const float* packed, Range tiles, Range panels,
               float* scratch) {
  if (panels.size() == 0) return;
  const PassMatrices in = InputMatrices(plan, scratch),
                     out = ProductMatrices(plan, scratch + LengthOf(plan, in));
  const EvenPieces passes(tiles.size(), plan.pass);
  for (int64_t i = 0; i < passes.count(); ++i) {
    const Range pass = {tiles.begin + passes[i].begin, tiles.begin + passes[i].end};
    Forward(plan, ends, pass, in);
    for (int64_t p = 0; p < plan.positions; ++p) Multiply(plan, p, in, packed, {0, pass.size()}, panels, out);
    Backward(plan, out, ends, pass, panels);
  }
}

}  // namespace

bool TakesWinograd(const ConvShape& s) {
  return s.kernel_height == 3 && s.kernel_width == 3 && s.stride_y == 1 && s.stride_x == 1 &&
         s.dilation_y == 1 && s.dilation_x == 1 && s.groups == 1;
}

WinogradPlan PlanWinograd(const ConvShape& shape, int m) {
  WinogradPlan plan;
  plan.shape = shape;
  plan.tile = m;
  plan.positions = (m + 2) * (m + 2);
  plan.tile_rows = (shape.out_height + m - 1) / m;
  plan.tile_columns = (shape.out_width + m - 1) / m;
  plan.tiles = shape.batch * plan.tile_rows * plan.tile_columns;
  plan.code = BestWinogradCode();
  // The products have whole vectors; the values that they write beyond the last channel are never read.
  plan.gemm = PlanGemm(RoundUp(shape.out_channels, plan.code->lanes), shape.in_channels);
  plan.panels = plan.gemm.panels;
  plan.pass = PassLength(plan);
  return plan;
}

const char* TargetOf(const WinogradPlan& plan) { return plan.code->target; }

size_t PackedWinogradBytes(const WinogradPlan& plan) {
  return static_cast<size_t>(plan.positions) * PackedGemmBytes(plan.gemm);
}

void PackWinograd(const WinogradPlan& plan, const float* weights, Range panels, float* packed,
                  int64_t first) {
  const int64_t channels = plan.shape.in_channels, lanes = plan.code->lanes;
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const Range columns = plan.gemm.split.Columns(p);
    for (int64_t n = columns.begin; n < columns.end; n += lanes) {
      plan.code->pack[plan.tile / 2 - 1](
          plan, weights + (n - first) * channels * 9, std::min(lanes, plan.shape.out_channels - n),
          packed + columns.begin * channels + n - columns.begin, plan.gemm.split.Width(p));
    }
  }
}

size_t WinogradScratchBytes(const WinogradPlan& plan) {
  return static_cast<size_t>(LengthOf(plan, InputMatrices(plan, nullptr)) +
                             LengthOf(plan, ProductMatrices(plan, nullptr))) *
         sizeof(float);
}

void RunWinograd(const WinogradPlan& plan, const float* input, const float* packed, const Epilogue& epilogue,
                 Range tiles, Range panels, float* output, float* scratch) {
  RunPasses(plan, FloatEnds{input, &epilogue, output}, packed, tiles, panels, scratch);
}

void RunWinograd(const WinogradPlan& plan, const WinogradBytes& bytes, const float* packed, Range tiles,
                 Range panels, float* scratch) {
  RunPasses(plan, bytes, packed, tiles, panels, scratch);
}

size_t TransformedWinogradBytes(const WinogradPlan& plan) {
  return static_cast<size_t>(LengthOf(plan, Transformed(plan, nullptr))) * sizeof(float);
}

size_t WinogradProductsBytes(const WinogradPlan& plan) {
  return static_cast<size_t>(LengthOf(plan, Products(plan, nullptr))) * sizeof(float);
}

void TransformWinograd(const WinogradPlan& plan, const float* input, Range tiles,
                       const WinogradStages& stages) {
  Forward(plan, FloatEnds{input, nullptr, nullptr}, tiles,
          Transformed(plan, stages.transformed).From(tiles.begin));
}

void TransformWinograd(const WinogradPlan& plan, const WinogradBytes& bytes, Range tiles,
                       const WinogradStages& stages) {
  Forward(plan, bytes, tiles, Transformed(plan, stages.transformed).From(tiles.begin));
}

void MultiplyWinograd(const WinogradPlan& plan, const float* packed, Range matrices,
                      const WinogradStages& stages) {
  const PassMatrices in = Transformed(plan, stages.transformed), out = Products(plan, stages.products);
  while (matrices.size() > 0) {
    const int64_t position = matrices.begin / plan.panels, first = matrices.begin % plan.panels;
    const Range panels = {first, std::min(plan.panels, first + matrices.size())};
    Multiply(plan, position, in, packed, {0, plan.tiles}, panels, out);
    matrices.begin += panels.size();
  }
}

void FinishWinograd(const WinogradPlan& plan, const WinogradStages& stages, const Epilogue& epilogue,
                    Range tiles, float* output) {
  Backward(plan, Products(plan, stages.products).From(tiles.begin), FloatEnds{nullptr, &epilogue, output},
           tiles, {0, plan.panels});
}

void FinishWinograd(const WinogradPlan& plan, const WinogradStages& stages, const WinogradBytes& bytes,
                    Range tiles) {
  Backward(plan, Products(plan, stages.products).From(tiles.begin), bytes, tiles, {0, plan.panels});
}

}  // namespace mete
