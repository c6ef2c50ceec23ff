// Elements as JSON: lists become tensors, and tensors become lists.
//
// JSON has no NaN and no infinities. They are written as the strings "NaN", "Infinity" and "-Infinity", as
// protobuf's JSON has them (protobuf.dev/programming-guides/json): every parser takes the text, numpy makes
// the same numbers of them, and none becomes another one, as it would be with null. They are read in this
// form and as the bare words that Python's json module writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/protocol/inference.h"
#include "serve/protocol/request_bounds.h"

namespace mete::serve {

// Returns the tensor of a list that CutDataLists() has found, without its name. The elements are one flat
// list, or lists within each other as the shape says. Numbers of floats become the nearest value; a number
// that is too large for the type, or no whole number where the type needs one, is an error. FP16 and BF16 are
// rounded by way of FP32. Error INVALID_ARGUMENT that names the element, or says how many there are.
NamedTensor TensorOfList(const std::string& where, const InputForm& form, std::string_view list);

// Appends the elements as one flat list. Each number has the fewest digits that read back the same bits.
// Bytes in texts that are no UTF-8 are replaced: such texts need binary tensors.
void AppendList(const NamedTensor& tensor, std::string& json);

}  // namespace mete::serve
