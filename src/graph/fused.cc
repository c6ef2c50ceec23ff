#include "graph/fused.h"

namespace mete {

void CheckEpilogue(const InferContext& c, DType type, const Shape& output, int residual_input) {
  EpilogueSpec spec;
  if (const std::string problem = ParseEpilogue(c.attributes, spec); !problem.empty()) c.Bad("{}", problem);
  if (!spec.residual) {
    if (c.has(residual_input)) c.Bad("input {} is a residual but the attribute residual is not set", residual_input);
    return;
  }
  if (!c.has(residual_input)) c.Bad("the residual is missing; expected it as input {}", residual_input);
  if (c.shape(residual_input) != output || c.type(residual_input) != type)
    c.Bad("the residual does not fit the output; got {} {}, expected {} {}", Name(c.type(residual_input)),
        ToString(c.shape(residual_input)), Name(type),
          ToString(output));
}

}  // namespace mete
