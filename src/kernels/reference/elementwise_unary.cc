// Kernels of activations and of other functions of one element.
#include <cmath>
#include <numbers>

#include "kernels/reference/elementwise.h"

namespace mete {
namespace {

template <class F>
void MapFloats(RefArgs& args, F f) {
  VisitFloat(args.in[0].type, [&]<class T>() { MapElements<T, T>(args.in[0], args.out[0], f); });
}

template <class F>
void MapNumbers(RefArgs& args, F f) {
  VisitNumeric(args.in[0].type, [&]<class T>() { MapElements<T, T>(args.in[0], args.out[0], f); });
}

template <class T>
T Softplus(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

template <class T>
T HardSigmoid(T x, T alpha, T beta) {
  return std::max(T(0), std::min(T(1), alpha * x + beta));
}

// Computes Gelu with erfc instead of 1 + erf, which avoids cancellation for negative x.
template <class T>
T GeluErf(T x) {
  return x * std::erfc(-x / std::numbers::sqrt2_v<T>) / 2;
}

template <class T>
T GeluTanh(T x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi_v<T>) * (x + T(0.044715) * x * x * x)));
}

void Gelu(RefArgs& args) {
  if (args.attributes.String("approximate", "none") == "tanh")
    MapFloats(args, [](auto x) { return GeluTanh(x); });
  else MapFloats(args, [](auto x) { return GeluErf(x); });
}

void Celu(RefArgs& args) {
  const float alpha = args.attributes.Float("alpha", 1);
  MapFloats(args, [=](auto x) { return x > 0 ? x : alpha * std::expm1(x / alpha); });
}

void Elu(RefArgs& args) {
  const float alpha = args.attributes.Float("alpha", 1);
  MapFloats(args, [=](auto x) { return x > 0 ? x : alpha * std::expm1(x); });
}

void Selu(RefArgs& args) {
  const float alpha = args.attributes.Float("alpha", 1.67326319217681884765625f);
  const float gamma = args.attributes.Float("gamma", 1.05070102214813232421875f);
  MapFloats(args, [=](auto x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}

void HardSigmoid(RefArgs& args) {
  const float alpha = args.attributes.Float("alpha", 0.2f), beta = args.attributes.Float("beta", 0.5f);
  MapFloats(args, [=](auto x) { return HardSigmoid(x, decltype(x)(alpha), decltype(x)(beta)); });
}

void HardSwish(RefArgs& args) {
  MapFloats(args, [](auto x) { return x * HardSigmoid(x, decltype(x)(1) / 6, decltype(x)(0.5)); });
}

void LeakyRelu(RefArgs& args) {
  const float alpha = args.attributes.Float("alpha", 0.01f);
  MapFloats(args, [=](auto x) { return x < 0 ? alpha * x : x; });
}

void ThresholdedRelu(RefArgs& args) {
  const float alpha = args.attributes.Float("alpha", 1);
  MapFloats(args, [=](auto x) { return x > alpha ? x : 0; });
}

void Swish(RefArgs& args) {
  const float alpha = args.attributes.Float("alpha", 1);
  MapFloats(args, [=](auto x) { return x * Sigmoid(alpha * x); });
}

void Shrink(RefArgs& args) {
  const float lambd = args.attributes.Float("lambd", 0.5f), bias = args.attributes.Float("bias", 0);
  VisitNumeric(args.in[0].type, [&]<class T>() {
    MapElements<T, T>(args.in[0], args.out[0], [=](auto element) {
      const double x = double(element);
      return FromDouble<T>(x < -lambd ? x + bias : x > lambd ? x - bias : 0);
    });
  });
}

// Computes Caffe's Power layer: (shift + scale * x) ^ power.
void Power(RefArgs& args) {
  const float power = args.attributes.Float("power", 1), scale = args.attributes.Float("scale", 1),
              shift = args.attributes.Float("shift", 0);
  if (power == 1) MapFloats(args, [=](auto x) { return shift + scale * x; });
  else MapFloats(args, [=](auto x) { return std::pow(shift + scale * x, decltype(x)(power)); });
}

void Clip(RefArgs& args) {
  VisitNumeric(args.in[0].type, [&]<class T>() {
    using C = Compute<T>;
    const bool has_least = args.has(1), has_most = args.has(2);
    const C least = has_least ? C(*args.in[1].as<T>()) : C(0),
            most = has_most ? C(*args.in[2].as<T>()) : C(0);
    MapElements<T, T>(args.in[0], args.out[0], [=](C x) {
      if (has_least && x < least) x = least;
      return has_most && x > most ? most : x;
    });
  });
}

template <class T>
T Negated(T x) {
  return WrapSub(T(0), x);
}

void Neg(RefArgs& args) {
  MapNumbers(args, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return -x;
    else return Negated(x);
  });
}

void Abs(RefArgs& args) {
  MapNumbers(args, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return std::abs(x);
    else return x < 0 ? Negated(x) : x;
  });
}

void IsInf(RefArgs& args) {
  const bool negative = args.attributes.Int("detect_negative", 1) != 0,
             positive = args.attributes.Int("detect_positive", 1) != 0;
  VisitFloat(args.in[0].type, [&]<class T>() {
    MapElements<T, BoolByte>(args.in[0], args.out[0],
                             [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
  });
}

void IsNaN(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() {
    MapElements<T, BoolByte>(args.in[0], args.out[0], [](auto x) { return std::isnan(x); });
  });
}

void BitwiseNot(RefArgs& args) {
  VisitSize(args.in[0].type,
            [&]<class T>() { MapElements<T, T>(args.in[0], args.out[0], [](T x) { return T(~x); }); });
}

void Not(RefArgs& args) {
  MapElements<BoolByte, BoolByte>(args.in[0], args.out[0], [](bool x) { return !x; });
}

constexpr RefEntry kElementwiseUnaryEntries[] = {
    {"Abs", Abs},
    {"Acos", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::acos(x); }); }},
    {"Acosh", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::acosh(x); }); }},
    {"Asin", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::asin(x); }); }},
    {"Asinh", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::asinh(x); }); }},
    {"Atan", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::atan(x); }); }},
    {"Atanh", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::atanh(x); }); }},
    {"BitwiseNot", BitwiseNot},
    {"Ceil", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::ceil(x); }); }},
    {"Celu", Celu},
    {"Clip", Clip},
    {"Cos", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::cos(x); }); }},
    {"Cosh", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::cosh(x); }); }},
    {"Elu", Elu},
    {"Erf", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::erf(x); }); }},
    {"Exp", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::exp(x); }); }},
    {"Floor", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::floor(x); }); }},
    {"Gelu", Gelu},
    {"HardSigmoid", HardSigmoid},
    {"HardSwish", HardSwish},
    {"IsInf", IsInf},
    {"IsNaN", IsNaN},
    {"LeakyRelu", LeakyRelu},
    {"Log", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::log(x); }); }},
    {"Mish", [](RefArgs& args) { MapFloats(args, [](auto x) { return x * std::tanh(Softplus(x)); }); }},
    {"Neg", Neg},
    {"Not", Not},
    {"Reciprocal", [](RefArgs& args) { MapFloats(args, [](auto x) { return 1 / x; }); }},
    {"Relu", [](RefArgs& args) { MapNumbers(args, [](auto x) { return x < 0 ? decltype(x)(0) : x; }); }},
    // Round rounds halves to even.
    {"Round", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::nearbyint(x); }); }},
    {"Selu", Selu},
    {"Shrink", Shrink},
    {"Sigmoid", [](RefArgs& args) { MapFloats(args, [](auto x) { return Sigmoid(x); }); }},
    {"Sign",
     [](RefArgs& args) {
       MapNumbers(args, [](auto x) { return IsNotANumber(x) ? x : decltype(x)((x > 0) - (x < 0)); });
     }},
    {"Sin", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::sin(x); }); }},
    {"Sinh", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::sinh(x); }); }},
    {"Softplus", [](RefArgs& args) { MapFloats(args, [](auto x) { return Softplus(x); }); }},
    {"Softsign", [](RefArgs& args) { MapFloats(args, [](auto x) { return x / (1 + std::abs(x)); }); }},
    {"Sqrt", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::sqrt(x); }); }},
    {"Swish", Swish},
    {"Tan", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::tan(x); }); }},
    {"Tanh", [](RefArgs& args) { MapFloats(args, [](auto x) { return std::tanh(x); }); }},
    {"ThresholdedRelu", ThresholdedRelu},
    {"mete.Power", Power},
};

}  // namespace

std::span<const RefEntry> UnaryReferences() { return kElementwiseUnaryEntries; }

}  // namespace mete
