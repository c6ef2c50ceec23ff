#include "graph/fused.h"
#include "graph/ops/check.h"
#include "graph/ops/convolution_rules.h"
#include "graph/ops/matmul_shape.h"

namespace mete {
namespace {

constexpr TypeSet kScaleTypes = TypeBit(DType::kF32) | TypeBit(DType::kF16) | TypeBit(DType::kBF16);
constexpr TypeSet kI32Type = TypeBit(DType::kI32);
constexpr TypeSet kByteTypes = TypeBit(DType::kI8) | TypeBit(DType::kU8);
constexpr TypeSet kQuantizedTypes =
    kByteTypes | TypeBit(DType::kI16) | TypeBit(DType::kU16) | kNarrowLevelTypes;

// Checks a scale and its zero point (inputs 1 and 2), which may be one for the whole tensor, one per index
// along the axis, or one per block.
void CheckScale(const InferContext& c) {
  NeedType(c, 1, kScaleTypes | TypeBit(DType::kF8E8M0));
  if (c.has(2) && c.shape(2) != c.shape(1) && (c.shape(2).Elements() != 1 || c.shape(1).Elements() != 1))
    c.Bad("scale and zero point differ in shape; got {} and {}", ToString(c.shape(1)), ToString(c.shape(2)));
  const Shape &x = c.shape(0), &scale = c.shape(1);
  if (CheckedElements(scale, c.type(1), int64_t(1) << 40) == 1) return;
  const int axis = c.Axis(c.attributes.Int("axis", 1), x.rank());
  const int64_t block = c.attributes.Int("block_size", 0);
  if (block < 0) c.Bad("block_size is out of range; got {}, expected at least 0", block);
  Shape expected{x[axis]};
  if (block > 0) {
    expected = x;
    expected[axis] = x[axis] / block + (x[axis] % block != 0);
  }
  NeedShape(c, 1, expected);
}

// Returns the type that output_dtype names, or `fallback` if the attribute is absent.
DType OutputType(const InferContext& c, DType fallback) {
  const std::string_view name = c.attributes.String("output_dtype", "");
  if (name.empty()) return fallback;
  const DType type = DTypeOf(name);
  if (type == DType::kUnknown) c.Bad("output_dtype is unknown; got {}, expected a type such as u8", name);
  return type;
}

void InferQuantizeLinear(InferContext& c) {
  NeedType(c, 0, kScaleTypes | kI32Type);
  CheckScale(c);
  const DType type = OutputType(c, c.has(2) ? c.type(2) : DType::kU8);
  if (c.has(2) && c.type(2) != type)
    c.Bad("the zero point has another type than the output; got {}, expected {}", Name(c.type(2)),
          Name(type));
  if (!(kQuantizedTypes & TypeBit(type)))
    c.Bad("cannot quantize to {}; expected an integer or float of at most 8 bits, i16 or u16", Name(type));
  c.Output(0, type, c.shape(0));
}

void InferDequantizeLinear(InferContext& c) {
  NeedType(c, 0, kQuantizedTypes | kI32Type);
  CheckScale(c);
  if (c.has(2) && c.type(2) != c.type(0))
    c.Bad("the zero point has another type than the input; got {}, expected {}", Name(c.type(2)),
          Name(c.type(0)));
  const DType type = OutputType(c, c.type(1));
  if (!(kScaleTypes & TypeBit(type))) c.Bad("cannot dequantize to {}; expected f32, f16 or bf16", Name(type));
  c.Output(0, type, c.shape(0));
}

void InferDynamicQuantizeLinear(InferContext& c) {
  NeedType(c, 0, TypeBit(DType::kF32));
  c.Output(0, DType::kU8, c.shape(0));
  c.Output(1, DType::kF32, Shape());
  c.Output(2, DType::kU8, Shape());
}

void NeedScalar(const InferContext& c, int i) {
  if (c.has(i) && c.shape(i) != Shape() && c.shape(i) != Shape{1})
    c.Bad("input {} must be one number; got {}", i, ToString(c.shape(i)));
}

void NeedScalarOr(const InferContext& c, int i, int64_t count) {
  if (c.has(i) && c.shape(i) != Shape{count}) NeedScalar(c, i);
}

// Returns the shape of the convolution of bytes with weights of bytes; inputs 2 and 3 are their zero points.
Shape IntegerConvShape(const InferContext& c) {
  for (int i = 0; i < 2; ++i) NeedType(c, i, kByteTypes);
  const Shape y = ConvShape(c, 1);
  for (int i = 0; i < 2; ++i)
    if (c.has(2 + i) && c.type(2 + i) != c.type(i))
      c.Bad("zero point {} has another type than its tensor; got {}, expected {}", i, Name(c.type(2 + i)),
            Name(c.type(i)));
  NeedScalar(c, 2);
  NeedScalarOr(c, 3, c.shape(1)[0]);
  return y;
}

void InferConvInteger(InferContext& c) { c.Output(0, DType::kI32, IntegerConvShape(c)); }

// Checks the scale and the bias of sums that become f32, inputs 4 and 5, for results of `channels`.
void CheckSumScale(const InferContext& c, int64_t channels) {
  for (int i : {4, 5}) {
    if (!c.has(i)) continue;
    NeedType(c, i, TypeBit(DType::kF32));
    NeedScalarOr(c, i, channels);
  }
  if (!c.has(4)) c.Bad("the scale, input 4, is missing");
}

void InferScaledConvInteger(InferContext& c) {
  const Shape y = IntegerConvShape(c);
  CheckSumScale(c, c.shape(1)[0]);
  c.Output(0, DType::kF32, y);
}

// Checks the types of the inputs of QLinearConv and QLinearMatMul: a, its scale and zero point, b, its scale
// and zero point, y's scale and zero point.
void CheckQLinearTypes(const InferContext& c, TypeSet scales) {
  for (int i : {0, 3, 7}) NeedType(c, i, kByteTypes);
  for (int i : {1, 4, 6}) NeedType(c, i, scales);
  for (int i : {0, 3})
    if (c.type(i + 2) != c.type(i))
      c.Bad("input {} has another type than input {}; got {}, expected {}", i + 2, i, Name(c.type(i + 2)),
            Name(c.type(i)));
}

// Checks the attribute `levels` (graph/fused.h, 9) against the type of the output.
void CheckLevels(const InferContext& c, DType type) {
  if (!c.attributes.Has(kLevels)) return;
  const Ints& levels = c.attributes.IntList(kLevels);
  const int64_t least = type == DType::kI8 ? -128 : 0, most = least + 255;
  if (levels.size() != 2 || levels[0] < least || levels[0] > levels[1] || levels[1] > most)
    c.Bad("levels are out of range; got {}, expected two from {} to {} in ascending order",
          ToString(Attribute(levels)), least, most);
}

void InferQLinearConv(InferContext& c) {
  CheckQLinearTypes(c, TypeBit(DType::kF32));
  const Shape y = ConvShape(c, 3);
  const int64_t outputs = c.shape(3)[0];
  for (int i : {1, 2, 6, 7}) NeedScalar(c, i);
  for (int i : {4, 5}) NeedScalarOr(c, i, outputs);
  if (c.has(8)) {
    NeedType(c, 8, kI32Type);
    NeedShape(c, 8, Shape{outputs});
  }
  CheckLevels(c, c.type(7));
  CheckOperands(c);
  DType type = c.type(7);
  if (c.has(kByteTableInput)) {
    NeedType(c, kByteTableInput, kByteTypes);
    NeedShape(c, kByteTableInput, Shape{256});
    type = c.type(kByteTableInput);
  }
  c.Output(0, type, CheckSlice(c, y, type, kByteIntoInput));
}

enum class Along { kRows, kColumns };

// Checks the shape of a scale or zero point. A row-wise parameter of an [..., M, K] matrix is [M] or [..., M,
// 1]; a column-wise parameter of a [..., K, N] matrix is [N] or [..., 1, N]. One element fits every matrix.
void CheckMatrixParameter(const InferContext& c, int i, const Shape& matrix, Along along) {
  const bool rows = along == Along::kRows;
  if (!c.has(i) || c.shape(i) == Shape() || c.shape(i) == Shape{1}) return;
  const int rank = matrix.rank(), axis = rows ? rank - 2 : rank - 1;
  Shape full = matrix;
  if (rank >= 2) full[rows ? rank - 1 : rank - 2] = 1;
  const bool vector = c.shape(i).rank() == 1 && rank >= 2 && c.shape(i)[0] == matrix[axis];
  if (rank < 2 || (!vector && c.shape(i) != full))
    c.Bad("input {} does not fit its matrix; got {} for {}", i, ToString(c.shape(i)), ToString(matrix));
}

// Row-wise and column-wise scales need a result that still has rows and columns: a product with a vector must
// have scales of one element.
void CheckProductScales(const InferContext& c, const Shape& y) {
  const bool matrices = c.shape(0).rank() >= 2 && c.shape(3).rank() >= 2;
  for (int i : {1, 4, 6, 7})
    if (!matrices && c.shape(i).Elements() != 1)
      c.Bad("input {} must be one number where a vector is multiplied; got {}", i, ToString(c.shape(i)));
  for (int i : {1, 4})
    if (c.shape(i).rank() > y.rank())
      c.Bad("input {} has too many dimensions; got {} for {}", i, ToString(c.shape(i)), ToString(y));
}

// Returns the shape of the product of two matrices of bytes; inputs 2 and 3 are their zero points.
Shape IntegerProductShape(const InferContext& c) {
  for (int i = 0; i < 2; ++i) NeedType(c, i, kByteTypes);
  const Shape y = MatMulShape(c, 0, 1);
  for (int i = 0; i < 2; ++i)
    if (c.has(2 + i) && c.type(2 + i) != c.type(i))
      c.Bad("zero point {} has another type than its matrix; got {}, expected {}", i, Name(c.type(2 + i)),
            Name(c.type(i)));
  CheckMatrixParameter(c, 2, c.shape(0), Along::kRows);
  CheckMatrixParameter(c, 3, c.shape(1), Along::kColumns);
  return y;
}

void InferMatMulInteger(InferContext& c) { c.Output(0, DType::kI32, IntegerProductShape(c)); }

void InferScaledMatMulInteger(InferContext& c) {
  const Shape y = IntegerProductShape(c);
  CheckSumScale(c, y.rank() ? y.back() : 1);
  c.Output(0, DType::kF32, y);
}

void InferQLinearMatMul(InferContext& c) {
  CheckQLinearTypes(c, kScaleTypes);
  const Shape y = MatMulShape(c, 0, 3);
  for (int i : {1, 2}) CheckMatrixParameter(c, i, c.shape(0), Along::kRows);
  for (int i : {4, 5}) CheckMatrixParameter(c, i, c.shape(3), Along::kColumns);
  for (int i : {6, 7}) CheckMatrixParameter(c, i, y, Along::kRows);
  CheckProductScales(c, y);
  CheckLevels(c, c.type(7));
  c.Output(0, c.type(7), y);
}

void InferByteTable(InferContext& c) {
  for (int i = 0; i < 2; ++i) NeedType(c, i, kByteTypes);
  NeedShape(c, 1, Shape{256});
  c.Output(0, c.type(1), c.shape(0));
}

// Checks the tensor of bytes at input i, or the output if there is none, and its scale and zero point behind
// it.
void NeedBytes(const InferContext& c, int i) {
  NeedType(c, i, kByteTypes);
  NeedType(c, i + 1, TypeBit(DType::kF32));
  NeedType(c, i + 2, TypeBit(c.type(i)));
  for (int k : {i + 1, i + 2}) NeedScalar(c, k);
}

// Checks the scale and the zero point of the output, inputs i and i + 1.
void NeedOutputScale(const InferContext& c, int i) {
  NeedType(c, i, TypeBit(DType::kF32));
  NeedType(c, i + 1, kByteTypes);
  for (int k : {i, i + 1}) NeedScalar(c, k);
}

void InferQLinearBinary(InferContext& c) {
  NeedBytes(c, 0);
  NeedBytes(c, 3);
  NeedOutputScale(c, 6);
  CheckLevels(c, c.type(7));
  c.Output(0, c.type(7), BroadcastShapes(c, c.shape(0), c.shape(3)));
}

void InferQLinearPool(InferContext& c) {
  NeedBytes(c, 0);
  NeedOutputScale(c, 3);
  c.Output(0, c.type(4), PooledShape(c));
}

void InferQLinearGlobalPool(InferContext& c) {
  NeedBytes(c, 0);
  NeedOutputScale(c, 3);
  c.Output(0, c.type(4), GloballyPooledShape(c));
}

constexpr OpTraits kByteBinary{OpKind::kElementwise, Orders::kAny, DivideBy::kBroadcast};

}  // namespace

std::span<const OpSchema> QuantizedOperators() {
  static constexpr OpSchema kQuantizedOperators[] = {
      {"ConvInteger",
       2,
       4,
       1,
       InferConvInteger,
       {.orders = Orders::kChannelsLast,
        .divide_by = DivideBy::kQuantizedConvolution,
        .arithmetic = Arithmetic::kConvolution}},
      {"DequantizeLinear", 2, 3, 1, InferDequantizeLinear,
       Narrow({.orders = Orders::kAxis, .divide_by = DivideBy::kQuantize, .axis = 1})},
      {"DynamicQuantizeLinear", 1, 1, 3, InferDynamicQuantizeLinear},
      {"MatMulInteger",
       2,
       4,
       1,
       InferMatMulInteger,
       {.divide_by = DivideBy::kMatMulInteger, .arithmetic = Arithmetic::kMatrix}},
      {"QLinearConv",
       8,
       11,
       1,
       InferQLinearConv,
       {.orders = Orders::kChannelsLast,
        .divide_by = DivideBy::kQuantizedConvolution,
        .arithmetic = Arithmetic::kConvolution,
        .weights = 3}},
      {"QLinearMatMul",
       8,
       8,
       1,
       InferQLinearMatMul,
       {.divide_by = DivideBy::kQLinearMatMul, .arithmetic = Arithmetic::kMatrix, .weights = 3}},
      {"QuantizeLinear", 2, 3, 1, InferQuantizeLinear,
       Narrow({.orders = Orders::kAxis, .divide_by = DivideBy::kQuantize, .axis = 1})},
      {"mete.ByteTable",
       2,
       2,
       1,
       InferByteTable,
       {OpKind::kElementwiseFirst, Orders::kAny, DivideBy::kFirstInput}},
      {"mete.QLinearAdd", 8, 8, 1, InferQLinearBinary, kByteBinary},
      {"mete.QLinearAveragePool",
       5,
       5,
       1,
       InferQLinearPool,
       {.orders = Orders::kChannelsLast, .divide_by = DivideBy::kPool, .arithmetic = Arithmetic::kWindow}},
      {"mete.QLinearGlobalAveragePool",
       5,
       5,
       1,
       InferQLinearGlobalPool,
       {.orders = Orders::kChannelsLast, .divide_by = DivideBy::kGlobalPool}},
      {"mete.QLinearMul", 8, 8, 1, InferQLinearBinary, kByteBinary},
      {"mete.ScaledConvInteger",
       2,
       6,
       1,
       InferScaledConvInteger,
       {.orders = Orders::kChannelsLast,
        .divide_by = DivideBy::kQuantizedConvolution,
        .arithmetic = Arithmetic::kConvolution}},
      {"mete.ScaledMatMulInteger",
       2,
       6,
       1,
       InferScaledMatMulInteger,
       {.divide_by = DivideBy::kMatMulInteger, .arithmetic = Arithmetic::kMatrix}},
  };
  return kQuantizedOperators;
}

}  // namespace mete
