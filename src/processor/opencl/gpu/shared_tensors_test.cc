#include "processor/opencl/gpu/shared_tensors.h"

#include <gtest/gtest.h>

#include "processor/opencl/api/device_testing.h"

namespace mete::opencl {
namespace {

class SharedTensorsOf : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    if (!device().facts().has_fine_svm)
      GTEST_SKIP() << "the device has no memory that both sides see without a map";
    context.emplace(device());
  }

  std::optional<Context> context;
};

TEST_F(SharedTensorsOf, AreZeroAndAlignedAndFoundByAnyOfTheirBytes) {
  SharedTensors tensors(*context);
  const Tensor tensor = tensors.Make(DType::kF32, {3, 5});
  ASSERT_EQ(tensor.shape(), Shape({3, 5}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
  for (int i = 0; i < 15; ++i) EXPECT_EQ(tensor.as<float>()[i], 0.0f);
  EXPECT_EQ(tensors.OwnerOf(tensor.data(), 60), tensor.owner());
  EXPECT_EQ(tensors.OwnerOf(tensor.as<float>() + 10, 20), tensor.owner());
  EXPECT_FALSE(tensors.OwnerOf(tensor.as<float>() + 10, 200));  // beyond its end
  EXPECT_FALSE(tensors.OwnerOf(tensor.as<float>() - 1, 4));
  const Tensor elsewhere(DType::kF32, {3, 5});
  EXPECT_FALSE(tensors.OwnerOf(elsewhere.data(), 60));
  EXPECT_FALSE(tensors.OwnerOf(nullptr, 0));
}

TEST_F(SharedTensorsOf, AreKeptByWhoeverUsesThem) {
  auto tensors = std::make_unique<SharedTensors>(*context);
  Tensor tensor = tensors->Make(DType::kU8, {100});
  const void* const data = tensor.data();
  std::shared_ptr<const void> user = tensors->OwnerOf(data, 100);
  tensor = {};
  EXPECT_EQ(tensors->OwnerOf(data, 100), user);
  user = nullptr;
  EXPECT_FALSE(tensors->OwnerOf(data, 100));
  tensor = tensors->Make(DType::kU8, {100});
  tensors = nullptr;  // before its tensors
  EXPECT_EQ(tensor.as<uint8_t>()[99], 0);
}

}  // namespace
}  // namespace mete::opencl
