#include "processor/check_share.h"

#include "base/problems.h"

namespace mete {

void CheckCanCompute(const Processor& processor, const Graph& share) {
  Problems problems;
  for (const Node& node : share.nodes)
    problems.Try([&] {
      if (const std::string why = processor.WhyNot(share, node); !why.empty())
        Fail(Code::kUnimplemented, node.name, "cannot be computed here: {}", why);
    });
  problems.ThrowIfAny();
}

}  // namespace mete
