// Convolutions by every algorithm, with tuned tiles and in pieces, against the reference; families_test.cc
// has those that the engine chooses by itself.
#include <cstring>
#include <tuple>

#include "base/error.h"
#include "base/fused.h"
#include "base/temp_path_testing.h"
#include "dispatch/convolutions.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/float_conv.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

Tensor Random(const std::string& shape, uint32_t seed) {
  return MakeOneNodeGraph(ParseNode("test", "Relu(" + shape + ")"), seed).data[0];
}

// By the least exact way the error is measured that a permission may cause.
TEST(CpuConv, TheLeastExactWayIsThatOfTheOperands) {
  const auto kernel_with = [](const char* operands) {
    OneNode node(fmt::format("Conv(1x9x9x64, const 64x64x3x3) {{layout=\"NHWC\"{}}}", operands), 11);
    std::string kernel;
    (void)node.Run({.dispatch = {.least_exact = true}}, &kernel);
    return kernel.substr(0, kernel.find(' '));
  };
  EXPECT_EQ(kernel_with(", operands=\"bf16\""), "conv_bf16");
  EXPECT_EQ(kernel_with(""), "conv_f32");
}

// Tiles and channels are divided among threads, for every size of tile. A wrong connection gives errors of
// the magnitude of the sums, 6; the bound of the numerical error is tested beside the kernel (here F(6x6)
// reaches 1e-4).
TEST(CpuConv, WinogradMatchesTheReference) {
  for (const ConvAlgorithm algorithm :
       {ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4, ConvAlgorithm::kWinogradF6})
    for (const Shape& x : {Shape{2, 33, 35, 5}, Shape{1, 7, 6, 40}})
      for (int threads : {1, 2, 3}) {
        OneNode node(fmt::format("Conv({}, const 70x{}x3x3, const 70) {{layout=\"NHWC\", pads=[1,1,1,1], "
                                 "activation=\"Relu\"}}",
                                 ToString(x), x[3]),
                     11);
        std::string kernel, reference;
        const Tensor want = node.Run({.reference = true}, &reference)[0],
                     got = node.Run({.threads = threads, .dispatch = {.conv = algorithm}}, &kernel)[0];
        ASSERT_EQ(kernel.rfind(std::string(Name(algorithm)) + "_f32 ", 0), 0u) << kernel;
        for (int64_t i = 0; i < want.elements(); ++i)
          ASSERT_NEAR(want.as<float>()[i], got.as<float>()[i], 5e-4f) << kernel << " element " << i;
      }
}

TEST(CpuConv, WinogradOnlyWhereItFits) {
  const auto kernel_of = [](const std::string& node, std::optional<ConvAlgorithm> algorithm) {
    std::string kernel;
    OneNode(node, 1).Run({.dispatch = {.conv = algorithm}}, &kernel);
    return kernel.substr(0, kernel.find(' '));
  };
  const std::string wide = "Conv(1x28x28x64, const 64x64x3x3) {layout=\"NHWC\", pads=[1,1,1,1]}";
  EXPECT_EQ(kernel_of(wide, {}), "winograd_f4_f32");
  EXPECT_EQ(kernel_of(wide, ConvAlgorithm::kDirect), "conv_f32");
  EXPECT_EQ(kernel_of(wide, ConvAlgorithm::kWinogradF6), "winograd_f6_f32");
  const std::string strided = "Conv(1x28x28x64, const 64x64x3x3) {layout=\"NHWC\", strides=[2,2]}";
  EXPECT_EQ(kernel_of(strided, ConvAlgorithm::kWinogradF4), "conv_f32");
  const std::string first = "Conv(1x28x28x3, const 64x3x3x3) {layout=\"NHWC\"}";
  EXPECT_EQ(kernel_of(first, {}), "conv_rows_f32");
}

TEST(CpuConv, PlainSumsAreDirectWhereWinogradIsFasterByEstimate) {
  const OneNodeGraph one = MakeOneNodeGraph(
      ParseNode("test", "Conv(1x28x28x64, const 64x64x3x3) {layout=\"NHWC\", pads=[1,1,1,1]}"), 1);
  const auto kernel = [&](const KernelOptions& options) {
    CpuKernels cpu(options);
    return cpu.Prepare(one.graph, one.node(), Step{.threads = 1})->kernel();
  };
  EXPECT_TRUE(kernel({}).starts_with("winograd_f4_f32 ")) << kernel({});
  EXPECT_TRUE(kernel({.dispatch = {.plain_sums = true}}).starts_with("conv_f32 "))
      << kernel({.dispatch = {.plain_sums = true}});
}

TEST(ConvAlgorithm, NamesAreReadBack) {
  for (ConvAlgorithm a : {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4,
                          ConvAlgorithm::kWinogradF6})
    EXPECT_EQ(ParseConvAlgorithm("here", Name(a)), a);
  EXPECT_EQ(ParseConvAlgorithm("here", "auto"), std::nullopt);
  EXPECT_THROW(ParseConvAlgorithm("here", "winograd_f3"), Error);
}

// Expected results were measured (bench/kernels, AVX-512, one core).
TEST(ConvAlgorithm, TheEstimateAgreesWithMeasurements) {
  const auto chosen = [](int64_t size, int64_t channels, int64_t outputs) {
    ConvShape s{1, size, size, channels, size, size, outputs, 3, 3};
    s.pad_top = s.pad_left = 1;
    return std::string(Name(ConvWaysFor(s, AlgorithmsFor(s, {})).front()));
  };
  EXPECT_EQ(chosen(224, 64, 64), "winograd_f4");
  EXPECT_EQ(chosen(56, 64, 64), "winograd_f4");
  EXPECT_EQ(chosen(28, 128, 128), "winograd_f4");
  EXPECT_EQ(chosen(55, 16, 64), "winograd_f4");
  EXPECT_EQ(chosen(14, 256, 256), "winograd_f2");
  EXPECT_EQ(chosen(14, 512, 512), "winograd_f2");
  EXPECT_EQ(chosen(7, 512, 512), "direct");
  EXPECT_EQ(chosen(224, 3, 64), "direct");
  EXPECT_EQ(chosen(160, 64, 1), "direct");  // dot products
  EXPECT_EQ(chosen(160, 64, 4), "direct");
}

TEST(CpuConv, WinogradWritesItsSlice) {
  for (const ConvAlgorithm algorithm :
       {ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4, ConvAlgorithm::kWinogradF6}) {
    OneNode node(
        "Conv(2x7x9x6, const 9x6x3x3, const 9, 2x7x9x9, 2x7x9x32) {layout=\"NHWC\", "
        "pads=[1,1,1,1], residual=1, into_offset=7, into_channels=32}",
        3);
    std::string kernel, reference;
    const Tensor want = node.Run({.reference = true}, &reference)[0],
                 got = node.Run({.threads = 2, .dispatch = {.conv = algorithm}}, &kernel)[0];
    ASSERT_EQ(kernel.rfind(std::string(Name(algorithm)), 0), 0u) << kernel;
    for (int64_t i = 0; i < want.elements(); ++i)
      ASSERT_NEAR(want.as<float>()[i], got.as<float>()[i], 5e-4f) << kernel << " element " << i;
  }
}

// Whatever the tuner chooses, it is one of the ways, and the reason names it.
TEST(CpuConv, TunedOnesMatchTheReference) {
  for (const std::string c : {"Conv(1x14x13x40, const 70x40x3x3, const 70) {layout=\"NHWC\", pads=[1,1,1,1]}",
                              "Conv(1x9x8x30, const 100x30x1x1, -, 1x9x8x100) {layout=\"NHWC\", residual=1}",
                              "Gemm(13x50, const 50x100, const 100)", "MatMul(3x5x17, 3x17x70)"}) {
    Tuner tuner;
    for (const int threads : {1, 2}) {
      OneNode node(c, 11);
      std::string kernel, reference;
      KernelOptions options{.threads = threads};
      options.tuner = &tuner;
      options.weights_from_memory = threads == 2;
      const Tensor want = node.Run({.reference = true}, &reference)[0], got = node.Run(options, &kernel)[0];
      for (int64_t i = 0; i < want.elements(); ++i)
        ASSERT_NEAR(want.as<float>()[i], got.as<float>()[i], 2e-4f)
            << c << " by " << kernel << " element " << i;
      if (GemmTileWidths(70).size() > 1) {
        EXPECT_NE(node.Reason(options).find("measured"), std::string::npos) << c;
      }
    }
    const int measured = tuner.measured();
    OneNode node(c, 12);
    std::string kernel;
    KernelOptions options{.threads = 1};
    options.tuner = &tuner;
    node.Run(options, &kernel);
    EXPECT_EQ(tuner.measured(), measured) << "the times of " << c << " were known";
    options.threads = 2;
    node.Reason(options, 1);
    EXPECT_EQ(tuner.measured(), measured) << "one thread of two is one thread";
  }
}

// Threads on cores of two kinds: the times of each kind alone are in the reason, and the next start reads
// them.
TEST(CpuConv, EachKindOfCoreIsTimedAndTheResultIsTheReferences) {
  for (const std::string c : {"Conv(1x9x8x30, const 100x30x1x1, const 100) {layout=\"NHWC\"}",
                              "Gemm(13x50, const 50x100, const 100)", "MatMul(3x13x17, 3x17x70)"}) {
    Tuner tuner;
    KernelOptions options{.threads = 3};
    options.workers = {{0, 1}, {1, 0.5}, {1, 0.5}};
    options.tuner = &tuner;
    OneNode node(c, 13);
    const Tensor want = node.Run({.reference = true})[0], got = node.Run(options)[0];
    for (int64_t i = 0; i < want.elements(); ++i)
      ASSERT_NEAR(want.as<float>()[i], got.as<float>()[i], 2e-4f) << c << " element " << i;
    const int measured = tuner.measured();
    const std::string reason = node.Reason(options);
    for (const char* part : {"cores of speed 1: tile of ", "cores of speed 0.5: tile of "})
      EXPECT_NE(reason.find(part), std::string::npos) << part << " in " << reason;
    EXPECT_EQ(tuner.measured(), measured) << "the times of " << c << " were known";
    options.workers = {};
    EXPECT_EQ(node.Reason(options).find("cores of speed"), std::string::npos) << "all alike";
  }
}

// Direct sums have the same bits with every tile; Winograd's sums do not.
TEST(FloatConv, EveryTileGivesTheSameBits) {
  ConvShape s{1, 11, 9, 20, 11, 9, 70, 3, 3};
  s.pad_top = s.pad_left = 1;
  const Tensor input = Random("1x11x9x20", 1), weights = Random("70x20x3x3", 2);
  ThreadPool pool(2);
  Packer packer(pool);
  Tensor first;
  int direct = 0;
  for (const ConvWay& way : ConvWaysFor(s, AlgorithmsFor(s, {.plain_sums = true}))) {
    EXPECT_EQ(way.algorithm, ConvAlgorithm::kDirect);
    ++direct;
    FloatConv conv(s, weights, way, packer);
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
  const KernelOptions all[] = {{.reference = true},
                               {.threads = 2, .dispatch = {.conv = ConvAlgorithm::kDirect}},
                               {.threads = 2, .dispatch = {.conv = ConvAlgorithm::kWinogradF2}},
                               {.threads = 2, .dispatch = {.conv = ConvAlgorithm::kWinogradF4}},
                               {.threads = 2, .dispatch = {.conv = ConvAlgorithm::kWinogradF6}}};
  for (int64_t kernel : {1, 3})
    for (const KernelOptions& options : all) {
      OneNode node(fmt::format("Conv(1x4x3x5, const 9x5x{0}x{0}) {{layout=\"NHWC\", pads=[{1},{1},{1},{1}], "
                               "into_offset=7, into_channels=32}}",
                               kernel, kernel / 2),
                   5);
      const Tensor got = node.RunOver(-77.0f, options);
      for (int64_t i = 0; i < got.elements(); ++i)
        EXPECT_EQ(got.as<float>()[i] == -77.0f, i % 32 < 7 || i % 32 >= 16) << i;
    }
}

// The order of the sums is specified, so results are equal bit for bit where multiply-adds round once (all
// targets but sse4 and scalar).
TEST(CpuConv, SumsInPiecesInTheGivenOrder) {
  for (const auto& [k, n, piece] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{
           {5, 33, 5}, {7, 3, 2}, {130, 40, 128}, {300, 17, 64}, {64, 4, 64}, {130, 1, 128}, {300, 2, 64}}) {
    OneNode node(
        fmt::format("Conv(2x3x5x{0}, const {1}x{0}x1x1, const {1}) {{layout=\"NHWC\", sum_piece={2}}}", k, n,
                    piece),
        11);
    std::string kernel;
    const Tensor got = node.Run({.threads = 2}, &kernel)[0];
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
  const Tensor input = Random("1x11x9x240", 1), weights = Random("130x240x3x3", 2);
  ThreadPool pool(2);
  const TempPath folder;
  auto run = [&](const ConvWay& way, Packer& packer) {
    Tensor output(DType::kF32, Shape{s.out_pixels() * 130});
    FloatConv(s, weights, way, packer).Run(input.as<float>(), {}, output.mutable_view().as<float>());
    return output;
  };
  for (const ConvWay& way : ConvWaysFor(s, AlgorithmsFor(s, {}))) {
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
