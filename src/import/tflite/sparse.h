// Constants of which the file has the elements that are not zero alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "mete/tensor.h"
#include "src/import/tflite/tflite_generated.h"

namespace mete::tflite_import {

// Returns the tensor with its zeros. `data` has the other elements, in the order that `layout` says: by rows
// or columns, of which a level lists all places or those that are not zero (compressed sparse rows), and
// perhaps by blocks (Chou, Kjolstad and Amarasinghe, "Format abstraction for sparse tensor algebra
// compilers", OOPSLA 2018). Error INVALID_ARGUMENT, with the tensor's `name`, if the layout does not fit the
// shape or the data. The steps are bounded by the sizes of the tensor and of the layout.
Tensor DenseOf(const tflite::SparsityParameters& layout, std::span<const std::byte> data, DType type,
               const Shape& shape, const std::string& name);

}  // namespace mete::tflite_import
