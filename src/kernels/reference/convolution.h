// The kernels of the convolution family that are not in the same file as their table.
#pragma once

#include "base/window.h"
#include "kernels/reference/reference.h"

namespace mete {

void MaxPoolReference(RefArgs& args);
void AveragePoolReference(RefArgs& args);
void LpPoolReference(RefArgs& args);
void GlobalAveragePoolReference(RefArgs& args);
void GlobalMaxPoolReference(RefArgs& args);
void GlobalLpPoolReference(RefArgs& args);
void QLinearAveragePoolReference(RefArgs& args);
void QLinearGlobalAveragePoolReference(RefArgs& args);
void DeformConvReference(RefArgs& args);

}  // namespace mete
