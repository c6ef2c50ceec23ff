#include "processor/opencl/gpu/tile_tuner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/temp_path_testing.h"
#include "processor/opencl/api/device_testing.h"

namespace mete::opencl {
namespace {

class TunedTiles : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    live = std::make_shared<LiveGpu>("gpu", device(), StagingKind::kMapped, "", Clock::Steady());
    spec.shape = SizedProduct(1, 20, 32, 16);
    spec.residual = true;
    candidates = ConvTiles(spec, {.is_cpu = true, .vector = 8});
  }

  std::shared_ptr<LiveGpu> live;
  ConvSpec spec;
  std::vector<Tile> candidates;
};

TEST_F(TunedTiles, AreMeasuredOnceAndKept) {
  const TempPath folder;
  ASSERT_GT(candidates.size(), TileTuner::kMeasured);
  const std::span<const Tile> measured = std::span(candidates).first(TileTuner::kMeasured);
  Tile chosen;
  {
    TileTuner tuner(folder.str(), device().facts());
    chosen = tuner.Choose(live, spec, candidates);
    EXPECT_NE(std::find(measured.begin(), measured.end(), chosen), measured.end());
    EXPECT_EQ(tuner.measured(), int(TileTuner::kMeasured));
    EXPECT_EQ(tuner.Choose(live, spec, candidates), chosen);
    EXPECT_EQ(tuner.measured(), int(TileTuner::kMeasured));
    tuner.Save();
  }
  TileTuner next(folder.str(), device().facts());
  EXPECT_EQ(next.Choose(live, spec, candidates), chosen);
  EXPECT_EQ(next.measured(), 0);
  DeviceFacts newer = device().facts();
  newer.driver += " newer";
  TileTuner of_another_driver(folder.str(), newer);
  (void)of_another_driver.Choose(live, spec, candidates);
  EXPECT_EQ(of_another_driver.measured(), int(TileTuner::kMeasured));
}

// A half of a layer takes the tile that its whole has shown to be fastest, and no kernel is compiled for
// that.
TEST_F(TunedTiles, OfOtherSizesFollow) {
  const TempPath folder;
  TileTuner tuner(folder.str(), device().facts());
  spec.shape = SizedProduct(1, 96, 64, 16);
  (void)tuner.Choose(live, spec, ConvTiles(spec, {.is_cpu = true, .vector = 8}));
  const int measured = tuner.measured();
  EXPECT_EQ(measured, int(TileTuner::kMeasured));
  for (const auto& [rows, columns] : {std::pair{48, 64}, {96, 32}, {60, 64}, {96, 48}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns);
    spec.shape = SizedProduct(1, rows, columns, 16);
    const std::vector<Tile> tiles = ConvTiles(spec, {.is_cpu = true, .vector = 8});
    const Tile chosen = tuner.Choose(live, spec, tiles);
    EXPECT_EQ(tuner.measured(), measured);
    tuner.Save();
    TileTuner next(folder.str(), device().facts());
    EXPECT_EQ(next.Choose(live, spec, tiles), chosen);
  }
  // Other steps, another form and much smaller sizes do not follow.
  ConvSpec others[] = {spec, spec, spec};
  others[0].shape = SizedProduct(1, 96, 64, 24);
  others[1].shape.kernel_width = 3;
  others[1].shape.pad_left = 1;
  others[2].shape = SizedProduct(1, 12, 64, 16);
  int all = measured;
  for (const ConvSpec& other : others) {
    (void)tuner.Choose(live, other, ConvTiles(other, {.is_cpu = true, .vector = 8}));
    EXPECT_GT(tuner.measured(), all);
    all = tuner.measured();
  }
}

TEST_F(TunedTiles, OfOneCandidateAreNotMeasured) {
  TileTuner tuner("", device().facts());
  EXPECT_EQ(tuner.Choose(live, spec, std::span(candidates).first(1)), candidates[0]);
  EXPECT_EQ(tuner.measured(), 0);
}

}  // namespace
}  // namespace mete::opencl
