#include "partition/share.h"

#include <cstring>

#include "base/errors_testing.h"
#include "partition/divide.h"
#include "partition/random_graphs_testing.h"

namespace mete {
namespace {

// Divides `extent` rows at random over at most `devices` devices.
std::vector<IndexRange> RandomRows(RandomGraph& random, int64_t extent, int devices) {
  std::vector<int64_t> cuts{0, extent};
  for (int d = 1; d < devices; ++d) cuts.push_back(random.Pick(0, extent));
  std::sort(cuts.begin(), cuts.end());
  std::vector<IndexRange> rows;
  for (size_t d = 0; d + 1 < cuts.size(); ++d)
    if (cuts[d] < cuts[d + 1]) rows.push_back({cuts[d], cuts[d + 1]});
  return rows;
}

struct Counted {
  int nodes = 0, divided = 0;
};

// Computes the part `wanted` as a share of a group whose inputs are cut from the whole graph's values.
Tensor ComputePart(const Graph& graph, const std::vector<Tensor>& values, const std::vector<int>& nodes,
                   const ValuePart& wanted, Counted& count) {
  const ShareGraph share = MakeShareGraph(graph, nodes, std::vector{wanted});
  Verify(share.graph);
  std::vector<Tensor> inputs;
  for (const ValuePart& input : share.parts.inputs)
    inputs.push_back(Cut(values[size_t(input.value)], input.part));
  for (const Part& part : share.parts.computed) {
    ++count.nodes;
    count.divided += !part.all();
  }
  return EvaluateAll(share.graph, inputs)[size_t(share.graph.outputs[0])];
}

// Divides each output of a group along `axis` and stitches the parts together.
void ExpectStitched(RandomGraph& random, const std::vector<Tensor>& values, const std::vector<int>& nodes,
                    int axis, Counted& count) {
  const Graph& graph = random.graph;
  for (ValueId id : BorderOf(graph, Uses(graph), nodes).outputs) {
    const Tensor& whole = values[size_t(id)];
    Tensor stitched(whole.type(), whole.shape());
    if (axis >= whole.shape().rank()) continue;
    for (const IndexRange& rows : RandomRows(random, whole.shape()[axis], int(random.Pick(1, 4)))) {
      const Part part = Part::Of(axis, rows);
      const Tensor piece = ComputePart(graph, values, nodes, {id, part}, count);
      Place(piece.view(), part, stitched.mutable_view(), Part::All());
    }
    ASSERT_EQ(std::memcmp(stitched.data(), whole.data(), whole.bytes()), 0)
        << "value " << graph.value(id).name << " axis " << axis << "\n"
        << ToText(graph);
  }
}

TEST(Share, AnyDivisionOfAnyGroupStitchedTogetherEqualsTheWhole) {
  Counted count;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 12) + 1);
    const std::vector<Tensor> values = EvaluateAll(random.graph, RandomInputs(random.graph, seed));
    const int n = int(random.graph.nodes.size());
    for (int group = 0; group < 3; ++group) {
      const int first = int(random.Pick(0, n - 1)), last = int(random.Pick(first, n - 1));
      std::vector<int> nodes;
      for (int i = first; i <= last; ++i) nodes.push_back(i);
      ExpectStitched(random, values, nodes, int(random.Pick(0, 5)) % 4 == 0 ? int(random.Pick(0, 3)) : 2,
                     count);
      if (HasFatalFailure()) return;
    }
  }
  // Most nodes must have been divided: computing everything whole would also give equal results.
  EXPECT_GT(count.divided, count.nodes / 2) << count.divided << " of " << count.nodes;
}

// x -> Conv a -> Conv b; tests add nodes that read the outputs of both.
struct Branches {
  Branches() {
    x = b.Input({1, 2, 12, 4});
    first = b.Conv(x, 2, 3, 3, {1, 1, 1, 1});
    second = b.Conv(first, 3, 3, 3, {1, 1, 1, 1});
  }
  ShareGraph Of(ValueId wanted, const Part& part) {
    b.Output(wanted);
    InferShapes(b.graph);
    std::vector<int> nodes(b.graph.nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = int(i);
    return MakeShareGraph(b.graph, nodes, std::vector{ValuePart{wanted, part}});
  }
  Builder b;
  ValueId x, first, second;
};

TEST(Share, HalosAddUpOverFusedLayers) {
  Branches net;
  const ShareGraph share = net.Of(net.second, Part::Of(2, {4, 6}));
  EXPECT_EQ(share.parts.inputs[0].part, Part::Of(2, {2, 8}));
  EXPECT_EQ(share.parts.computed, (std::vector<Part>{Part::Of(2, {3, 7}), Part::Of(2, {4, 6})}));
}

TEST(Share, AResidualIsCutFromTheRowsThatTheHaloNeeds) {
  Branches net;
  const ShareGraph share = net.Of(net.b.Op("Add", {net.second, net.first}), Part::Of(2, {4, 6}));
  EXPECT_EQ(CountOf(share.graph, "Slice"), 1);
  EXPECT_EQ(share.parts.computed[0], Part::Of(2, {3, 7}));
}

TEST(Share, NodesWhoseReadersNeedOtherAxesAreWhole) {
  Branches net;
  const ShareGraph share =
      net.Of(net.b.Op("Mul", {net.second, net.b.Op("GlobalAveragePool", {net.second})}), Part::Of(2, {4, 6}));
  EXPECT_TRUE(share.parts.computed[1].all());                   // the pool needs the second convolution whole
  EXPECT_EQ(share.parts.computed.back(), Part::Of(2, {4, 6}));  // only rows 4 to 6 of the product
}

TEST(Share, NodesThatNobodyNeedsAreLeftOut) {
  Branches net;
  const ShareGraph share = net.Of(net.first, Part::Of(2, {4, 6}));
  EXPECT_EQ(share.parts.nodes, std::vector<int>{0});
}

TEST(Share, WeightsThatAreNotCutShareTheirBytes) {
  Branches net;
  const ShareGraph share = net.Of(net.second, Part::Of(2, {4, 6}));
  const Tensor& whole = net.b.graph.value(net.b.graph.nodes[0].inputs[1]).constant;
  EXPECT_EQ(share.graph.value(share.graph.nodes[0].inputs[1]).constant.data(), whole.data());
}

// How floats behind 8-bit layers are rounded depends on the whole network (processor/opencl/share).
TEST(Share, FloatsOfANetworkWithBytesAreAShareOfBytes) {
  for (const DType type : {DType::kU8, DType::kF32}) {
    Graph graph;
    graph.inputs = {graph.AddValue("bytes", type, {1, 8})};
    const ValueId floats = graph.AddValue("floats", DType::kF32, {1, 8});
    graph.outputs = {graph.AddValue("answer", DType::kF32, {1, 8})};
    Attributes to_float;
    to_float.Set("to", int64_t(1));  // FLOAT of ONNX
    graph.AddNode("Cast", "", graph.inputs, {floats}, to_float);
    graph.AddNode("Relu", "", {floats}, graph.outputs);
    const ShareGraph share =
        MakeShareGraph(graph, std::vector{1}, std::vector{ValuePart{graph.outputs[0], Part::All()}});
    EXPECT_EQ(HasBytes(share.graph), type == DType::kU8);
  }
}

TEST(Share, RefusesWhatTheGroupDoesNotMakeAndRowsThatAreNotThere) {
  Branches net;
  EXPECT_TELLS(net.Of(net.x, Part::Of(2, {4, 6})), "[x0] is asked of a group that does not make it");
  for (const Part& part :
       {Part::Of(2, {4, 13}), Part::Of(4, {0, 1}), Part::Of(2, {6, 6}), Part::Of(-2, {0, 1})})
    EXPECT_TELLS(net.Of(net.second, part), "has no such part");
}

}  // namespace
}  // namespace mete
