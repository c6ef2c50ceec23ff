// Each family of operators over the nodes of its text file: those that it claims are computed as the
// reference kernels do, and the others say why not.
#include "graph/node_text/node_text.h"
#include "mete/error.h"
#include "passes/pass.h"
#include "processor/opencl/share/compare_testing.h"

namespace mete::opencl {
namespace {

const GpuTarget kTargets[] = {
    {.tile = {.is_cpu = true, .vector = 8}},  // as PoCL runs work-items
    {.tile = {}, .alignment = 256},           // as a GPU does
    {.tile = {.is_cpu = true, .vector = 8}, .storage = DType::kF16},
};

bool IsByteProduct(const Node& node) { return node.op == "QLinearConv" || node.op == "QLinearMatMul"; }

class LowerNodes : public WithShares, public testing::WithParamInterface<const char*> {
 protected:
  std::vector<NodeText> Nodes() {
    return ReadNodes(std::string("src/processor/opencl/share/nodes/") + GetParam() + ".txt");
  }
};

struct Problem {
  explicit Problem(const NodeText& text) : one(MakeOneNodeGraph(text, 11)) {
    for (size_t i = 0; i < one.node().inputs.size(); ++i) {
      const ValueId id = one.node().inputs[i];
      if (id != kNoValue && !one.graph.value(id).is_constant()) inputs.push_back(one.data[i]);
    }
  }

  std::vector<Tensor> Reference() const {
    const std::vector<Tensor> values = EvaluateAll(one.graph, inputs);
    std::vector<Tensor> outputs;
    for (ValueId id : one.graph.outputs) outputs.push_back(values[size_t(id)]);
    return outputs;
  }
  Graph AfterPasses() const {
    Graph graph = one.graph;
    (void)RunPasses(graph);
    return graph;
  }

  const OneNodeGraph one;
  std::vector<Tensor> inputs;
};

TEST_P(LowerNodes, EachIsComputedAsTheReferenceDoes) {
  size_t number = 0;
  for (const NodeText& text : Nodes()) {
    if (text.expected != "gpu") continue;
    ++number;
    SCOPED_TRACE(text.where + ": " + text.text);
    const Problem problem(text);
    const Graph graph = problem.AfterPasses();
    const std::vector<Tensor> want = problem.Reference();
    const Tolerance tolerance =
        ToleranceOfNode(TermsOf(problem.one.graph, problem.one.node()), LargestOf(problem.one.data));
    for (size_t i : {number, number + 1}) {  // two of the three: compiling takes most of the time
      const GpuTarget& target = kTargets[i % std::size(kTargets)];
      SCOPED_TRACE(std::string(Name(target.storage)) + (target.tile.is_cpu ? " cpu" : " gpu"));
      const ShareOnGpu share = Lower(graph, target, {});
      const bool may_round = target.storage == DType::kF16 && !target.exact_bytes;  // byte_sums.h
      ExpectNear(want, Run(graph, share, problem.inputs), tolerance.Of(target.storage),
                 may_round && IsByteProduct(problem.one.node()) ? 1 : 0);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LowerNodes,
                         testing::Values("attention", "bytes", "conv", "elementwise", "images", "movement",
                                         "products", "reductions", "rows"),
                         [](const auto& info) { return std::string(info.param); });

// What is claimed before the pass `layout` is lowered behind all passes, and only that.
TEST(WhyNoKernel, SaysForEachNodeWhatLowerDoes) {
  for (const char* family :
       {"attention", "bytes", "conv", "elementwise", "images", "movement", "products", "reductions", "rows"})
    for (const NodeText& text :
         ReadNodes(std::string("src/processor/opencl/share/nodes/") + family + ".txt")) {
      SCOPED_TRACE(text.where + ": " + text.text);
      const Problem problem(text);
      const std::string why = WhyNoKernel(problem.one.graph, problem.one.node());
      EXPECT_EQ(why.empty() ? "gpu" : "none: " + why, text.expected);
      try {
        (void)Lower(problem.AfterPasses(), {}, {});
        EXPECT_EQ(why, "");
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kUnimplemented);
        EXPECT_NE(std::string(error.what()).find("cannot be computed here: " + why), std::string::npos)
            << error.what();
      }
    }
}

}  // namespace
}  // namespace mete::opencl
