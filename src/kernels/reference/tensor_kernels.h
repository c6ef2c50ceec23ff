// The tensor family's kernels that do not live beside their table. Part of kernels/reference only.
#pragma once

#include "kernels/reference/reference.h"

namespace mete {

void RunSlice(RefArgs& args);
void RunTile(RefArgs& args);
void RunPad(RefArgs& args);
void RunCenterCropPad(RefArgs& args);
void RunDepthToSpace(RefArgs& args);
void RunSpaceToDepth(RefArgs& args);
void RunReverseSequence(RefArgs& args);
void RunShape(RefArgs& args);
void RunSize(RefArgs& args);
void RunRange(RefArgs& args);
void RunConstantOfShape(RefArgs& args);
void RunConstant(RefArgs& args);
void RunEyeLike(RefArgs& args);
void RunOneHot(RefArgs& args);
void RunNonZero(RefArgs& args);

}  // namespace mete
