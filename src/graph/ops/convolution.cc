#include "graph/fused.h"
#include "graph/operators.h"
#include "graph/ops/check.h"
#include "graph/ops/convolution_rules.h"

namespace mete {
namespace {

void InferConv(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  NeedSameTypes(c, 0, 1);
  const Shape y = ConvShape(c, 1);
  CheckBias(c, 2, c.shape(1)[0]);
  CheckEpilogue(c, c.type(0), y);
  CheckSumPiece(c);
  CheckOperands(c);
  c.Output(0, c.type(0), CheckSlice(c, y, c.type(0), kIntoInput));
}

void InferConvTranspose(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  NeedSameTypes(c, 0, 1);
  const TensorOrder order = CheckedOrder(c);
  const ImageDims x = InputDims(c, order);
  const auto kernel = KernelOf(c);
  const int64_t group = GroupOf(c, x.channels);
  CheckWeights(c, c.shape(1)[0], x.channels, "input channels");
  if (c.shape(1)[1] > (int64_t(1) << 40) / group)
    c.Bad("too many output channels; got {} groups of {}", group, c.shape(1)[1]);
  const int64_t outputs = c.shape(1)[1] * group;
  CheckBias(c, 2, outputs);
  Window window;
  CheckWindow(c, ResolveTransposedWindow(c.attributes, x, kernel, window));
  const Shape y = InputShape(x, outputs, window, order);
  CheckEpilogue(c, c.type(0), y);
  CheckOperands(c);
  c.Output(0, c.type(0), y);
}

void InferDeformConv(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  NeedSameTypes(c, 0, 1);
  c.NeedRank(0, 4, 4);
  const ImageDims x = ImageDimsOf(c.shape(0));
  const auto kernel = KernelOf(c);
  const int64_t outputs = c.shape(1)[0], group = GroupOf(c, x.channels),
                offset_group = c.attributes.Int("offset_group", 1);
  CheckWeights(c, c.shape(1)[1], x.channels / group, "input channels of a group");
  if (outputs % group != 0) c.Bad("group does not divide the output channels; got {} of {}", group, outputs);
  if (offset_group < 1 || x.channels % offset_group != 0)
    c.Bad("offset_group does not divide the channels; got {} of {}", offset_group, x.channels);
  CheckBias(c, 3, outputs);
  if (x.channels > int64_t(1) << 20 || kernel[0] * kernel[1] > int64_t(1) << 20)
    c.Bad("too many channels or taps; got {} and {}", x.channels, kernel[0] * kernel[1]);
  Window window;
  CheckWindow(c, ResolveWindow(c.attributes, x, kernel, WindowKind::kConvolution, window));
  const int64_t taps = offset_group * kernel[0] * kernel[1], h = window[1].out, w = window[2].out;
  if (c.shape(2) != Shape{x.batch, 2 * taps, h, w})
    c.Bad("offset has the wrong shape; got {}, expected {}", ToString(c.shape(2)),
          ToString(Shape{x.batch, 2 * taps, h, w}));
  if (c.has(4) && c.shape(4) != Shape{x.batch, taps, h, w})
    c.Bad("mask has the wrong shape; got {}, expected {}", ToString(c.shape(4)),
          ToString(Shape{x.batch, taps, h, w}));
  c.Output(0, c.type(0), OutputShape(x, outputs, window, TensorOrder::kNchw));
}

void InferMaxPool(InferContext& c) {
  NeedType(c, 0, kFloatTypes | TypeBit(DType::kI8) | TypeBit(DType::kU8));
  const Shape y = PooledShape(c);
  c.Output(0, c.type(0), y);
  c.Output(1, DType::kI64, y);
}

void InferPool(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  c.Output(0, c.type(0), PooledShape(c));
}

void CheckPower(const InferContext& c) {
  if (c.attributes.Int("p", 2) < 1)
    c.Bad("p is out of range; got {}, expected at least 1", c.attributes.Int("p", 2));
}

void InferLpPool(InferContext& c) {
  CheckPower(c);
  InferPool(c);
}

void InferGlobalPool(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  CheckPower(c);
  c.Output(0, c.type(0), GloballyPooledShape(c));
}

constexpr OpTraits kConv{.orders = Orders::kChannelsLast,
                         .divide_by = DivideBy::kConvolution,
                         .arithmetic = Arithmetic::kConvolution,
                         .epilogue = true};
constexpr OpTraits kTransposed{.orders = Orders::kChannelsLast,
                               .divide_by = DivideBy::kTransposedConvolution,
                               .arithmetic = Arithmetic::kTransposedConvolution,
                               .epilogue = true};
constexpr OpTraits kPool{
    .orders = Orders::kChannelsLast, .divide_by = DivideBy::kPool, .arithmetic = Arithmetic::kWindow};
constexpr OpTraits kGlobal{.orders = Orders::kChannelsLast, .divide_by = DivideBy::kGlobalPool};

}  // namespace

std::span<const OpSchema> ConvolutionOperators() {
  static constexpr OpSchema kConvolutionOperators[] = {
      {"AveragePool", 1, 1, 1, InferPool, kPool},
      {"Conv", 2, 5, 1, InferConv, kConv},
      {"ConvTranspose", 2, 4, 1, InferConvTranspose, kTransposed},
      {"DeformConv", 3, 5, 1, InferDeformConv, {.arithmetic = Arithmetic::kConvolution}},
      {"GlobalAveragePool", 1, 1, 1, InferGlobalPool, kGlobal},
      {"GlobalLpPool", 1, 1, 1, InferGlobalPool, {.divide_by = DivideBy::kGlobalPool}},
      {"GlobalMaxPool", 1, 1, 1, InferGlobalPool, kGlobal},
      {"LpPool", 1, 1, 1, InferLpPool, {.divide_by = DivideBy::kPool, .arithmetic = Arithmetic::kWindow}},
      {"MaxPool", 1, 1, 2, InferMaxPool, kPool},
  };
  return kConvolutionOperators;
}

}  // namespace mete
