#include "quantize/quantize.h"

#include "base/errors_testing.h"
#include "passes/graphs_testing.h"
#include "processor/cpu/cpu.h"
#include "quantize/budget.h"
#include "quantize/dynamic.h"
#include "quantize/insert.h"

namespace mete {
namespace {

// Networks of one input of 1x3x12x12, and samples for them.
class QuantizeTest : public testing::Test {
 protected:
  ValueId Input() { return b_.Input({1, 3, 12, 12}); }
  ValueId Relu6(ValueId x) { return b_.Op("Clip", {x, b_.Scalar(0), b_.Scalar(6)}); }
  ValueId Biased(ValueId x, int64_t in, int64_t out, int64_t kernel) {
    Attributes a;
    a.Set("pads", Ints{kernel / 2, kernel / 2, kernel / 2, kernel / 2});
    return b_.Op("Conv", {x, b_.Weight({out, in, kernel, kernel}), b_.Weight({out})}, a);
  }
  Graph& Output(ValueId id) {
    b_.Output(id);
    FoldConstants(b_.graph);
    Settle(b_.graph);
    return b_.graph;
  }

  static Samples RandomSamples(const Graph& graph, size_t count = 4) {
    return {count, [&graph](size_t i) { return RandomInputs(graph, uint32_t(i + 1)); }};
  }
  Quantized Make(const Graph& graph, QuantizeOptions options = {}) {
    const Calibration c = Calibrate(graph, options, RandomSamples(graph), runs_);
    options.ranges = c.ranges;
    return Quantize(c, options);
  }
  double DbOf(const Graph& exact, const Graph& other) {
    const Samples samples = RandomSamples(exact, 3);
    return SignalToNoiseOf(AnswersOf(exact, samples, runs_), AnswersOf(other, samples, runs_));
  }

  Builder b_;
  Cpu cpu_{"cpu", SessionOptions::Estimated()};
  const Runs runs_{cpu_};
};

const Node& NodeOf(const Graph& graph, const std::string& op) {
  for (const Node& n : graph.nodes)
    if (n.op == op) return n;
  throw std::runtime_error("no " + op);
}

TEST_F(QuantizeTest, ProductsComputeOnBytesAndTheLastAnswerStaysInFloats) {
  const ValueId hidden = Relu6(Biased(Input(), 3, 8, 3));
  const Graph& g = Output(Biased(hidden, 8, 4, 1));
  const Quantized q = Make(g);
  EXPECT_EQ(CountOf(q.graph, "QuantizeLinear"), 2);    // the input and the hidden value
  EXPECT_EQ(CountOf(q.graph, "DequantizeLinear"), 6);  // these, two weights, two biases
  const Node& conv = NodeOf(q.graph, "Conv");
  const Uses uses(q.graph);
  for (const size_t i : {0, 1, 2})
    EXPECT_EQ(q.graph.nodes[size_t(uses.producer[size_t(conv.inputs[i])])].op, "DequantizeLinear") << i;
  EXPECT_EQ(q.graph.outputs.size(), 1u);
  EXPECT_EQ(q.graph.value(q.graph.outputs[0]).name, g.value(g.outputs[0]).name);
  EXPECT_EQ(uses.producer[size_t(q.graph.outputs[0])], int(q.graph.nodes.size()) - 1);
  EXPECT_EQ(q.graph.nodes.back().op, "Conv");
  EXPECT_GT(DbOf(g, q.graph), 30);
}

// The bias is in units of both scales, as ONNX Runtime and OpenVINO require of a convolution on integers.
TEST_F(QuantizeTest, BiasesHaveTheProductOfBothScales) {
  const Quantized q = Make(Output(Biased(Input(), 3, 8, 3)));
  const Uses uses(q.graph);
  const Node& conv = NodeOf(q.graph, "Conv");
  const auto scale = [&](size_t i) {
    return q.graph.value(q.graph.nodes[size_t(uses.producer[size_t(conv.inputs[i])])].inputs[1]).constant;
  };
  const Tensor x = scale(0), w = scale(1), bias = scale(2);
  ASSERT_EQ(bias.elements(), 8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(bias.as<float>()[i], x.as<float>()[0] * w.as<float>()[i]);
}

// As batch normalisation leaves channels that training has switched off.
TEST_F(QuantizeTest, ChannelsOfTinyWeightsHaveScales) {
  for (const float bias : {0.0f, 1e-36f}) {
    b_ = Builder();
    Graph& g = Output(Biased(Input(), 3, 4, 3));
    const Node conv = g.nodes[0];
    for (const size_t input : {1, 2}) {
      Tensor& t = g.value(conv.inputs[input]).constant;
      for (int64_t i = 0; i < t.elements() / 4; ++i)
        t.mutable_view().as<float>()[i] = input == 2 ? bias : i % 2 ? 1e-40f : 0;
    }
    const Quantized q = Make(g);
    for (const Node& node : q.graph.nodes) {
      if (node.op != "DequantizeLinear") continue;
      const Tensor& scale = q.graph.value(node.inputs[1]).constant;
      for (int64_t i = 0; i < scale.elements(); ++i) EXPECT_GT(scale.as<float>()[i], 1e-30f) << node.name;
    }
    EXPECT_GT(DbOf(g, q.graph), 30);
  }
}

TEST_F(QuantizeTest, ClipsThatSaturationReplacesAreLeftOut) {
  const ValueId first = b_.Op("Relu", {Biased(Input(), 3, 8, 3)});
  const ValueId second = Relu6(Biased(first, 8, 8, 3));
  const ValueId third = b_.Op("Clip", {Biased(second, 8, 8, 1), b_.Scalar(-1), b_.Scalar(2)});
  const Graph& g = Output(Biased(third, 8, 2, 1));
  for (const DType type : {DType::kU8, DType::kI8}) {
    const Quantized q = Make(g, {.ranges = {RangeMethod::kMinMax}, .activations = type});
    EXPECT_EQ(CountOf(q.graph, "Relu") + CountOf(q.graph, "Clip"), 0);
    EXPECT_GT(DbOf(g, q.graph), 25);
  }
  // A wider range than the clip's needs the clip, and so does one whose levels do not end at its bounds.
  Places places = FindPlaces(g, {});
  std::vector<ActivationScale> scales(places.measured.size(), ScaleOf({-20, 20}, DType::kU8));
  const WeightScales weights = FindWeightScales(g);
  const Graph wide = InsertQuantization(g, places, {scales, &weights});
  EXPECT_EQ(CountOf(wide, "Relu"), 1);
  EXPECT_EQ(CountOf(wide, "Clip"), 2);
}

TEST_F(QuantizeTest, WhatAConcatOrAPoolJoinsHasOneScale) {
  const ValueId x = Input();
  const ValueId a = b_.Op("Relu", {Biased(x, 3, 4, 1)}), c = b_.Op("Relu", {Biased(x, 3, 4, 3)});
  Attributes axis, kernel;
  axis.Set("axis", int64_t(1));
  kernel.Set("kernel_shape", Ints{2, 2});
  const ValueId joined = b_.Op("Concat", {a, c}, axis);
  const ValueId pooled = b_.Op("MaxPool", {joined}, kernel);
  const Graph& g = Output(Biased(pooled, 8, 2, 1));
  const Places places = FindPlaces(g, {});
  for (const ValueId id : {a, c, joined, pooled}) {
    EXPECT_NE(places.scale_of[size_t(id)], Places::kFloat);
    EXPECT_EQ(places.scale_of[size_t(id)], places.scale_of[size_t(a)]);
  }
  EXPECT_NE(places.scale_of[size_t(x)], places.scale_of[size_t(a)]);
  EXPECT_EQ(places.measured[size_t(places.scale_of[size_t(a)])], (std::vector<ValueId>{a, c}));
  EXPECT_GT(DbOf(g, Make(g).graph), 25);
}

// x * sigmoid(x) becomes one table of bytes, so that the sigmoid is not rounded.
TEST_F(QuantizeTest, AnActivationOfSeveralNodesIsRoundedOnce) {
  const ValueId x = Biased(Input(), 3, 8, 3);
  const ValueId gate = b_.Op("Sigmoid", {x});
  const ValueId swish = b_.Op("Mul", {x, gate});
  const Graph& g = Output(Biased(swish, 8, 2, 1));
  const Places places = FindPlaces(g, {});
  EXPECT_NE(places.scale_of[size_t(x)], Places::kFloat);
  EXPECT_EQ(places.scale_of[size_t(gate)], Places::kFloat);
  EXPECT_NE(places.scale_of[size_t(swish)], Places::kFloat);
}

TEST_F(QuantizeTest, KeptNodesStayInFloats) {
  const ValueId hidden = Relu6(Biased(Input(), 3, 8, 3));
  const Graph& g = Output(Biased(hidden, 8, 4, 1));
  const std::string first = NodeOf(g, "Conv").name;
  const Quantized q = Make(g, {.kept = {first}});
  const auto conv = std::ranges::find(q.graph.nodes, first, &Node::name);
  ASSERT_NE(conv, q.graph.nodes.end());
  EXPECT_EQ(conv->inputs[0], q.graph.inputs[0]);
  EXPECT_EQ(CountOf(q.graph, "QuantizeLinear"), 1);
}

// Weights of 8 levels round by much, and always in the same direction.
TEST_F(QuantizeTest, CorrectedBiasesMakeTheMeansEqual) {
  const ValueId x = Input();
  std::vector<float> weights(4 * 3 * 3 * 3, 1.0f);
  for (size_t i = 1; i < weights.size(); ++i) weights[i] = 0.0117f * float(1 + i % 3);
  Attributes pads;
  pads.Set("pads", Ints{1, 1, 1, 1});
  const ValueId w = b_.graph.AddConstant("w", Tensor::Floats({4, 3, 3, 3}, weights));
  const ValueId shifted = b_.Op("Add", {x, b_.Scalar(2)});
  Graph& g = Output(b_.Op("Conv", {shifted, w}, pads));
  const auto mean_error = [&](bool corrected) {
    const Quantized q = Make(g, {.ranges = {RangeMethod::kMinMax}, .correct_biases = corrected});
    const Samples samples = RandomSamples(g);
    const Answers exact = AnswersOf(g, samples, runs_), other = AnswersOf(q.graph, samples, runs_);
    double sum = 0;
    for (size_t i = 0; i < exact.size(); ++i)
      for (int64_t k = 0; k < exact[i][0].elements(); ++k)
        sum += double(other[i][0].as<float>()[k]) - double(exact[i][0].as<float>()[k]);
    return std::abs(sum);
  };
  EXPECT_LT(mean_error(true), 0.2 * mean_error(false));
}

TEST_F(QuantizeTest, EqualizedGraphsHaveTheSameAnswersAndChannelsAlike) {
  const ValueId hidden = b_.Op("Relu", {Biased(Input(), 3, 8, 3)});
  const Graph& g = Output(Biased(hidden, 8, 4, 1));
  const auto pairs = EqualizablePairs(g);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].between, hidden);
  ChannelMagnitudes magnitudes;
  for (int c = 0; c < 8; ++c) magnitudes[hidden].push_back(c == 5 ? 0 : float(1 << c));
  const Graph equalized = Equalized(g, pairs, magnitudes);
  EXPECT_GT(DbOf(g, equalized), 100);  // but for the rounding of f32
}

TEST_F(QuantizeTest, AClipIsNotEqualized) {
  Output(Biased(Relu6(Biased(Input(), 3, 8, 3)), 8, 4, 1));
  EXPECT_TRUE(EqualizablePairs(b_.graph).empty());
}

TEST_F(QuantizeTest, BadGraphsAndRangesAreTold) {
  const ValueId first = Biased(Input(), 3, 8, 3);
  Graph& g = Output(Biased(b_.Op("Relu", {first}), 8, 4, 1));
  EXPECT_TELLS(Make(Make(g).graph), "the model is quantized already");
  Graph dead = g;
  for (Value& v : dead.values)
    if (v.is_constant()) v.constant = Tensor(DType::kF32, v.shape);
  EXPECT_TELLS(Make(dead), "all of its values are 0");
  Graph infinite = g;
  for (Value& v : infinite.values)
    if (v.is_constant() && v.shape.rank() == 1)
      v.constant = Tensor::Floats(v.shape, std::vector<float>(size_t(v.shape[0]), INFINITY));
  EXPECT_TELLS(Make(infinite), "infinite or not numbers");
  Builder none;
  none.Output(none.Op("Relu", {none.Input({1, 3, 12, 12})}));
  FoldConstants(none.graph);
  EXPECT_TELLS(Make(none.graph), "nothing can be quantized");
}

TEST_F(QuantizeTest, ErrorsOfLayersAreThoseOfTheirOutputs) {
  const ValueId hidden = Relu6(Biased(Input(), 3, 8, 3));
  const Graph& g = Output(Biased(hidden, 8, 4, 1));
  const Quantized q = Make(g);
  const std::vector<LayerError> layers = LayerErrors(g, q.graph, RandomSamples(g), runs_);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_TRUE(layers[0].bytes);
  EXPECT_FALSE(layers[1].bytes);
  for (const LayerError& layer : layers) {
    EXPECT_GT(layer.db, 20) << layer.node;
    EXPECT_LT(layer.db, 100) << layer.node;
  }
  EXPECT_EQ(LayerErrors(g, g, RandomSamples(g), runs_)[0].db, 200);
}

TEST(LeastKept, FindsTheLeastNumberThatServes) {
  for (size_t most : {1, 2, 5, 13, 64})
    for (size_t needed = 0; needed <= most + 1; ++needed) {
      const auto points = [&](size_t kept) {
        EXPECT_LE(kept, most);
        return kept >= needed ? 0.5 : 3.0;
      };
      const auto least = LeastKept(most, 0.5, points);
      if (needed <= most) EXPECT_EQ(least, needed) << most;
      else EXPECT_EQ(least, std::nullopt) << most;
    }
}

TEST_F(QuantizeTest, ABudgetThatIsMetKeepsNoLayer) {
  const ValueId hidden = Relu6(Biased(Input(), 3, 8, 3));
  const Graph& g = Output(b_.Op("GlobalAveragePool", {Biased(hidden, 8, 4, 1)}));
  const QuantizeOptions options;
  const Calibration c = Calibrate(g, options, RandomSamples(g), runs_);
  const Budgeted b = QuantizeWithin(100, c, options, RandomSamples(g, 8), runs_);
  EXPECT_TRUE(b.kept.empty());
  EXPECT_EQ(b.changed.of, 8);
}

// Each picture has the same two scores but for a hair, so that rounding decides.
TEST_F(QuantizeTest, ABudgetThatCannotBeMetTellsTheBest) {
  const ValueId hidden = Relu6(Biased(Input(), 3, 8, 3));
  const ValueId last = b_.Op("GlobalAveragePool", {Biased(hidden, 8, 64, 1)});
  const Graph& g = Output(last);
  const QuantizeOptions options;
  const Calibration c = Calibrate(g, options, RandomSamples(g), runs_);
  const std::vector<std::string> layers = LayersByHarm(c, options, runs_);
  EXPECT_EQ(layers.size(), 3u);
  // no budget below 0 can be met
  EXPECT_TELLS(QuantizeWithin(-1, c, options, RandomSamples(g, 8), runs_), "cannot be met; got");
  Graph image = g;
  image.outputs = {hidden};
  RemoveUnused(image);
  const Calibration of_image = Calibrate(image, options, RandomSamples(image), runs_);
  EXPECT_TELLS(QuantizeWithin(1, of_image, options, RandomSamples(image), runs_),
               "no output has scores of classes");
}

TEST_F(QuantizeTest, WeightsThatAreNoNumbersAreRefused) {
  const ValueId image = Biased(Input(), 3, 4, 3);
  Graph& g = Output(b_.Op("GlobalAveragePool", {image}));
  const Node conv = g.nodes[0];
  for (const size_t input : {1, 2})
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      Graph other = g;
      Tensor t(DType::kF32, g.value(conv.inputs[input]).shape);
      std::fill_n(t.mutable_view().as<float>(), t.elements(), 1.0f);
      t.mutable_view().as<float>()[1] = bad;
      other.value(conv.inputs[input]).constant = t;
      EXPECT_TELLS(Calibrate(other, {}, RandomSamples(other), runs_),
                   "[" + conv.name + "] its weights or its bias are infinite or not numbers");
      EXPECT_NO_THROW(CheckIsFinite(other, {conv.name}));
    }
}

TEST(Answers, WhatIsNoNumberIsTheLargestError) {
  const float one = 1, nan = std::numeric_limits<float>::quiet_NaN();
  SignalToNoise s;
  s.Add(Tensor::Floats({}, {&one, 1}), Tensor::Floats({}, {&nan, 1}));
  EXPECT_EQ(s.db(), -200);
}

TEST(Answers, NoneAreNotCompared) {
  EXPECT_FALSE(ChangedClasses({}, {}));
  EXPECT_FALSE(HasAnswers({{}, {}}));
}

class DynamicTest : public QuantizeTest {};

TEST_F(DynamicTest, ProductsGetAScaleInEachRun) {
  const ValueId x = b_.Input({5, 16});
  Attributes transposed;
  transposed.Set("transB", int64_t(1));
  const ValueId hidden = b_.Op("Gemm", {x, b_.Weight({24, 16}), b_.Weight({24})}, transposed);
  const ValueId beside = b_.Op("MatMul", {x, b_.Weight({16, 24})});
  const Graph& g = Output(b_.Op("MatMul", {b_.Op("Add", {hidden, beside}), b_.Weight({24, 3})}));
  const Graph q = QuantizeDynamically(g, {});
  EXPECT_EQ(CountOf(q, "MatMulInteger"), 3);
  EXPECT_EQ(CountOf(q, "DynamicQuantizeLinear"), 2);  // two products share x
  EXPECT_GT(DbOf(g, q), 30);
  const Graph kept = QuantizeDynamically(g, {g.nodes.back().name});
  EXPECT_EQ(CountOf(kept, "MatMulInteger"), 2);
  EXPECT_TELLS(QuantizeDynamically(q, {}), "quantized already");
}

TEST_F(DynamicTest, AttentionIsASoftmaxThatIsMultiplied) {
  const ValueId x = b_.Input({4, 8});
  const ValueId weights = b_.Op("Softmax", {b_.Op("MatMul", {x, b_.Weight({8, 4})})});
  Graph& g = Output(weights);
  EXPECT_FALSE(HasAttention(g));
  g.outputs = {b_.Op("MatMul", {weights, x})};
  EXPECT_TRUE(HasAttention(g));
}

}  // namespace
}  // namespace mete
