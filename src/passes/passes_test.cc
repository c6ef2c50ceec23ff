// Tests of passes on small graphs: the pass has its effect, and the outputs do not change.
#include "passes/pass.h"

#include <gtest/gtest.h>

#include "base/fused.h"
#include "passes/graphs_testing.h"
#include "passes/pattern.h"

namespace mete {
namespace {

TEST(FoldConstants, EvaluatesShapeArithmetic) {
  Builder b;
  const ValueId x = b.Input({2, 3, 4});
  const ValueId shape = b.Op("Shape", {x});
  const ValueId last = b.Op("Gather", {shape, b.Ints({2})});
  Graph& g = b.Output(b.Op("Reshape", {x, b.Op("Concat", {b.Ints({-1}), last}, [] {
                                         Attributes a;
                                         a.Set("axis", int64_t{0});
                                         return a;
                                       }())}));
  FoldConstants(g);
  Settle(g);
  EXPECT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{6, 4}));
}

TEST(FoldConstants, LeavesWhatPassesALimit) {
  const std::pair<FoldLimits, size_t> cases[] = {{{}, 0},
                                                 {{.max_result_bytes = 399}, 2},
                                                 {{.max_bytes = 799}, 1},
                                                 {{.max_work = 1200}, 1},
                                                 {{.max_work = 10}, 2}};
  for (const auto& [limits, left] : cases) {
    Builder b;
    const ValueId first = b.Op("Neg", {b.Weight({10, 10})});           // 400 bytes, 200 steps
    Graph& g = b.Output(b.Op("MatMul", {first, b.Weight({10, 10})}));  // 400 bytes, 1300 steps
    FoldConstants(g, {.limits = limits});
    Settle(g);
    EXPECT_EQ(g.nodes.size(), left) << limits.max_result_bytes << " " << limits.max_bytes << " "
                                    << limits.max_work;
  }
}

TEST(FoldConstants, RefusesAResultOfUnknownShapeThatTurnsOutTooLarge) {
  Builder b;
  Graph& g = b.Output(b.Op("NonZero", {b.Weight({5, 5})}));
  EXPECT_THROW(FoldConstants(g, {.limits = {.max_result_bytes = 399}}), Error);
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

// What a tensor is cast like matters for its type alone.
TEST(FoldConstants, FoldsACastToTheTypeOfAComputedTensor) {
  Builder b;
  const ValueId x = b.Input({3});
  const std::vector<double> values{1, 2, 3};
  const ValueId wide = b.graph.AddConstant("wide", Tensor::Of<double>(DType::kF64, {3}, std::span(values)));
  Graph& g = b.Output(b.Op("Add", {x, b.Op("CastLike", {wide, x})}));
  FoldConstants(g);
  ASSERT_EQ(g.nodes.size(), 1u) << ToText(g);
  EXPECT_EQ(g.value(g.nodes[0].inputs[1]).constant.as<float>()[2], 3);
}

// The nodes of a body that has been inlined were not verified before.
TEST(FoldConstants, RefusesACastLikeNothing) {
  Builder b;
  Graph& g = b.Output(b.Op("CastLike", {b.Input({3})}));
  EXPECT_THROW(FoldConstants(g), Error);
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

TEST(FoldPad, TakesAwayWhatASliceCutsOff) {
  for (const int64_t cut : {1, 3}) {
    Builder b;
    const ValueId padded = b.Op("Pad", {b.Input({1, 2, 5, 5}), b.Ints({0, 0, 1, 0, 0, 0, 2, 2})});
    const ValueId conv = b.Conv(padded, 2, 3, 3);
    Graph& g = b.Output(b.Op("Slice", {conv, b.Ints({1, 0}), b.Ints({6, 5 - cut}), b.Ints({2, 3})}));
    FoldConstants(g);
    ExpectSame(g, FoldPad);
    EXPECT_EQ(g.nodes.size(), cut == 1 ? 1u : 2u) << "not more than there is padding";
  }
}

// Blocks of 2 x 3 pixels go into the batch, and come back behind a convolution and a Relu.
struct Dilated : Builder {
  ValueId IntoBatch(ValueId x, const mete::Ints& perm = {3, 5, 0, 1, 2, 4}) {
    return Op("Reshape", {Permuted(Op("Reshape", {x, Ints({2, 4, 4, 2, 3, 3})}), perm), Ints({12, 4, 4, 3})});
  }
  ValueId OutOfBatch(ValueId x, int64_t height, int64_t width) {
    const ValueId parts = Op("Reshape", {x, Ints({2, 3, 2, 5, height, width})});
    return Op("Reshape", {Permuted(parts, {2, 3, 4, 0, 5, 1}), Ints({2, 5, height * 2, width * 3})});
  }
  ValueId Permuted(ValueId x, const mete::Ints& perm) {
    Attributes a;
    a.Set("perm", perm);
    return Op("Transpose", {x}, a);
  }
};

TEST(FoldDilation, BlocksInTheBatchAreADilation) {
  Dilated b;
  const ValueId x = b.Input({2, 4, 8, 9});
  const ValueId conv = b.Op("Relu", {b.Conv(b.IntoBatch(x), 4, 5, 3, {1, 0, 0, 1})});
  Graph& g = b.Output(b.OutOfBatch(conv, 3, 2));
  FoldConstants(g);
  ExpectSame(g, FoldDilation);
  ASSERT_EQ(g.nodes.size(), 2u);
  EXPECT_EQ(g.nodes[0].attributes.IntList("dilations"), (Ints{2, 3}));
  EXPECT_EQ(g.nodes[0].attributes.IntList("pads"), (Ints{2, 0, 0, 3}));
}

TEST(FoldDilation, LeavesBlocksInAnotherOrder) {
  Dilated b;
  const ValueId x = b.Input({2, 4, 8, 9});
  Graph& g = b.Output(b.OutOfBatch(b.Conv(b.IntoBatch(x, {3, 5, 0, 1, 4, 2}), 4, 5, 3), 2, 1));
  FoldConstants(g);
  EXPECT_FALSE(FoldDilation(g));
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
  Graph& g =
      b.Output(b.Op("Add", {b.Op("Mul", {b.Op("Div", {d, deviation}), b.Weight({8})}), b.Weight({8})}));
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

TEST(ToNhwc, TakesAnInputWithChannelsLastForTheTwinOfItsPlainValue) {
  Builder b;
  Attributes perm, axis;
  perm.Set("perm", Ints{0, 3, 1, 2});
  axis.Set("axis", int64_t{1});
  const ValueId x = b.Op("Transpose", {b.Input({1, 6, 5, 4})}, perm);
  const ValueId y = b.Op("Transpose", {b.Input({1, 6, 5, 2})}, perm);
  const ValueId joined = b.Op("Concat", {b.Op("Relu", {x}), y}, axis);  // no operator here prefers an order
  Attributes back;
  back.Set("perm", Ints{0, 2, 3, 1});
  b.Output(b.Op("Transpose", {joined}, back));
  Graph& g = b.Output(b.Op("Flatten", {y}));  // reads the plain order
  ExpectSame(g, ToNhwc);
  EXPECT_EQ(g.value(g.inputs[0]).layout, Layout::kNhwc);
  CancelTransposes(g);
  RemoveUnused(g);
  EXPECT_EQ(CountOf(g, "Transpose"), 1) << ToText(g);
}

TEST(ToNhwc, TakesAProductOverTheChannelsForTheTwinOfItsTransposedValue) {
  Builder b;
  Attributes to_last, to_first;
  to_last.Set("perm", Ints{0, 2, 3, 1});
  to_first.Set("perm", Ints{0, 3, 1, 2});
  const ValueId x = b.Conv(b.Input({1, 3, 6, 5}), 3, 4, 1);
  const ValueId product = b.Op("MatMul", {b.Op("Transpose", {x}, to_last), b.Weight({4, 4})});
  const ValueId scaled = b.Op("Mul", {b.Op("Transpose", {product}, to_first), b.Weight({4, 1, 1})});
  b.Output(b.Op("Transpose", {b.Op("Relu", {x})}, to_first));  // a value that exists with channels last only
  Graph& g = b.Output(b.Conv(b.Op("Add", {scaled, x}), 4, 2, 1));
  ExpectSame(g, ToNhwc);
  CancelTransposes(g);
  RemoveUnused(g);
  EXPECT_EQ(CountOf(g, "Transpose"), 3) << ToText(g);  // the input and both outputs
}

TEST(ToNhwc, MovesTheFeaturesOfBoxesAsRows) {
  Builder b;
  Attributes perm;
  perm.Set("perm", Ints{0, 1, 3, 4, 2});
  const ValueId x = b.Op("Reshape", {b.Conv(b.Input({2, 3, 4, 5}), 3, 6, 1), b.Ints({2, 2, 3, 4, 5})});
  Graph& g = b.Output(b.Op("Sigmoid", {b.Op("Transpose", {x}, perm)}));
  ExpectSame(g, ToNhwc);
  CancelTransposes(g);
  RemoveUnused(g);
  EXPECT_EQ(CountOf(g, "Transpose"), 2) << ToText(g);  // the input, and the boxes
}

// The heads of detectors: the pixels of several images in one line, each with its channels.
TEST(ToNhwc, JoinsLinesOfPixelsWithTheirChannelsLast) {
  Builder b;
  Attributes along, swap;
  along.Set("axis", int64_t{2});
  swap.Set("perm", Ints{0, 2, 1});
  const ValueId x = b.Op("Reshape", {b.Conv(b.Input({2, 3, 4, 5}), 3, 6, 1), b.Ints({0, 6, 20})});
  const ValueId y = b.Op("Reshape", {b.Conv(b.Input({2, 3, 2, 3}), 3, 6, 1), b.Ints({2, 6, -1})});
  const ValueId z = b.Op("Sigmoid", {b.Op("Concat", {x, y}, along)});
  Graph& g = b.Output(b.Op("Transpose", {b.Op("Mul", {z, b.Scalar(3)})}, swap));
  ExpectSame(g, ToNhwc);
  CancelTransposes(g);
  RemoveUnused(g);
  EXPECT_EQ(CountOf(g, "Transpose"), 2) << ToText(g);  // the two inputs
}

TEST(ToNhwc, GivesLinesOfPixelsInThePlainOrderWhereTheyAreRead) {
  Builder b;
  Attributes channels;
  channels.Set("axis", int64_t{-2});
  const ValueId x = b.Op("Reshape", {b.Conv(b.Input({1, 3, 4, 5}), 3, 6, 1), b.Ints({1, 6, 20})});
  b.Output(b.Op("Concat", {x, x}, channels));
  b.Output(b.Op("Concat", {x, b.Input({1, 2, 20})}, channels));  // one of them has no flat twin
  b.Output(b.Op("Add", {x, b.Weight({6, 1})}));
  b.Output(b.Op("Reshape", {x, b.Ints({1, 20, 6})}));
  Graph& g = b.Output(b.Op("MatMul", {x, b.Weight({20, 2})}));
  ExpectSame(g, ToNhwc);
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
  EXPECT_EQ(CountOf(g, "Transpose"), 3);  // of the input, of the shuffle and of the output
}

TEST(ToNhwc, KeepsAResizeOfNamedAxesInNhwc) {
  for (const bool scales : {false, true}) {
    Builder b;
    Attributes axes;
    axes.Set("axes", Ints{-1, 2});
    axes.Set("mode", std::string("linear"));
    const ValueId x = b.Conv(b.Input({2, 3, 4, 5}), 3, 6, 1);
    const ValueId y = scales ? b.Op("Resize", {x, kNoValue, b.Floats({2, 1.5f})}, axes)
                             : b.Op("Resize", {x, kNoValue, kNoValue, b.Ints({10, 6})}, axes);
    Graph& g = b.Output(b.Conv(y, 6, 2, 1));
    ExpectSame(g, ToNhwc);
    EXPECT_EQ(CountOf(g, "Transpose"), 2);  // of the input and of the output
  }
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
  EXPECT_EQ(b.graph.nodes.size(), 4u);  // Exp, Add fused with Neg, Abs, Add
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

// No element-wise operator between two convolutions needs a Transpose.
TEST(ToNhwc, FollowsThroughEveryElementwiseOperator) {
  for (const OpSchema* op : AllOperators()) {
    if (!IsElementwiseOperator(op->name) || op->min_inputs > 1 || op->max_outputs > 1) continue;
    SCOPED_TRACE(op->name);
    Builder b;
    Attributes to;
    if (std::string_view(op->name).ends_with("Cast")) to.Set("to", std::string("f32"));
    const ValueId y = b.Op(op->name, {b.Conv(b.Input({1, 3, 5, 5}), 3, 4, 1)}, to);
    Graph& g = b.Output(b.Op("Conv", {y, b.Weight({2, 4, 1, 1})}));
    try {
      InferShapes(g);
    } catch (const Error&) {
      continue;  // an operator for integers only
    }
    if (g.value(y).type != DType::kF32) continue;  // a predicate, which no convolution reads
    ToNhwc(g);
    EXPECT_EQ(CountOf(g, "Transpose"), 2);  // one at the input and one at the output
  }
}

// Makes a node of the operator that reads `x` of 1x4x5x5 and has one 4-D output, in the form that its order
// asks for; kNoValue for an operator of another order.
ValueId Following(Builder& b, const OpSchema& op, ValueId x) {
  if (op.traits.divide_by == DivideBy::kQuantize) {
    const ValueId scale = b.Scalar(0.5f);
    return b.Op("DequantizeLinear", {b.Op("QuantizeLinear", {x, scale}), scale});
  }
  Attributes axis;
  axis.Set("axis", int64_t{1});
  switch (op.traits.orders) {
    case Orders::kPlain:
    case Orders::kChannelsLast:
    case Orders::kAny: return kNoValue;
    case Orders::kAxis: return b.Op(op.name, {x}, axis);
    case Orders::kReducedAxes: return b.Op(op.name, {x, b.Ints({-1})});
    case Orders::kSlicedAxes: return b.Op(op.name, {x, b.Ints({1}), b.Ints({3}), b.Ints({2})});
    case Orders::kPads: return b.Op(op.name, {x, b.Ints({0, 0, 1, 0, 0, 0, 0, 2})});
    case Orders::kScales: return b.Op(op.name, {x, kNoValue, b.Floats({1, 1, 2, 3})});
  }
  return kNoValue;
}

// Nor does any other operator that can be computed in the order of its inputs.
TEST(ToNhwc, FollowsThroughEveryOperatorThatTakesAnyOrder) {
  int count = 0;
  for (const OpSchema* op : AllOperators()) {
    SCOPED_TRACE(op->name);
    Builder b;
    const ValueId y = Following(b, *op, b.Op("Exp", {b.Conv(b.Input({1, 3, 5, 5}), 3, 4, 1)}));
    if (y == kNoValue) continue;
    ASSERT_TRUE(FollowsOrder(op->name));
    Graph& g = b.Output(b.Op("Conv", {b.Op("Neg", {y}), b.Weight({2, 4, 1, 1})}));
    InferShapes(g);
    ExpectSame(g, ToNhwc);
    EXPECT_EQ(CountOf(g, "Transpose"), 2);  // one at the input and one at the output
    ++count;
  }
  EXPECT_GE(count, 18);
}

TEST(RunPasses, RefusesAnUnknownName) {
  Builder b;
  Graph& g = b.Output(b.Op("Relu", {b.Input({1})}));
  EXPECT_THROW(RunPasses(g, {.disabled = {"no-such-pass"}}), Error);
}

// With fuse-quantized, constants are folded twice; the limits hold for both foldings together.
TEST(RunPasses, DequantizesConstantsWithinTheLimitsOfFolding) {
  const std::pair<FoldLimits, int> cases[] = {{{}, 0},
                                              {{.max_result_bytes = 399}, 1},
                                              {{.max_bytes = 800}, 0},
                                              {{.max_bytes = 799}, 1},
                                              {{.max_work = 250}, 1}};
  for (const auto& [limits, left] : cases) {
    Builder b;
    const ValueId x = b.Input({10, 10}), bytes = b.graph.AddConstant("bytes", Tensor(DType::kI8, {10, 10}));
    // 400 bytes, 201 steps
    const ValueId weights = b.Op("DequantizeLinear", {bytes, b.Scalar(0.5f)});
    // 400 bytes, 200 steps
    Graph& g = b.Output(b.Op("Add", {b.Op("Add", {x, b.Op("Neg", {b.Weight({10, 10})})}), weights}));
    RunPasses(g, {.limits = limits});
    EXPECT_EQ(CountOf(g, "DequantizeLinear"), left)
        << limits.max_result_bytes << " " << limits.max_bytes << " " << limits.max_work;
  }
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
    PassOptions options;
    if (!name.empty()) options.disabled = {name};
    RunPasses(g, options);
    const Tensor out = Evaluate(g)[0];
    const std::vector<float> got(out.as<float>(), out.as<float>() + out.elements());
    if (expected.empty()) expected = got;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << "without " << name;
  }
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
