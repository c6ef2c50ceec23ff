// What the nodes of families_test.cc do not show of prepared kernels: equal bits, NaN, and the cache of
// packed weights of all families.
#include "processor/cpu/prepare/kernels.h"

#include <cstring>

#include "base/temp_path_testing.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

TEST(CpuPool, AWholeImageHasTheSameBitsWithAnyThreads) {
  for (const std::string op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    const std::string large = op + "(2x40x41x90) {layout=\"NHWC\"}";
    const Tensor want = OneNode(large, 5).Run({})[0];
    for (const int threads : {2, 3, 4}) {
      const Tensor got = OneNode(large, 5).Run({.threads = threads})[0];
      EXPECT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0)
          << op << " with " << threads << " threads";
    }
  }
}

TEST(CpuPool, AMaximumOverNanIsNanOnBoth) {
  OneNode node("MaxPool(1x5x5x3) {layout=\"NHWC\", kernel_shape=[2,2]}", 1);
  node.SetInput(0, 7, NAN);
  std::string kernel;
  const auto want = node.Run({.reference = true}, &kernel), got = node.Run({}, &kernel);
  int nans = 0;
  for (int64_t i = 0; i < want[0].elements(); ++i) {
    EXPECT_EQ(std::isnan(want[0].as<float>()[i]), std::isnan(got[0].as<float>()[i])) << i;
    nans += std::isnan(got[0].as<float>()[i]);
  }
  EXPECT_EQ(nans, 2);  // pixel (0, 2) is in two windows
}

// All weights have the same bytes and one folder: what one kernel, size or target has packed must not be used
// by another.
TEST(CpuPackedCache, GivesEveryFamilyItsOwnWeights) {
  const std::vector<std::string> nodes = {
      "Conv(1x9x8x192, const 192x192x3x3) {layout=\"NHWC\", pads=[1,1,1,1]}",
      "Conv(1x9x8x384, const 384x96x3x3) {layout=\"NHWC\", pads=[1,1,1,1], group=4}",
      "Conv(1x9x8x576, const 576x576x1x1) {layout=\"NHWC\"}",
      "Conv(1x9x8x576, const 576x576x1x1) {layout=\"NHWC\", sum_piece=100}",
      "Conv(1x9x8x576, const 576x576x1x1) {layout=\"NHWC\", sum_piece=200}",
      "Conv(1x3x4x36864, const 36864x1x3x3) {layout=\"NHWC\", pads=[1,1,1,1], group=36864}",
      "MatMul(3x576, const 576x576)",
      "MatMul(3x1152, const 1152x288)",
      "MatMul(4x3x288, const 4x288x288)",
      "mete.MatMul(2x2x3x288, const 2x2x288x288) {perm_b=[1,0,2,3]}",
      "Gemm(3x576, const 576x576) {transB=1}",
      "Gemm(3x576, const 576x576) {alpha=2.0}",
  };
  const std::optional<ConvAlgorithm> algorithms[] = {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2,
                                                     ConvAlgorithm::kWinogradF4};
  const TempPath folder;
  for (const std::string& target : AvailableTargets()) {
    ForceTarget(target);
    for (size_t i = 0; i < nodes.size(); ++i)
      for (const auto& algorithm : algorithms) {
        if (algorithm != ConvAlgorithm::kDirect && i > 0) continue;
        OneNode node(nodes[i], 11);
        for (int64_t e = 0; e < node.data(1).elements(); ++e)
          node.SetInput(1, e, float(e * 37 % 101 - 50) * 0.01f);
        const KernelOptions plain{.threads = 2, .dispatch = {.conv = algorithm}},
            kept{.threads = 2, .dispatch = {.conv = algorithm}, .packed_cache = folder.str()};
        std::string kernel;
        const Tensor want = node.Run(plain, &kernel)[0];
        SCOPED_TRACE(kernel + " for " + nodes[i]);
        EXPECT_EQ(node.MappedBytes(kept), 0);
        EXPECT_GT(node.MappedBytes(kept), 0);
        const Tensor got = node.Run(kept, &kernel)[0];
        ASSERT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0);
      }
  }
  ForceTarget("best");
}

}  // namespace
}  // namespace mete
