// The algorithms for a convolution of f32, and the names of the kernels that follow them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/precision.h"
#include "kernels/fast/conv/conv.h"

namespace mete {

// kDirect computes the sum in the order of its definition (depthwise or as an implicit matrix product); the
// others are those of kernels/fast/winograd, whose error is larger.
// kBf16 and kF16 round the operands to these halves and sum as kDirect (kernels/fast/half).
enum class ConvAlgorithm { kDirect, kWinogradF2, kWinogradF4, kWinogradF6, kBf16, kF16 };

const char* Name(ConvAlgorithm algorithm);  // "direct", "winograd_f2", ..., "bf16", "f16"

// Returns nullopt for "" and "auto". Error FAILED_PRECONDITION for an unknown name; its message names
// `where`, the place that the name comes from.
std::optional<ConvAlgorithm> ParseConvAlgorithm(std::string_view where, std::string_view name);

// Returns the size of Winograd's output tile: 2, 4 or 6; 0 for the others.
int WinogradTile(ConvAlgorithm algorithm);

// Returns the precision of the operands: kF32 for those that round none.
Precision OperandsOf(ConvAlgorithm algorithm);

// Returns the algorithms that can compute this convolution; kDirect always can, and comes first.
// `operands`: that they may be rounded to (graph/fused.h, 10).
std::vector<ConvAlgorithm> ConvAlgorithmsFor(const ConvShape& shape, Precision operands = Precision::kF32);

// Returns the name of the kernel, without the target: "depthwise_f32", "conv_1x1_f32", "winograd_f2_f32".
std::string KernelName(const ConvShape& shape, ConvAlgorithm algorithm);

}  // namespace mete
