#include "processor/opencl/share/winograd_conv.h"

#include "processor/opencl/kernels/winograd.h"

namespace mete::opencl {
namespace {

// Multiply-adds in the time in which a byte goes to memory and back. These values are estimates: a core under
// PoCL has some 50 G/s beside 10 GB/s, GPUs of chips 250 to 500 G/s beside 10 to 20 GB/s.
double MultiplyAddsOfAByte(const TileDevice& device) { return device.is_cpu ? 5 : 25; }

int64_t Positions(int side) { return int64_t{side + 2} * (side + 2); }

// Returns the work in multiply-adds: the products, and the transformed inputs and products that go through
// memory.
double Work(const ConvShape& s, int side, const TileDevice& device) {
  const double places = double(Positions(side) * WinogradTiles(s, side));
  const double bytes = 2.0 * sizeof(float) * double(s.in_channels + s.out_channels);
  return places * (double(s.in_channels) * double(s.out_channels) + bytes * MultiplyAddsOfAByte(device));
}

}  // namespace

int WinogradSide(const Lowering& to, const ConvSpec& spec) {
  const ConvShape& s = spec.shape;
  if (to.plain_sums() || to.storage() != DType::kF32 || !TakesWinogradOnGpu(spec)) return 0;
  double least = 9.0 * double(s.out_pixels()) * double(s.in_channels) * double(s.out_channels);
  int best = 0;
  for (int side : {2, 4}) {
    const double work = Work(s, side, to.device());
    if (work >= least) continue;
    least = work;
    best = side;
  }
  return best;
}

void LowerWinograd(Lowering& to, ConvSpec spec, int side, const ProductArrays& arrays) {
  const ConvShape& s = spec.shape;
  spec.input = arrays.input.type;
  spec.output = arrays.output.type;
  spec.residual = arrays.residual.has_value();
  const WinogradSpec w{
      .conv = spec, .bias = arrays.bias.has_value(), .m = side, .tiles = WinogradTiles(s, side)};
  const ConvSpec product = WinogradProduct(w);
  const Tile tile = to.TileOf(product);
  const Array packed = to.Derived(arrays.weights, DType::kU8, {PackedSizes(product, tile).bytes});
  to.Launch(WinogradPackKernel(w, tile), {to.As(arrays.weights, DType::kF32), packed});
  const Array inputs = to.Temporary(DType::kF32, {Positions(side), w.tiles, s.in_channels}),
              products = to.Temporary(DType::kF32, {Positions(side), w.tiles, s.out_channels});
  to.Launch(WinogradInputKernel(w, to.vector()), {arrays.input, inputs});
  to.Launch(ConvKernel(product, tile), {inputs, packed, products});
  std::vector<Array> output{products};
  if (arrays.bias) output.push_back(*arrays.bias);
  if (arrays.residual) output.push_back(*arrays.residual);
  output.push_back(arrays.output);
  to.Launch(WinogradOutputKernel(w, to.vector()), output);
}

}  // namespace mete::opencl
