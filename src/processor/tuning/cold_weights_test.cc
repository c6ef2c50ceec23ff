#include "processor/tuning/cold_weights.h"

#include <gtest/gtest.h>

#include "processor/tuning/tuner.h"

namespace mete {
namespace {

TEST(ColdWeights, LeaveWhatTheyReadAsItIs) {
  ColdWeights cold;
  // also more bytes than ColdWeights ever reads in place of weights
  for (const int64_t elements : {int64_t{1000}, int64_t{3}, int64_t{0}, int64_t{9} << 20}) {
    const Tensor weights = elements > 0 ? Ones(elements) : Tensor(DType::kF32, Shape{0}), input = Ones(77);
    cold.Evict(weights.view(), input.view());
    for (int64_t i = 0; i < elements; ++i) ASSERT_EQ(weights.as<float>()[i], 1) << elements;
    for (int64_t i = 0; i < 77; ++i) ASSERT_EQ(input.as<float>()[i], 1);
  }
}

// Packed weights are bytes, and their number may be no multiple of a float's size.
TEST(ColdWeights, TakeBytes) {
  ColdWeights cold;
  const Tensor weights(DType::kU8, Shape{4099}), input(DType::kU8, Shape{5});
  cold.Evict(weights.view(), input.view());
  for (int64_t i = 0; i < 4099; ++i) ASSERT_EQ(weights.as<uint8_t>()[i], 0);
}

}  // namespace
}  // namespace mete
