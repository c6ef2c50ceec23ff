// A library of operators, as programs load one: test.operators.Scale multiplies by its attribute `by`. With
// METE_TEST_OPERATORS=newer it is as if built for later headers, with METE_TEST_OPERATORS=throws it fails.
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "mete/custom_operator.h"

namespace {

std::vector<mete::OutputType> ShapesOfScale(const mete::OperatorNode& node) {
  return {{node.inputs[0].type, node.inputs[0].shape}};
}

void Scale(const mete::OperatorNode& node, std::span<const mete::View> outputs) {
  const float by = node.attributes.Float("by", 1);
  for (int64_t i = 0; i < outputs[0].elements(); ++i)
    outputs[0].as<float>()[i] = by * node.inputs[0].as<float>()[i];
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void mete_register_operators(mete::OperatorRegistry& to) {
  const char* const told = std::getenv("METE_TEST_OPERATORS");
  const std::string_view wrong = told ? told : "";
  if (wrong == "newer") to.AddOf(mete::kOperatorsVersion + 1, {});
  if (wrong == "throws") throw std::runtime_error("no licence");
  to.Add({"test.operators", "Scale", 1, ShapesOfScale, Scale});
}
