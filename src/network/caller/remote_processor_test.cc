#include "network/caller/remote_processor.h"

#include <cmath>

#include "base/errors_testing.h"
#include "network/caller/workers_testing.h"

namespace mete {
namespace {

TEST(RemoteProcessor, ComputesEveryStepOfAGraphAsTheReferenceDoes) {
  Workers workers(1, 5);
  RemoteDevice remote({"worker-1", workers.AddressOf(0)}, {});
  RemoteProcessor processor(remote);
  const Graph& graph = workers.random.graph;
  const std::vector<Tensor> values = EvaluateAll(graph, workers.inputs);
  int computed = 0;
  for (const Node& node : graph.nodes) {
    ASSERT_EQ(processor.WhyNot(graph, node), "");
    std::vector<ConstView> inputs;
    std::vector<Tensor> results;
    std::vector<View> outputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == kNoValue ? ConstView{} : values[size_t(id)].view());
    for (const ValueId id : node.outputs)
      results.push_back(id == kNoValue ? Tensor()
                                       : Tensor(values[size_t(id)].type(), values[size_t(id)].shape()));
    for (Tensor& result : results) outputs.push_back(result.mutable_view());
    const std::unique_ptr<Prepared> step = processor.Prepare(graph, node, {});
    EXPECT_EQ(step->kernel(), "remote worker-1");
    step->Execute(inputs, outputs);
    for (size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const Tensor& expected = values[size_t(node.outputs[i])];
      // The worker's passes may write a node otherwise: a batch norm as a product and a sum, rounded twice.
      for (int64_t k = 0; k < expected.elements(); ++k)
        ASSERT_NEAR(results[i].as<float>()[k], expected.as<float>()[k],
                    1e-5 * (1 + std::abs(expected.as<float>()[k])))
            << node.name;
      ++computed;
    }
  }
  EXPECT_GT(computed, 5);
}

TEST(RemoteProcessor, RefusesShapesThatDependOnData) {
  Workers workers(1, 5);
  RemoteDevice remote({"worker-1", workers.AddressOf(0)}, {});
  RemoteProcessor processor(remote);
  Builder b;
  b.Output(b.Op("NonZero", {b.Input({4})}));
  InferShapes(b.graph);
  EXPECT_NE(processor.WhyNot(b.graph, b.graph.nodes[0]), "");
  EXPECT_TELLS(processor.Prepare(b.graph, b.graph.nodes[0], {}), "cannot be computed elsewhere");
}

}  // namespace
}  // namespace mete
