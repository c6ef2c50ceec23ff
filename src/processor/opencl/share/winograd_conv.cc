#include "processor/opencl/share/winograd_conv.h"

#include "processor/opencl/kernels/winograd.h"

namespace mete::opencl {
int WinogradSide(const Lowering& to, const ConvSpec& spec) {
  return to.plain_sums() || to.storage() != DType::kF32 ? 0 : ChooseWinograd(spec);
}

void LowerWinograd(Lowering& to, ConvSpec spec, int side, const ProductArrays& arrays) {
  const ConvShape& s = spec.shape;
  spec.input = arrays.input.type;
  spec.output = arrays.output.type;
  spec.residual = arrays.residual.has_value();
  const WinogradSpec w{
      .conv = spec, .bias = arrays.bias.has_value(), .m = side, .tiles = WinogradTiles(s, side)};
  const int64_t positions = int64_t{side + 2} * (side + 2);
  const ConvSpec product = WinogradProduct(w);
  const Tile tile = to.TileOf(product);
  const Array packed = to.Derived(arrays.weights, DType::kU8, {PackedSizes(product, tile).bytes});
  to.Launch(WinogradPackKernel(w, tile), {to.As(arrays.weights, DType::kF32), packed});
  const Array inputs = to.Temporary(DType::kF32, {positions, w.tiles, s.in_channels}),
              products = to.Temporary(DType::kF32, {positions, w.tiles, s.out_channels});
  to.Launch(WinogradInputKernel(w, to.vector()), {arrays.input, inputs});
  to.Launch(ConvKernel(product, tile), {inputs, packed, products});
  std::vector<Array> output{products};
  if (arrays.bias) output.push_back(*arrays.bias);
  if (arrays.residual) output.push_back(*arrays.residual);
  output.push_back(arrays.output);
  to.Launch(WinogradOutputKernel(w, to.vector()), output);
}

}  // namespace mete::opencl
