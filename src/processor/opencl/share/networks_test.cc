// Whole graphs as a share: values that share bytes, slices of concatenations, residuals, views, outputs of
// all kinds.
#include <filesystem>

#include "import/onnx/onnx.h"
#include "partition/random_graphs_testing.h"
#include "processor/opencl/share/compare_testing.h"
#include "zoo/zoo.h"

namespace mete::opencl {
namespace {

const GpuTarget kTarget{.tile = {.is_cpu = true, .vector = 8}};
const GpuTarget kHalves{.tile = {.is_cpu = true, .vector = 8}, .storage = DType::kF16};

// Of a whole graph. Each sum is rounded for each of its terms, each value and weight once to halves, and the
// roundings of a sum's terms have signs of their own: the sum's is theirs, times its size.
Tolerance ToleranceOfGraph(const Graph& graph, const std::vector<Tensor>& values) {
  double terms = 0;
  for (const Node& node : graph.nodes) terms += TermsOf(graph, node);
  const double largest = LargestOf(values), f32 = std::numeric_limits<float>::epsilon() * terms * largest;
  return {f32, f32 + 3 * 0x1p-11 * double(graph.nodes.size()) * largest};
}

class Networks : public WithShares {
 protected:
  // Expects the outputs of the graph before the passes.
  void Check(const Graph& graph, const std::vector<GpuTarget>& targets) {
    Graph shaped = graph;
    (void)RunPasses(shaped, {.optimize = false});  // shapes alone
    const std::vector<Tensor> inputs = RandomInputs(shaped, 3), values = EvaluateAll(shaped, inputs);
    std::vector<Tensor> want;
    for (ValueId id : shaped.outputs) want.push_back(values[size_t(id)]);
    const Tolerance tolerance = ToleranceOfGraph(shaped, values);
    Graph passed = graph;
    (void)RunPasses(passed);
    for (const GpuTarget& target : targets) {
      SCOPED_TRACE(Name(target.storage));
      ExpectNear(want, Run(passed, Lower(passed, target, {}), inputs), tolerance.Of(target.storage));
      if (HasFatalFailure()) return;
    }
  }
};

// Builds with weights that keep the size of values: of K terms, each at most 1.7 / sqrt(K).
class Net : public Builder {
 public:
  ValueId Layer(ValueId x, int64_t in, int64_t out, int64_t kernel, int64_t group = 1) {
    const float bound = 1.7f / std::sqrt(float(in / group * kernel * kernel));
    Attributes a;
    a.Set("pads", mete::Ints(4, kernel / 2));
    a.Set("group", group);
    return Op("Conv", {x, Weight({out, in / group, kernel, kernel}, -bound, bound), Weight({out})}, a);
  }
  ValueId Project(ValueId x, int64_t in, int64_t out) {
    const float bound = 1.7f / std::sqrt(float(in));
    return Op("Add", {Op("MatMul", {x, Weight({in, out}, -bound, bound)}), Weight({out})});
  }
  ValueId Joined(const std::vector<ValueId>& parts) {
    Attributes a;
    a.Set("axis", int64_t{1});
    return Op("Concat", parts, a);
  }
};

TEST_F(Networks, AResidualBlock) {
  Net net;
  const ValueId x = net.Op("Relu", {net.Layer(net.Input({2, 3, 12, 10}), 3, 20, 3)});
  const ValueId y = net.Layer(net.Op("Relu", {net.Layer(x, 20, 20, 3)}), 20, 20, 3);
  const ValueId sum = net.Op("Relu", {net.Op("Add", {y, x})});
  const ValueId flat = net.Op("Flatten", {net.Op("GlobalAveragePool", {sum})});
  net.Output(net.Op("Softmax", {net.Project(flat, 20, 7)}));
  net.Output(sum);
  Check(net.graph, {kTarget, kHalves});
}

TEST_F(Networks, BranchesThatWriteTheirSlicesOfAConcatenation) {
  for (const bool is_output : {false, true}) {
    Net net;
    const ValueId x = net.Input({1, 8, 9, 7});
    Attributes window;
    window.Set("kernel_shape", Ints{3, 3});
    window.Set("pads", Ints(4, 1));
    const ValueId wide = net.Layer(net.Op("Relu", {net.Layer(x, 8, 6, 1)}), 6, 11, 5);
    const ValueId joined =
        net.Joined({net.Layer(x, 8, 9, 1), wide, net.Layer(net.Op("MaxPool", {x}, window), 8, 5, 1),
                    net.Layer(x, 8, 8, 3, 8)});
    net.Output(is_output ? joined : net.Layer(net.Op("Relu", {joined}), 33, 10, 1));
    Check(net.graph, {kTarget, kHalves});
  }
}

TEST_F(Networks, AnInvertedBottleneckWithAGate) {
  Net net;
  const ValueId x = net.Input({1, 8, 10, 10});
  const ValueId wide =
      net.Op("HardSwish", {net.Layer(net.Op("Relu", {net.Layer(x, 8, 24, 1)}), 24, 24, 5, 24)});
  const ValueId small = net.Op("Relu", {net.Layer(net.Op("GlobalAveragePool", {wide}), 24, 6, 1)});
  const ValueId gate = net.Op("HardSigmoid", {net.Layer(small, 6, 24, 1)});
  net.Output(net.Op("Add", {net.Layer(net.Op("Mul", {wide, gate}), 24, 8, 1), x}));
  Check(net.graph, {kTarget, kHalves});
}

TEST_F(Networks, ABlockOfATransformer) {
  constexpr int64_t kTokens = 10, kWidth = 24, kHeads = 3;
  Net net;
  const auto heads = [&](ValueId x, Ints perm) {
    Attributes a;
    a.Set("perm", std::move(perm));
    const ValueId each = net.Op("Reshape", {x, net.Ints({2, kTokens, kHeads, kWidth / kHeads})});
    return net.Op("Transpose", {each}, a);
  };
  const auto norm = [&](ValueId x) {
    return net.Op("LayerNormalization", {x, net.Weight({kWidth}), net.Weight({kWidth})});
  };
  const ValueId x = net.Input({2, kTokens, kWidth}), n = norm(x);
  const ValueId q = heads(net.Project(n, kWidth, kWidth), {0, 2, 1, 3}),
                k = heads(net.Project(n, kWidth, kWidth), {0, 2, 3, 1}),
                v = heads(net.Project(n, kWidth, kWidth), {0, 2, 1, 3});
  const ValueId scores = net.Op("Mul", {net.Op("MatMul", {q, k}), net.Scalar(0.35f)});
  Attributes back;
  back.Set("perm", Ints{0, 2, 1, 3});
  const ValueId mixed = net.Op("Transpose", {net.Op("MatMul", {net.Op("Softmax", {scores}), v})}, back);
  const ValueId rows = net.Op("Reshape", {mixed, net.Ints({2, kTokens, kWidth})});
  const ValueId y = net.Op("Add", {net.Project(rows, kWidth, kWidth), x});
  const ValueId wide = net.Op("Gelu", {net.Project(norm(y), kWidth, 40)});
  net.Output(net.Op("Add", {net.Project(wide, 40, kWidth), y}));
  Check(net.graph, {kTarget, kHalves});
}

TEST_F(Networks, OutputsThatNoNodeWrites) {
  Net net;
  const ValueId x = net.Input({3, 5}), y = net.Op("Exp", {x}), w = net.Weight({4});
  const ValueId flat = net.Op("Reshape", {y, net.Ints({15})});
  for (ValueId id : {x, y, y, w, flat}) net.Output(id);
  Check(net.graph, {kTarget, kHalves});
}

Graph SmallSqueezeNet(const std::string& name) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / name;
  ZooMake("squeezenet1.1", file, 1);
  Graph graph = ImportOnnx(file, {}).graph;
  std::filesystem::remove(file);
  graph.value(graph.inputs[0]).shape = {1, 3, 56, 48};
  return graph;
}

// Each of these compiles some forty kernels.
TEST_F(Networks, SqueezeNetOfASmallPicture) {
  Check(SmallSqueezeNet("mete-share-squeezenet.onnx"), {kTarget});
}
TEST_F(Networks, SqueezeNetWithHalvesInMemory) {
  Check(SmallSqueezeNet("mete-share-squeezenet-f16.onnx"), {kHalves});
}

TEST_F(Networks, RandomGraphsWhoseOperatorsHaveKernels) {
  int computed = 0;
  for (uint32_t seed = 1; computed < 6; ++seed) {
    const RandomGraph random(seed, 6);
    const auto has_kernel = [&](const Node& node) { return WhyNoKernel(random.graph, node).empty(); };
    if (!std::all_of(random.graph.nodes.begin(), random.graph.nodes.end(), has_kernel)) continue;
    ++computed;
    SCOPED_TRACE(seed);
    Check(random.graph, {kTarget});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace mete::opencl
