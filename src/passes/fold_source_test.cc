// Constants whose content lies elsewhere (base/tensor_source.h).
#include "base/tensor_source.h"
#include "passes/graphs_testing.h"
#include "passes/pass.h"

namespace mete {
namespace {

// The importer copies integers; whoever does not must get an unknown shape, and no read of missing numbers.
TEST(FoldConstants, NoShapeFollowsFromIntegersWithASource) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(9000 * sizeof(int64_t) + 1);
  const std::span<const std::byte> content(bytes->data() + 1, bytes->size() - 1);
  Builder b;
  const ValueId axes = b.graph.AddConstant("axes", UnalignedTensor(DType::kI64, Shape{9000}, content, bytes));
  const ValueId sums = b.Op("ReduceSum", {b.Input({2, 3}), axes});
  Graph& g = b.Output(sums);
  FoldConstants(g);
  EXPECT_FALSE(g.value(sums).shape.known());
}

}  // namespace
}  // namespace mete
