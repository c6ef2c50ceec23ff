// The operators of attention of com.microsoft, which exporters of transformers write and ONNX Runtime's
// optimizer makes of products and softmaxes. They are taken apart again.
#pragma once

#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

void ExpandAttention(Upgrade& u);            // with the products that make queries, keys and values
void ExpandQAttention(Upgrade& u);           // the same of bytes and weights in bytes
void ExpandMultiHeadAttention(Upgrade& u);   // of queries, keys and values, apart or packed
void ExpandGroupQueryAttention(Upgrade& u);  // with a buffer for keys and values (microsoft_group_query.cc)

}  // namespace mete::onnx_import
