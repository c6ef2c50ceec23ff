// Tensors in files: NumPy's .npy, ONNX's TensorProto (.pb), raw bytes (.bin).
//
// All throw Error: NOT_FOUND for a missing file, DATA_LOSS for one that is damaged or of another kind,
// UNIMPLEMENTED for element types and orders that Mete lacks.
#pragma once

#include <string>

#include "mete/tensor.h"

namespace [[gnu::visibility("default")]] mete {

// Version 1 to 3 of the format, C order, little-endian.
Tensor ReadNpy(const std::string& path);

// bf16, for which NumPy has no name, is written as f32. A file that cannot be written is UNAVAILABLE and
// does not stay behind.
void WriteNpy(const std::string& path, const ConstView& tensor);

// A serialized onnx::TensorProto, as in the test data of ONNX models.
Tensor ReadTensorPb(const std::string& path);

// The elements alone, little-endian: the file must have exactly the bytes that `shape` needs.
Tensor ReadBin(const std::string& path, DType type, const Shape& shape);

// Element `i` of any type as a number, for printing and ranking: integers beyond 2^53 are rounded.
double ElementAt(const ConstView& tensor, int64_t i);

}  // namespace mete
