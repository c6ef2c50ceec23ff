// The ways in which a convolution can be computed, and which of them to take.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/fast/conv/conv.h"

namespace mete {

// kDirect is the sum as it stands (depthwise or as an implicit product); the others are kernels/fast/winograd, with a larger error.
enum class ConvAlgorithm { kDirect, kWinogradF2, kWinogradF4, kWinogradF6 };

const char* Name(ConvAlgorithm algorithm);  // "direct", "winograd_f2", ...

// Nothing for "" and "auto"; FAILED_PRECONDITION for another unknown name, with `where` it comes from.
std::optional<ConvAlgorithm> ParseConvAlgorithm(std::string_view where, std::string_view name);

// 2, 4, 6; 0 for kDirect.
int WinogradTile(ConvAlgorithm algorithm);

// Those that can compute this convolution; kDirect always can, and comes first.
std::vector<ConvAlgorithm> ConvAlgorithmsFor(const ConvShape& shape);

// The fastest by estimate. Never F(6x6), whose error is larger: that one must be asked for.
ConvAlgorithm ChooseConvAlgorithm(const ConvShape& shape);

}  // namespace mete
