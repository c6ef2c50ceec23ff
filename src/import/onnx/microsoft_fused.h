// Operators of com.microsoft that ONNX Runtime's optimizer makes of several operators of ONNX in floats, such
// as a convolution with its activation. Each is taken apart again: Mete's own passes fuse what pays here.
#pragma once

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

void ExpandBiasGelu(Upgrade& u);
// The softmax of a sum, over all dimensions from an axis on.
void ExpandBiasSoftmax(Upgrade& u);
void ExpandFastGelu(Upgrade& u);
void ExpandQuickGelu(Upgrade& u);
void ExpandFusedConv(Upgrade& u);
void ExpandFusedGemm(Upgrade& u);
void ExpandFusedMatMul(Upgrade& u);
// SkipLayerNormalization and SkipSimplifiedLayerNormalization. Of their outputs the mean and the deviation,
// which are for training, are unsupported.
void ExpandSkipNormalization(Upgrade& u);

}  // namespace mete::onnx_import
