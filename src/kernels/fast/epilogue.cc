#include "kernels/fast/epilogue.h"

#include <utility>

namespace mete {

bool FindActivation(std::string_view op, Activation* kind) {
  using A = Activation;
  static constexpr std::pair<std::string_view, A> kKinds[] = {
      {"", A::kNone},           {"Relu", A::kRelu},
      {"Clip", A::kClip},       {"LeakyRelu", A::kLeakyRelu},
      {"Sigmoid", A::kSigmoid}, {"HardSigmoid", A::kHardSigmoid},
      {"Swish", A::kSwish},     {"HardSwish", A::kHardSwish},
      {"Tanh", A::kTanh},       {"Gelu", A::kGelu},
      {"Elu", A::kElu}};
  for (const auto& [name, value] : kKinds) {
    if (op == name) return *kind = value, true;
  }
  return false;
}

}  // namespace mete
