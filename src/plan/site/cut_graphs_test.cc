#include "plan/site/cut_graphs.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "plan/site/cut_model.h"

namespace mete {
namespace {

// Moves what reads values of the server's layers to the server, so that nothing comes back.
void Close(const CutModel& model, OnDevice& on_device) {
  for (size_t l = 0; l < on_device.size(); ++l)
    for (const CutValue& value : model.values)
      if (value.producer == int(l) && !on_device[l])
        for (const int reader : value.readers) on_device[size_t(reader)] = false;
}

// Computes a part from values that are known, and adds its outputs.
void Compute(const CutPart& part, std::map<ValueId, Tensor>& known) {
  std::vector<Tensor> inputs;
  for (const ValueId id : part.inputs) inputs.push_back(known.at(id));
  const std::vector<Tensor> values = EvaluateAll(part.graph, inputs);
  for (size_t o = 0; o < part.outputs.size(); ++o)
    known[part.outputs[o]] = values[size_t(part.graph.outputs[o])];
}

TEST(PartsOfCut, ComputeTogetherWhatTheWholeComputes) {
  int mixed = 0, branching = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 12) + 2);
    const Graph& graph = random.graph;
    const CutModel model(graph);
    OnDevice on_device;
    for (size_t l = 0; l < model.layers.size(); ++l) on_device.push_back(random.Pick(0, 3) > 0);
    Close(model, on_device);
    const CutParts parts = PartsOfCut(graph, on_device);
    const std::vector<Tensor> inputs = RandomInputs(graph, 7), whole = EvaluateAll(graph, inputs);
    std::map<ValueId, Tensor> known;
    for (size_t i = 0; i < inputs.size(); ++i) known[graph.inputs[i]] = inputs[i];
    Compute(parts.device, known);
    const size_t before = known.size();
    Compute(parts.server, known);
    for (const ValueId id : graph.outputs) {
      ASSERT_TRUE(known.contains(id));
      const Tensor &got = known.at(id), &want = whole[size_t(id)];
      ASSERT_EQ(got.shape(), want.shape());
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0);
    }
    // what the device sends is what the cost counts
    const Sent sent = SentBy(model, on_device, 0);
    int64_t up_bytes = 0;
    for (const ValueId id : parts.server.inputs) up_bytes += int64_t(whole[size_t(id)].bytes());
    EXPECT_EQ(sent.up_bytes, up_bytes);
    mixed += before > inputs.size() && known.size() > before;
    branching += !std::is_sorted(on_device.rbegin(), on_device.rend());
  }
  EXPECT_GT(mixed, 30);
  EXPECT_GT(branching, 10);
}

TEST(PartsOfCut, RefuseWhatComesBack) {
  Builder b;
  ValueId x = b.Input({1, 2, 8, 8});
  for (int i = 0; i < 3; ++i) x = b.Conv(x, 2, 2, 3, {1, 1, 1, 1});
  b.Output(x);
  InferShapes(b.graph);
  EXPECT_TELLS(PartsOfCut(b.graph, {true, false, true}),
               "[cut] the device's layer 'Conv2' reads what the server's layer 'Conv1' makes");
  EXPECT_TELLS(PartsOfCut(b.graph, {true}), "got 1 layers, expected 3");
}

}  // namespace
}  // namespace mete
