#include "costs/gpu_estimate.h"

#include <gtest/gtest.h>

#include "costs/costs_testing.h"

namespace mete {
namespace {

// Four compute units of 10 GFLOP/s, twice that for halves and bytes; 1 GB/s; a launch takes 5 us.
GpuFigures ToyGpu() {
  GpuFigures f;
  const auto figure = [](double value) { return Figure{value, "manual"}; };
  f.compute_units = figure(4);
  f.mhz = figure(1000);
  f.f32_flops_per_cycle = figure(20);
  f.f16_flops_per_cycle = f.int8_ops_per_cycle = figure(40);
  f.compute_share = figure(0.5);
  f.depthwise_share = figure(0.25);
  f.gbytes_per_s = figure(1000);
  f.launch_us = figure(5);
  return f;
}

double Us(const Graph& graph, const GpuFigures& gpu, GpuType type = GpuType::kF32, bool exact = false) {
  return EstimateGpuUs(graph, gpu, {.type = type, .exact_bytes = exact});
}

TEST(EstimateGpu, AConvolutionIsItsWavesOfBlocks) {
  // 64 x 64 pixels in blocks of 64, and 64 channels in blocks of 16: 256 blocks, 64 waves
  const double block_us = 2.0 * 64 * 16 * (32 * 9) / 10e3;
  EXPECT_NEAR(Us(Chain({1, 64, 64, 32}).Conv(64, 3).Done(), ToyGpu()), 5 + 64 * block_us, 1e-6);
  // a channel more is a block of 16 more in each row of blocks: 320 blocks, 80 waves
  EXPECT_NEAR(Us(Chain({1, 64, 64, 32}).Conv(65, 3).Done(), ToyGpu()), 5 + 80 * block_us, 1e-6);
  // three of the last wave's units have nothing to do: 5 blocks, 2 waves
  EXPECT_NEAR(Us(Chain({1, 8, 8, 32}).Conv(80, 3).Done(), ToyGpu()), 5 + 2 * block_us, 1e-6);
}

TEST(EstimateGpu, AFewRowsAreABlockOfTheirOwnHeight) {
  const double block_us = 2.0 * 49 * 16 * 32 / 10e3;
  EXPECT_NEAR(Us(Chain({1, 7, 7, 32}).Conv(64, 1).Done(), ToyGpu()), 5 + block_us, 1e-6);
}

TEST(EstimateGpu, SlowMemoryBoundsAProduct) {
  GpuFigures gpu = ToyGpu();
  gpu.gbytes_per_s.value = 1;
  const double bytes = 4.0 * (1000 + 1000 * 1000 + 1000);
  EXPECT_NEAR(Us(Chain({1, 1000}).Product(1000).Done(), gpu), 5 + bytes * 1e-3, 1);
  EXPECT_NEAR(Us(Chain({1, 1000}).Product(1000).Done(), gpu, GpuType::kF16), 5 + bytes * 0.5e-3, 1);
}

TEST(EstimateGpu, TypesAndDepthwiseOnesHaveTheirOwnPeaks) {
  const Graph conv = Chain({1, 64, 64, 32}).Conv(64, 3).Done();
  const Graph bytes = Chain({1, 64, 64, 32}, DType::kU8).Conv(64, 3).Done();
  const double f32_us = Us(conv, ToyGpu()) - 5;
  EXPECT_NEAR(Us(conv, ToyGpu(), GpuType::kF16) - 5, f32_us / 2, 1e-6);
  EXPECT_NEAR(Us(bytes, ToyGpu()) - 5, f32_us / 2, 1e-6);
  EXPECT_NEAR(Us(bytes, ToyGpu(), GpuType::kF16) - 5, f32_us / 2, 1e-6);
  // exact bytes are integers, whatever the rate of halves is
  GpuFigures slow_bytes = ToyGpu();
  slow_bytes.int8_ops_per_cycle.value = 10;
  EXPECT_NEAR(Us(bytes, slow_bytes, GpuType::kF16, /*exact=*/true) - 5, f32_us * 2, 1e-6);
  EXPECT_NEAR(Us(bytes, slow_bytes, GpuType::kF16) - 5, f32_us / 2, 1e-6);
  EXPECT_NEAR(Us(conv, ToyGpu(), GpuType::kF16, /*exact=*/true) - 5, f32_us / 2, 1e-6);
  const double depthwise_us = Us(Chain({1, 64, 64, 32}).Conv(32, 3, 1, 32).Done(), ToyGpu()) - 5;
  EXPECT_NEAR(depthwise_us, f32_us / 2 / 32 * 2, 1e-6);
}

TEST(EstimateGpu, EachKernelIsLaunchedAndAViewIsNone) {
  GpuFigures gpu = ToyGpu();
  gpu.gbytes_per_s.value = 1e6;
  EXPECT_NEAR(Us(Chain({1024, 1024}).Relu().Relu().Done(), gpu), 2 * 5, 0.1);
  EXPECT_NEAR(Us(Chain({1024, 1024}).Relu().Flat().Done(), gpu), 5, 0.1);
}

}  // namespace
}  // namespace mete
