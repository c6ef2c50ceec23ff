#include "graph/ops/custom.h"

#include "base/custom_operators.h"
#include "base/rethrow.h"

namespace mete {
namespace {

// Returns the inputs, with data where it is known.
std::vector<ConstView> KnownInputs(const InferContext& c) {
  std::vector<ConstView> inputs;
  for (int i = 0; i < c.inputs(); ++i)
    inputs.push_back(c.has(i) ? ConstView{c.has_data(i) ? c.data(i).data : nullptr, c.type(i), c.shape(i)}
                              : ConstView{});
  return inputs;
}

std::vector<OutputType> Ask(const CustomOperator& custom, const OperatorNode& node) {
  try {
    return custom.shapes(node);
  } catch (...) {
    RethrowOfCustom(custom);
  }
}

}  // namespace

void InferCustom(InferContext& c) {
  try {
    const CustomOperator& custom = CustomOf(c.attributes);
    for (int i = 0; i < custom.least_inputs; ++i)
      if (!c.has(i)) c.Bad("{} needs input {}; expected at least {}", custom.name, i, custom.least_inputs);
    const std::vector<ConstView> inputs = KnownInputs(c);
    const CustomAttributes attributes(c.attributes);
    const std::vector<OutputType> outputs = Ask(custom, {inputs, attributes});
    if (int(outputs.size()) < c.outputs())
      c.Bad("the shape function of {} gives too few outputs; got {}, expected {}", custom.name,
            outputs.size(), c.outputs());
    bool all_known = true;
    for (int i = 0; i < c.inputs(); ++i) all_known &= !c.has(i) || c.has_data(i);
    for (int i = 0; i < c.outputs(); ++i) {
      const OutputType& output = outputs[size_t(i)];
      if (output.type == DType::kUnknown || (all_known && !output.shape.known()))
        c.Bad("the shape function of {} gives output {} no {} although all inputs are known", custom.name, i,
              output.type == DType::kUnknown ? "type" : "shape");
      c.Output(i, output.type, output.shape);
    }
  } catch (...) {
    RethrowNaming(c.node());
  }
}

}  // namespace mete
