// Operators that give random numbers: a node without a seed gets one, and Dropout in training is written with
// RandomUniformLike.
#include "base/random_stream.h"
#include "import/onnx/microsoft_build.h"
#include "import/onnx/upgrade.h"

namespace mete::onnx_import {
namespace {

float SeedFor(const Upgrade& u) { return u.node.attributes.Float("seed", SeedOf(u.node.name)); }

// The seed of a Dropout is an integer.
float SeedForDropout(const Upgrade& u) {
  if (!u.node.attributes.Has("seed")) return SeedOf(u.node.name);
  return SeedOf(fmt::to_string(u.node.attributes.Int("seed", 0)));
}

bool IsFalse(const Upgrade& u, ValueId id) {
  const Value& value = u.graph.value(id);
  return value.is_constant() && value.constant.type() == DType::kBool && value.constant.elements() == 1 &&
         *static_cast<const uint8_t*>(value.constant.data()) == 0;
}

}  // namespace

void UpgradeSeed(Upgrade& u) { u.node.attributes.Set("seed", SeedFor(u)); }

// y = x / (1 - ratio) where a uniform number is not below the ratio, otherwise 0. Without training the ratio
// counts as 0. A Dropout that is known not to train stays one, which the passes remove.
void UpgradeTrainingDropout(Upgrade& u) {
  const ValueId training = u.input(2);
  if (training == kNoValue || IsFalse(u, training) || u.node.inputs.size() > 3) return;
  if (u.node.outputs.empty()) return;  // which is told behind this
  const ValueId x = u.input(0), none = RealConstant(u, 0), one = RealConstant(u, 1);
  ValueId ratio = u.input(1) == kNoValue ? RealConstant(u, 0.5) : CastTo(u, u.input(1), "f64");
  ratio = Op(u, "Where", {training, ratio, none});
  Attributes random = With("seed", SeedForDropout(u));
  random.Set("dtype", std::string("f64"));
  const ValueId numbers = Into(u, kNoValue, "RandomUniformLike", {x}, std::move(random));
  const ValueId mask = Into(u, u.node.output(1), "GreaterOrEqual", {numbers, ratio});
  const ValueId factor = Op(u, "CastLike", {Op(u, "Div", {one, Op(u, "Sub", {one, ratio})}), x});
  const ValueId zero = Op(u, "CastLike", {none, x});
  u.node.outputs.resize(1, kNoValue);
  Become(u, "Where", {mask, Op(u, "Mul", {x, factor}), zero});
}

}  // namespace mete::onnx_import
