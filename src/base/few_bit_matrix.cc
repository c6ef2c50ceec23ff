#include "base/few_bit_matrix.h"

#include <algorithm>

#include "base/tensor_source.h"

namespace mete {
namespace {

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
  const FewBitMatrix* few_bits() const override { return &m_; }

 private:
  // Writes `n` elements of a block from element `from` on, behind the first `done` elements of `to`.
  void ReadBlock(int64_t row, int64_t block, int64_t from, int64_t n, void* to, int64_t done) const {
    const float scale = m_.Scale(row, block), zero = m_.Zero(row, block);
    for (int64_t i = 0; i < n; ++i) {
      const float value = (float(m_.Integer(row, block * m_.block + from + i)) - zero) * scale;
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
