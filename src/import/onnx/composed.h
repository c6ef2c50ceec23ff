// Operators of ONNX's domain that are compositions of its other operators: windows, Fourier transforms,
// losses, and the causal convolution of state-space models.
#pragma once

#include <string_view>

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

// Returns true if ExpandComposed() knows the operator.
bool IsComposed(std::string_view op);

// Replaces the node by operators with the same meaning in their newest form: all but the last one are added
// to the graph, and the last one is u.node. For example, HannWindow becomes a Range, a Cos and the sum of
// both terms.
void ExpandComposed(Upgrade& u);

// Single operators; ExpandComposed() has counted their inputs and outputs.
void ExpandWindow(Upgrade& u);           // composed_signal.cc
void ExpandMelWeightMatrix(Upgrade& u);  // composed_signal.cc
void ExpandDft(Upgrade& u);              // composed_fourier.cc
void ExpandStft(Upgrade& u);             // composed_fourier.cc
void ExpandNegativeLogLikelihoodLoss(Upgrade& u);
void ExpandSoftmaxCrossEntropyLoss(Upgrade& u);
void ExpandCausalConvWithState(Upgrade& u);

}  // namespace mete::onnx_import
