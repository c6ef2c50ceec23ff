#include "processor/opencl/gpu/device_constants.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/tensor_source.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/gpu/hand_made_testing.h"
#include "processor/opencl/gpu/ready_on_gpu.h"

namespace mete::opencl {
namespace {

constexpr int64_t kMany = (5 << 20) / 4 + 3;  // floats; more than are mapped at a time

class SharedConstants : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    live = std::make_shared<LiveGpu>("gpu", device(), StagingKind::kMapped, "", Clock::Steady());
  }

  // Adds `steps` times the double of the constant.
  std::shared_ptr<ReadyOnGpu> Prepare(const Tensor& constant, int steps) const {
    HandMade made = AddsOne(constant.elements(), steps);
    made.share.constants[0] = constant;
    return std::make_shared<ReadyOnGpu>("gpu", live, std::make_unique<Graph>(made.graph), made.share,
                                        NowNs());
  }

  static void ExpectAdds(ReadyOnGpu& ready, int64_t elements, float once, int steps) {
    const Tensor zeros(DType::kF32, {elements});
    const Tensor got = ready.Run({&zeros, 1}, {})[0];
    for (int64_t i = 0; i < elements; ++i) ASSERT_EQ(got.as<float>()[i], once * float(steps)) << i;
  }

  std::shared_ptr<LiveGpu> live;
};

Tensor Filled(int64_t elements, float value) {
  return Tensor::Floats({elements}, std::vector<float>(size_t(elements), value));
}

TEST_F(SharedConstants, OfTwoSharesArePackedOnce) {
  for (const int64_t elements : {int64_t{1000}, kMany}) {
    const Tensor constant = Filled(elements, 0.5f);
    auto first = Prepare(constant, 2);
    const auto second = Prepare(constant, 3);
    EXPECT_EQ(live->constants().bytes(), elements * 4);
    ExpectAdds(*first, elements, 1, 2);
    first = nullptr;
    EXPECT_EQ(live->constants().bytes(), elements * 4) << "of the second";
    ExpectAdds(*second, elements, 1, 3);
  }
  EXPECT_EQ(live->constants().bytes(), 0) << "nobody needs them any more";
}

TEST_F(SharedConstants, OfDifferentConstantsAreDifferent) {
  for (const int64_t elements : {int64_t{1000}, kMany}) {
    const Tensor half = Filled(elements, 0.5f), one = Filled(elements, 1);
    const auto first = Prepare(half, 2), second = Prepare(one, 2);
    EXPECT_EQ(live->constants().bytes(), 2 * elements * 4);
    ExpectAdds(*first, elements, 1, 2);
    ExpectAdds(*second, elements, 2, 2);
  }
}

// The place of a large constant stands for its bytes only as long as the constant is there.
TEST_F(SharedConstants, AreNotThoseOfAConstantThatHasGone) {
  std::vector<float> place(size_t(kMany), 0.5f);
  const auto constant = [&] { return Tensor(DType::kF32, {kMany}, place.data(), std::make_shared<int>()); };
  const auto first = Prepare(constant(), 1);
  place.assign(place.size(), 1.f);
  auto second = Prepare(constant(), 1);
  EXPECT_EQ(live->constants().bytes(), 2 * kMany * 4) << "both are in use";
  ExpectAdds(*first, kMany, 1, 1);
  ExpectAdds(*second, kMany, 2, 1);
  second = nullptr;
  EXPECT_EQ(live->constants().bytes(), kMany * 4) << "of the first";
}

TEST_F(SharedConstants, AreReadFromTheirSource) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(kMany * 4 + 1);
  const Tensor aligned = Filled(kMany, 0.5f);
  std::memcpy(bytes->data() + 1, aligned.data(), aligned.bytes());
  const auto constant = [&] {
    return UnalignedTensor(DType::kF32, {kMany}, std::span<const std::byte>(*bytes).subspan(1), bytes);
  };
  const auto first = Prepare(constant(), 1), second = Prepare(constant(), 2);
  EXPECT_EQ(live->constants().bytes(), kMany * 4) << "both sources read the same bytes";
  ExpectAdds(*first, kMany, 1, 1);
  ExpectAdds(*second, kMany, 1, 2);
}

// A source may keep a whole file.
TEST_F(SharedConstants, KeepTheirSourceAsLongAsSharesUseThem) {
  auto bytes = std::make_shared<std::vector<std::byte>>(kMany * 4);
  const std::weak_ptr<std::vector<std::byte>> kept = bytes;
  auto share = Prepare(UnalignedTensor(DType::kF32, {kMany}, *bytes, bytes), 1);
  bytes = nullptr;
  EXPECT_FALSE(kept.expired()) << "other bytes may lie at its place";
  share = nullptr;
  EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace mete::opencl
