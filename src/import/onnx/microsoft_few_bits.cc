#include "import/onnx/microsoft_few_bits.h"

#include "base/few_bit_matrix.h"
#include "import/onnx/microsoft_build.h"
#include "import/onnx/shapes.h"

namespace mete::onnx_import {

const Tensor* ConstantOf(Upgrade& u, size_t i) {
  const ValueId id = u.input(i);
  return id == kNoValue || !u.graph.value(id).is_constant() ? nullptr : &u.graph.value(id).constant;
}

void BecomeProduct(Upgrade& u, const Tensor& matrix, ValueId bias) {
  const int64_t outputs = matrix.shape()[0];
  const ValueId weights = u.graph.AddConstant(u.names.Unique(u.node.name + "/weights"), matrix);
  const ValueId rows = Op(u, "Reshape", {u.input(0), Constant(u, {-1, matrix.shape()[1]})});
  const ValueId shape = Op(u, "Concat", {DimsOf(u, u.input(0), 0, -1), Constant(u, {outputs})}, "axis", 0);
  if (u.shapes) {
    Shape out = u.shapes->Of(u.graph, u.input(0));
    if (out.rank() > 0) out[out.rank() - 1] = outputs;
    u.shapes->Tell(u.graph, u.node.output(0), out);
  }
  const Attributes transposed = With("transB", int64_t{1});
  const ValueId product = bias == kNoValue ? Into(u, kNoValue, "Gemm", {rows, weights}, transposed)
                                           : Into(u, kNoValue, "Gemm", {rows, weights, bias}, transposed);
  Become(u, "Reshape", {product, shape});
}

namespace {

bool IsFloats(const Tensor& t) { return t.type() == DType::kF32 || t.type() == DType::kF16; }

// Whether column k belongs to block k / block, as it does without the list.
bool InOrder(const Tensor& groups, int64_t columns, int64_t block) {
  if (groups.type() != DType::kI32 || groups.elements() < columns) return false;
  for (int64_t i = 0; i < columns; ++i)
    if (groups.as<int32_t>()[i] != i / block) return false;
  return true;
}

// Returns false if it has reported why not.
bool CheckSizes(Upgrade& u, const FewBitMatrix& m) {
  const auto fits = [&](const char* what, const Tensor& t, int64_t row) {
    if (t.elements() == m.rows * row) return true;
    u.Bad("{}; got {}, expected {} times {} elements", what, ToString(t.shape()), m.rows, row);
    return false;
  };
  if (m.integers.type() != DType::kU8 || !IsFloats(m.scales)) {
    u.Bad("weights and scales; got {} and {}, expected u8 and f32 or f16", Name(m.integers.type()),
          Name(m.scales.type()));
    return false;
  }
  bool good = fits("the weights have the wrong size", m.integers, m.Blocks() * m.BlockBytes());
  good &= fits("the scales have the wrong size", m.scales, m.Blocks());
  if (!m.zeros.has_value()) return good;
  const bool packed = m.zeros.type() == DType::kU8;
  if (!packed && m.zeros.type() != m.scales.type()) {
    u.Bad("the zero points have another type; got {}, expected u8 or {}", Name(m.zeros.type()),
          Name(m.scales.type()));
    return false;
  }
  return fits("the zero points have the wrong size", m.zeros, packed ? m.ZeroBytes() : m.Blocks()) && good;
}

}  // namespace

// A, the integers, their scales, zero points, the groups of columns, a bias.
void ExpandMatMulNBits(Upgrade& u) {
  FewBitMatrix m;
  m.columns = Positive(u, "K");
  m.rows = Positive(u, "N");
  m.block = Positive(u, "block_size");
  m.bits = int(u.node.attributes.Int("bits", 4));
  if (!HasOnly(u, {"K", "N", "accuracy_level", "bits", "block_size", "weight_prepacked"}) ||
      !NeedDefaults(u, {{"weight_prepacked", 0}}) || m.columns == 0 || m.rows == 0 || m.block == 0)
    return;
  if (m.bits != 2 && m.bits != 4 && m.bits != 8)
    return u.Unsupported(fmt::format("bits={} is not supported, expected 2, 4 or 8", m.bits));
  if (m.block % 8 != 0 || m.block > 1 << 20)
    return u.Bad("block_size; got {}, expected a power of 2 from 16 on", m.block);
  const Tensor *integers = ConstantOf(u, 1), *scales = ConstantOf(u, 2), *zeros = ConstantOf(u, 3);
  if (!integers || !scales || (u.input(3) != kNoValue && !zeros))
    return u.Unsupported("its weights are not constant");
  if (const Tensor* groups = ConstantOf(u, 4); u.input(4) != kNoValue)
    if (!groups || !InOrder(*groups, m.columns, m.block))
      return u.Unsupported("g_idx with groups that are not blocks in order is not supported");
  m.integers = *integers;
  m.scales = *scales;
  if (zeros) m.zeros = *zeros;
  if (!CheckSizes(u, m)) return;
  BecomeProduct(u, Dequantized(m), u.input(5));
}

namespace {

ValueId Byte(Upgrade& u, int value) {
  const uint8_t byte = uint8_t(value);
  return u.graph.AddConstant(u.names.Unique(u.node.name + "/byte"),
                             Tensor::Of<uint8_t>(DType::kU8, {}, std::span(&byte, 1)));
}

// Returns each integer of `bits` as a byte of its own, along the last dimension.
ValueId Unpacked(Upgrade& u, ValueId bytes, int bits, int rank) {
  if (bits == 8) return bytes;
  std::vector<ValueId> digits;
  const Attributes right = With("direction", std::string("RIGHT"));
  for (int from = 0; from < 8; from += bits) {
    const ValueId shifted = Into(u, kNoValue, "BitShift", {bytes, Byte(u, from)}, right);
    digits.push_back(Unsqueezed(u, Op(u, "BitwiseAnd", {shifted, Byte(u, (1 << bits) - 1)}), {rank}));
  }
  const ValueId apart = bits == 4
                            ? Op(u, "Concat", {digits[0], digits[1]}, "axis", rank)
                            : Op(u, "Concat", {digits[0], digits[1], digits[2], digits[3]}, "axis", rank);
  const ValueId shape = Op(u, "Concat", {DimsOf(u, bytes, 0, -1), Constant(u, {-1})}, "axis", 0);
  return Op(u, "Reshape", {apart, shape});
}

}  // namespace

// The table, indices, scales of blocks of a row, zero points.
void ExpandGatherBlockQuantized(Upgrade& u) {
  const Attributes given = u.node.attributes;
  const int bits = int(given.Int("bits", 4));
  const int64_t block = given.Int("block_size", 128);
  if (!HasOnly(u, {"bits", "block_size", "gather_axis", "quantize_axis"}) ||
      !NeedDefaults(u, {{"gather_axis", 0}}))
    return;
  const Tensor *table = ConstantOf(u, 0), *scales = ConstantOf(u, 2);
  const int indices = RankOf(u, u.input(1));
  if (!table || !scales || table->type() != DType::kU8 || table->shape().rank() != 2 ||
      scales->shape().rank() != 2 || indices < 0)
    return u.Unsupported("its table is no constant matrix of bytes, or the indices have an unknown shape");
  if (const int64_t axis = given.Int("quantize_axis", 1); axis != 1 && axis != -1)
    return u.Unsupported("quantize_axis is not the last one");
  if (bits != 2 && bits != 4 && bits != 8)
    return u.Unsupported(fmt::format("bits={} is not supported, expected 2, 4 or 8", bits));
  const int64_t blocks = scales->shape()[1];  // before new values move the constants
  const auto rows = [&](size_t i) { return Op(u, "Gather", {u.input(i), u.input(1)}); };
  const int rank = indices + 1;
  const ValueId integers = Unpacked(u, rows(0), bits, rank), of_blocks = rows(2);
  const ValueId zeros = u.input(3) != kNoValue
                            ? Sliced(u, Unpacked(u, rows(3), bits, rank), -1, 0, blocks)
                            : Op(u, "Expand", {Byte(u, 1 << (bits - 1)), Op(u, "Shape", {of_blocks})});
  Attributes attributes = With("axis", int64_t{-1});
  attributes.Set("block_size", block);
  Become(u, "DequantizeLinear", {integers, of_blocks, zeros}, std::move(attributes));
}

}  // namespace mete::onnx_import
