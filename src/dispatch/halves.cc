#include "dispatch/halves.h"

#include "kernels/fast/half/half_conv.h"

namespace mete {

Precision FastHalf() {
  for (const Precision half : {Precision::kF16, Precision::kBf16})
    if (IsFast(PlanHalfConv({1, 1, 1, 1, 1, 1, 1}, half))) return half;
  return Precision::kF32;
}

ConvAlgorithm AlgorithmWith(Precision operands) {
  if (operands == Precision::kBf16) return ConvAlgorithm::kBf16;
  return operands == Precision::kF16 ? ConvAlgorithm::kF16 : ConvAlgorithm::kDirect;
}

}  // namespace mete
