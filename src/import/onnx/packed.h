// Elements of 2 and 4 bits, which share bytes in TensorProto. The first one has the lowest bits of a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mete/tensor.h"

namespace mete::onnx_import {

bool IsPacked(DType type);

// Returns the number of bytes that `elements` elements of any type take in TensorProto.
size_t PackedBytes(DType type, size_t elements);

// Unpacks all elements of `out`; `packed` has PackedBytes(out.type(), out.elements()) bytes.
void Unpack(std::span<const uint8_t> packed, Tensor& out);

// Returns the bytes of TensorProto.raw_data.
std::string Packed(const Tensor& tensor);

}  // namespace mete::onnx_import
