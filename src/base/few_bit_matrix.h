// A matrix whose elements are integers of few bits with a scale for each block of a row, as files have
// weights of language models. It is a tensor with a source (tensor_source.h): whatever packs it reads some
// rows of it.
#pragma once

#include "base/half.h"
#include "mete/tensor.h"

namespace mete {

struct FewBitMatrix {
  int64_t rows = 0, columns = 0;
  int64_t block = 0;  // elements of a row with one scale; the last block of a row is filled up
  int bits = 4;       // 2, 4 or 8: the first element is in the lowest bits of a byte
  Tensor integers;    // u8, rows x Blocks() x BlockBytes()
  Tensor scales;      // f32 or f16, rows x Blocks()
  // As the scales, or u8 with integers of `bits`, each row beginning with a byte; absent: half of the range.
  Tensor zeros = {};

  int64_t Blocks() const { return (columns + block - 1) / block; }
  int64_t BlockBytes() const { return block * bits / 8; }
  int64_t ZeroBytes() const { return (Blocks() * bits + 7) / 8; }  // of a row

  // The integer without a zero point that stands for half of the range.
  int Half() const { return 1 << (bits - 1); }
  uint32_t Integer(int64_t row, int64_t column) const {
    return IntegerAt(integers.as<uint8_t>() + row * Blocks() * BlockBytes(), column);
  }
  float Scale(int64_t row, int64_t of_block) const { return FloatAt(scales, row * Blocks() + of_block); }
  float Zero(int64_t row, int64_t of_block) const {
    if (!zeros.has_value()) return float(Half());
    if (zeros.type() != DType::kU8) return FloatAt(zeros, row * Blocks() + of_block);
    return float(IntegerAt(zeros.as<uint8_t>() + row * ZeroBytes(), of_block));
  }

 private:
  uint32_t IntegerAt(const uint8_t* bytes, int64_t i) const {
    const int64_t at = i * bits;
    return uint32_t(bytes[at / 8]) >> (at % 8) & ((1u << bits) - 1);
  }
  static float FloatAt(const Tensor& t, int64_t i) {
    return t.type() == DType::kF32 ? t.as<float>()[i] : F16ToF32(t.as<uint16_t>()[i]);
  }
};

// Returns the matrix of (integer - zero) * scale, computed in f32, with elements of the scales' type. The
// sizes must fit.
Tensor Dequantized(const FewBitMatrix& matrix);

}  // namespace mete
