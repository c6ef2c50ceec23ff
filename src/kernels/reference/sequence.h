// The kernels of the sequence family that are not in the same file as their table.
#pragma once

#include "kernels/reference/reference.h"

namespace mete {

void AttentionReference(RefArgs& args);
void FlexAttentionReference(RefArgs& args);
void LinearAttentionReference(RefArgs& args);
void RotaryEmbeddingReference(RefArgs& args);

}  // namespace mete
