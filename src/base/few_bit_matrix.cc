#include "base/few_bit_matrix.h"

#include <algorithm>

#include "base/half.h"
#include "base/tensor_source.h"

namespace mete {
namespace {

// Element `i` of integers of `bits` that follow each other in memory.
uint32_t IntegerAt(const uint8_t* bytes, int64_t i, int bits) {
  const int64_t at = i * bits;
  return uint32_t(bytes[at / 8]) >> (at % 8) & ((1u << bits) - 1);
}

float FloatAt(const Tensor& t, int64_t i) {
  return t.type() == DType::kF32 ? t.as<float>()[i] : F16ToF32(t.as<uint16_t>()[i]);
}

class FewBits : public TensorSource {
 public:
  explicit FewBits(const FewBitMatrix& matrix) : m_(matrix), sizes_{m_.columns, m_.block, m_.bits} {}

  void Read(int64_t first, int64_t count, void* to) const override {
    for (int64_t i = 0; i < count;) {
      const int64_t row = (first + i) / m_.columns, column = (first + i) % m_.columns;
      const int64_t block = column / m_.block, end = std::min((block + 1) * m_.block, m_.columns);
      const int64_t n = std::min(end - column, count - i);
      ReadBlock(row, block, column - block * m_.block, n, to, i);
      i += n;
    }
  }
  std::vector<std::span<const std::byte>> Parts() const override {
    static constexpr char kKind[] = "few bits";
    std::vector<std::span<const std::byte>> parts;
    for (const Tensor* t : {&m_.integers, &m_.scales, &m_.zeros})
      if (t->has_value())
        for (const auto& part : PartsOf(*t)) parts.push_back(part);
    parts.push_back(std::as_bytes(std::span(kKind)));
    parts.push_back(std::as_bytes(std::span(sizes_)));
    return parts;
  }
  void ReleasePages() const override { ReleasePagesOf(m_.integers); }

 private:
  float ZeroOf(int64_t row, int64_t block) const {
    if (!m_.zeros.has_value()) return float(1 << (m_.bits - 1));
    if (m_.zeros.type() != DType::kU8) return FloatAt(m_.zeros, row * m_.Blocks() + block);
    return float(IntegerAt(m_.zeros.as<uint8_t>() + row * m_.ZeroBytes(), block, m_.bits));
  }

  // Writes `n` elements of a block from element `from` on, behind the first `done` elements of `to`.
  void ReadBlock(int64_t row, int64_t block, int64_t from, int64_t n, void* to, int64_t done) const {
    const int64_t at = row * m_.Blocks() + block;
    const uint8_t* integers = m_.integers.as<uint8_t>() + at * m_.BlockBytes();
    const float scale = FloatAt(m_.scales, at), zero = ZeroOf(row, block);
    for (int64_t i = 0; i < n; ++i) {
      const float value = (float(IntegerAt(integers, from + i, m_.bits)) - zero) * scale;
      if (m_.scales.type() == DType::kF32) static_cast<float*>(to)[done + i] = value;
      else static_cast<uint16_t*>(to)[done + i] = F32ToF16(value);
    }
  }

  const FewBitMatrix m_;
  const int64_t sizes_[3];
};

}  // namespace

Tensor Dequantized(const FewBitMatrix& matrix) {
  return {matrix.scales.type(), Shape{matrix.rows, matrix.columns}, std::make_shared<FewBits>(matrix)};
}

}  // namespace mete
