// The kernels of the index family that are not in the same file as their table. Only files of
// kernels/reference include this header.
#pragma once

#include "kernels/reference/reference.h"

namespace mete {

void RunScatterND(RefArgs& args);
void RunScatterElements(RefArgs& args);
void RunTensorScatter(RefArgs& args);
void RunCol2Im(RefArgs& args);
void RunUnique(RefArgs& args);
void RunTfIdfVectorizer(RefArgs& args);
void RunNonMaxSuppression(RefArgs& args);
void RunDetectionOutput(RefArgs& args);
void RunLabelEncoder(RefArgs& args);
void RunTreeEnsemble(RefArgs& args);

}  // namespace mete
