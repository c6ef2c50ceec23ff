// Operators of com.microsoft over images whose channels are last, and the normalization by groups of
// diffusion networks.
#pragma once

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

void ExpandNhwcConv(Upgrade& u);
void ExpandNhwcFusedConv(Upgrade& u);
void ExpandNhwcMaxPool(Upgrade& u);
void ExpandQLinearConv(Upgrade& u);  // that of ONNX, with an attribute `channels_last`
void ExpandGroupNorm(Upgrade& u);    // and SkipGroupNorm
void ExpandBiasAdd(Upgrade& u);
void ExpandBiasSplitGelu(Upgrade& u);

// Returns `x` with its channels, the last of `rank` dimensions, behind the batch; and back.
ValueId ChannelsFirst(Upgrade& u, ValueId x, int rank);
ValueId ChannelsLast(Upgrade& u, ValueId x, int rank);

}  // namespace mete::onnx_import
