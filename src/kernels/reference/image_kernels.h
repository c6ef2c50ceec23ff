// The image family's kernels that do not live beside their table. Part of kernels/reference only.
#pragma once

#include "kernels/reference/reference.h"

namespace mete {

void RunResize(RefArgs& args);
void RunGridSample(RefArgs& args);
void RunRoiAlign(RefArgs& args);

}  // namespace mete
