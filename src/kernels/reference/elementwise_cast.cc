// Kernels of copies, of conversions between element types, and of Where.
#include <cstring>

#include "kernels/reference/elementwise.h"

namespace mete {
namespace {

void CopyBytes(const ConstView& from, const View& to) {
  if (to.bytes() != 0 && from.data != to.data) std::memcpy(to.data, from.data, to.bytes());
}

void Identity(RefArgs& args) { CopyBytes(args.in[0], args.out[0]); }

bool IsTraining(const RefArgs& args) {
  if (!args.has(2) || args.in[2].elements() != 1 || *args.in[2].as<uint8_t>() == 0) return false;
  const bool keeps_all = args.has(1) && args.in[1].type == DType::kF32 && args.in[1].elements() == 1 &&
                         *args.in[1].as<float>() == 0;
  return !keeps_all;
}

void Dropout(RefArgs& args) {
  if (IsTraining(args))
    Fail(Code::kUnimplemented, "Dropout", "training_mode is not supported; got true, expected false");
  CopyBytes(args.in[0], args.out[0]);
  if (args.wants(1) && args.out[1].bytes() != 0) std::memset(args.out[1].data, 1, args.out[1].bytes());
}

// Converts from one of three wide types that hold every value of the source: double, int64_t or uint64_t. All
// conversions go through such a type, which takes 3 x 13 loops instead of 13 x 13. Narrow types are rows of a
// table and take no loops of their own.
template <class T, class From>
T Convert(From x) {
  if constexpr (std::is_same_v<From, double>) return FromDouble<T>(x);
  else if constexpr (std::is_same_v<T, BoolByte>) return x != 0;
  else if constexpr (std::is_same_v<T, F16> || std::is_same_v<T, BF16>) return T(RoundToOdd(double(x)));
  else return T(x);  // drops the high bits
}

template <class From>
uint8_t NarrowOf(DType type, From x, const NarrowRounding& rounding) {
  if (IsNarrowFloat(type)) return EncodeFloat(type, double(x), rounding);
  if constexpr (std::is_same_v<From, double>) return LowBits(type, FromDouble<int64_t>(x));
  else return LowBits(type, int64_t(x));
}

template <class From>
void CastThrough(const ConstView& from, const View& to, const NarrowRounding& rounding) {
  constexpr int64_t kBlock = 512;
  From wide[kBlock];
  for (int64_t start = 0, n = to.elements(); start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    if (IsNarrow(from.type)) {
      const float* numbers = NarrowNumbers(from.type);
      for (int64_t i = 0; i < count; ++i) wide[i] = From(numbers[from.as<uint8_t>()[start + i]]);
    } else {
      VisitElement(from.type, [&]<class T>() {
        if constexpr (std::is_same_v<T, BoolByte> || std::is_same_v<Wide<T>, From>)
          for (int64_t i = 0; i < count; ++i) wide[i] = From(from.as<T>()[start + i]);
      });
    }
    if (IsNarrow(to.type)) {
      for (int64_t i = 0; i < count; ++i) to.as<uint8_t>()[start + i] = NarrowOf(to.type, wide[i], rounding);
    } else {
      VisitElement(to.type, [&]<class T>() {
        for (int64_t i = 0; i < count; ++i) to.as<T>()[start + i] = Convert<T>(wide[i]);
      });
    }
  }
}

NarrowRounding RoundingOf(const Attributes& attributes) {
  using Powers = NarrowRounding::Powers;
  const std::string_view mode = attributes.String("round_mode", "up");
  return {attributes.Int("saturate", 1) != 0, mode == "down"      ? Powers::kDown
                                              : mode == "nearest" ? Powers::kNearest
                                                                  : Powers::kUp};
}

void Cast(RefArgs& args) {
  const DType from = args.in[0].type;
  if (from == args.out[0].type && from != DType::kBool) return CopyBytes(args.in[0], args.out[0]);
  const NarrowRounding rounding = RoundingOf(args.attributes);
  const DType kind = IsNarrow(from) && !IsNarrowFloat(from) ? ByteTypeOf(from) : from;
  if (IsFloat(from) || IsNarrowFloat(from)) CastThrough<double>(args.in[0], args.out[0], rounding);
  else if (kind == DType::kI8 || kind == DType::kI16 || kind == DType::kI32 || kind == DType::kI64)
    CastThrough<int64_t>(args.in[0], args.out[0], rounding);
  else CastThrough<uint64_t>(args.in[0], args.out[0], rounding);
}

void Where(RefArgs& args) {
  const View& out = args.out[0];
  const std::array<Steps, 3> steps{BroadcastSteps(args.in[0].shape, out.shape),
                                   BroadcastSteps(args.in[1].shape, out.shape),
                                   BroadcastSteps(args.in[2].shape, out.shape)};
  const BoolByte* condition = args.in[0].as<BoolByte>();
  VisitSize(out.type, [&]<class T>() {
    const T *yes = args.in[1].as<T>(), *no = args.in[2].as<T>();
    T* to = out.as<T>();
    ForEach(out.shape, steps, [&](const auto& at) { *to++ = condition[at[0]] ? yes[at[1]] : no[at[2]]; });
  });
}

constexpr RefEntry kElementwiseCastEntries[] = {
    {"BitCast", Identity}, {"Cast", Cast},         {"CastLike", Cast},
    {"Dropout", Dropout},  {"Identity", Identity}, {"Where", Where},
};

}  // namespace

void WriteDoubles(const double* from, const View& to) {
  CastThrough<double>({from, DType::kF64, to.shape}, to, {});
}

std::span<const RefEntry> CastReferences() { return kElementwiseCastEntries; }

}  // namespace mete
