#include "processor/opencl/share/implicit_product.h"

#include "processor/opencl/kernels/matvec.h"

namespace mete::opencl {
namespace {

// Returns the product of few rows with weights in the order in which they lie; nothing for others.
std::optional<MatVecSpec> FewRowsOf(const ConvSpec& spec, const PackSource& source) {
  const ConvShape s = Flattened(spec).shape;
  const bool is_product = s.kernel_height == 1 && s.kernel_width == 1 && s.groups == 1 && s.out_height == 1 &&
                          s.in_height == 1 && s.in_width == s.out_width && s.stride_x == 1;
  const bool has_gaps = (s.in_pixel_stride && s.in_pixel_stride != s.in_channels) ||
                        (s.out_pixel_stride && s.out_pixel_stride != s.out_channels) || spec.input_first ||
                        spec.output_first || spec.residual_stride || spec.input_image || spec.output_image;
  if (!is_product || has_gaps || s.out_width > MatVecSpec::kMostRows) return std::nullopt;
  const bool columns = source.output == 1 && source.channel == s.out_channels,
             rows = source.channel == 1 && source.output == s.in_channels;
  const bool is_each = source.image_repeat == 1 && source.group_repeat == 1;
  const bool in_line = !spec.weights_per_image || source.image == s.in_channels * s.out_channels;
  if (!is_each || !in_line || (!columns && !rows)) return std::nullopt;
  return MatVecSpec{.batch = s.batch,
                    .rows = s.out_width,
                    .n = s.out_channels,
                    .k = s.in_channels,
                    .rows_of_n = !columns,
                    .input = spec.input,
                    .output = spec.output,
                    .activation = spec.activation,
                    .residual = spec.residual,
                    .scale = spec.scale};
}

void LowerFewRows(Lowering& to, MatVecSpec spec, const ProductArrays& arrays) {
  const bool stays = to.IsConstant(arrays.weights);
  const Array weights = stays ? to.As(arrays.weights, to.storage()) : arrays.weights;
  spec.weights = weights.type;
  spec.bias = arrays.bias.has_value();
  std::vector<Array> arguments{arrays.input, weights};
  if (arrays.bias) arguments.push_back(*arrays.bias);
  if (arrays.residual) arguments.push_back(*arrays.residual);
  arguments.push_back(arrays.output);
  to.Launch(MatVecKernel(spec, ChooseMatVecTile(spec, to.device())), arguments);
}

}  // namespace

void LowerImplicitProduct(Lowering& to, ConvSpec spec, PackSource source, const ProductArrays& arrays) {
  spec.input = arrays.input.type;
  spec.weights = to.storage();
  spec.output = arrays.output.type;
  spec.residual = arrays.residual.has_value();
  if (const auto few = FewRowsOf(spec, source)) return LowerFewRows(to, *few, arrays);
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
