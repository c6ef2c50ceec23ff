#include "kernels/fast/bytes/byte_elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/fast/target/features.h"
#include "kernels/fast/target/target.h"
#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/bytes/byte_elementwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/bytes/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
inline void LookUpWide(const uint8_t* table, const uint8_t* x, size_t count, uint8_t* y) {
  uint8x16x4_t parts[4];
  for (int p = 0; p < 4; ++p) parts[p] = vld1q_u8_x4(table + 64 * p);
  for (size_t i = 0; i < count; i += 16) {
    const uint8x16_t at = vld1q_u8(x + i);
    // An index beyond the part gives 0, or keeps what the parts before gave.
    uint8x16_t out = vqtbl4q_u8(parts[0], at);
    for (int p = 1; p < 4; ++p) out = vqtbx4q_u8(out, parts[p], vsubq_u8(at, vdupq_n_u8(uint8_t(64 * p))));
    vst1q_u8(y + i, out);
  }
}
constexpr size_t kWide = 16;
#elif HWY_TARGET == HWY_AVX3
// vpermi2b of AVX512_VBMI takes one of 128 bytes. It is in assembly because the target of this copy of the
// code does not include it.
inline void LookUpWide(const uint8_t* table, const uint8_t* x, size_t count, uint8_t* y) {
  const hn::ScalableTag<uint8_t> d;
  const auto t0 = hn::LoadU(d, table), t1 = hn::LoadU(d, table + 64), t2 = hn::LoadU(d, table + 128),
             t3 = hn::LoadU(d, table + 192);
  for (size_t i = 0; i < count; i += 64) {
    const auto at = hn::LoadU(d, x + i);
    auto low = at.raw, high = at.raw;
    asm("vpermi2b %2, %1, %0" : "+v"(low) : "v"(t0.raw), "v"(t1.raw));
    asm("vpermi2b %2, %1, %0" : "+v"(high) : "v"(t2.raw), "v"(t3.raw));
    const hn::ScalableTag<int8_t> di;
    const auto is_high = hn::RebindMask(d, hn::Lt(hn::BitCast(di, at), hn::Zero(di)));
    const hn::Vec<decltype(d)> of_low{low}, of_high{high};
    hn::StoreU(hn::IfThenElse(is_high, of_high, of_low), d, y + i);
  }
}
constexpr size_t kWide = 64;
#else
inline void LookUpWide(const uint8_t*, const uint8_t*, size_t, uint8_t*) {}
constexpr size_t kWide = 1;
#endif

void LookUp(const uint8_t* table, const uint8_t* x, size_t count, bool wide, uint8_t* y) {
  size_t i = 0;
  if (wide && kWide > 1) {
    i = count / kWide * kWide;
    LookUpWide(table, x, i, y);
  }
  for (; i < count; ++i) y[i] = table[x[i]];
}

bool LooksUpWide() {
#if HWY_TARGET == HWY_AVX3
  return Has(Feature::kAvx512Vbmi);
#else
  return kWide > 1;
#endif
}

// T and U: the types of the bytes of a and b.
template <bool kProduct, class T, class U>
class BinaryRow {
 public:
  explicit BinaryRow(const ByteBinary& of)
      : of_(of),
        to_bytes_(of.least, of.most, of.y_signed)
#if HWY_TARGET != HWY_SCALAR
        ,
        narrower_(0, static_cast<int32_t>(of.least), static_cast<int32_t>(of.most), of.y_signed)
#endif
  {
  }

  void operator()(const uint8_t* a, const uint8_t* b, size_t count, uint8_t* y) const {
    const Levels::U8 d;
    size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    if (of_.fits)
      for (; i + hn::Lanes(Bytes()) <= count; i += hn::Lanes(Bytes()))
        hn::StoreU(Vectors(a + i, b + i), Bytes(), y + i);
#endif
    for (; i + kLanes <= count; i += kLanes) hn::StoreU(to_bytes_(At(a + i, b + i)), d, y + i);
    if (i == count) return;
    uint8_t ends[3][kLanes] = {};
    std::memcpy(ends[0], a + i, count - i);
    std::memcpy(ends[1], b + i, count - i);
    hn::StoreU(to_bytes_(At(ends[0], ends[1])), d, ends[2]);
    std::memcpy(y + i, ends[2], count - i);
  }

 private:
  // Returns the levels of y before they are rounded.
  HWY_INLINE V32 At(const uint8_t* a, const uint8_t* b) const {
    const F32 d;
    const V32 p = LoadLevels<T>(a), q = LoadLevels<U>(b);
    if constexpr (kProduct) {
      const V32 product = hn::Mul(hn::Sub(p, hn::Set(d, of_.a_zero)), hn::Sub(q, hn::Set(d, of_.b_zero)));
      return hn::Add(hn::Mul(product, hn::Set(d, of_.steps)), hn::Set(d, of_.y_zero));
    } else {
      const V32 sum = ExactMulAdd(hn::Set(d, of_.b_steps), q, hn::Set(d, of_.start));
      return ExactMulAdd(hn::Set(d, of_.a_steps), p, sum);
    }
  }

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE VBytes Vectors(const uint8_t* a, const uint8_t* b) const {
    hn::Vec<Levels::I32> levels[kByteVectors];
#pragma GCC unroll 4
    for (size_t j = 0; j < kByteVectors; ++j) levels[j] = RoundWhole(At(a + j * kLanes, b + j * kLanes));
    return narrower_.InOrder(levels);
  }
#endif

  const ByteBinary& of_;
  const Levels to_bytes_;
#if HWY_TARGET != HWY_SCALAR
  const Narrower narrower_;
#endif
};

// Repeats rows without gaps, of which one operand has the same in each, so that vectors are whole although
// rows are short: channels of pixels, times what each channel is scaled by.
class RepeatedRow {
 public:
  explicit RepeatedRow(const ByteRows& rows) : length_(rows.length) {
    const bool repeats_a = rows.a_stride == 0, repeats_b = rows.b_stride == 0;
    const bool dense = (repeats_a ? rows.b_stride : rows.a_stride) == length_;
    if (repeats_a == repeats_b || !dense || 2 * length_ > kBytes) return;
    together_ = kBytes / length_;
    for (int64_t i = 0; i < together_; ++i)
      std::memcpy(bytes_ + i * length_, repeats_a ? rows.a : rows.b, static_cast<size_t>(length_));
  }

  int64_t together() const { return together_; }  // rows
  // Returns an operand of the rows from `row` on.
  const uint8_t* At(const uint8_t* operand, int64_t stride, int64_t row) const {
    return stride == 0 && together_ > 1 ? bytes_ : operand + row * stride;
  }

 private:
  static constexpr int64_t kBytes = 2048;  // which are filled much faster than a block is computed
  const int64_t length_;
  int64_t together_ = 1;
  HWY_ALIGN uint8_t bytes_[kBytes];
};

template <bool kProduct, class T, class U>
void Rows(const ByteBinary& of, const ByteRows& rows, Range range, uint8_t* y) {
  const BinaryRow<kProduct, T, U> run(of);
  const RepeatedRow repeated(rows);
  for (int64_t r = range.begin, count; r < range.end; r += count) {
    count = std::min(repeated.together(), range.end - r);
    run(repeated.At(rows.a, rows.a_stride, r), repeated.At(rows.b, rows.b_stride, r),
        static_cast<size_t>(count * rows.length), y + r * rows.length);
  }
}

template <bool kProduct>
void RowsOfTypes(const ByteBinary& of, const ByteRows& rows, Range range, uint8_t* y) {
  if (of.a_signed) {
    if (of.b_signed) return Rows<kProduct, int8_t, int8_t>(of, rows, range, y);
    return Rows<kProduct, int8_t, uint8_t>(of, rows, range, y);
  }
  if (of.b_signed) return Rows<kProduct, uint8_t, int8_t>(of, rows, range, y);
  Rows<kProduct, uint8_t, uint8_t>(of, rows, range, y);
}

void Binary(const ByteBinary& of, const ByteRows& rows, Range range, uint8_t* y) {
  if (of.product) return RowsOfTypes<true>(of, rows, range, y);
  RowsOfTypes<false>(of, rows, range, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(LookUp);
HWY_EXPORT(LooksUpWide);
HWY_EXPORT(Binary);

namespace {

constexpr float kMostLevel = 256;       // above a byte's distance from a zero point
constexpr float kMostWhole = 1u << 30;  // below what 32 bits have, with room for rounding

ByteBinary Operands(const ByteScale& a, const ByteScale& b, const ByteScale& y) {
  ByteBinary of;
  of.a_signed = a.is_signed;
  of.b_signed = b.is_signed;
  of.y_signed = y.is_signed;
  of.least = y.is_signed ? -128.f : 0.f;
  of.most = of.least + 255;
  return of;
}

}  // namespace

void RunByteTable(const uint8_t* table, const uint8_t* x, Range range, uint8_t* y) {
  const bool wide = HWY_DYNAMIC_DISPATCH(LooksUpWide)();
  HWY_DYNAMIC_DISPATCH(LookUp)
  (table, x + range.begin, static_cast<size_t>(range.size()), wide, y + range.begin);
}

std::string ByteTableTarget() {
  const bool vbmi = Has(Feature::kAvx512Vbmi) && HWY_DYNAMIC_DISPATCH(LooksUpWide)();
  return std::string(ActiveTarget()) + (vbmi ? " vbmi" : "");
}

// The order of roundings is that of the reference (kernels/reference/quantized_elementwise.cc).
ByteBinary MakeByteSum(const ByteScale& a, const ByteScale& b, const ByteScale& y) {
  ByteBinary of = Operands(a, b, y);
  of.a_steps = a.scale / y.scale;
  of.b_steps = b.scale / y.scale;
  of.start = y.zero - std::fma(of.a_steps, a.zero, of.b_steps * b.zero);
  of.fits = std::abs(of.start) + kMostLevel * (std::abs(of.a_steps) + std::abs(of.b_steps)) < kMostWhole;
  return of;
}

ByteBinary MakeByteProduct(const ByteScale& a, const ByteScale& b, const ByteScale& y) {
  ByteBinary of = Operands(a, b, y);
  of.product = true;
  of.steps = a.scale * b.scale / y.scale;
  of.a_zero = a.zero;
  of.b_zero = b.zero;
  of.y_zero = y.zero;
  of.fits = kMostLevel * kMostLevel * std::abs(of.steps) + kMostLevel < kMostWhole;
  return of;
}

void RunByteBinary(const ByteBinary& of, const ByteRows& operands, Range rows, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(Binary)(of, operands, rows, y);
}

}  // namespace mete
#endif  // HWY_ONCE
