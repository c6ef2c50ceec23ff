// Products of com.microsoft whose constant weights are numbers of a table.
#pragma once

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

// MatMulBnb4: weights of 4 bits that choose among 16 numbers, with a scale for each block of all weights in
// their order. They are a tensor with a source (base/tensor_source.h).
void ExpandMatMulBnb4(Upgrade& u);

}  // namespace mete::onnx_import
