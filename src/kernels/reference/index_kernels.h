// The index family's kernels that do not live beside their table. Part of kernels/reference only.
#pragma once

#include "kernels/reference/reference.h"

namespace mete {

void RunScatterND(RefArgs& args);
void RunScatterElements(RefArgs& args);
void RunTensorScatter(RefArgs& args);
void RunCol2Im(RefArgs& args);
void RunUnique(RefArgs& args);
void RunNonMaxSuppression(RefArgs& args);

}  // namespace mete
