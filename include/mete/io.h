// Tensors in files: NumPy's .npy, ONNX's TensorProto (.pb), raw bytes (.bin).
//
// All functions throw Error: NOT_FOUND for a missing file, DATA_LOSS for a damaged file or one of another
// kind, UNIMPLEMENTED for element types and orders that Mete does not support.
#pragma once

#include <string>

#include "mete/tensor.h"

namespace [[gnu::visibility("default")]] mete {

// Reads versions 1 to 3 of the format, C order, little-endian.
Tensor ReadNpy(const std::string& path);

// Writes a file of this format. NumPy has no names for bf16 and for types below 8 bits and floats of 8 bits:
// these floats are written as f32, these integers as i8 or u8. Error UNAVAILABLE if the file cannot be
// written; an incomplete file is removed.
void WriteNpy(const std::string& path, const ConstView& tensor);

// Reads a serialized onnx::TensorProto, as in the test data of ONNX models.
Tensor ReadTensorPb(const std::string& path);

// Reads a file of elements without a header, little-endian. The file must have exactly the bytes that `shape`
// needs; types below 8 bits have one byte for each element.
Tensor ReadBin(const std::string& path, DType type, const Shape& shape);

// Returns element `i` of any type as a number, for printing and ranking. Integers beyond 2^53 are rounded.
double ElementAt(const ConstView& tensor, int64_t i);

}  // namespace mete
