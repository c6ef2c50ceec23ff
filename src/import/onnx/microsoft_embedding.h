// Operators of com.microsoft around the tokens of transformers.
#pragma once

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

void ExpandEmbedLayerNormalization(
    Upgrade& u);  // of words, their places and segments, with lengths of a mask
void ExpandQEmbedLayerNormalization(Upgrade& u);  // the same of tables in bytes
void ExpandRotaryEmbedding(Upgrade& u);  // with the places before the caches, or the first place alone

}  // namespace mete::onnx_import
