// Parts of constants, such as the weights of some of a layer's channels.
#pragma once

#include "partition/part.h"

namespace mete {

// Does what Cut() does, for a constant: a large part that is a copy, or of a constant with a source
// (base/tensor_source.h), has a source of its own, which reads the part where it is needed. Neither the part
// nor the whole then lies in memory beside the packed weights.
Tensor CutConstant(const Tensor& whole, const Part& part);

}  // namespace mete
