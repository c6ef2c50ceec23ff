#include "base/narrow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace mete {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A float type as its papers define it, written down once more: the codes without a sign that stand for no
// finite number, and the code of a negative NaN.
struct Definition {
  DType type;
  int exponent_bits, mantissa_bits, bias;
  std::vector<int> infinities, nans;
  int overflow;  // of a positive number that does not saturate
  bool negative_zero = true;
};

const Definition kDefinitions[] = {
    {DType::kF8E4M3FN, 4, 3, 7, {}, {0x7f}, 0x7f},
    {DType::kF8E4M3FNUZ, 4, 3, 8, {}, {}, 0x80, false},
    {DType::kF8E5M2, 5, 2, 15, {0x7c}, {0x7d, 0x7e, 0x7f}, 0x7c},
    {DType::kF8E5M2FNUZ, 5, 2, 16, {}, {}, 0x80, false},
    {DType::kF4E2M1, 2, 1, 1, {}, {}, 0x7},
};

int SignOf(const Definition& d) { return 1 << (d.exponent_bits + d.mantissa_bits); }

bool IsIn(const std::vector<int>& codes, int code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

// Returns the number of a code by the definition: (-1)^sign * 2^(exponent - bias) * 1.mantissa, or
// 2^(1 - bias) * 0.mantissa for exponent 0.
double NumberOf(const Definition& d, int code) {
  const int magnitude = code & (SignOf(d) - 1);
  const double sign = code & SignOf(d) ? -1 : 1;
  if (!d.negative_zero && code == SignOf(d)) return kNan;
  if (IsIn(d.nans, magnitude)) return kNan;
  if (IsIn(d.infinities, magnitude)) return sign * kInf;
  const int exponent = magnitude / (1 << d.mantissa_bits), mantissa = magnitude % (1 << d.mantissa_bits);
  const double fraction = double(mantissa) / (1 << d.mantissa_bits);
  return sign *
         (exponent ? std::pow(2, exponent - d.bias) * (1 + fraction) : std::pow(2, 1 - d.bias) * fraction);
}

// Returns the codes of the numbers that are not negative, in ascending order of the numbers.
std::vector<int> Ascending(const Definition& d) {
  std::map<double, int> codes;
  for (int code = 0; code < SignOf(d); ++code)
    if (std::isfinite(NumberOf(d, code))) codes[NumberOf(d, code)] = code;
  std::vector<int> ascending;
  for (const auto& [number, code] : codes) ascending.push_back(code);
  return ascending;
}

int Encoded(DType type, double value, const NarrowRounding& how = {}) {
  return EncodeFloat(type, value, how);
}

TEST(NarrowFloats, HaveTheNumbersOfTheirDefinition) {
  for (const Definition& d : kDefinitions) {
    const int codes = 2 * SignOf(d);
    EXPECT_EQ(1 << BitsOf(d.type), codes);
    for (int byte = 0; byte < 256; ++byte) {
      const double want = NumberOf(d, byte % codes), got = NarrowNumbers(d.type)[byte];
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want))
          << Name(d.type) << " " << byte << ": " << got << " and not " << want;
    }
  }
}

TEST(NarrowFloats, EncodeEachOfTheirNumbers) {
  for (const Definition& d : kDefinitions)
    for (int code = 0; code < 2 * SignOf(d); ++code) {
      const double number = NumberOf(d, code);
      if (std::isfinite(number)) {
        EXPECT_EQ(Encoded(d.type, number), code) << Name(d.type);
      }
    }
}

TEST(NarrowFloats, RoundToTheNearestNumberAndMidpointsToTheEvenCode) {
  for (const Definition& d : kDefinitions) {
    const std::vector<int> codes = Ascending(d);
    for (size_t i = 0; i + 1 < codes.size(); ++i) {
      const double low = NumberOf(d, codes[i]), high = NumberOf(d, codes[i + 1]), middle = (low + high) / 2;
      const int even = codes[i] % 2 == 0 ? codes[i] : codes[i + 1];
      for (const int sign : {0, SignOf(d)}) {
        const double s = sign ? -1 : 1;
        const auto signed_code = [&](int code) { return code == 0 && !d.negative_zero ? 0 : code | sign; };
        EXPECT_EQ(Encoded(d.type, s * middle), signed_code(even)) << Name(d.type) << " " << s * middle;
        EXPECT_EQ(Encoded(d.type, s * std::nextafter(middle, 0)), signed_code(codes[i])) << Name(d.type);
        EXPECT_EQ(Encoded(d.type, s * std::nextafter(middle, kInf)), signed_code(codes[i + 1]))
            << Name(d.type);
      }
    }
  }
}

// "[x] > FLT_MAX" of ONNX's table: the rounded number counts, with all exponents.
TEST(NarrowFloats, SaturateOrOverflowBehindTheirLargestNumber) {
  for (const Definition& d : kDefinitions) {
    const std::vector<int> codes = Ascending(d);
    const int most = codes.back(), sign = SignOf(d);
    const double large = NumberOf(d, most), step = large - NumberOf(d, codes[codes.size() - 2]);
    const double edge = large + step / 2;  // what is smaller is rounded to `large`
    const int at_edge = most % 2 == 0 ? most : d.overflow;
    const NarrowRounding overflow{.saturate = false};
    EXPECT_EQ(Encoded(d.type, std::nextafter(edge, 0), overflow), most) << Name(d.type);
    EXPECT_EQ(Encoded(d.type, edge, overflow), at_edge) << Name(d.type);
    for (const double x : {std::nextafter(edge, kInf), 1e300, kInf}) {
      EXPECT_EQ(Encoded(d.type, x), most) << Name(d.type);
      EXPECT_EQ(Encoded(d.type, -x), most | sign) << Name(d.type);
      EXPECT_EQ(Encoded(d.type, x, overflow), d.overflow) << Name(d.type);
      EXPECT_EQ(Encoded(d.type, -x, overflow), d.overflow | sign) << Name(d.type);
    }
  }
}

TEST(NarrowFloats, KeepNanAndZero) {
  for (const Definition& d : kDefinitions) {
    for (const bool saturate : {true, false}) {
      const int code = Encoded(d.type, kNan, {.saturate = saturate});
      const bool has_nan = d.type != DType::kF4E2M1;
      EXPECT_TRUE(has_nan ? std::isnan(NumberOf(d, code)) : code == 0) << Name(d.type);
    }
    EXPECT_EQ(Encoded(d.type, 1e-300), 0);
    EXPECT_EQ(Encoded(d.type, -0.0), d.negative_zero ? SignOf(d) : 0) << Name(d.type);
    EXPECT_EQ(Encoded(d.type, -1e-300), d.negative_zero ? SignOf(d) : 0) << Name(d.type);
  }
}

TEST(PowersOfTwo, AreTheNumbersOfTheirCodes) {
  for (int code = 0; code < 255; ++code) {
    EXPECT_EQ(NarrowNumbers(DType::kF8E8M0)[code], std::pow(2, code - 127));
    for (const auto powers :
         {NarrowRounding::Powers::kUp, NarrowRounding::Powers::kDown, NarrowRounding::Powers::kNearest})
      EXPECT_EQ(Encoded(DType::kF8E8M0, std::pow(2, code - 127), {.powers = powers}), code);
  }
  EXPECT_TRUE(std::isnan(NarrowNumbers(DType::kF8E8M0)[255]));
}

TEST(PowersOfTwo, AreRoundedAsTheAttributeSays) {
  using Powers = NarrowRounding::Powers;
  const auto encoded = [](double value, Powers powers) {
    return Encoded(DType::kF8E8M0, value, {.saturate = false, .powers = powers});
  };
  for (int code = 0; code < 254; ++code) {
    const double low = std::pow(2, code - 127), high = 2 * low, middle = 1.5 * low;
    for (const double x : {std::nextafter(low, kInf), middle, std::nextafter(high, 0)}) {
      EXPECT_EQ(encoded(x, Powers::kUp), code + 1);
      EXPECT_EQ(encoded(x, Powers::kDown), code);
    }
    EXPECT_EQ(encoded(std::nextafter(middle, 0), Powers::kNearest), code);
    EXPECT_EQ(encoded(middle, Powers::kNearest), code + 1);  // ties go up
  }
}

// The two columns of ONNX's table.
TEST(PowersOfTwo, SaturateOrBecomeNan) {
  const double least = 0x1p-127, most = 0x1p127;
  const NarrowRounding nearest{.saturate = false, .powers = NarrowRounding::Powers::kNearest};
  for (const double x : {0.0, least / 2, std::nextafter(least, 0)}) {
    EXPECT_EQ(Encoded(DType::kF8E8M0, x), 0);
    EXPECT_EQ(Encoded(DType::kF8E8M0, x, nearest), 255);
  }
  for (const double x : {std::nextafter(most, kInf), 1e300, kInf}) {
    EXPECT_EQ(Encoded(DType::kF8E8M0, x), 254);
    EXPECT_EQ(Encoded(DType::kF8E8M0, x, nearest), 255);
  }
  EXPECT_EQ(Encoded(DType::kF8E8M0, kNan), 255);
  EXPECT_EQ(Encoded(DType::kF8E8M0, -1), 255);
}

struct Range {
  DType type;
  int least, most;
};
constexpr Range kRanges[] = {
    {DType::kI4, -8, 7}, {DType::kU4, 0, 15}, {DType::kI2, -2, 1}, {DType::kU2, 0, 3}};

int IntegerOf(DType type, uint8_t byte) { return int(NarrowNumbers(type)[byte]); }

TEST(NarrowIntegers, AreTheLowestBitsOfTheirByte) {
  for (const Range& r : kRanges) {
    const int count = r.most - r.least + 1;
    for (int byte = 0; byte < 256; ++byte) {
      const int low = byte % count;
      EXPECT_EQ(IntegerOf(r.type, uint8_t(byte)), low > r.most ? low - count : low) << Name(r.type);
    }
    for (int value = r.least; value <= r.most; ++value) {
      const uint8_t byte = LowBits(r.type, value);
      EXPECT_EQ(IntegerOf(r.type, byte), value);
      EXPECT_EQ(r.least < 0 ? int8_t(byte) : int(byte), value) << "memory has the sign as a byte has it";
      EXPECT_EQ(LowBits(r.type, value + count), byte);
      EXPECT_EQ(LowBits(r.type, value - (int64_t(1) << 40)), byte);
    }
  }
}

TEST(NarrowIntegers, NearestLevelsSaturate) {
  for (const Range& r : kRanges) {
    for (int value = r.least; value <= r.most; ++value) {
      EXPECT_EQ(IntegerOf(r.type, NearestLevel(r.type, value)), value);
      const int even = value % 2 == 0 ? value : value + 1;
      EXPECT_EQ(IntegerOf(r.type, NearestLevel(r.type, value + 0.5)), std::min(even, r.most));
    }
    for (const double x : {r.most + 0.51, 1e9, kInf})
      EXPECT_EQ(IntegerOf(r.type, NearestLevel(r.type, x)), r.most);
    for (const double x : {r.least - 0.51, -1e9, -kInf, kNan})
      EXPECT_EQ(IntegerOf(r.type, NearestLevel(r.type, x)), r.least);
  }
}

TEST(NarrowIntegers, AreBytesOfTheSameIntegers) {
  Tensor i4(DType::kI4, {3});
  const uint8_t bytes[] = {0x0f, 0xf7, 0x88};
  std::copy(bytes, bytes + 3, i4.mutable_view().as<uint8_t>());
  const Tensor i8 = AsBytes(i4.view());
  ASSERT_EQ(i8.type(), DType::kI8);
  EXPECT_EQ(std::vector<int8_t>(i8.as<int8_t>(), i8.as<int8_t>() + 3), (std::vector<int8_t>{-1, 7, -8}));
  EXPECT_EQ(AsBytes(Tensor(DType::kU2, {0}).view()).type(), DType::kU8);
}

}  // namespace
}  // namespace mete
