// Products and tables of com.microsoft with constant weights of few bits.
#pragma once

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

// MatMulNBits: a Gemm whose weights are a tensor with a source (base/few_bit_matrix.h), so that the file's
// integers become floats, or other few bits, where they are packed and some rows at a time.
void ExpandMatMulNBits(Upgrade& u);
// Rows of a table of few bits: only those that are gathered become floats.
void ExpandGatherBlockQuantized(Upgrade& u);

}  // namespace mete::onnx_import
