// Conversions of layers that keep the shape: activations, powers, sums of layers.
#include <algorithm>
#include <cmath>

#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

Attributes One(const char* name, float value) {
  Attributes a;
  a.Set(name, value);
  return a;
}

template <const char* kOp>
void Plain(Layer& l) {
  l.SetTop(0, l.Emit(kOp, {l.in()}));
}
constexpr char kSigmoid[] = "Sigmoid", kTanh[] = "Tanh", kAbs[] = "Abs", kSoftplus[] = "Softplus",
               kIdentity[] = "Identity", kMish[] = "Mish";

void Relu(Layer& l) {
  const float slope = l.p.relu_param().negative_slope();
  l.SetTop(0, slope == 0 ? l.Emit("Relu", {l.in()}) : l.Emit("LeakyRelu", {l.in()}, One("alpha", slope)));
}

void Relu6(Layer& l) { l.SetTop(0, l.Emit("Clip", {l.in(), l.Scalar("least", 0), l.Scalar("most", 6)})); }

void Clip(Layer& l) {
  const auto& p = l.p.clip_param();
  if (!p.has_min() || !p.has_max())
    l.Bad("min and max must both be given; got {}", p.has_min()   ? "min alone"
                                                    : p.has_max() ? "max alone"
                                                                  : "neither");
  if (!(p.min() <= p.max())) l.Bad("min must not be above max; got {} and {}", p.min(), p.max());
  l.SetTop(0, l.Emit("Clip", {l.in(), l.Scalar("least", p.min()), l.Scalar("most", p.max())}));
}

void Swish(Layer& l) {  // x * sigmoid(beta * x)
  l.SetTop(0, l.Emit("Swish", {l.in()}, One("alpha", l.p.swish_param().beta())));
}

void Elu(Layer& l) { l.SetTop(0, l.Emit("Elu", {l.in()}, One("alpha", l.p.elu_param().alpha()))); }

void Prelu(Layer& l) {
  if (l.shape().rank() < 2) l.Bad("PReLU needs 2 dimensions or more; got {}", ToString(l.shape()));
  const Shape part = l.p.prelu_param().channel_shared() ? Shape{1} : Shape{l.shape()[1]};
  Shape aligned = part;
  for (int i = 2; i < l.shape().rank(); ++i) aligned.push_back(1);
  l.SetTop(0, l.Emit("PRelu", {l.in(), l.Weight(0, part, aligned, "slope")}));
}

ValueId EmitPower(Layer& l, float power, float scale, float shift) {
  Attributes a;
  a.Set("power", power);
  a.Set("scale", scale);
  a.Set("shift", shift);
  return l.Emit("mete.Power", {l.in()}, a);
}

void Power(Layer& l) {
  const auto& p = l.p.power_param();
  l.SetTop(0, EmitPower(l, p.power(), p.scale(), p.shift()));
}

// Returns ln(base), where a base of -1 stands for e.
float LogOfBase(Layer& l, float base) {
  if (base == -1) return 1;
  if (!(base > 0) || base == 1) l.Bad("base must be -1 (e) or above 0 and not 1; got {}", base);
  return std::log(base);
}

void Exp(Layer& l) {  // base ^ (shift + scale * x)
  const auto& p = l.p.exp_param();
  const float log = LogOfBase(l, p.base());
  l.SetTop(0, l.Emit("Exp", {EmitPower(l, 1, p.scale() * log, p.shift() * log)}));
}

void Log(Layer& l) {  // log_base(shift + scale * x)
  const auto& p = l.p.log_param();
  const float log = LogOfBase(l, p.base());
  const ValueId y = l.Emit("Log", {EmitPower(l, 1, p.scale(), p.shift())});
  l.SetTop(0, log == 1 ? y : l.Emit("Mul", {y, l.Scalar("factor", 1 / log)}));
}

void Threshold(Layer& l) {
  Attributes to;
  to.Set("to", std::string("f32"));
  l.SetTop(
      0, l.Emit("Cast",
                {l.Emit("Greater", {l.in(), l.Scalar("threshold", l.p.threshold_param().threshold())})}, to));
}

// Returns bottom i times its coefficient.
ValueId Term(Layer& l, int i) {
  const auto& coeff = l.p.eltwise_param().coeff();
  if (coeff.empty() || coeff.Get(i) == 1) return l.in(i);
  return l.Emit("Mul", {l.in(i), l.Scalar(fmt::format("coeff{}", i), coeff.Get(i))});
}

void Eltwise(Layer& l) {
  const auto& p = l.p.eltwise_param();
  for (int i = 1; i < l.bottoms(); ++i)
    if (l.shape(i) != l.shape())
      l.Bad("the bottoms differ in shape; got {} and {}", ToString(l.shape()), ToString(l.shape(i)));
  const bool sum = p.operation() == caffe::EltwiseParameter::SUM;
  if (p.coeff_size() && (!sum || p.coeff_size() != l.bottoms()))
    l.Bad("coeff is for SUM, a value a bottom; got {} for {} bottoms", p.coeff_size(), l.bottoms());
  const char* op = sum ? "Add" : p.operation() == caffe::EltwiseParameter::PROD ? "Mul" : "Max";
  ValueId y = Term(l, 0);
  for (int i = 1; i < l.bottoms(); ++i) y = l.Emit(op, {y, Term(l, i)});
  l.SetTop(0, y);
}

void Softmax(Layer& l) {
  Attributes a;
  a.Set("axis", int64_t(l.Axis(l.p.softmax_param().axis())));
  l.SetTop(0, l.Emit("Softmax", {l.in()}, a));
}

constexpr LayerType kElementwiseLayers[] = {
    {"AbsVal", 1, 1, 1, Plain<kAbs>},
    {"BNLL", 1, 1, 1, Plain<kSoftplus>},
    {"Clip", 1, 1, 1, Clip},
    {"Dropout", 1, 1, 1, Plain<kIdentity>},
    {"ELU", 1, 1, 1, Elu},
    {"Eltwise", 2, -1, 1, Eltwise},
    {"Exp", 1, 1, 1, Exp},
    {"Log", 1, 1, 1, Log},
    {"Mish", 1, 1, 1, Plain<kMish>},
    {"PReLU", 1, 1, 1, Prelu},
    {"Power", 1, 1, 1, Power},
    {"ReLU", 1, 1, 1, Relu},
    {"ReLU6", 1, 1, 1, Relu6},
    {"Sigmoid", 1, 1, 1, Plain<kSigmoid>},
    {"Softmax", 1, 1, 1, Softmax},
    {"Swish", 1, 1, 1, Swish},
    {"TanH", 1, 1, 1, Plain<kTanh>},
    {"Threshold", 1, 1, 1, Threshold},
};

}  // namespace

std::span<const LayerType> ElementwiseLayers() { return kElementwiseLayers; }

}  // namespace mete::caffe_import
