// Every pass on small graphs: it does what it says, and the outputs stay the same.
#include "passes/pass.h"

#include <gtest/gtest.h>

#include <random>

#include "base/fused.h"
#include "graph/operators.h"
#include "kernels/reference/reference.h"
#include "passes/pattern.h"

namespace mete {
namespace {

// Builds graphs by hand: every method returns the value it made.
class Builder {
 public:
  explicit Builder(uint32_t seed = 1) : random_(seed) { graph.name = "test"; }

  ValueId Input(const Shape& shape) {
    const ValueId id = graph.AddValue("x" + std::to_string(graph.inputs.size()), DType::kF32, shape);
    graph.inputs.push_back(id);
    return id;
  }
  ValueId Weight(const Shape& shape, float least = -1, float most = 1) {
    Tensor t(DType::kF32, shape);
    std::uniform_real_distribution<float> d(least, most);
    for (int64_t i = 0; i < t.elements(); ++i) t.mutable_view().as<float>()[i] = d(random_);
    return graph.AddConstant(Name(), t);
  }
  ValueId Scalar(float v) { return graph.AddConstant(Name(), Tensor::Floats({}, {&v, 1})); }
  ValueId Ints(const mete::Ints& v) { return graph.AddConstant(Name(), Tensor::Ints(v)); }
  ValueId Op(const std::string& op, std::vector<ValueId> in, Attributes attributes = {}) {
    const ValueId out = graph.AddValue(Name());
    graph.AddNode(op, op + std::to_string(graph.nodes.size()), std::move(in), {out}, std::move(attributes));
    return out;
  }
  ValueId Conv(ValueId x, int64_t in, int64_t out, int64_t kernel, mete::Ints pads = {0, 0, 0, 0}) {
    Attributes a;
    a.Set("pads", std::move(pads));
    return Op("Conv", {x, Weight({out, in, kernel, kernel})}, a);
  }
  ValueId BatchNorm(ValueId x, int64_t c) { return Op("BatchNormalization", {x, Weight({c}), Weight({c}), Weight({c}), Weight({c}, 0.5, 2)}); }
  Graph& Output(ValueId id) {
    graph.outputs.push_back(id);
    return graph;
  }

  Graph graph;

 protected:
  std::string Name() { return "v" + std::to_string(graph.values.size()); }

 private:
  std::mt19937 random_;
};

std::vector<Tensor> Evaluate(const Graph& graph) {
  std::vector<Tensor> values(graph.values.size());
  std::mt19937 random(7);
  for (size_t i = 0; i < values.size(); ++i)
    if (graph.values[i].is_constant()) values[i] = graph.values[i].constant;
  for (ValueId id : graph.inputs) {
    Tensor t(DType::kF32, graph.value(id).shape);
    for (int64_t i = 0; i < t.elements(); ++i) t.mutable_view().as<float>()[i] = std::uniform_real_distribution<float>(-2, 2)(random);
    values[size_t(id)] = t;
  }
  Scratch scratch;
  for (const Node& node : graph.nodes) {
    std::vector<ConstView> in;
    std::vector<View> out;
    for (ValueId id : node.inputs) in.push_back(id == kNoValue ? ConstView{} : values[size_t(id)].view());
    for (ValueId id : node.outputs) {
      if (id != kNoValue) values[size_t(id)] = Tensor(graph.value(id).type, graph.value(id).shape);
      out.push_back(id == kNoValue ? View{} : values[size_t(id)].mutable_view());
    }
    RefArgs args{node.attributes, in, out, scratch, {}};
    FindReference(node.op)(args);
    scratch.Reset();
  }
  std::vector<Tensor> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(values[size_t(id)]);
  return outputs;
}

int CountOf(const Graph& graph, const std::string& op) {
  return int(std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.op == op; }));
}

void Settle(Graph& graph) {
  SortTopologically(graph);
  RemoveUnused(graph);
  Verify(graph);
}

// Runs one pass and checks that it changes the graph but not what it computes. Tolerance: sums of a few
// hundred products of magnitude 1 to 10, rounded once more by folding.
void ExpectSame(Graph& graph, bool (*pass)(Graph&)) {
  FoldConstants(graph);
  Settle(graph);
  const std::vector<Tensor> before = Evaluate(graph);
  EXPECT_TRUE(pass(graph));
  Settle(graph);
  const std::vector<Tensor> after = Evaluate(graph);
  ASSERT_EQ(before.size(), after.size());
  for (size_t o = 0; o < before.size(); ++o) {
    ASSERT_EQ(before[o].shape(), after[o].shape());
    for (int64_t i = 0; i < before[o].elements(); ++i) {
      const float a = before[o].as<float>()[i], b = after[o].as<float>()[i];
      ASSERT_NEAR(a, b, 1e-5 * (1 + std::abs(a))) << "output " << o << " element " << i << "\n" << ToText(graph);
    }
  }
}

TEST(FoldConstants, EvaluatesShapeArithmetic) {
  Builder b;
  const ValueId x = b.Input({2, 3, 4});
  const ValueId shape = b.Op("Shape", {x});
  const ValueId last = b.Op("Gather", {shape, b.Ints({2})});
  Graph& g = b.Output(b.Op("Reshape", {x, b.Op("Concat", {b.Ints({-1}), last}, [] { Attributes a; a.Set("axis", int64_t{0}); return a; }())}));
  FoldConstants(g);
  Settle(g);
  EXPECT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{6, 4}));
}

TEST(FoldConstants, LeavesWhatPassesALimit) {
  const std::pair<FoldLimits, size_t> cases[] = {
      {{}, 0}, {{.max_result_bytes = 399}, 2}, {{.max_bytes = 799}, 1}, {{.max_work = 1200}, 1}, {{.max_work = 10}, 2}};
  for (const auto& [limits, left] : cases) {
    Builder b;
    const ValueId first = b.Op("Neg", {b.Weight({10, 10})});  // 400 bytes, 200 steps
    Graph& g = b.Output(b.Op("MatMul", {first, b.Weight({10, 10})}));  // 400 bytes, 1300 steps
    FoldConstants(g, limits);
    Settle(g);
    EXPECT_EQ(g.nodes.size(), left) << limits.max_result_bytes << " " << limits.max_bytes << " " << limits.max_work;
  }
}

TEST(FoldConstants, RefusesAResultOfUnknownShapeThatTurnsOutTooLarge) {
  Builder b;
  Graph& g = b.Output(b.Op("NonZero", {b.Weight({5, 5})}));
  EXPECT_THROW(FoldConstants(g, {.max_result_bytes = 399}), Error);
  FoldConstants(g);
  EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{2, 25}));
}

TEST(FoldConstants, ListsTheProblemsOfAllNodes) {
  Builder b;
  const ValueId x = b.Input({2, 3});
  b.Output(b.Op("Add", {x, b.Weight({4})}));
  b.Output(b.Op("Concat", {x, b.Weight({5, 5})}));
  try {
    FoldConstants(b.graph);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("Add0"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("Concat1"), std::string::npos);
  }
}

TEST(Simplify, DropsWhatChangesNothingAndKeepsTheOutputsName) {
  Builder b;
  const ValueId x = b.Input({2, 3});
  const ValueId y = b.Op("Identity", {b.Op("Dropout", {b.Op("Relu", {x})})});
  Graph& g = b.Output(y);
  const std::string name = g.value(y).name;
  ExpectSame(g, Simplify);
  EXPECT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.value(g.outputs[0]).name, name);
}

TEST(Simplify, KeepsACopyWhereTheOutputIsAnInput) {
  Builder b;
  Graph& g = b.Output(b.Op("Identity", {b.Input({2})}));
  ExpectSame(g, Simplify);
  EXPECT_EQ(CountOf(g, "Identity"), 1);
}

TEST(FoldBatchNorm, DisappearsIntoConv) {
  Builder b;
  Graph& g = b.Output(b.BatchNorm(b.Conv(b.Input({1, 3, 6, 5}), 3, 4, 3), 4));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldBatchNorm, DisappearsIntoGroupedConvTranspose) {
  Builder b;
  Attributes a;
  a.Set("group", int64_t{2});
  const ValueId y = b.Op("ConvTranspose", {b.Input({1, 4, 3, 3}), b.Weight({4, 3, 2, 2}), b.Weight({6})}, a);
  Graph& g = b.Output(b.BatchNorm(y, 6));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldBatchNorm, FoldsScalesAndShiftsOfEveryKind) {
  Builder b;
  ValueId y = b.Conv(b.Input({2, 3, 4, 4}), 3, 5, 1);
  y = b.Op("Mul", {b.Weight({5, 1, 1}), y});
  y = b.Op("Sub", {b.Weight({1, 5, 1, 1}), y});
  y = b.Op("Div", {y, b.Scalar(3)});
  y = b.Op("Add", {y, b.Weight({5, 1, 1})});
  Graph& g = b.Output(y);
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldBatchNorm, FoldsTheBiasOfMatMul) {
  Builder b;
  Graph& g = b.Output(b.Op("Add", {b.Op("MatMul", {b.Input({2, 5, 4}), b.Weight({4, 6})}), b.Weight({6})}));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldBatchNorm, LeavesTheColumnsOfABatchedMatMulAlone) {
  Builder b;
  Graph& g = b.Output(b.BatchNorm(b.Op("MatMul", {b.Input({2, 4, 6}), b.Weight({6, 4})}), 4));  // channels are axis 1, not the columns
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(CountOf(g, "Mul"), 1);
}

TEST(FoldBatchNorm, BecomesMulAndAddWhereTheConvIsReadTwice) {
  Builder b;
  const ValueId conv = b.Conv(b.Input({1, 3, 4, 4}), 3, 4, 1);
  b.Output(conv);
  Graph& g = b.Output(b.BatchNorm(conv, 4));
  ExpectSame(g, FoldBatchNorm);
  EXPECT_EQ(CountOf(g, "Mul") + CountOf(g, "Add"), 2);
}

TEST(FoldBatchNorm, LeavesAScaleAlongAnotherAxis) {
  Builder b;
  Graph& g = b.Output(b.Op("Mul", {b.Conv(b.Input({1, 3, 4, 4}), 3, 4, 1), b.Weight({4})}));  // along the width
  FoldConstants(g);
  EXPECT_FALSE(FoldBatchNorm(g));
}

TEST(FoldPad, JoinsZeroPadding) {
  Builder b;
  const ValueId padded = b.Op("Pad", {b.Input({1, 2, 5, 5}), b.Ints({0, 0, 1, 0, 0, 0, 2, 3})});
  Graph& g = b.Output(b.Conv(padded, 2, 3, 3, {1, 1, 0, 0}));
  ExpectSame(g, FoldPad);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FoldPad, LeavesPaddingWithAValue) {
  Builder b;
  const ValueId padded = b.Op("Pad", {b.Input({1, 2, 5, 5}), b.Ints({0, 0, 1, 0, 0, 0, 2, 3}), b.Scalar(1)});
  Graph& g = b.Output(b.Conv(padded, 2, 3, 3));
  FoldConstants(g);
  EXPECT_FALSE(FoldPad(g));
}

TEST(FusePatterns, RecognisesFormulas) {
  Builder b;
  const ValueId x = b.Input({3, 8});
  const ValueId erf = b.Op("Add", {b.Op("Erf", {b.Op("Div", {x, b.Scalar(1.41421356f)})}), b.Scalar(1)});
  b.Output(b.Op("Mul", {b.Op("Mul", {x, erf}), b.Scalar(0.5f)}));
  b.Output(b.Op("Mul", {b.Op("Sigmoid", {x}), x}));
  b.Output(b.Op("Mul", {x, b.Op("Tanh", {b.Op("Softplus", {x})})}));
  const ValueId clip = b.Op("Clip", {b.Op("Add", {x, b.Scalar(3)}), b.Scalar(0), b.Scalar(6)});
  b.Output(b.Op("Div", {b.Op("Mul", {x, clip}), b.Scalar(6)}));
  ExpectSame(b.graph, FusePatterns);
  EXPECT_EQ(b.graph.nodes.size(), 4u);
  for (const char* op : {"Gelu", "Swish", "Mish", "HardSwish"}) EXPECT_EQ(CountOf(b.graph, op), 1) << op;
}

TEST(FusePatterns, RecognisesLayerNormalization) {
  Builder b;
  const ValueId x = b.Input({2, 3, 8});
  const ValueId d = b.Op("Sub", {x, b.Op("ReduceMean", {x, b.Ints({-1})})});
  const ValueId variance = b.Op("ReduceMean", {b.Op("Pow", {d, b.Scalar(2)}), b.Ints({-1})});
  const ValueId deviation = b.Op("Sqrt", {b.Op("Add", {variance, b.Scalar(1e-5f)})});
  Graph& g = b.Output(b.Op("Add", {b.Op("Mul", {b.Op("Div", {d, deviation}), b.Weight({8})}), b.Weight({8})}));
  ExpectSame(g, FusePatterns);
  EXPECT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.nodes[0].op, "LayerNormalization");
}

TEST(FusePatterns, LeavesAFormulaWhoseInsideIsRead) {
  Builder b;
  const ValueId x = b.Input({3});
  const ValueId s = b.Op("Sigmoid", {x});
  b.Output(s);
  b.Output(b.Op("Mul", {x, s}));
  FoldConstants(b.graph);
  EXPECT_FALSE(FusePatterns(b.graph));
}

TEST(ToNhwc, CarriesABlockThroughWithoutTransposesInside) {
  Builder b;
  const ValueId x = b.Input({2, 3, 8, 6});
  const ValueId a = b.Op("Relu", {b.Conv(x, 3, 4, 3, {1, 1, 1, 1})});
  Attributes pool;
  pool.Set("kernel_shape", Ints{2, 2});
  pool.Set("strides", Ints{2, 2});
  const ValueId p = b.Op("MaxPool", {b.Op("Add", {a, b.Weight({4, 1, 1})})}, pool);
  Attributes axis;
  axis.Set("axis", int64_t{1});
  const ValueId c = b.Op("Concat", {p, b.Op("Sigmoid", {p})}, axis);
  Graph& g = b.Output(b.Op("GlobalAveragePool", {c}));
  ExpectSame(g, ToNhwc);
  EXPECT_EQ(CountOf(g, "Transpose"), 2);
}

TEST(ToNhwc, RenamesAxesOfFollowers) {
  Builder b;
  const ValueId x = b.Conv(b.Input({1, 3, 6, 5}), 3, 4, 1);
  b.Output(b.Op("Pad", {x, b.Ints({0, 1, 2, 0, 0, 0, 1, 3})}));
  b.Output(b.Op("Slice", {x, b.Ints({1, 0}), b.Ints({3, 4}), b.Ints({1, 2})}));
  b.Output(b.Op("ReduceMean", {x, b.Ints({2, 3})}));
  Attributes flat;
  flat.Set("keepdims", int64_t{0});
  b.Output(b.Op("ReduceMax", {x, b.Ints({-1, -2})}, flat));
  Attributes axis;
  axis.Set("axis", int64_t{1});
  b.Output(b.Op("Softmax", {x}, axis));
  b.Output(b.Op("Add", {x, b.Weight({5})}));
  b.Output(b.Op("Flatten", {x}));
  ExpectSame(b.graph, ToNhwc);
}

TEST(ToNhwc, KeepsAChannelShuffleInNhwc) {
  Builder b;
  const ValueId x = b.Conv(b.Input({1, 3, 4, 4}), 3, 6, 1);
  const ValueId wide = b.Op("Reshape", {x, b.Ints({1, 2, 3, 4, 4})});
  Attributes perm;
  perm.Set("perm", Ints{0, 2, 1, 3, 4});
  const ValueId y = b.Op("Reshape", {b.Op("Transpose", {wide}, perm), b.Ints({1, 6, 4, 4})});
  Graph& g = b.Output(b.Conv(y, 6, 2, 1));
  ExpectSame(g, ToNhwc);
  EXPECT_EQ(CountOf(g, "Transpose"), 3);  // in, shuffle, out
}

TEST(CancelTransposes, JoinsAPair) {
  Builder b;
  Attributes to, from;
  to.Set("perm", Ints{0, 2, 3, 1});
  from.Set("perm", Ints{0, 3, 1, 2});
  const ValueId x = b.Op("Transpose", {b.Op("Transpose", {b.Input({1, 2, 3, 4})}, to)}, from);
  Graph& g = b.Output(b.Op("Relu", {x}));
  ExpectSame(g, CancelTransposes);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(CancelTransposes, TurnsAMoveOfOnesIntoAReshape) {
  Builder b;
  Attributes perm;
  perm.Set("perm", Ints{0, 3, 1, 2});
  Graph& g = b.Output(b.Op("Transpose", {b.Input({2, 1, 1, 7})}, perm));
  ExpectSame(g, CancelTransposes);
  EXPECT_EQ(CountOf(g, "Reshape"), 1);
}

TEST(FuseEpilogues, TakesResidualAndActivation) {
  Builder b;
  const ValueId x = b.Input({1, 4, 5, 5});
  Graph& g = b.Output(b.Op("Relu", {b.Op("Add", {x, b.Conv(x, 4, 4, 1)})}));
  ExpectSame(g, FuseEpilogues);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FuseEpilogues, AddsToTheLaterOfTwoConvs) {
  Builder b;
  const ValueId x = b.Input({1, 4, 5, 5});
  const ValueId a = b.Conv(x, 4, 4, 1), c = b.Conv(x, 4, 4, 3, {1, 1, 1, 1});
  Graph& g = b.Output(b.Op("Add", {c, a}));
  ExpectSame(g, FuseEpilogues);
  EXPECT_EQ(g.nodes.size(), 2u);
}

TEST(FuseEpilogues, LeavesAnAddBehindAnActivation) {
  Builder b;
  const ValueId x = b.Input({1, 4, 5, 5});
  Graph& g = b.Output(b.Op("Add", {b.Op("Relu", {b.Conv(x, 4, 4, 1)}), x}));
  ExpectSame(g, FuseEpilogues);
  EXPECT_EQ(g.nodes.size(), 2u);
}

TEST(FuseElementwise, JoinsATree) {
  Builder b;
  const ValueId x = b.Input({2, 3, 4}), y = b.Input({2, 3, 4});
  const ValueId left = b.Op("Mul", {x, b.Weight({4})}), right = b.Op("Tanh", {b.Op("Sub", {y, b.Scalar(2)})});
  Attributes alpha;
  alpha.Set("alpha", 0.1f);
  Graph& g = b.Output(b.Op("LeakyRelu", {b.Op("Add", {left, right})}, alpha));
  ExpectSame(g, FuseElementwise);
  EXPECT_EQ(g.nodes.size(), 1u);
}

TEST(FuseElementwise, KeepsWhatIsReadTwiceOrHasAnotherShape) {
  Builder b;
  const ValueId x = b.Input({2, 4});
  const ValueId s = b.Op("Exp", {x});
  b.Output(b.Op("Add", {s, b.Op("Neg", {s})}));
  b.Output(b.Op("Add", {b.Op("Abs", {b.Input({4})}), x}));
  ExpectSame(b.graph, FuseElementwise);
  EXPECT_EQ(b.graph.nodes.size(), 4u);  // Exp, Add of Neg, Abs, Add
}

TEST(FuseElementwise, SpellsOutPReluClipAndPow) {
  Builder b;
  const ValueId x = b.Input({3, 4});
  b.Output(b.Op("PRelu", {x, b.Weight({4})}));
  b.Output(b.Op("Clip", {x, kNoValue, b.Scalar(0.5f)}));
  b.Output(b.Op("Pow", {x, b.Scalar(2)}));
  b.Output(b.Op("Sum", {x, x, b.Weight({4})}));
  ExpectSame(b.graph, FuseElementwise);
  EXPECT_EQ(CountOf(b.graph, "mete.Elementwise"), 4);
}

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
  const ValueId last = b.NhwcConv(x, 3, 16, 1), first = b.NhwcConv(x, 3, 7, 3);  // executed the other way round
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

// What the memory plan relies on.
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
  caller.nodes[0].inputs = {caller.nodes[0].inputs[0], caller.nodes[0].inputs[1], kNoValue, kNoValue, caller.inputs[1]};
  refuses(caller, "made by no convolution");
}

TEST(RunPasses, RefusesAnUnknownName) {
  Builder b;
  Graph& g = b.Output(b.Op("Relu", {b.Input({1})}));
  EXPECT_THROW(RunPasses(g, true, {"no-such-pass"}), Error);
}

TEST(RunPasses, GivesTheSameAnswerWithAnyPassSwitchedOff) {
  std::vector<std::string> off{""};
  for (const Pass& p : OptimizingPasses()) off.push_back(p.name);
  std::vector<float> expected;
  for (const std::string& name : off) {
    Builder b(3);
    const ValueId x = b.Input({1, 3, 9, 9});
    ValueId y = b.Op("Relu", {b.BatchNorm(b.Conv(x, 3, 8, 3, {1, 1, 1, 1}), 8)});
    y = b.Op("Relu", {b.Op("Add", {b.BatchNorm(b.Conv(y, 8, 8, 1), 8), y})});
    const ValueId gate = b.Op("Sigmoid", {b.Conv(b.Op("GlobalAveragePool", {y}), 8, 8, 1)});
    y = b.Op("Flatten", {b.Op("Mul", {y, gate})});
    Graph& g = b.Output(b.Op("Softmax", {b.Op("MatMul", {y, b.Weight({8 * 81, 5})})}));
    RunPasses(g, true, name.empty() ? std::vector<std::string>{} : std::vector<std::string>{name});
    const Tensor out = Evaluate(g)[0];
    const std::vector<float> got(out.as<float>(), out.as<float>() + out.elements());
    if (expected.empty()) expected = got;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << "without " << name;
  }
}

// Quantized activations with a scale of 1/16 and a zero point of 3, weights of i8 with a scale per channel.
class QuantizedBuilder : public Builder {
 public:
  using Builder::Builder;
  ValueId Quantize(ValueId x, DType type = DType::kI8) { return Op("QuantizeLinear", {x, Scalar(0.0625f), Zero(type)}); }
  ValueId Dequantize(ValueId x, DType type = DType::kI8) { return Op("DequantizeLinear", {x, Scalar(0.0625f), Zero(type)}); }
  ValueId Conv(ValueId x, int64_t in, int64_t out, int64_t kernel, float bias_factor = 1) {
    Tensor weights(DType::kI8, Shape{out, in, kernel, kernel}), bias(DType::kI32, Shape{out}), scale(DType::kF32, Shape{out});
    for (int64_t i = 0; i < weights.elements(); ++i) weights.mutable_view().as<int8_t>()[i] = int8_t(i * 37 % 101 - 50);
    for (int64_t i = 0; i < out; ++i) {
      bias.mutable_view().as<int32_t>()[i] = int32_t(i * 5300 % 20000 - 10000);
      scale.mutable_view().as<float>()[i] = 0.001f * float(i + 1);
    }
    Attributes per_channel;
    per_channel.Set("axis", int64_t{0});
    auto dequantized = [&](const Tensor& t, const Tensor& by) {
      return Op("DequantizeLinear", {graph.AddConstant(Name(), t), graph.AddConstant(Name(), by)}, per_channel);
    };
    Tensor bias_scale(DType::kF32, scale.shape());
    for (int64_t i = 0; i < out; ++i) bias_scale.mutable_view().as<float>()[i] = 0.0625f * bias_factor * scale.as<float>()[i];
    const ValueId w = dequantized(weights, scale), b = dequantized(bias, bias_scale);
    return Op("Conv", {x, w, b});
  }

 private:
  ValueId Zero(DType type) {
    Tensor zero(type, Shape{});
    *static_cast<uint8_t*>(zero.mutable_view().data) = 3;
    return graph.AddConstant(Name(), zero);
  }
};

const Node* Find(const Graph& graph, const std::string& op) {
  for (const Node& n : graph.nodes)
    if (n.op == op) return &n;
  return nullptr;
}

// Folds around the pass as RunPasses does, with everything before left in floats; a value on a half may round either way, by a
// step of 1/16.
void ExpectSameToAStep(Graph& graph) {
  FoldConstants(graph, {}, true);
  Settle(graph);
  const Tensor before = Evaluate(graph)[0];
  EXPECT_TRUE(FuseQuantized(graph));
  Settle(graph);
  const Tensor after = Evaluate(graph)[0];
  int64_t different = 0;
  for (int64_t i = 0; i < before.elements(); ++i) {
    const float step = std::abs(before.as<float>()[i] - after.as<float>()[i]);
    ASSERT_LE(step, 0.0625f) << i;
    different += step != 0;
  }
  EXPECT_LE(different, before.elements() / 50);
}

TEST(FuseQuantized, SumsIntegersWhereBothEndsAgree) {
  for (DType type : {DType::kI8, DType::kU8}) {
    QuantizedBuilder b;
    ValueId x = b.Dequantize(b.Quantize(b.Input({2, 5, 6, 7}), type), type);
    x = b.Op("Clip", {b.Conv(x, 5, 9, 3), b.Scalar(-9), b.Scalar(16)});  // levels end at -131 / 16 and 15.8 or nearer
    Graph& g = b.Output(b.Dequantize(b.Quantize(x, type), type));
    ExpectSameToAStep(g);
    ASSERT_TRUE(Find(g, "QLinearConv"));
    EXPECT_EQ(Find(g, "QLinearConv")->inputs.size(), 9u);
    EXPECT_EQ(CountOf(g, "Conv") + CountOf(g, "Clip"), 0);
  }
}

TEST(FuseQuantized, KeepsAClipThatCutsLevels) {
  QuantizedBuilder b;
  ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
  x = b.Op("Clip", {b.Conv(x, 5, 9, 3), b.Scalar(0), b.Scalar(4)});
  Graph& g = b.Output(b.Dequantize(b.Quantize(x)));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "Conv"), 1);
  EXPECT_EQ(CountOf(g, "Clip"), 1);
  EXPECT_EQ(CountOf(g, "QLinearConv"), 0);
}

TEST(FuseQuantized, LeavesABiasInOtherUnits) {
  QuantizedBuilder b;
  const ValueId x = b.Dequantize(b.Quantize(b.Input({1, 5, 6, 7})));
  Graph& g = b.Output(b.Dequantize(b.Quantize(b.Conv(x, 5, 9, 3, 2))));
  ExpectSameToAStep(g);
  EXPECT_EQ(CountOf(g, "QLinearConv"), 0);
}

// An int8 activation with two readers keeps its type, one with a single reader does not.
TEST(FuseQuantized, GivesTheOrderOfFloatSumsWhereTheEndsDiffer) {
  QuantizedBuilder b;
  const ValueId shared = b.Dequantize(b.Quantize(b.Input({2, 24, 6, 7})));
  const ValueId y = b.Dequantize(b.Quantize(b.Op("Clip", {b.Conv(shared, 24, 9, 1), b.Scalar(-9), b.Scalar(16)})));
  Graph& g = b.Output(b.Op("Concat", {y, shared}, [] { Attributes a; a.Set("axis", int64_t{1}); return a; }()));
  ExpectSameToAStep(g);
  ASSERT_EQ(CountOf(g, "Conv"), 1);
  EXPECT_EQ(Find(g, "Conv")->attributes.Int("sum_piece", 0), 32);  // 42 pixels, 24 channels
  EXPECT_TRUE(g.value(Find(g, "Conv")->inputs[1]).is_constant());
  EXPECT_EQ(CountOf(g, "Clip"), 0);
}

TEST(FuseQuantized, LeavesOtherNetworksAlone) {
  Builder b;
  Graph& g = b.Output(b.Conv(b.Input({1, 3, 5, 5}), 3, 4, 3));
  FoldConstants(g);
  EXPECT_FALSE(FuseQuantized(g));
}

TEST(Pattern, MatchesEitherOrderOfACommutativeOperator) {
  Builder b;
  const ValueId x = b.Input({2});
  Graph& g = b.Output(b.Op("Add", {b.Scalar(1), b.Op("Exp", {x})}));
  Pattern::Match match;
  EXPECT_TRUE(Pattern("Add(Exp(x), 1)").Matches(g, Uses(g), 1, &match));
  EXPECT_EQ(match.bound.at("x"), x);
  Pattern::Match other;
  EXPECT_FALSE(Pattern("Add(Exp(x), 2)").Matches(g, Uses(g), 1, &other));
}

}  // namespace
}  // namespace mete
