// Element types of at most 8 bits that Mete lacks, for example INT4 and FLOAT8E5M2. The importer widens each
// of them to the smallest type of Mete that holds every value exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mete/tensor.h"

namespace mete::onnx_import {

struct NarrowType {
  int32_t data_type;  // TensorProto.data_type
  int bits;    // bits of an element; elements of 2 or 4 bits share a byte, the first in the lowest bits
  DType wide;  // i8 or u8 for the small integers, f32 for the small floats
};

const NarrowType* FindNarrow(int32_t data_type);  // null if `data_type` is not a narrow type

// Returns the number of bytes that `elements` packed elements take.
size_t PackedBytes(const NarrowType& type, size_t elements);

// Unpacks all elements of `out`, whose type is type.wide. `packed` has PackedBytes(type, out.elements())
// bytes.
void Widen(const NarrowType& type, std::span<const uint8_t> packed, Tensor& out);

}  // namespace mete::onnx_import
