#include "kernels/reference/custom.h"

#include "base/custom_operators.h"

namespace mete {

void RunCustom(RefArgs& args) {
  const CustomOperator& custom = CustomOf(args.attributes);
  const CustomAttributes attributes(args.attributes);
  try {
    custom.kernel({args.in, attributes}, args.out);
  } catch (...) {
    RethrowOfCustom(custom);
  }
}

}  // namespace mete
