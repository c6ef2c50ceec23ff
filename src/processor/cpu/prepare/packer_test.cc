#include "processor/cpu/prepare/packer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "base/temp_path_testing.h"

namespace mete {
namespace {

constexpr int64_t kElements = 320 * 1024;  // 1.25 MiB: enough for a file

class PackerTest : public testing::Test {
 protected:
  PackerTest() { std::iota(weights_.begin(), weights_.end(), 0.f); }

  // "Packs" by doubling the elements, in pieces of 1000.
  Tensor Pack(Packer& packer, const std::string& what = "doubled", int64_t elements = kElements) {
    const std::span<const float> weights = std::span(weights_).first(size_t(elements));
    return packer.Pack(what, weights, elements * 4, (elements + 999) / 1000,
                       [&](Range pieces, float* packed) {
                         for (int64_t i = pieces.begin * 1000; i < std::min(elements, pieces.end * 1000); ++i)
                           packed[i] = weights[size_t(i)] * 2;
                       });
  }

  void ExpectDoubled(const Tensor& packed) {
    ASSERT_EQ(packed.bytes(), size_t(kElements) * 4);
    for (int64_t i = 0; i < kElements; ++i) ASSERT_EQ(packed.as<float>()[i], weights_[size_t(i)] * 2) << i;
  }

  // Returns whether the packed weights were mapped from a file.
  bool Mapped(const std::string& what = "doubled") {
    Packer packer(pool_, folder_.str());
    Pack(packer, what);
    return packer.mapped_bytes() == kElements * 4;
  }

  std::vector<std::string> Files() {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.str() + "/weights"))
      files.push_back(entry.path().string());
    return files;
  }

  const TempPath folder_;
  std::vector<float> weights_ = std::vector<float>(kElements);
  ThreadPool pool_{2};
};

TEST_F(PackerTest, WithoutAFolderOnlyPacks) {
  Packer packer(pool_);
  ExpectDoubled(Pack(packer));
  EXPECT_EQ(packer.mapped_bytes(), 0);
  EXPECT_EQ(packer.Explain(), "");
}

TEST_F(PackerTest, PacksWeightsThatAreNoConstantsEachTime) {
  Packer packer(pool_);
  const Tensor first = Pack(packer);
  weights_.assign(kElements, 7);
  ExpectDoubled(Pack(packer));
}

TEST_F(PackerTest, SharesWhatItHasPackedOfAConstant) {
  Packer packer(pool_);
  Tensor constant(DType::kF32, {kElements});
  std::copy(weights_.begin(), weights_.end(), constant.mutable_view().as<float>());
  packer.SetConstants({constant});
  const auto pack = [&] {
    return packer.Pack("copied", std::span(constant.as<float>(), size_t(kElements)), kElements * 4, 1,
                       [&](Range, float* packed) { std::copy_n(constant.as<float>(), kElements, packed); });
  };
  const Tensor first = pack(), second = pack();
  EXPECT_EQ(first.data(), second.data());
  EXPECT_EQ(packer.packed_bytes(), kElements * 4);
}

TEST_F(PackerTest, SharesWhatAnotherPackerHasPackedOfAConstant) {
  const auto in_use = std::make_shared<PackedInUse>();
  Packer packers[] = {Packer(pool_, "", in_use), Packer(pool_, "", in_use)};
  const auto pack = [&](Packer& packer, const Tensor& constant, const std::string& what) {
    packer.SetConstants({constant});
    return packer.Pack(what, constant, kElements * 4, 1,
                       [&](Range, float* packed) { ReadElements(constant, 0, kElements, packed); });
  };
  const Tensor constant = Tensor::Floats({kElements}, weights_);
  Tensor first = pack(packers[0], constant, "copied"), second = pack(packers[1], constant, "copied");
  EXPECT_EQ(first.data(), second.data());
  EXPECT_EQ(in_use->bytes(), kElements * 4);
  const Tensor other_way = pack(packers[1], constant, "copied otherwise"),
               other = pack(packers[1], Tensor::Floats({kElements}, weights_), "copied");
  EXPECT_NE(other_way.data(), first.data());
  EXPECT_NE(other.data(), first.data());
  EXPECT_EQ(in_use->bytes(), 3 * kElements * 4);
  first = second = Tensor();
  EXPECT_EQ(in_use->bytes(), 2 * kElements * 4) << "no kernel uses the first any more";
}

// The packer must pack all weights although the caller computes only a worker's share of a step.
TEST_F(PackerTest, PacksAllWhileTheCallerStandsInForAWorker) {
  pool_.BeginStep(pool_.NewStep());
  const ThreadPool::StandIn alone(pool_, 1);
  Packer packer(pool_);
  ExpectDoubled(Pack(packer));
}

TEST_F(PackerTest, MapsWhatItHasPackedBefore) {
  Packer first(pool_, folder_.str()), second(pool_, folder_.str());
  ExpectDoubled(Pack(first));
  EXPECT_EQ(first.mapped_bytes(), 0);
  EXPECT_NE(first.Explain().find(": 1 (1.2 MiB) packed and written\n"), std::string::npos) << first.Explain();
  const Tensor mapped = Pack(second);
  ExpectDoubled(mapped);
  EXPECT_EQ(second.mapped_bytes(), kElements * 4);
  EXPECT_NE(second.Explain().find(": 1 (1.2 MiB) mapped\n"), std::string::npos) << second.Explain();
  EXPECT_EQ(uintptr_t(mapped.data()) % 64, 0u);
}

TEST_F(PackerTest, OtherWeightsKernelsAndSizesHaveOtherFiles) {
  EXPECT_FALSE(Mapped());
  EXPECT_TRUE(Mapped());
  EXPECT_FALSE(Mapped("doubled another way"));
  weights_[kElements / 2] += 1;
  EXPECT_FALSE(Mapped());
  EXPECT_TRUE(Mapped());
  weights_[kElements / 2] -= 1;
  EXPECT_TRUE(Mapped());
  Packer packer(pool_, folder_.str());
  Pack(packer, "doubled", kElements - 1);
  EXPECT_EQ(packer.mapped_bytes(), 0);
  EXPECT_EQ(Files().size(), 4u);
}

TEST_F(PackerTest, LeavesSmallOnesAlone) {
  Packer packer(pool_, folder_.str());
  Pack(packer, "doubled", 100);
  EXPECT_FALSE(std::filesystem::exists(folder_.str()));
  EXPECT_NE(packer.Explain().find("too small"), std::string::npos) << packer.Explain();
}

TEST_F(PackerTest, DamagedFilesAreToldAboutAndWrittenAgain) {
  EXPECT_FALSE(Mapped());
  const std::string path = Files().at(0);
  std::filesystem::resize_file(path, 5000);
  Packer packer(pool_, folder_.str());
  ExpectDoubled(Pack(packer));
  EXPECT_EQ(packer.mapped_bytes(), 0);
  EXPECT_NE(packer.Explain().find(path + "] cut off or too long"), std::string::npos) << packer.Explain();
  EXPECT_TRUE(Mapped());
}

TEST_F(PackerTest, AFolderThatCannotBeWrittenToIsToldAboutOnce) {
  std::ofstream(folder_.str()) << "in the way";
  Packer packer(pool_, folder_.str());
  ExpectDoubled(Pack(packer));
  ExpectDoubled(Pack(packer, "doubled another way"));
  const std::string explained = packer.Explain();
  EXPECT_NE(explained.find(": 2 (2.5 MiB) packed and not written\n"), std::string::npos) << explained;
  EXPECT_NE(explained.find("nothing more is kept"), std::string::npos) << explained;
  EXPECT_EQ(explained.find("nothing more is kept"), explained.rfind("nothing more is kept")) << explained;
}

}  // namespace
}  // namespace mete
