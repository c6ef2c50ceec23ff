// The kernels of the image family that are not in the same file as their table. Only files of
// kernels/reference include this header.
#pragma once

#include "kernels/reference/reference.h"

namespace mete {

void RunResize(RefArgs& args);
void RunGridSample(RefArgs& args);
void RunRoiAlign(RefArgs& args);
void RunMaxRoiPool(RefArgs& args);

}  // namespace mete
