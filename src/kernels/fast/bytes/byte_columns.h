// The columns of matrices of bytes: what packing needs of the right operand of a product, and an average of
// an image's pixels.
#pragma once

#include <cstdint>

namespace mete {

// Bytes whose rows are `stride` bytes apart. `flip` is 0x80 to see signed bytes as unsigned ones that are 128
// larger, or unsigned ones as signed ones that are 128 smaller; else 0.
struct ByteMatrix {
  const uint8_t* bytes;
  int64_t rows, columns, stride;
  uint8_t flip;
};

// Assigns to sums[c] the sum of column c, of flipped bytes as unsigned ones. At most 2^23 rows.
void SumByteColumns(const ByteMatrix& m, int32_t* sums);

// Assigns to to[4 * c + r] the flipped byte of column c in row r of four rows.
void InterleaveFourRows(const ByteMatrix& m, uint8_t* to);

}  // namespace mete
