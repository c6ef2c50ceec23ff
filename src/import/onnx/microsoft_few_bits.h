// Products and tables of com.microsoft with constant weights of few bits.
#pragma once

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

// Returns a constant input, or null. The pointer holds until the graph gets another value.
const Tensor* ConstantOf(Upgrade& u, size_t i);

// Makes the node the product of its first input, whose last dimension is summed, and the rows of `weights`,
// plus a bias, which may be omitted.
void BecomeProduct(Upgrade& u, const Tensor& weights, ValueId bias);

// MatMulNBits: a Gemm whose weights are a tensor with a source (base/few_bit_matrix.h), so that the file's
// integers become floats, or other few bits, where they are packed and some rows at a time.
void ExpandMatMulNBits(Upgrade& u);
// Rows of a table of few bits: only those that are gathered become floats.
void ExpandGatherBlockQuantized(Upgrade& u);

}  // namespace mete::onnx_import
