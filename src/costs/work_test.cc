#include "costs/work.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/few_bit_matrix.h"
#include "base/fused.h"
#include "dispatch/dispatch.h"
#include "graph/node_text/node_text.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {
namespace {

constexpr CoreCaches kCaches{1 << 20, 4 << 20};

ValueId Weights(Graph& graph, const Shape& shape) {
  const ValueId id = graph.AddValue("w", DType::kF32, shape);
  graph.value(id).constant = Tensor(DType::kF32, shape);
  return id;
}

// A convolution in NHWC with stride 1 that keeps the size.
Graph ConvGraph(int64_t side, int64_t in, int64_t out, int64_t kernel, int64_t groups = 1,
                const std::string& activation = "") {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {1, side, side, in}),
                y = graph.AddValue("y", DType::kF32, {1, side, side, out});
  Attributes attributes;
  attributes.Set("layout", std::string("NHWC"));
  attributes.Set("group", groups);
  attributes.Set("kernel_shape", Ints{kernel, kernel});
  attributes.Set("pads", Ints{kernel / 2, kernel / 2, kernel / 2, kernel / 2});
  if (!activation.empty()) attributes.Set("activation", activation);
  graph.AddNode("Conv", "conv", {x, Weights(graph, {out, in / groups, kernel, kernel})}, {y}, attributes);
  return graph;
}

std::vector<Work> Of(const Graph& graph, const Node& node) {
  return WorksOf({graph, node, kCaches, RunOf(graph)});
}
std::vector<Work> Of(const Graph& graph) { return Of(graph, graph.nodes[0]); }

double AmountOf(const Work& work, const std::string& what) {
  const auto at = work.amounts.find(what);
  return at == work.amounts.end() ? 0 : at->second;
}

double Tiles(const Work& work) {
  double sum = 0;
  for (const auto& [what, amount] : work.amounts)
    if (what.starts_with("row x column panel")) sum += amount;
  return sum;
}

TEST(WorksOf, APointwiseConvolutionIsOneProduct) {
  const auto works = Of(ConvGraph(14, 64, 16, 1));
  ASSERT_EQ(works.size(), 1u);
  EXPECT_EQ(works[0].key(), "conv_1x1_f32");
  EXPECT_EQ(Tiles(works[0]), 196 * 64 * double(PlanGemm(16, 64).panels));
  EXPECT_EQ(works[0].amounts.at("byte of weights"), 4 * 64 * 16);
  EXPECT_EQ(works[0].amounts.at("byte written"), 4 * 196 * 16);
  EXPECT_EQ(works[0].amounts.at("node"), 1);
  EXPECT_FALSE(works[0].amounts.contains("byte of residual"));
}

TEST(WorksOf, AThreeByThreeConvolutionHasThreeWays) {
  const auto works = Of(ConvGraph(14, 64, 64, 3));
  ASSERT_EQ(works.size(), 3u);
  EXPECT_EQ(works[0].key(), "conv_f32");
  EXPECT_EQ(works[1].key(), "winograd_f2_f32");
  EXPECT_EQ(works[2].key(), "winograd_f4_f32");
  EXPECT_EQ(works[2].amounts.at("value transformed"), 16 * 36 * 64);  // 4 x 4 tiles of 6 x 6 values
  // 7 x 7 tiles of 2 x 2 cover 14 x 14 exactly
  EXPECT_NEAR(Tiles(works[0]) / Tiles(works[1]), 2.25, 1e-9);
}

TEST(WorksOf, WhatIsTooLargeForTheNearCacheIsFarInPart) {
  EXPECT_FALSE(Of(ConvGraph(14, 64, 64, 1))[0].amounts.contains("byte written, far"));
  const auto far = Of(ConvGraph(112, 64, 64, 1))[0].amounts;
  EXPECT_EQ(far.at("byte written, far"), far.at("byte written"));
  EXPECT_EQ(far.at("byte read, far"), far.at("byte read"));
}

// Appends a node with one input and an output of `size` elements.
ValueId Then(Graph& graph, const std::string& op, ValueId x, int64_t size) {
  const ValueId y = graph.AddValue(op + std::to_string(graph.nodes.size()), DType::kF32, {size});
  graph.AddNode(op, "node" + std::to_string(graph.nodes.size()), {x}, {y});
  return y;
}

// Returns the far bytes that a convolution of 14 x 14 x 64 reads if `bytes_between` bytes pass through the
// caches between its input's node and itself.
double FarRead(int64_t bytes_between, bool through_view) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 14, 14, 64}),
                aside = graph.AddValue("aside", DType::kF32, {16});
  const ValueId made = graph.AddValue("made", DType::kF32, {1, 14, 14, 64});
  graph.AddNode("Relu", "maker", {x}, {made});
  if (bytes_between > 0) Then(graph, "Sqrt", aside, bytes_between / 4 - 16);
  ValueId read = made;
  if (through_view) {
    read = graph.AddValue("view", DType::kF32, {1, 14, 14, 64});
    graph.AddNode("Reshape", "view", {made}, {read});
  }
  const ValueId y = graph.AddValue("y", DType::kF32, {1, 14, 14, 64});
  Attributes attributes;
  attributes.Set("layout", std::string("NHWC"));
  attributes.Set("kernel_shape", Ints{1, 1});
  graph.AddNode("Conv", "conv", {read, Weights(graph, {64, 64, 1, 1})}, {y}, attributes);
  const auto amounts = Of(graph, graph.nodes.back())[0].amounts;
  const auto far = amounts.find("byte read, far");
  return far == amounts.end() ? 0 : far->second / amounts.at("byte read");
}

TEST(WorksOf, AnInputIsAsFarAsWhatPassedSinceItWasMade) {
  for (const bool through_view : {false, true}) {
    EXPECT_EQ(FarRead(0, through_view), 0);
    EXPECT_EQ(FarRead(1 << 18, through_view), 0);
    EXPECT_EQ(FarRead(1 << 20, through_view), 1);
  }
}

TEST(WorksOf, AResidualThatWasMadeLongAgoIsFar) {
  for (const int64_t between : {int64_t{1} << 10, int64_t{1} << 20}) {
    Graph graph;
    const ValueId aside = graph.AddValue("aside", DType::kF32, {16});
    const Shape shape{1, 14, 14, 64};
    const ValueId x = graph.AddValue("x", DType::kF32, shape),
                  kept = graph.AddValue("kept", DType::kF32, shape);
    const ValueId near = graph.AddValue("near", DType::kF32, shape),
                  y = graph.AddValue("y", DType::kF32, shape);
    graph.AddNode("Relu", "keeper", {x}, {kept});
    Then(graph, "Sqrt", aside, between / 4 - 16);
    graph.AddNode("Relu", "maker", {x}, {near});
    Attributes attributes;
    attributes.Set("layout", std::string("NHWC"));
    attributes.Set("kernel_shape", Ints{1, 1});
    attributes.Set("residual", int64_t{1});
    graph.AddNode("Conv", "conv", {near, Weights(graph, {64, 64, 1, 1}), kNoValue, kept}, {y}, attributes);
    const auto amounts = Of(graph, graph.nodes.back())[0].amounts;
    EXPECT_EQ(amounts.at("byte of residual"), 4 * 196 * 64);
    EXPECT_EQ(amounts.contains("byte of residual, far"), between > 1 << 19);
    EXPECT_FALSE(amounts.contains("byte read, far"));
  }
}

TEST(WorksOf, OutputsBehindAShortSumAreNotAskedForAhead) {
  EXPECT_TRUE(Of(ConvGraph(14, 48, 64, 1))[0].amounts.contains("byte written behind a short sum"));
  EXPECT_FALSE(Of(ConvGraph(14, 48, 64, 1))[0].amounts.contains("byte written"));
}

TEST(WorksOf, NobodyAsksForTheFirstPanelAndForWhatFewTilesLeaveOut) {
  const auto cold = [](const Work& work) { return work.amounts.at("byte of weights that nobody asked for"); };
  const double many = cold(Of(ConvGraph(14, 64, 256, 1))[0]), few = cold(Of(ConvGraph(2, 64, 256, 1))[0]);
  EXPECT_EQ(many, cold(Of(ConvGraph(14, 64, 512, 1))[0]));  // more panels do not make the first one larger
  EXPECT_GE(few, many);
  EXPECT_LE(few, 4 * 64 * 256);
}

TEST(WorksOf, FewRowsWaitForTheirWeights) {
  const std::string wait = "byte of weights that rows wait for";
  EXPECT_EQ(Of(ConvGraph(2, 64, 64, 1))[0].amounts.at(wait), 4 * 64 * 64 * (1 - 4 / 40.0));
  EXPECT_FALSE(Of(ConvGraph(14, 64, 64, 1))[0].amounts.contains(wait));
}

TEST(WorksOf, ChannelsThatFillNoLineLieAcrossTwo) {
  const auto across = [](int64_t channels) {
    double sum = 0;
    const Work work = Of(ConvGraph(14, channels, channels, 3, channels))[0];
    for (const auto& [what, amount] : work.amounts)
      if (what.ends_with("across cache lines")) sum += amount;
    return sum;
  };
  EXPECT_EQ(across(64), 0);
  EXPECT_GT(across(50), 0);
}

TEST(WorksOf, DepthwiseAndOneRowAreOfTheirOwn) {
  EXPECT_EQ(Of(ConvGraph(14, 64, 64, 3, 64))[0].key(), "depthwise_f32");
  EXPECT_EQ(Of(ConvGraph(1, 64, 16, 1))[0].key(), "conv_1x1_f32, one row");
}

// WorksOf() and processor/cpu use the same functions (src/dispatch) for this decision.
TEST(WorksOf, AProductThatOnlyTheReferenceComputesIsNone) {
  const auto of = [](const char* op, const Shape& a, const Shape& b, const Shape& y,
                     const Attributes& attributes) {
    Graph graph;
    const ValueId x = graph.AddValue("x", DType::kF32, a), out = graph.AddValue("y", DType::kF32, y);
    graph.AddNode(op, "product", {x, Weights(graph, b)}, {out}, attributes);
    return Of(graph)[0].key();
  };
  Attributes transposed, twice;
  transposed.Set("transA", int64_t{1});
  twice.Set("alpha", 2.0f);
  EXPECT_EQ(of("Gemm", {8, 6}, {6, 4}, {8, 4}, {}), "gemm_f32");
  EXPECT_EQ(of("Gemm", {6, 8}, {6, 4}, {8, 4}, transposed), "Gemm, reference");
  EXPECT_EQ(of("Gemm", {1, 6}, {6, 4}, {1, 4}, {}), "matvec_columns_f32");
  EXPECT_EQ(of("Gemm", {1, 6}, {6, 4}, {1, 4}, twice), "gemm_f32");
  EXPECT_EQ(of("MatMul", {3, 8, 6}, {3, 6, 4}, {3, 8, 4}, {}), "gemm_f32");
  EXPECT_EQ(of("MatMul", {1, 8, 6}, {3, 6, 4}, {3, 8, 4}, {}), "MatMul, reference");  // batches are broadcast
}

// Data that do not fit into the second-level cache may still fit into the last cache.
TEST(WorksOf, WhatIsTooLargeForTheLastCacheComesFromMemory) {
  EXPECT_EQ(AmountOf(Of(ConvGraph(14, 64, 64, 1))[0], "byte written, from memory"), 0);
  const Work far = Of(ConvGraph(448, 64, 64, 1))[0];
  EXPECT_EQ(AmountOf(far, "byte written, from memory"), far.amounts.at("byte written"));
  EXPECT_EQ(AmountOf(far, "byte read, from memory"), far.amounts.at("byte read"));
}

TEST(WorksOf, WeightsComeFromMemoryWhereARunIsLargerThanTheLastCache) {
  const auto share = [](int64_t other_weights) {
    Graph graph = ConvGraph(14, 64, 64, 1);
    const ValueId x = graph.AddValue("aside", DType::kF32, {16});
    graph.AddNode("Sum", "others", {x, Weights(graph, {other_weights})},
                  {graph.AddValue("sum", DType::kF32, {16})});
    const Work work = Of(graph)[0];
    return AmountOf(work, "byte of weights, from memory") / work.amounts.at("byte of weights");
  };
  EXPECT_EQ(share(1 << 17), 0);
  EXPECT_GT(share(1 << 20), 0);
  EXPECT_LT(share(1 << 20), 1);
  EXPECT_EQ(share(2 << 20), 1);
}

// The input of this run has the same memory as that of the last run, and all weights have passed through the
// caches since.
TEST(WorksOf, ANetworksInputIsAsFarAsTheLastRun) {
  for (const bool is_input : {false, true}) {
    Graph graph;
    const Shape shape{1, 14, 14, 64};
    const ValueId x = graph.AddValue("x", DType::kF32, shape),
                  made = graph.AddValue("made", DType::kF32, shape);
    const ValueId bulk = graph.AddValue("bulk", DType::kF32, {16});
    graph.AddNode("Sum", "weights", {bulk, Weights(graph, {4 << 20})},
                  {graph.AddValue("sum", DType::kF32, {16})});
    if (!is_input) graph.AddNode("Relu", "maker", {bulk}, {made});
    Attributes attributes;
    attributes.Set("layout", std::string("NHWC"));
    graph.AddNode("Conv", "conv", {is_input ? x : made, Weights(graph, {64, 64, 1, 1})},
                  {graph.AddValue("y", DType::kF32, shape)}, attributes);
    const Work work = Of(graph, graph.nodes.back())[0];
    EXPECT_EQ(AmountOf(work, "byte read, from memory"), is_input ? work.amounts.at("byte read") : 0);
  }
}

TEST(WorksOf, LinesWhoseDistanceIsThatOfTheSetsAreCrowded) {
  const auto crowded = [](int64_t channels) {
    return AmountOf(Of(ConvGraph(14, channels, channels, 3, channels))[0], "line of a crowded set");
  };
  EXPECT_EQ(crowded(528), 0);
  EXPECT_GT(crowded(1024), 0);  // a pixel has 4 KiB, so that all pixels begin in one set
}

TEST(WorksOf, AProductOfOneRowGoesWithItsBytes) {
  const Work work = Of(ConvGraph(1, 64, 16, 1))[0];
  EXPECT_EQ(work.key(), "conv_1x1_f32, one row");
  EXPECT_EQ(work.amounts.at("byte read"), 4 * 64);
  EXPECT_EQ(work.amounts.at("byte written"), 4 * 16);
  EXPECT_EQ(Tiles(work), 0);
}

// A file's integers are read for each row, from memory once.
TEST(WorksOf, AProductWithAFilesIntegersReadsThemForEachRow) {
  const auto of = [](int64_t rows, int64_t outputs, int64_t columns) {
    Graph graph;
    FewBitMatrix m{.rows = outputs, .columns = columns, .block = 32, .bits = 4};
    m.integers = Tensor(DType::kU8, {outputs, m.Blocks() * m.BlockBytes()});
    m.scales = Tensor(DType::kF32, {outputs, m.Blocks()});
    const ValueId x = graph.AddValue("x", DType::kF32, {rows, columns}),
                  w = graph.AddConstant("w", Dequantized(m)),
                  y = graph.AddValue("y", DType::kF32, {rows, outputs});
    Attributes transposed;
    transposed.Set("transB", int64_t{1});
    graph.AddNode("Gemm", "product", {x, w}, {y}, transposed);
    return Of(graph)[0];
  };
  const Work one = of(1, 1024, 1024), four = of(4, 1024, 1024);
  EXPECT_EQ(one.key(), "matvec_q4_f32");
  EXPECT_EQ(one.stand_in, "matvec_rows_f32");
  EXPECT_EQ(AmountOf(one, "byte of weights"), 1024 * 1024 / 2);
  EXPECT_EQ(AmountOf(four, "byte of weights"), 4 * 1024 * 1024 / 2);
  EXPECT_EQ(AmountOf(four, "byte of weights, from memory"), AmountOf(one, "byte of weights, from memory"));
  EXPECT_EQ(of(1, 64, 64).key(), "matvec_rows_f32") << "a second-level cache keeps these as floats";
}

TEST(WorksOf, ARecurrentNodeGoesWithItsStepsAndProducts) {
  const auto of = [](const char* op, int64_t gates, bool constant) {
    Graph graph;
    const auto weights = [&](const char* name, const Shape& shape) {
      return constant ? graph.AddConstant(name, Tensor(DType::kF32, shape))
                      : graph.AddValue(name, DType::kF32, shape);
    };
    const ValueId x = graph.AddValue("x", DType::kF32, {50, 8, 40}), w = weights("w", {2, gates * 64, 40}),
                  r = weights("r", {2, gates * 64, 64}), y = graph.AddValue("y", DType::kF32, {50, 2, 8, 64});
    Attributes both;
    both.Set("direction", std::string("bidirectional"));
    graph.AddNode(op, "net", {x, w, r}, {y}, both);
    return Of(graph)[0];
  };
  const Work lstm = of("LSTM", 4, true), rnn = of("RNN", 1, true), computed = of("LSTM", 4, false);
  EXPECT_EQ(lstm.key(), "LSTM");
  EXPECT_EQ(lstm.amounts.at("step"), 2 * 50);
  EXPECT_EQ(lstm.amounts.at("gate"), 2 * 50 * 8 * 4 * 64);
  EXPECT_EQ(lstm.amounts.at("multiply-add of inputs"), 2 * 50 * 8 * 4 * 64 * 40);
  EXPECT_EQ(lstm.amounts.at("multiply-add of states"), 2 * 50 * 8 * 4 * 64 * 64);
  EXPECT_EQ(lstm.stand_in, "");
  EXPECT_EQ(rnn.stand_in, "LSTM");
  EXPECT_EQ(computed.amounts, lstm.amounts) << "packing the weights takes little beside the steps";
}

TEST(WorksOf, PoolsGoWithTheirTapsAndVectors) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 8, 8, 64}),
                y = graph.AddValue("y", DType::kF32, {1, 4, 4, 64});
  const ValueId z = graph.AddValue("z", DType::kF32, {1, 1, 1, 64});
  Attributes attributes;
  attributes.Set("layout", std::string("NHWC"));
  attributes.Set("kernel_shape", Ints{3, 3});
  graph.AddNode("MaxPool", "pool", {x}, {y}, attributes);
  graph.AddNode("GlobalAveragePool", "all", {y}, {z}, attributes);
  const double vectors = 64 / double(PlanGemm(1, 1).split.lanes());
  EXPECT_EQ(Of(graph)[0].amounts.at("vector x tap"), 16 * 9 * vectors);
  EXPECT_EQ(Of(graph)[0].amounts.at("pixel"), 16);
  EXPECT_EQ(Of(graph, graph.nodes[1])[0].amounts.at("vector x tap"), 16 * vectors);
}

TEST(WorksOf, MaximaOfBytesShareThoseOfTheirColumns) {
  const int64_t lanes = 4 * int64_t(PlanGemm(1, 1).split.lanes());
  for (const auto& [channels, widest] : {std::pair<int64_t, int64_t>{24, 16}, {8, 8}, {7, 1}, {3, 1}}) {
    Graph graph;
    const ValueId x = graph.AddValue("x", DType::kU8, {1, 8, 16, channels}),
                  y = graph.AddValue("y", DType::kU8, {1, 4, 8, channels});
    Attributes attributes;
    attributes.Set("layout", std::string("NHWC"));
    attributes.Set("kernel_shape", Ints{3, 2});
    attributes.Set("strides", Ints{2, 2});
    attributes.Set("pads", Ints{1, 0, 1, 0});
    graph.AddNode("MaxPool", "pool", {x}, {y}, attributes);
    const Work work = Of(graph)[0];
    EXPECT_EQ(work.key(), "MaxPool, of bytes");
    const int64_t filled = std::min(lanes, widest);
    EXPECT_EQ(work.amounts.at("vector of a row"), 4 * 3 * ((16 * channels + lanes - 1) / lanes));
    EXPECT_EQ(work.amounts.at("vector x column"), 4 * 8 * ((channels + filled - 1) / filled) * 2);
    EXPECT_EQ(work.amounts.at("pixel"), 4 * 8);
  }
}

TEST(WorksOf, TransposesGoByHowTheyAreMoved) {
  const auto of = [](const Shape& shape, const Ints& perm, DType type = DType::kF32) {
    Graph graph;
    Shape moved = shape;
    for (size_t i = 0; i < perm.size(); ++i) moved[int(i)] = shape[int(perm[i])];
    const ValueId x = graph.AddValue("x", type, shape), y = graph.AddValue("y", type, moved);
    Attributes attributes;
    attributes.Set("perm", perm);
    graph.AddNode("Transpose", "transpose", {x}, {y}, attributes);
    return Of(graph)[0];
  };
  EXPECT_EQ(of({1, 3, 8, 8}, {0, 2, 3, 1}).regime, "of few columns");
  EXPECT_EQ(of({1, 7, 7, 2, 58}, {0, 1, 2, 4, 3}).amounts.at("matrix"), 49);
  EXPECT_EQ(of({1, 32, 8, 8}, {0, 2, 3, 1}).regime, "in tiles");
  EXPECT_EQ(of({1, 4, 9, 32}, {0, 2, 1, 3}).regime, "in rows");
  EXPECT_EQ(of({5, 6, 7}, {2, 1, 0}).regime, "reference");
  EXPECT_EQ(of({1, 3, 8, 8}, {0, 2, 3, 1}, DType::kI64).regime, "reference");
}

TEST(WorksOf, APoolWithoutAFastFormIsOfItsOwn) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 64, 8, 8}),
                y = graph.AddValue("y", DType::kF32, {1, 64, 4, 4});
  Attributes attributes;
  attributes.Set("kernel_shape", Ints{3, 3});
  graph.AddNode("MaxPool", "pool", {x}, {y}, attributes);
  EXPECT_EQ(Of(graph)[0].key(), "MaxPool, reference");
}

// A network with quantized values has no Winograd, and neither has the prediction.
TEST(WorksOf, PlainSumsLeaveOneWay) {
  Graph graph = ConvGraph(14, 64, 64, 3);
  const ValueId y = graph.nodes[0].outputs[0], scale = Weights(graph, {1});
  EXPECT_EQ(Of(graph).size(), 3u);
  graph.AddNode("QuantizeLinear", "bytes", {y, scale}, {graph.AddValue("b", DType::kU8, {1, 14, 14, 64})});
  EXPECT_TRUE(RunOf(graph).dispatch.plain_sums);
  const std::vector<Work> works = Of(graph);
  ASSERT_EQ(works.size(), 1u);
  EXPECT_EQ(works[0].kernel, "conv_f32");
}

// Each piece reads the sums of the pieces before it; the multiply-adds stay the same.
TEST(WorksOf, SumsInPiecesAreAKernelOfTheirOwn) {
  Graph graph = ConvGraph(14, 100, 64, 1);
  const Work whole = Of(graph)[0];
  graph.nodes[0].attributes.Set(kSumPiece, int64_t{40});
  const Work pieces = Of(graph)[0];
  EXPECT_EQ(pieces.key(), "conv_pieces_f32");
  EXPECT_EQ(pieces.stand_in, whole.key());
  EXPECT_EQ(Tiles(pieces), Tiles(whole));
  EXPECT_EQ(pieces.amounts.at("byte of residual"), 2 * 4 * 196 * 64);
}

// The nodes of the kernels' tests: what dispatch refuses is counted as work of the reference.
TEST(WorksOf, NodesThatDispatchRefusesAreCountedAsTheReference) {
  int fast = 0, refused = 0;
  for (const auto& file : std::filesystem::directory_iterator("src/processor/cpu/prepare/nodes"))
    for (const NodeText& text : ReadNodes(file.path())) {
      SCOPED_TRACE(text.where + ": " + text.text);
      const OneNodeGraph one = MakeOneNodeGraph(text, 11);
      std::string why;
      const auto kernel = FastKernelOf(one.graph, one.node(), {}, &why);
      const std::vector<Work> works = Of(one.graph, one.node());
      ++(kernel ? fast : refused);
      if (!kernel) {
        ASSERT_EQ(works.size(), 1u);
        EXPECT_EQ(works[0].key(), text.op + ", reference");
        continue;
      }
      const std::vector<std::string> names = KernelNames(*kernel);
      ASSERT_EQ(works.size(), names.size());
      for (size_t i = 0; i < works.size(); ++i) {
        EXPECT_NE(works[i].regime, kReferenceRegime);
        EXPECT_EQ(works[i].kernel, IsProduct(one.node()) ? names[i] : text.op);
      }
    }
  EXPECT_GT(fast, 80);
  EXPECT_GT(refused, 10);
}

TEST(WorksOf, ANodeWithoutInputsGoesWithWhatItWrites) {
  Graph graph;
  graph.AddNode("Constant", "node", {}, {graph.AddValue("y", DType::kF32, {10})});
  EXPECT_EQ(Of(graph)[0].amounts.at("output"), 10);
}

TEST(WorksOf, AnActivationCostsByItsKindAndAReluNothing) {
  EXPECT_EQ(Of(ConvGraph(7, 16, 16, 1, 1, "Swish"))[0].amounts.at("byte through Swish"), 4 * 49 * 16);
  EXPECT_EQ(Of(ConvGraph(7, 16, 16, 1, 1, "Relu"))[0].amounts, Of(ConvGraph(7, 16, 16, 1))[0].amounts);
}

TEST(WorksOf, MatricesOfOneRowAndOfMany) {
  for (const int64_t rows : {1, 5}) {
    Graph graph;
    const ValueId x = graph.AddValue("x", DType::kF32, {rows, 30}),
                  y = graph.AddValue("y", DType::kF32, {rows, 20});
    graph.AddNode("MatMul", "product", {x, Weights(graph, {30, 20})}, {y});
    const auto works = Of(graph);
    ASSERT_EQ(works.size(), 1u);
    EXPECT_EQ(works[0].key(), rows == 1 ? "matvec_columns_f32" : "gemm_f32");
  }
}

TEST(WorksOf, ViewsAndUnknownShapesAreNoWork) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF32, {2, 3}), y = graph.AddValue("y", DType::kF32, {6});
  const ValueId z = graph.AddValue("z", DType::kF32);
  graph.AddNode("Reshape", "view", {x}, {y});
  graph.AddNode("NonZero", "unknown", {x}, {z});
  for (const Node& node : graph.nodes) EXPECT_TRUE(Of(graph, node).empty());
}

// One tensor has no elements, although the node could still read another one.
TEST(WorksOf, EmptyTensorsAreNoWork) {
  Graph product;
  const ValueId x = product.AddValue("x", DType::kF32, {4, 8}),
                y = product.AddValue("y", DType::kF32, {4, 0});
  product.AddNode("MatMul", "product", {x, Weights(product, {8, 0})}, {y});
  EXPECT_TRUE(Of(product).empty());
  Graph conv = ConvGraph(14, 64, 64, 3);
  for (const char* name : {"x", "y"})
    for (Value& v : conv.values)
      if (v.name == name) v.shape = {0, 14, 14, 64};
  EXPECT_TRUE(Of(conv).empty());
}

TEST(WorksOf, AFirstOutputThatNobodyWantsIsPassedOver) {
  Graph graph;
  const ValueId x = graph.AddValue("x", DType::kF64, {5, 1, 8}),  // for the reference
      weights = graph.AddValue("w", DType::kF64, {1, 48, 8}),
                states = graph.AddValue("r", DType::kF64, {1, 48, 16}),
                last = graph.AddValue("last", DType::kF64, {1, 1, 16});
  graph.AddNode("GRU", "gru", {x, weights, states}, {kNoValue, last});
  ASSERT_EQ(Of(graph).size(), 1u);
  EXPECT_EQ(Of(graph)[0].amounts.at("output"), 16);
  EXPECT_EQ(Of(graph)[0].amounts.at("multiply-add"), 5 * 48 * (8 + 16));
}

// A GRU whose reset gate comes first has twice as many steps, and rounded weights have fewer bytes: their
// times are measured apart.
TEST(WorksOf, FormsAndPrecisionsOfRecurrentNodesHaveKeysOfTheirOwn) {
  std::set<std::string> keys;
  for (const int64_t before : {0, 1})
    for (const char* operands : {"f32", "w8", "w4"}) {
      Graph graph;
      const ValueId x = graph.AddValue("x", DType::kF32, {5, 1, 8}),
                    y = graph.AddValue("y", DType::kF32, {5, 1, 1, 300});
      Attributes a;
      a.Set("linear_before_reset", before);
      a.Set("operands", std::string(operands));
      graph.AddNode("GRU", "gru", {x, Weights(graph, {1, 900, 8}), Weights(graph, {1, 900, 300})}, {y}, a);
      ASSERT_EQ(Of(graph).size(), 1u);
      EXPECT_EQ(Of(graph)[0].stand_in, "LSTM");
      keys.insert(Of(graph)[0].key());
    }
  EXPECT_EQ(keys, (std::set<std::string>{"GRU", "GRU, w8", "GRU, w4", "GRU, reset gate first",
                                         "GRU, reset gate first w8", "GRU, reset gate first w4"}));
}

}  // namespace
}  // namespace mete
