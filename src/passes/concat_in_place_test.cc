// Tests of convolutions that write into a concatenation.
#include "passes/pass.h"

#include "base/fused.h"
#include "passes/graphs_testing.h"

namespace mete {
namespace {

class NhwcBuilder : public Builder {
 public:
  ValueId NhwcConv(ValueId x, int64_t in, int64_t out, int64_t kernel, Attributes a = {}) {
    a.Set("layout", std::string("NHWC"));
    a.Set("auto_pad", std::string("SAME_UPPER"));
    return Op("Conv", {x, Weight({out, in, kernel, kernel})}, a);
  }
  ValueId Concat(std::vector<ValueId> in, int64_t axis = 3) {
    Attributes a;
    a.Set("axis", axis);
    return Op("Concat", std::move(in), a);
  }
};

TEST(ConcatInPlace, ConvolutionsWriteTheirSlices) {
  NhwcBuilder b;
  const ValueId x = b.Input({2, 4, 5, 3});
  // The convolutions run in the opposite order of the Concat's inputs.
  const ValueId last = b.NhwcConv(x, 3, 16, 1), first = b.NhwcConv(x, 3, 7, 3);
  const ValueId middle = b.NhwcConv(b.NhwcConv(x, 3, 4, 1), 4, 9, 3);
  Graph& g = b.Output(b.Op("Neg", {b.Concat({first, middle, last})}));
  ExpectSame(g, ConcatInPlace);
  EXPECT_EQ(CountOf(g, "Concat"), 0);
  std::vector<int64_t> offsets, inputs;
  for (const Node& n : g.nodes)
    if (n.attributes.Has(kIntoChannels)) {
      EXPECT_EQ(n.attributes.Int(kIntoChannels, 0), 32);
      offsets.push_back(n.attributes.Int(kIntoOffset, -1));
      inputs.push_back(int64_t(n.inputs.size()));
    }
  EXPECT_EQ(offsets, (std::vector<int64_t>{16, 0, 7}));
  EXPECT_EQ(inputs, (std::vector<int64_t>{2, 5, 5}));
}

TEST(ConcatInPlace, TakesNestedOnesResidualsAndAnOutput) {
  NhwcBuilder b;
  const ValueId x = b.Input({1, 3, 3, 5});
  const ValueId sum = b.Op("Relu", {b.Op("Add", {b.NhwcConv(x, 5, 5, 3), x})});
  const ValueId inner = b.Concat({b.NhwcConv(x, 5, 2, 1), b.Op("Tanh", {b.NhwcConv(x, 5, 3, 1)})}, -1);
  Graph& g = b.Output(b.Concat({sum, inner, b.NhwcConv(x, 5, 1, 3)}));
  FoldConstants(g);
  Settle(g);
  ASSERT_TRUE(FuseEpilogues(g));
  Settle(g);
  ExpectSame(g, ConcatInPlace);
  EXPECT_EQ(g.nodes.size(), 4u);
  EXPECT_EQ(CountOf(g, "Conv"), 4);
}

TEST(ConcatInPlace, LeavesWhatOthersReadOrCannotBeWrittenInPlace) {
  NhwcBuilder b;
  const ValueId x = b.Input({1, 4, 4, 3});
  auto conv = [&] { return b.NhwcConv(x, 3, 4, 1); };
  const ValueId twice = conv(), out = conv(), read = conv();
  b.Output(b.Concat({twice, twice}));
  b.Output(b.Concat({out, conv()}));
  b.Output(out);
  b.Output(b.Concat({read, conv()}));
  b.Output(b.Op("Neg", {read}));
  b.Output(b.Concat({conv(), conv()}, 2));
  b.Output(b.Concat({conv(), b.Op("Exp", {conv()})}));
  b.Output(b.Concat({conv(), x}));
  Attributes pieces;
  pieces.Set(kSumPiece, int64_t{2});
  b.Output(b.Concat({conv(), b.NhwcConv(x, 3, 4, 1, pieces)}));
  FoldConstants(b.graph);
  Settle(b.graph);
  EXPECT_FALSE(ConcatInPlace(b.graph));
  EXPECT_EQ(CountOf(b.graph, "Concat"), 7);
}

// The memory plan relies on these checks.
TEST(ConcatInPlace, TheVerifierRefusesWhatCouldNotShareMemory) {
  auto joined = [] {
    NhwcBuilder b;
    const ValueId x = b.Input({1, 2, 2, 3});
    b.Output(b.Concat({b.NhwcConv(x, 3, 2, 1), b.NhwcConv(x, 3, 3, 1), b.NhwcConv(x, 3, 4, 1)}));
    FoldConstants(b.graph);
    ConcatInPlace(b.graph);
    Settle(b.graph);
    return b.graph;
  };
  auto refuses = [](Graph g, const std::string& part) {
    try {
      Verify(g);
      ADD_FAILURE() << "passes, expected: " << part;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  Graph early = joined();
  early.outputs.push_back(early.nodes[0].outputs[0]);
  refuses(early, "before all its channels are written; got 2 of 9");
  Graph forked = joined();
  forked.nodes[2].inputs[kIntoInput] = forked.nodes[0].outputs[0];
  refuses(forked, "before all its channels");
  Graph overlapping = joined();
  overlapping.nodes[1].attributes.Set(kIntoOffset, int64_t{1});
  refuses(overlapping, "written twice");
  Graph outside = joined();
  outside.nodes[2].attributes.Set(kIntoOffset, int64_t{6});
  refuses(outside, "does not fit");
  Graph caller = joined();
  caller.inputs.push_back(caller.AddValue("mine", DType::kF32, {1, 2, 2, 9}));
  caller.nodes[0].inputs = {caller.nodes[0].inputs[0], caller.nodes[0].inputs[1], kNoValue, kNoValue,
                            caller.inputs[1]};
  refuses(caller, "made by no convolution");
}

}  // namespace
}  // namespace mete
