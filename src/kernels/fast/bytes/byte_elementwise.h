// Element-wise operators between tensors of bytes (graph/fused.h, 9): tables, sums and products. All targets
// give the same bits as the reference.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/fast/epilogue.h"

namespace mete {

// Computes y[i] = table[x[i]] for the elements in `range`; y may be x. `table` has 256 bytes.
void RunByteTable(const uint8_t* table, const uint8_t* x, Range range, uint8_t* y);

// A tensor of bytes whose numbers are (byte - zero) * scale.
struct ByteScale {
  float scale = 1, zero = 0;
  bool is_signed = false;  // whether the bytes are int8_t rather than uint8_t
};

// A sum or a product as a kernel computes it, from MakeByteSum() or MakeByteProduct().
struct ByteBinary {
  bool product = false;
  float a_steps = 0, b_steps = 0, start = 0;            // of a sum: start + b_steps * b + a_steps * a
  float steps = 0, a_zero = 0, b_zero = 0, y_zero = 0;  // of a product
  bool a_signed = false, b_signed = false, y_signed = false;
  float least = 0, most = 255;  // the levels of y
  bool fits = false;            // whether no level of y needs more than 32 bits before it is clamped
};

ByteBinary MakeByteSum(const ByteScale& a, const ByteScale& b, const ByteScale& y);
ByteBinary MakeByteProduct(const ByteScale& a, const ByteScale& b, const ByteScale& y);

// Operands as rows of bytes. A row of y is as long as the rows of a and b. A stride of 0 repeats a row.
struct ByteRows {
  const uint8_t *a, *b;
  int64_t a_stride, b_stride, length;
};

// Computes the rows `rows` of y, which lie one behind another; `rows.a` and `rows.b` point at row 0.
void RunByteBinary(const ByteBinary& of, const ByteRows& operands, Range rows, uint8_t* y);

// Returns the target of RunByteTable(): "avx512 vbmi".
std::string ByteTableTarget();

}  // namespace mete
