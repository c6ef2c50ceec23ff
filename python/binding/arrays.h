// Tensors of Mete and arrays of Python, which share their memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mete/tensor.h"

namespace mete::python {

namespace nb = nanobind;

// Returns a tensor on the memory of a NumPy array, of an array by DLPack, or of a buffer, which the tensor
// keeps alive. An array that is not dense and row-major, or of the other byte order, is copied. Error
// INVALID_ARGUMENT for other objects and for types that Mete lacks; `where` names the array in the message.
Tensor TensorOf(nb::handle array, const std::string& where);

// Returns a NumPy array on the tensor's memory, which the array keeps alive. Types that NumPy lacks are those
// of the package ml_dtypes; Error FAILED_PRECONDITION if it is not installed.
nb::object ArrayOf(const Tensor& tensor);

// The writable memory of an array, which it keeps alive and as it is.
struct WritableArray {
  nb::ndarray<nb::c_contig, nb::device::cpu> memory;
  View view;
};
// The array must be dense and row-major: nothing is copied.
WritableArray WritableOf(nb::handle array, const std::string& where);

// Returns a NumPy array with memory of its own, which is not set; nothing for types that NumPy lacks.
std::optional<std::pair<nb::object, WritableArray>> NewArray(DType type, const Shape& shape);

// Returns the sizes as a list, or None for a shape that is known at run time only; a size is None where
// `shape` has -1.
nb::object SizesOf(const Shape& shape);
Shape ShapeOf(const std::vector<int64_t>& sizes);

// Returns the bytes of a path (str, bytes or an object with __fspath__) as the system has them.
std::string PathOf(nb::handle path);

// Returns the text of a name. Error INVALID_ARGUMENT for an object that is no str.
std::string NameOf(nb::handle name, const std::string& where);

}  // namespace mete::python
