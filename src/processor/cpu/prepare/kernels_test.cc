// Every family of fast kernels, through the same door as the engine, against the reference over odd shapes.
#include "processor/cpu/prepare/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <tuple>

#include "base/error.h"
#include "base/fused.h"
#include "base/matmul_view.h"
#include "base/temp_path_testing.h"
#include "graph/operators.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/float_conv.h"

namespace mete {
namespace {

// One node over f32 inputs with random values; the inputs in `constants` are weights.
struct Case {
  std::string op;
  std::vector<Shape> shapes;  // of the inputs; Unknown(): the input is left out
  std::vector<size_t> constants;
  Attributes attributes;
  size_t outputs = 1;
};

Attributes With(std::initializer_list<std::pair<const char*, Attribute>> items) {
  Attributes a;
  for (const auto& [name, value] : items) a.Set(name, value);
  return a;
}

Tensor Random(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor t(DType::kF32, shape);
  for (int64_t e = 0; e < t.elements(); ++e)
    t.mutable_view().as<float>()[e] = std::uniform_real_distribution<float>(-1, 1)(random);
  return t;
}

class OneNode {
 public:
  OneNode(const Case& c, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<ValueId> in, out;
    for (size_t i = 0; i < c.shapes.size(); ++i) {
      if (!c.shapes[i].known()) {
        in.push_back(kNoValue);
        data_.emplace_back();
        continue;
      }
      Tensor t(DType::kF32, c.shapes[i]);
      for (int64_t e = 0; e < t.elements(); ++e)
        t.mutable_view().as<float>()[e] = std::uniform_real_distribution<float>(-1, 1)(random);
      const bool constant = std::find(c.constants.begin(), c.constants.end(), i) != c.constants.end();
      in.push_back(constant ? graph_.AddConstant("c" + std::to_string(i), t)
                            : graph_.AddValue("x" + std::to_string(i), DType::kF32, c.shapes[i]));
      data_.push_back(t);
    }
    for (size_t i = 0; i < c.outputs; ++i) out.push_back(graph_.AddValue("y" + std::to_string(i)));
    graph_.AddNode(c.op, "node", in, out, c.attributes);
    InferShapes(graph_);
  }

  const Tensor& data(size_t input) const { return data_[input]; }
  void SetInput(size_t input, int64_t element, float value) {
    data_[input].mutable_view().as<float>()[element] = value;
  }

  // Returns the outputs of the node on a CPU; `kernel` gets the name of the kernel that ran.
  std::vector<Tensor> Run(const KernelOptions& options, std::string* kernel = nullptr) {
    CpuKernels cpu(options);
    auto prepared = cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = options.threads});
    if (kernel)
      *kernel = prepared->kernel() + (prepared->kernel() == "reference" ? ": " + prepared->reason() : "");
    std::vector<Tensor> results;
    for (ValueId id : graph_.nodes[0].outputs)
      results.emplace_back(graph_.value(id).type, graph_.value(id).shape);
    Execute(*prepared, results);
    return results;
  }

  // Returns the reason of the prepared node for a step of `threads` threads; 0: of all threads.
  std::string Reason(const KernelOptions& options, int threads = 0) {
    CpuKernels cpu(options);
    return cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = threads > 0 ? threads : options.threads})
        ->reason();
  }

  // Returns the bytes of packed weights that were mapped when the node was prepared.
  int64_t MappedBytes(const KernelOptions& options) {
    CpuKernels cpu(options);
    cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = options.threads});
    return cpu.packer().mapped_bytes();
  }

  // Returns the only output, whose elements were all `before` at first.
  Tensor RunOver(float before, const KernelOptions& options) {
    CpuKernels cpu(options);
    std::vector<Tensor> results{Tensor(DType::kF32, graph_.value(graph_.nodes[0].outputs[0]).shape)};
    std::fill_n(results[0].mutable_view().as<float>(), results[0].elements(), before);
    Execute(*cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = options.threads}), results);
    return results[0];
  }

 private:
  void Execute(PreparedNode& prepared, std::vector<Tensor>& results) {
    std::vector<ConstView> in;
    for (const Tensor& t : data_) in.push_back(t.view());
    std::vector<View> out;
    for (Tensor& t : results) out.push_back(t.mutable_view());
    prepared.Execute(in, out);
  }

  Graph graph_;
  std::vector<Tensor> data_;
};

// Sums of up to a few thousand products of magnitude 1: the error grows with sqrt(K) * epsilon, and 1e-5
// is more than ten times that for K = 4096.
constexpr float kTolerance = 1e-5f;

void ExpectFastEqualsReference(const Case& c, const std::string& expected_kernel) {
  for (int threads : {1, 2, 3}) {
    OneNode node(c, 11);
    std::string kernel, reference;
    const auto want = node.Run({1, {}, true}, &reference), got = node.Run({threads, {}, false}, &kernel);
    ASSERT_EQ(reference.rfind("reference", 0), 0u);
    ASSERT_EQ(kernel.rfind(expected_kernel, 0), 0u) << c.op << " ran on " << kernel;
    for (size_t o = 0; o < want.size(); ++o)
      for (int64_t i = 0; i < want[o].elements(); ++i) {
        const float a = want[o].as<float>()[i], b = got[o].as<float>()[i];
        ASSERT_NEAR(a, b, kTolerance * (1 + std::abs(a)))
            << c.op << " output " << o << " element " << i << " with " << threads << " threads";
      }
  }
}

const std::pair<const char*, Attribute> kNhwc{"layout", std::string("NHWC")};

TEST(CpuConv, MatchesTheReference) {
  const Shape left_out = Shape::Unknown();
  ExpectFastEqualsReference(
      {"Conv", {{1, 7, 5, 3}, {17, 3, 3, 3}}, {1}, With({kNhwc, {"pads", Ints{1, 1, 1, 1}}})}, "conv_");
  ExpectFastEqualsReference({"Conv",
                             {{2, 7, 5, 3}, {5, 3, 3, 2}, {5}},
                             {1, 2},
                             With({kNhwc, {"strides", Ints{2, 3}}, {"auto_pad", std::string("SAME_UPPER")}})},
                            "conv_");
  ExpectFastEqualsReference(
      {"Conv",
       {{1, 9, 8, 4}, {5, 4, 3, 3}, {5}},
       {1, 2},
       With({kNhwc, {"dilations", Ints{2, 1}}, {"auto_pad", std::string("SAME_LOWER")}})},
      "conv_");
  ExpectFastEqualsReference({"Conv", {{2, 5, 7, 33}, {40, 33, 1, 1}, {40}}, {1, 2}, With({kNhwc})},
                            "conv_1x1");
  ExpectFastEqualsReference({"Conv",
                             {{1, 6, 6, 12}, {8, 3, 3, 3}},
                             {1},
                             With({kNhwc, {"group", int64_t{4}}, {"pads", Ints{0, 1, 2, 1}}})},
                            "conv_");
  ExpectFastEqualsReference({"Conv",
                             {{1, 6, 6, 5}, {9, 5, 1, 1}, left_out, {1, 6, 6, 9}},
                             {1},
                             With({kNhwc, {"residual", int64_t{1}}, {"activation", std::string("Relu")}})},
                            "conv_1x1");
}

// Tiles and channels are divided among threads, for every size of tile. A wrong connection gives errors of
// the magnitude of the sums, 6; the bound of the numerical error is tested beside the kernel (here F(6x6)
// reaches 1e-4).
TEST(CpuConv, WinogradMatchesTheReference) {
  for (const ConvAlgorithm algorithm :
       {ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4, ConvAlgorithm::kWinogradF6})
    for (const Shape& x : {Shape{2, 33, 35, 5}, Shape{1, 7, 6, 40}})
      for (int threads : {1, 2, 3}) {
        OneNode node({"Conv",
                      {x, {70, x[3], 3, 3}, {70}},
                      {1, 2},
                      With({kNhwc, {"pads", Ints{1, 1, 1, 1}}, {"activation", std::string("Relu")}})},
                     11);
        std::string kernel, reference;
        const Tensor want = node.Run({1, {}, true}, &reference)[0],
                     got = node.Run({threads, {}, false, algorithm}, &kernel)[0];
        ASSERT_EQ(kernel.rfind(std::string(Name(algorithm)) + "_f32 ", 0), 0u) << kernel;
        for (int64_t i = 0; i < want.elements(); ++i)
          ASSERT_NEAR(want.as<float>()[i], got.as<float>()[i], 5e-4f) << kernel << " element " << i;
      }
}

TEST(CpuConv, WinogradOnlyWhereItFits) {
  const auto kernel_of = [](const Case& c, std::optional<ConvAlgorithm> algorithm) {
    std::string kernel;
    OneNode(c, 1).Run({1, {}, false, algorithm}, &kernel);
    return kernel.substr(0, kernel.find(' '));
  };
  const Case wide{"Conv", {{1, 28, 28, 64}, {64, 64, 3, 3}}, {1}, With({kNhwc, {"pads", Ints{1, 1, 1, 1}}})};
  EXPECT_EQ(kernel_of(wide, {}), "winograd_f4_f32");
  EXPECT_EQ(kernel_of(wide, ConvAlgorithm::kDirect), "conv_f32");
  EXPECT_EQ(kernel_of(wide, ConvAlgorithm::kWinogradF6), "winograd_f6_f32");
  const Case strided{"Conv", {{1, 28, 28, 64}, {64, 64, 3, 3}}, {1}, With({kNhwc, {"strides", Ints{2, 2}}})};
  EXPECT_EQ(kernel_of(strided, ConvAlgorithm::kWinogradF4), "conv_f32");
  const Case first{"Conv", {{1, 28, 28, 3}, {64, 3, 3, 3}}, {1}, With({kNhwc})};
  EXPECT_EQ(kernel_of(first, {}), "conv_rows_f32");
}

TEST(ConvAlgorithm, NamesAreReadBack) {
  for (ConvAlgorithm a : {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4,
                          ConvAlgorithm::kWinogradF6})
    EXPECT_EQ(ParseConvAlgorithm("here", Name(a)), a);
  EXPECT_EQ(ParseConvAlgorithm("here", "auto"), std::nullopt);
  EXPECT_THROW(ParseConvAlgorithm("here", "winograd_f3"), Error);
}

// Expected results were measured (bench/kernels, three/*, AVX-512, one core).
TEST(ConvAlgorithm, TheEstimateAgreesWithMeasurements) {
  const auto chosen = [](int64_t size, int64_t channels, int64_t outputs) {
    ConvShape s{1, size, size, channels, size, size, outputs, 3, 3};
    s.pad_top = s.pad_left = 1;
    return std::string(Name(ConvWaysFor(s, false).front()));
  };
  EXPECT_EQ(chosen(224, 64, 64), "winograd_f4");
  EXPECT_EQ(chosen(56, 64, 64), "winograd_f4");
  EXPECT_EQ(chosen(28, 128, 128), "winograd_f4");
  EXPECT_EQ(chosen(55, 16, 64), "winograd_f4");
  EXPECT_EQ(chosen(14, 256, 256), "winograd_f2");
  EXPECT_EQ(chosen(14, 512, 512), "winograd_f2");
  EXPECT_EQ(chosen(7, 512, 512), "direct");
  EXPECT_EQ(chosen(224, 3, 64), "direct");
}

// Every kernel writes 7 + 9 + 16 channels of one output, the middle, the first and the last ones, over old
// content.
TEST(CpuConv, WritesItsSliceOfAConcatenation) {
  const Shape left_out = Shape::Unknown(), whole{2, 5, 7, 32};
  auto slice = [](int64_t offset, std::initializer_list<std::pair<const char*, Attribute>> more) {
    Attributes a = With(more);
    a.Set("layout", std::string("NHWC"));
    a.Set(kIntoOffset, offset);
    a.Set(kIntoChannels, int64_t{32});
    return a;
  };
  const std::pair<const char*, Attribute> pads{"pads", Ints{1, 1, 1, 1}}, residual{"residual", int64_t{1}};
  const std::pair<const char*, Attribute> relu{"activation", std::string("Relu")};
  ExpectFastEqualsReference(
      {"Conv", {{2, 5, 7, 6}, {9, 6, 3, 3}, {9}, left_out, whole}, {1, 2}, slice(7, {pads, relu})}, "conv_");
  ExpectFastEqualsReference(
      {"Conv", {{2, 5, 7, 33}, {7, 33, 1, 1}, {7}, {2, 5, 7, 7}, whole}, {1, 2}, slice(0, {residual, relu})},
      "conv_1x1");
  ExpectFastEqualsReference({"Conv",
                             {{2, 5, 7, 3}, {16, 3, 3, 3}, left_out, {2, 5, 7, 16}, whole},
                             {1},
                             slice(16, {pads, residual})},
                            "conv_");
  ExpectFastEqualsReference({"Conv",
                             {{2, 5, 7, 9}, {9, 1, 3, 3}, {9}, {2, 5, 7, 9}, whole},
                             {1, 2},
                             slice(7, {pads, residual, {"group", int64_t{9}}})},
                            "depthwise");
  ExpectFastEqualsReference({"Conv",
                             {{2, 5, 7, 6}, {9, 2, 3, 3}, left_out, left_out, whole},
                             {1},
                             slice(7, {pads, {"group", int64_t{3}}})},
                            "conv_");
}

TEST(CpuConv, WinogradWritesItsSlice) {
  for (const ConvAlgorithm algorithm :
       {ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4, ConvAlgorithm::kWinogradF6}) {
    OneNode node({"Conv",
                  {{2, 7, 9, 6}, {9, 6, 3, 3}, {9}, {2, 7, 9, 9}, {2, 7, 9, 32}},
                  {1, 2},
                  With({kNhwc,
                        {"pads", Ints{1, 1, 1, 1}},
                        {"residual", int64_t{1}},
                        {kIntoOffset, int64_t{7}},
                        {kIntoChannels, int64_t{32}}})},
                 3);
    std::string kernel, reference;
    const Tensor want = node.Run({1, {}, true}, &reference)[0],
                 got = node.Run({2, {}, false, algorithm}, &kernel)[0];
    ASSERT_EQ(kernel.rfind(std::string(Name(algorithm)), 0), 0u) << kernel;
    for (int64_t i = 0; i < want.elements(); ++i)
      ASSERT_NEAR(want.as<float>()[i], got.as<float>()[i], 5e-4f) << kernel << " element " << i;
  }
}

// Whatever the tuner chooses, it is one of the ways, and the reason names it.
TEST(CpuConv, TunedOnesMatchTheReference) {
  for (const Case& c : {Case{"Conv",
                             {{1, 14, 13, 40}, {70, 40, 3, 3}, {70}},
                             {1, 2},
                             With({kNhwc, {"pads", Ints{1, 1, 1, 1}}})},
                        Case{"Conv",
                             {{1, 9, 8, 30}, {100, 30, 1, 1}, Shape::Unknown(), {1, 9, 8, 100}},
                             {1},
                             With({kNhwc, {"residual", int64_t{1}}})},
                        Case{"Gemm", {{13, 50}, {50, 100}, {100}}, {1, 2}, {}},
                        Case{"MatMul", {{3, 5, 17}, {3, 17, 70}}, {}, {}}}) {
    Tuner tuner;
    for (const int threads : {1, 2}) {
      OneNode node(c, 11);
      std::string kernel, reference;
      KernelOptions options{.threads = threads};
      options.tuner = &tuner;
      options.weights_from_memory = threads == 2;
      const Tensor want = node.Run({1, {}, true}, &reference)[0], got = node.Run(options, &kernel)[0];
      for (int64_t i = 0; i < want.elements(); ++i)
        ASSERT_NEAR(want.as<float>()[i], got.as<float>()[i], 2e-4f)
            << c.op << " by " << kernel << " element " << i;
      if (GemmTileWidths(70).size() > 1) {
        EXPECT_NE(node.Reason(options).find("measured"), std::string::npos) << c.op;
      }
    }
    const int measured = tuner.measured();
    OneNode node(c, 12);
    std::string kernel;
    KernelOptions options{.threads = 1};
    options.tuner = &tuner;
    node.Run(options, &kernel);
    EXPECT_EQ(tuner.measured(), measured) << "the times of " << c.op << " were known";
    options.threads = 2;
    node.Reason(options, 1);
    EXPECT_EQ(tuner.measured(), measured) << "one thread of two is one thread";
  }
}

// Threads on cores of two kinds: the times of each kind alone are in the reason, and the next start reads
// them.
TEST(CpuConv, EachKindOfCoreIsTimedAndTheResultIsTheReferences) {
  const Case conv{"Conv", {{1, 9, 8, 30}, {100, 30, 1, 1}, {100}}, {1, 2}, With({kNhwc})};
  const Case computed{"MatMul", {{3, 13, 17}, {3, 17, 70}}, {}, {}},
      gemm{"Gemm", {{13, 50}, {50, 100}, {100}}, {1, 2}, {}};
  for (const Case& c : {conv, gemm, computed}) {
    Tuner tuner;
    KernelOptions options{.threads = 3};
    options.workers = {{0, 1}, {1, 0.5}, {1, 0.5}};
    options.tuner = &tuner;
    OneNode node(c, 13);
    const Tensor want = node.Run({1, {}, true})[0], got = node.Run(options)[0];
    for (int64_t i = 0; i < want.elements(); ++i)
      ASSERT_NEAR(want.as<float>()[i], got.as<float>()[i], 2e-4f) << c.op << " element " << i;
    const int measured = tuner.measured();
    const std::string reason = node.Reason(options);
    for (const char* part : {"cores of speed 1: tile of ", "cores of speed 0.5: tile of "})
      EXPECT_NE(reason.find(part), std::string::npos) << part << " in " << reason;
    EXPECT_EQ(tuner.measured(), measured) << "the times of " << c.op << " were known";
    options.workers = {};
    EXPECT_EQ(node.Reason(options).find("cores of speed"), std::string::npos) << "all alike";
  }
}

// Direct sums have the same bits with every tile; Winograd's sums do not.
TEST(FloatConv, EveryTileGivesTheSameBits) {
  ConvShape s{1, 11, 9, 20, 11, 9, 70, 3, 3};
  s.pad_top = s.pad_left = 1;
  const Tensor input = Random({1, 11, 9, 20}, 1), weights = Random({70, 20, 3, 3}, 2);
  ThreadPool pool(2);
  Packer packer(pool);
  Tensor first;
  int direct = 0;
  for (const ConvWay& way : ConvWaysFor(s, true)) {
    EXPECT_EQ(way.algorithm, ConvAlgorithm::kDirect);
    ++direct;
    FloatConv conv(s, weights.as<float>(), way, packer);
    Tensor output(DType::kF32, Shape{s.out_pixels() * 70});
    conv.Run(input.as<float>(), {}, output.mutable_view().as<float>());
    if (!first.has_value()) first = output;
    for (int64_t i = 0; i < output.elements(); ++i)
      ASSERT_EQ(output.as<float>()[i], first.as<float>()[i]) << Name(way) << " element " << i;
  }
  EXPECT_EQ(size_t(direct), GemmTileWidths(70).size());
}

// In the memory plan the output already holds the channels of other nodes, and these must stay.
TEST(CpuConv, WritesNothingButItsSlice) {
  const KernelOptions all[] = {{1, {}, true},
                               {2, {}, false, ConvAlgorithm::kDirect},
                               {2, {}, false, ConvAlgorithm::kWinogradF2},
                               {2, {}, false, ConvAlgorithm::kWinogradF4},
                               {2, {}, false, ConvAlgorithm::kWinogradF6}};
  for (int64_t kernel : {1, 3})
    for (const KernelOptions& options : all) {
      const Attributes slice = With(
          {kNhwc, {"pads", Ints(4, kernel / 2)}, {kIntoOffset, int64_t{7}}, {kIntoChannels, int64_t{32}}});
      OneNode node({"Conv", {{1, 4, 3, 5}, {9, 5, kernel, kernel}}, {1}, slice}, 5);
      const Tensor got = node.RunOver(-77.0f, options);
      for (int64_t i = 0; i < got.elements(); ++i)
        EXPECT_EQ(got.as<float>()[i] == -77.0f, i % 32 < 7 || i % 32 >= 16) << i;
    }
}

// The order of the sums is specified, so results are equal bit for bit where multiply-adds round once (all
// targets but sse4 and scalar).
TEST(CpuConv, SumsInPiecesInTheGivenOrder) {
  for (const auto& [k, n, piece] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{
           {5, 33, 5}, {7, 3, 2}, {130, 40, 128}, {300, 17, 64}}) {
    const Case c{"Conv", {{2, 3, 5, k}, {n, k, 1, 1}, {n}}, {1, 2}, With({kNhwc, {kSumPiece, piece}})};
    ExpectFastEqualsReference(c, "conv_pieces_f32");
    OneNode node(c, 11);
    std::string kernel;
    const Tensor got = node.Run({2, {}, false}, &kernel)[0];
    if (!kernel.ends_with("avx512") && !kernel.ends_with("avx2") && !kernel.ends_with("neon"))
      GTEST_SKIP() << kernel << " rounds products";
    const float *x = node.data(0).as<float>(), *w = node.data(1).as<float>(),
                *bias = node.data(2).as<float>();
    for (int64_t i = 0; i < got.elements(); ++i) {
      float sum = 0;
      for (int64_t begin = 0; begin < k; begin += piece) {
        float part = 0;
        for (int64_t j = begin; j < std::min(k, begin + piece); ++j)
          part = std::fma(x[i / n * k + j], w[i % n * k + j], part);
        sum = begin == 0 ? part : sum + part;
      }
      ASSERT_EQ(got.as<float>()[i], sum + bias[i % n])
          << "element " << i << " for K = " << k << ", pieces of " << piece;
    }
  }
}

TEST(CpuDepthwise, MatchesTheReference) {
  for (int64_t k : {3, 5, 4})
    for (int64_t stride : {1, 2, 3})
      ExpectFastEqualsReference({"Conv",
                                 {{2, 11, 9, 37}, {37, 1, k, k}, {37}},
                                 {1, 2},
                                 With({kNhwc,
                                       {"group", int64_t{37}},
                                       {"strides", Ints{stride, stride}},
                                       {"pads", Ints{1, 2, 1, 0}},
                                       {"activation", std::string("Clip")},
                                       {"activation_alpha", -0.5f},
                                       {"activation_beta", 0.75f}})},
                                "depthwise");
}

TEST(CpuMatrix, ViewsMatchTheReference) {
  const std::pair<const char*, Attribute> scale{kScale, 0.25f}, heads{kPermA, Ints{0, 2, 1, 3}},
      back{kPermY, Ints{0, 2, 1, 3}};
  for (const int64_t images : {1, 3}) {  // fewer products than threads, and more
    ExpectFastEqualsReference({"mete.MatMul",
                               {{images, 13, 2, 17}, {images, 70, 2, 17}},
                               {},
                               With({scale, heads, {kPermB, Ints{0, 2, 3, 1}}})},
                              "gemm");
    ExpectFastEqualsReference({"mete.MatMul",
                               {{images, 1, 13, 9}, {images, 9, 1, 70}},
                               {},
                               With({back, {kPermB, Ints{0, 2, 1, 3}}})},
                              "gemm");
    ExpectFastEqualsReference({"mete.MatMul",
                               {{images, 13, 2, 17}, {images, 2, 70, 17}},
                               {},
                               With({heads, back, {kPermB, Ints{0, 1, 3, 2}}})},
                              "gemm");
  }
  ExpectFastEqualsReference({"mete.MatMul", {{2, 13}, {13, 2}}, {}, With({scale})}, "gemm");
  ExpectFastEqualsReference({"mete.MatMul", {{13, 2}, {13, 70}}, {}, With({{kPermA, Ints{1, 0}}})},
                            "reference: elements of a row lie apart");
}

TEST(CpuMatrix, MatchesTheReference) {
  ExpectFastEqualsReference({"Gemm", {{7, 13}, {13, 19}, {19}}, {1, 2}, {}}, "gemm");
  ExpectFastEqualsReference(
      {"Gemm", {{7, 13}, {19, 13}, {7, 19}}, {1}, With({{"transB", int64_t{1}}, {"alpha", 0.5f}})}, "gemm");
  ExpectFastEqualsReference({"Gemm",
                             {{1, 113}, {19, 113}, {19}},
                             {1, 2},
                             With({{"transB", int64_t{1}}, {"activation", std::string("Sigmoid")}})},
                            "matvec_rows");
  ExpectFastEqualsReference({"Gemm", {{1, 113}, {113, 19}, {1, 19}}, {1, 2}, {}}, "matvec_columns");
  ExpectFastEqualsReference({"MatMul", {{2, 3, 5, 8}, {8, 33}}, {1}, {}}, "gemm");
  ExpectFastEqualsReference({"MatMul", {{2, 3, 5, 8}, {2, 3, 8, 33}}, {}, {}}, "gemm");
  ExpectFastEqualsReference({"MatMul", {{4, 5, 8}, {8, 6}}, {}, {}}, "gemm");
}

TEST(CpuPool, AWholeImageHasTheSameBitsWithAnyThreads) {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    const Case large{op, {{2, 40, 41, 90}}, {}, With({kNhwc})};
    const Tensor want = OneNode(large, 5).Run({1, {}, false})[0];
    for (const int threads : {2, 3, 4}) {
      const Tensor got = OneNode(large, 5).Run({threads, {}, false})[0];
      EXPECT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0)
          << op << " with " << threads << " threads";
    }
  }
  ExpectFastEqualsReference({"GlobalAveragePool", {{2, 40, 41, 90}}, {}, With({kNhwc})}, "global_pool");
}

TEST(CpuPool, MatchesTheReference) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    ExpectFastEqualsReference(
        {op,
         {{2, 9, 8, 19}},
         {},
         With({kNhwc, {"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 1}}})},
        "pool");
    ExpectFastEqualsReference(
        {op,
         {{1, 9, 8, 5}},
         {},
         With({kNhwc, {"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}})},
        "pool");
  }
  for (const char* padding_counts : {"count_include_pad", "mete_caffe"}) {
    const Attributes attributes = With({kNhwc,
                                        {"kernel_shape", Ints{3, 3}},
                                        {"strides", Ints{2, 2}},
                                        {"pads", Ints{1, 1, 1, 1}},
                                        {padding_counts, int64_t{1}},
                                        {"ceil_mode", int64_t{1}}});
    ExpectFastEqualsReference({"AveragePool", {{1, 9, 8, 5}}, {}, attributes}, "pool");
  }
  ExpectFastEqualsReference({"GlobalAveragePool", {{2, 9, 8, 19}}, {}, With({kNhwc})}, "global_pool");
  ExpectFastEqualsReference({"GlobalMaxPool", {{2, 9, 8, 19}}, {}, With({kNhwc})}, "global_pool");
}

TEST(CpuPool, AMaximumOverNanIsNanOnBoth) {
  OneNode node({"MaxPool", {{1, 5, 5, 3}}, {}, With({kNhwc, {"kernel_shape", Ints{2, 2}}})}, 1);
  node.SetInput(0, 7, NAN);
  std::string kernel;
  const auto want = node.Run({1, {}, true}, &kernel), got = node.Run({1, {}, false}, &kernel);
  int nans = 0;
  for (int64_t i = 0; i < want[0].elements(); ++i) {
    EXPECT_EQ(std::isnan(want[0].as<float>()[i]), std::isnan(got[0].as<float>()[i])) << i;
    nans += std::isnan(got[0].as<float>()[i]);
  }
  EXPECT_EQ(nans, 2);  // pixel (0, 2) is in two windows
}

TEST(CpuElementwise, MatchesTheReferenceOverBroadcasts) {
  const Attributes program = With({{"ops", Strings{"Mul", "Add", "Sigmoid"}},
                                   {"args", Ints{0, 1, -1, 3, 2, -1, 4, -1, -1}},
                                   {"params", Floats{0, 0, 0, 0, 0, 0}}});
  ExpectFastEqualsReference({"mete.Elementwise", {{2, 3, 5, 7}, {7}, {}}, {}, program}, "elementwise");
  ExpectFastEqualsReference({"mete.Elementwise", {{2, 3, 5, 7}, {2, 1, 1, 7}, {2, 3, 5, 7}}, {}, program},
                            "elementwise");
  ExpectFastEqualsReference({"mete.Elementwise", {{1, 30, 50, 33}, {1, 1, 1, 33}, {1, 1, 1, 1}}, {}, program},
                            "elementwise");
}

TEST(CpuRows, MatchesTheReference) {
  ExpectFastEqualsReference({"Softmax", {{5, 7, 33}}, {}, {}}, "softmax");
  ExpectFastEqualsReference({"Softmax", {{1, 33, 1, 1}}, {}, With({{"axis", int64_t{1}}})}, "softmax");
  ExpectFastEqualsReference({"LogSoftmax", {{5, 33}}, {}, {}}, "log_softmax");
  ExpectFastEqualsReference({"LayerNormalization", {{5, 7, 33}, {33}, {33}}, {1, 2}, {}}, "layer_norm");
  ExpectFastEqualsReference({"RMSNormalization", {{5, 33}, {33}}, {1}, {}}, "rms_norm");
}

TEST(CpuLrn, MatchesTheReference) {
  ExpectFastEqualsReference(
      {"LRN", {{2, 3, 5, 37}}, {}, With({kNhwc, {"size", int64_t{5}}, {"alpha", 0.5f}, {"bias", 2.0f}})},
      "lrn");
  ExpectFastEqualsReference({"LRN", {{1, 3, 5, 9}}, {}, With({kNhwc, {"size", int64_t{4}}, {"beta", 0.6f}})},
                            "lrn");
}

TEST(CpuMovement, MatchesTheReferenceForEveryOrderThatItTakes) {
  for (const Ints& perm :
       std::vector<Ints>{{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3}, {2, 0, 1, 3}, {2, 1, 0, 3}, {1, 2, 3, 0}})
    ExpectFastEqualsReference({"Transpose", {{2, 3, 5, 7}}, {}, With({{"perm", perm}})}, "transpose");
  ExpectFastEqualsReference({"Transpose", {{1, 3, 1, 7}}, {}, With({{"perm", Ints{3, 2, 1, 0}}})},
                            "transpose");
  // the pixels are divided
  ExpectFastEqualsReference({"Transpose", {{2, 3, 301, 307}}, {}, With({{"perm", Ints{0, 2, 3, 1}}})},
                            "transpose");
  ExpectFastEqualsReference({"Transpose", {{1, 301, 307, 3}}, {}, With({{"perm", Ints{0, 3, 1, 2}}})},
                            "transpose");
  // the blocks are ranges of images
  ExpectFastEqualsReference({"Transpose", {{5, 3, 71, 70}}, {}, With({{"perm", Ints{0, 2, 3, 1}}})},
                            "transpose");
  ExpectFastEqualsReference({"Transpose", {{5, 71, 70, 3}}, {}, With({{"perm", Ints{0, 3, 1, 2}}})},
                            "transpose");
  // channels are shuffled, pixels are divided
  for (const Shape& x : {Shape{1, 28, 27, 2, 58}, Shape{1, 28, 27, 58, 2}, Shape{1, 14, 14, 5, 29}})
    ExpectFastEqualsReference({"Transpose", {x}, {}, With({{"perm", Ints{0, 1, 2, 4, 3}}})}, "transpose_f32");
  ExpectFastEqualsReference({"Concat", {{2, 3, 5}, {2, 1, 5}, {2, 4, 5}}, {}, With({{"axis", int64_t{1}}})},
                            "concat");
  // the rows are divided
  ExpectFastEqualsReference({"Concat", {{300, 29}, {300, 30}}, {}, With({{"axis", int64_t{1}}})}, "concat");
  Case split{"Split", {{2, 7, 5}}, {}, With({{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}})};
  split.outputs = 2;
  ExpectFastEqualsReference(split, "split");
}

TEST(CpuKernels, SaysWhyTheReferenceRuns) {
  OneNode node({"Gemm", {{3, 2}, {3, 4}}, {1}, With({{"transA", int64_t{1}}})}, 1);
  std::string kernel;
  node.Run({1, {}, false}, &kernel);
  EXPECT_EQ(kernel, "reference: A is transposed");
}

// All weights have the same bytes and one folder: what one kernel, size or target has packed must not be used
// by another.
TEST(CpuPackedCache, GivesEveryFamilyItsOwnWeights) {
  const Shape x{1, 9, 8, 192};
  const std::pair<const char*, Attribute> three_by_three{"pads", Ints{1, 1, 1, 1}};
  const std::vector<Case> cases = {
      {"Conv", {x, {192, 192, 3, 3}}, {1}, With({kNhwc, three_by_three})},
      {"Conv", {{1, 9, 8, 384}, {384, 96, 3, 3}}, {1}, With({kNhwc, three_by_three, {"group", int64_t{4}}})},
      {"Conv", {{1, 9, 8, 576}, {576, 576, 1, 1}}, {1}, With({kNhwc})},
      {"Conv", {{1, 9, 8, 576}, {576, 576, 1, 1}}, {1}, With({kNhwc, {kSumPiece, int64_t{100}}})},
      {"Conv", {{1, 9, 8, 576}, {576, 576, 1, 1}}, {1}, With({kNhwc, {kSumPiece, int64_t{200}}})},
      {"Conv",
       {{1, 3, 4, 36864}, {36864, 1, 3, 3}},
       {1},
       With({kNhwc, three_by_three, {"group", int64_t{36864}}})},
      {"MatMul", {{3, 576}, {576, 576}}, {1}, {}},
      {"MatMul", {{3, 1152}, {1152, 288}}, {1}, {}},
      {"MatMul", {{4, 3, 288}, {4, 288, 288}}, {1}, {}},
      {"mete.MatMul", {{2, 2, 3, 288}, {2, 2, 288, 288}}, {1}, With({{kPermB, Ints{1, 0, 2, 3}}})},
      {"Gemm", {{3, 576}, {576, 576}}, {1}, With({{"transB", int64_t{1}}})},
      {"Gemm", {{3, 576}, {576, 576}}, {1}, With({{"alpha", 2.f}})},
  };
  const std::optional<ConvAlgorithm> algorithms[] = {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2,
                                                     ConvAlgorithm::kWinogradF4};
  const TempPath folder;
  for (const std::string& target : AvailableTargets()) {
    ForceTarget(target);
    for (size_t i = 0; i < cases.size(); ++i)
      for (const auto& algorithm : algorithms) {
        if (algorithm != ConvAlgorithm::kDirect && i > 0) continue;
        OneNode node(cases[i], 11);
        for (int64_t e = 0; e < node.data(1).elements(); ++e)
          node.SetInput(1, e, float(e * 37 % 101 - 50) * 0.01f);
        const KernelOptions plain{2, {}, false, algorithm},
            kept{.threads = 2, .conv = algorithm, .packed_cache = folder.str()};
        std::string kernel;
        const Tensor want = node.Run(plain, &kernel)[0];
        SCOPED_TRACE(kernel + " case " + std::to_string(i));
        EXPECT_EQ(node.MappedBytes(kept), 0);
        EXPECT_GT(node.MappedBytes(kept), 0);
        const Tensor got = node.Run(kept, &kernel)[0];
        ASSERT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0);
      }
  }
  ForceTarget("best");
}

TEST(CpuPackedCache, GivesEveryWayOfAConvolutionItsOwnWeights) {
  ConvShape s{1, 11, 9, 240, 11, 9, 130, 3, 3};
  s.pad_top = s.pad_left = 1;
  const Tensor input = Random({1, 11, 9, 240}, 1), weights = Random({130, 240, 3, 3}, 2);
  ThreadPool pool(2);
  const TempPath folder;
  auto run = [&](const ConvWay& way, Packer& packer) {
    Tensor output(DType::kF32, Shape{s.out_pixels() * 130});
    FloatConv(s, weights.as<float>(), way, packer)
        .Run(input.as<float>(), {}, output.mutable_view().as<float>());
    return output;
  };
  for (const ConvWay& way : ConvWaysFor(s, false)) {
    Packer plain(pool), first(pool, folder.str()), second(pool, folder.str());
    const Tensor want = run(way, plain);
    for (Packer* packer : {&first, &second})
      ASSERT_EQ(std::memcmp(run(way, *packer).data(), want.data(), want.bytes()), 0) << Name(way);
    EXPECT_EQ(first.mapped_bytes(), 0) << Name(way);
    EXPECT_GT(second.mapped_bytes(), 0) << Name(way);
  }
}

}  // namespace
}  // namespace mete
