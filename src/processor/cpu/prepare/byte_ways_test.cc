#include "processor/cpu/prepare/byte_ways.h"

#include <fmt/ranges.h>

#include <cstring>

#include "kernels/fast/target/features.h"
#include "processor/cpu/prepare/conv_ways.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

// Nodes whose outputs are spread over the levels; {} is the place of more attributes.
constexpr const char* kNodes[] = {
    "QLinearConv(u8 2x9x11x20, const scalar in 0.5 to 0.5, const u8 scalar, const i8 37x20x3x3, const 37 in "
    "0.0003 to 0.0005, const i8 37 in 0 to 0, const scalar in 0.02 to 0.02, const u8 scalar, const i32 37 in "
    "-5000 to 5000) {{layout=\"NHWC\", pads=[1,1,1,1]{}}}",
    "QLinearConv(i8 1x7x5x6, const scalar in 0.5 to 0.5, const i8 scalar, const u8 9x6x3x3, const scalar in "
    "0.0005 to 0.0005, const u8 9 in 120 to 136, const scalar in 0.02 to 0.02, const i8 scalar) "
    "{{layout=\"NHWC\", levels=[-100,90]{}}}",
    "QLinearConv(u8 1x14x14x70, const scalar in 0.5 to 0.5, const u8 scalar, const i8 65x70x3x3, const 65 in "
    "0.0001 to 0.0003, const i8 scalar in 0 to 0, const scalar in 0.02 to 0.02, const i8 scalar) "
    "{{layout=\"NHWC\", pads=[0,1,2,0]{}}}",
};

std::string Line(const char* node, const std::string& more) { return fmt::format(fmt::runtime(node), more); }

constexpr const char* kPermitted = ", operands=\"f32\"";

int Level(const Tensor& t, int64_t i) {
  return t.type() == DType::kI8 ? int(t.as<int8_t>()[i]) : int(t.as<uint8_t>()[i]);
}

// Expects levels that differ by one at most, and seldom.
void ExpectNear(const Tensor& want, const Tensor& got) {
  ASSERT_EQ(want.shape(), got.shape());
  int64_t different = 0;
  for (int64_t i = 0; i < want.elements(); ++i) {
    ASSERT_LE(std::abs(Level(want, i) - Level(got, i)), 1) << "element " << i;
    different += Level(want, i) != Level(got, i);
  }
  EXPECT_LE(different, want.elements() / 500);
}

class WithoutProductsOfBytes {
 public:
  WithoutProductsOfBytes() { ForceWithout(fmt::format("{}", fmt::join(AvailableFeatures(), ","))); }
  ~WithoutProductsOfBytes() { ForceWithout(""); }
};

TEST(ByteWays, EachWayGivesTheLevelsOfTheReferenceOrNeighbours) {
  for (const char* node : kNodes) {
    const std::string line = Line(node, kPermitted);
    SCOPED_TRACE(line);
    OneNode one(line, 11);
    const Tensor want = one.Run({.reference = true})[0];
    for (const auto& [conv, name] : {std::pair{ConvAlgorithm::kDirect, "conv_bytes"},
                                     {ConvAlgorithm::kWinogradF2, "winograd_f2_bytes"},
                                     {ConvAlgorithm::kWinogradF4, "winograd_f4_bytes"}})
      for (const int threads : {1, 2, 3}) {
        std::string kernel;
        const Tensor got = one.Run({.threads = threads, .dispatch = {.conv = conv}}, &kernel)[0];
        EXPECT_TRUE(kernel.starts_with(name)) << kernel;
        ExpectNear(want, got);
        if (conv == ConvAlgorithm::kDirect) {
          EXPECT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0);
        }
        if (HasFailure()) return;
      }
  }
}

TEST(ByteWays, OutputsGoThroughATableToTheirPlaceAmongOthers) {
  OneNode one(
      "QLinearConv(u8 1x8x9x20, const scalar in 0.5 to 0.5, const u8 scalar, const i8 40x20x3x3, const 40 in "
      "0.0003 to 0.0005, const i8 40 in 0 to 0, const scalar in 0.02 to 0.02, const u8 scalar, -, const u8 "
      "256) {layout=\"NHWC\", pads=[1,1,1,1], into_channels=50, into_offset=7, operands=\"f32\"}",
      3);
  const Tensor want = one.Run({.reference = true})[0];
  for (const ConvAlgorithm conv : {ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4}) {
    std::string kernel;
    const Tensor got = one.Run({.threads = 2, .dispatch = {.conv = conv}}, &kernel)[0];
    ASSERT_TRUE(kernel.starts_with("winograd_")) << kernel;
    int64_t different = 0;
    for (int64_t i = 0; i < want.elements(); ++i)
      if (const int64_t channel = i % 50; channel >= 7 && channel < 47)
        different += Level(want, i) != Level(got, i);
    EXPECT_LE(different, want.elements() / 500);
  }
}

TEST(ByteWays, SumsAreExactWithoutPermission) {
  const WithoutProductsOfBytes without;
  for (const char* node : kNodes) {
    OneNode one(Line(node, ""), 11);
    std::string kernel;
    const Tensor want = one.Run({.reference = true})[0];
    for (const std::optional<ConvAlgorithm> conv :
         {std::optional<ConvAlgorithm>(), {ConvAlgorithm::kWinogradF4}}) {
      const Tensor got = one.Run({.dispatch = {.conv = conv}}, &kernel)[0];
      EXPECT_TRUE(kernel.starts_with("conv_bytes")) << kernel;
      EXPECT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0);
    }
  }
}

// An error of a sum in f32 would be levels of the output.
TEST(ByteWays, SumsAreExactWhereAStepOfThemIsALevel) {
  OneNode one(
      "QLinearConv(u8 1x6x6x300, const scalar in 1 to 1, const u8 scalar, const i8 9x300x3x3, const scalar "
      "in "
      "1 to 1, const i8 scalar in 0 to 0, const scalar in 1 to 1, const u8 scalar) {layout=\"NHWC\", "
      "operands=\"f32\"}",
      5);
  for (const ConvAlgorithm conv : {ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4}) {
    std::string kernel;
    (void)one.Run({.dispatch = {.conv = conv}}, &kernel);
    EXPECT_TRUE(kernel.starts_with("conv_bytes")) << kernel;
  }
}

std::string Layer(int64_t side, int64_t channels, const char* more) {
  return fmt::format(
      "QLinearConv(u8 1x{0}x{0}x{1}, const scalar in 0.5 to 0.5, const u8 scalar, const i8 {1}x{1}x3x3, "
      "const "
      "scalar in 0.0001 to 0.0001, const i8 scalar in 0 to 0, const scalar in 0.02 to 0.02, const u8 scalar) "
      "{{layout=\"NHWC\", pads=[1,1,1,1]{2}}}",
      side, channels, more);
}

TEST(ByteWays, TheEstimateTakesWinogradWhereNoInstructionMultipliesBytes) {
  const OneNodeGraph one = MakeOneNodeGraph(ParseNode("test", Layer(28, 64, "")), 7);
  std::string why;
  auto conv = QuantizedConvolutionOf(one.graph, one.node(), {}, &why);
  ASSERT_TRUE(conv) << why;
  EXPECT_EQ(ByteWaysFor(*conv), std::vector{ConvAlgorithm::kDirect}) << "the node does not permit more";
  conv->algorithms = ByteAlgorithmsFor(*conv);
  EXPECT_EQ(conv->algorithms.size(), 3u);
  if (IsFast(PlanByteConv(conv->shape, false))) {
    EXPECT_EQ(ByteWaysFor(*conv)[0], ConvAlgorithm::kDirect);
  }
  const WithoutProductsOfBytes without;
  EXPECT_EQ(ByteWaysFor(*conv)[0], ConvAlgorithm::kWinogradF4);
}

TEST(ByteWays, TheLeastExactWayIsTheLargestTile) {
  OneNode permitted(Layer(7, 40, kPermitted), 7), exact(Layer(7, 40, ""), 7);
  const KernelOptions options{.dispatch = {.plain_sums = true, .least_exact = true}};
  std::string kernel;
  (void)permitted.Run(options, &kernel);
  EXPECT_TRUE(kernel.starts_with("winograd_f4_bytes")) << kernel;
  (void)exact.Run(options, &kernel);
  EXPECT_TRUE(kernel.starts_with("conv_bytes")) << kernel;
}

TEST(ByteWays, ATunerMeasuresThem) {
  const WithoutProductsOfBytes without;
  OneNode one(Layer(28, 64, kPermitted), 7);
  Tuner tuner;
  const KernelOptions options{.threads = 2, .tuner = &tuner};
  const std::string reason = one.Reason(options);
  EXPECT_NE(reason.find("measured"), std::string::npos) << reason;
  EXPECT_NE(reason.find("winograd_f4"), std::string::npos) << reason;
  ExpectNear(one.Run({.reference = true})[0], one.Run(options)[0]);
}

}  // namespace
}  // namespace mete
