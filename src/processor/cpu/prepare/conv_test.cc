// Convolutions by every algorithm, prepared as the engine does it, against the reference over odd shapes.
#include <cstring>
#include <tuple>

#include "base/error.h"
#include "base/fused.h"
#include "base/temp_path_testing.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/float_conv.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

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
