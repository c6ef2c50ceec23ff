#include "processor/opencl/share/implicit_product.h"

namespace mete::opencl {

void LowerImplicitProduct(Lowering& to, ConvSpec spec, PackSource source, const ProductArrays& arrays) {
  spec.input = arrays.input.type;
  spec.weights = to.storage();
  spec.output = arrays.output.type;
  spec.residual = arrays.residual.has_value();
  source.type = arrays.weights.type;
  source.bias = arrays.bias.has_value();
  const Tile tile = to.TileOf(spec);
  const bool changes = arrays.bias && !to.IsConstant(*arrays.bias);
  const Array packed = to.Derived(changes ? *arrays.bias : arrays.weights, DType::kU8,
                                  {PackedSizes(Flattened(spec), tile).bytes});
  std::vector<Array> packing{arrays.weights}, product{arrays.input, packed};
  if (arrays.bias) packing.push_back(*arrays.bias);
  if (arrays.residual) product.push_back(*arrays.residual);
  packing.push_back(packed);
  product.push_back(arrays.output);
  to.Launch(PackKernel(spec, tile, source), packing);
  to.Launch(ConvKernel(spec, tile), product);
}

}  // namespace mete::opencl
