// Element types that are narrower than any of Mete's: read as the smallest wider type that holds every value
// exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mete/tensor.h"

namespace mete::onnx_import {

struct NarrowType {
  int32_t data_type;  // TensorProto.data_type
  int bits;           // of an element; those under 8 share bytes, the first element lowest
  DType wide;         // i8, u8, or f32 for the small floats
};

const NarrowType* FindNarrow(int32_t data_type);  // null where it is not one

// Bytes that `elements` need.
size_t PackedBytes(const NarrowType& type, size_t elements);

// `packed` has PackedBytes(out.elements()) bytes; `out` is of type.wide.
void Widen(const NarrowType& type, std::span<const uint8_t> packed, Tensor& out);

}  // namespace mete::onnx_import
