// The kernels of the tensor family that are not in the same file as their table. Only files of
// kernels/reference include this header.
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
void RunRandomUniform(RefArgs& args);
void RunRandomNormal(RefArgs& args);
void RunBernoulli(RefArgs& args);
void RunMultinomial(RefArgs& args);

}  // namespace mete
