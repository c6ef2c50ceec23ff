#include "kernels/fast/elementwise/compare.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

using enum CompareOp;

template <class T>
bool Holds(CompareOp op, T a, T b) {
  switch (op) {
    case kEqual: return a == b;
    case kLess: return a < b;
    case kLessOrEqual: return a <= b;
    case kAnd: return a != 0 && b != 0;
    case kOr: return a != 0 || b != 0;
  }
  return false;
}

// The output elements from `cut` on are computed by another call.
template <class T>
std::vector<uint8_t> Compare(CompareOp op, DType type, const Shape& out, const Shape& a_shape,
                             const std::vector<T>& a, const Shape& b_shape, const std::vector<T>& b,
                             int64_t cut) {
  const ComparePlan plan{op, type, BroadcastOf(a_shape, out), BroadcastOf(b_shape, out)};
  std::vector<uint8_t> to(static_cast<size_t>(out.Elements()), 7);
  RunCompare(plan, a.data(), b.data(), {0, cut}, to.data());
  RunCompare(plan, a.data(), b.data(), {cut, out.Elements()}, to.data());
  return to;
}

// Compares a matrix with an operand of its own shape, a row, a column and a scalar, in both orders.
template <class T, class Values>
void ExpectOracle(CompareOp op, DType type, const Values& values) {
  const int64_t rows = 5, columns = 331;
  const Shape out{rows, columns};
  const std::vector<T> a = values(rows * columns);
  for (const Shape& shape : {out, Shape{columns}, Shape{rows, 1}, Shape{}}) {
    const std::vector<T> b = values(shape.Elements());
    for (const int64_t cut : {0, 1, 256, 340, 1655}) {
      const std::vector<uint8_t> got = Compare(op, type, out, out, a, shape, b, cut),
                                 swapped = Compare(op, type, out, shape, b, out, a, cut);
      for (size_t e = 0; e < got.size(); ++e) {
        const size_t row = e / size_t(columns), column = e % size_t(columns);
        const T other = b[shape.rank() == 0 ? 0 : shape.rank() == 1 ? column : shape[1] == 1 ? row : e];
        ASSERT_EQ(got[e], Holds(op, a[e], other))
            << "element " << e << " of " << shape.rank() << " dimensions";
        ASSERT_EQ(swapped[e], Holds(op, other, a[e])) << "element " << e;
      }
    }
  }
}

TEST(Compare, FloatsAreOrderedAsInCWithNaNsAndInfinities) {
  OnEveryTarget([](const std::string&) {
    RandomData random(5);
    const auto values = [&](int64_t count) {
      constexpr float kInf = std::numeric_limits<float>::infinity();
      constexpr float kFew[] = {-kInf, -1, -0.0f, 0.0f, 1, kInf, NAN, 1e-40f};
      std::vector<float> result(static_cast<size_t>(count));
      for (float& v : result) v = kFew[random.Int(0, 7)];
      return result;
    };
    for (const CompareOp op : {kEqual, kLess, kLessOrEqual}) ExpectOracle<float>(op, DType::kF32, values);
  });
}

// Values that differ in their upper or their lower half alone.
TEST(Compare, IntegersAreComparedInAll64Bits) {
  OnEveryTarget([](const std::string&) {
    RandomData random(6);
    const auto values = [&](int64_t count) {
      std::vector<int64_t> result(static_cast<size_t>(count));
      for (int64_t& v : result) v = random.Int(-1, 1) * (int64_t{1} << 40) + random.Int(-1, 1);
      return result;
    };
    for (const CompareOp op : {kEqual, kLess, kLessOrEqual}) ExpectOracle<int64_t>(op, DType::kI64, values);
  });
}

TEST(Compare, EveryByteButZeroIsTrue) {
  OnEveryTarget([](const std::string&) {
    RandomData random(7);
    const auto values = [&](int64_t count) {
      std::vector<uint8_t> result(static_cast<size_t>(count));
      for (uint8_t& v : result) v = random.Int(0, 1) ? 0 : static_cast<uint8_t>(random.Int(1, 255));
      return result;
    };
    for (const CompareOp op : {kAnd, kOr}) ExpectOracle<uint8_t>(op, DType::kBool, values);
  });
}

}  // namespace
}  // namespace mete
