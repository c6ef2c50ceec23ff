// The inference functions of the attention operators, for the table of the sequence family.
#pragma once

#include "graph/operators.h"

namespace mete {

void InferAttention(InferContext& c);
void InferFlexAttention(InferContext& c);
void InferLinearAttention(InferContext& c);
void InferRotaryEmbedding(InferContext& c);

}  // namespace mete
