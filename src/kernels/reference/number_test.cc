#include "kernels/reference/number.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

TEST(FromDouble, SaturatesIntegersAndTakesNanToZero) {
  EXPECT_EQ(FromDouble<int32_t>(1e20), INT32_MAX);
  EXPECT_EQ(FromDouble<int64_t>(-INFINITY), INT64_MIN);
  EXPECT_EQ(FromDouble<int64_t>(0x1p63), INT64_MAX);
  EXPECT_EQ(FromDouble<uint64_t>(0x1p64), UINT64_MAX);
  EXPECT_EQ(FromDouble<uint8_t>(-0.5), 0);
  EXPECT_EQ(FromDouble<int8_t>(-3.9), -3);
  EXPECT_EQ(FromDouble<int32_t>(NAN), 0);
}

TEST(FromDouble, RoundsOnceOnTheWayToHalf) {
  // The value is slightly above the middle between two f16 values. Rounding to f32 first would give the
  // middle.
  EXPECT_EQ(FromDouble<F16>(1 + 0x1p-11 + 0x1p-40).bits, F16(1 + 0x1p-10f).bits);
  EXPECT_EQ(FromDouble<F16>(1 + 0x1p-11 - 0x1p-40).bits, F16(1.0f).bits);
  EXPECT_EQ(FromDouble<F16>(-1 - 0x1p-11 - 0x1p-40).bits, F16(-1 - 0x1p-10f).bits);
}

TEST(Wrapping, IntegersWrapWithoutOverflow) {
  EXPECT_EQ(WrapAdd<int32_t>(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(WrapMul<uint16_t>(65535, 65535), 1);
  EXPECT_EQ(WrapSub<int8_t>(-128, 1), 127);
}

TEST(BoolByte, AnyByteButZeroIsTrue) {
  BoolByte b;
  b.bits = 2;
  EXPECT_TRUE(b);
  EXPECT_EQ(b, BoolByte(true));
}

}  // namespace
}  // namespace mete
