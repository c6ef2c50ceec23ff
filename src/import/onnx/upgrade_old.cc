// Upgrades from the forms that operators had before opset 7: broadcasting by an attribute, attributes that
// became inputs, and attributes without a meaning at inference.
#include <array>

#include "import/onnx/tensors.h"
#include "import/onnx/upgrade.h"

namespace mete::onnx_import {
namespace {

ValueId RankOf(Upgrade& u, const std::string& suffix, ValueId id) {
  return u.Emit("Size", suffix + "_rank", {u.Emit("Shape", suffix + "_shape", {id})});
}

// Gives input 1 dimensions of 1 behind its own, so that its first dimension is that of `axis` of input 0:
// where broadcasting is from the last dimension on, bias 16 for channels becomes 16x1x1.
void AlignWithAxis(Upgrade& u, int64_t axis) {
  const ValueId small = u.input(1);
  if (small == kNoValue || u.input(0) == kNoValue) return;
  const ValueId rank = RankOf(u, "first", u.input(0));
  const ValueId from = axis >= 0 ? u.Emit("Sub", "behind_axis", {rank, u.Ints("axis", {axis})})
                                 : u.Ints("behind_axis", {-axis});
  const ValueId count = u.Emit("Sub", "ones", {from, RankOf(u, "second", small)});
  const ValueId list = u.Emit("Reshape", "ones_shape", {count, u.Ints("list", {1})});
  Attributes one, along;
  one.Set("value", Tensor::Ints(std::array<int64_t, 1>{1}));
  along.Set("axis", int64_t(0));
  const ValueId ones = u.Emit("ConstantOfShape", "dimensions_of_1", {list}, one);
  const ValueId shape =
      u.Emit("Concat", "aligned_shape", {u.Emit("Shape", "small_shape", {small}), ones}, along);
  u.SetInput(1, u.Emit("Reshape", "aligned", {small, shape}));
}

}  // namespace

void UpgradeConsumedInputs(Upgrade& u) { u.node.attributes.Erase("consumed_inputs"); }

// Shapes that are equal, and those of which one is the end of the other, need no change.
void UpgradeBroadcastAttribute(Upgrade& u) {
  UpgradeConsumedInputs(u);
  const bool broadcasts = u.node.attributes.Int("broadcast", 0) != 0,
             has_axis = u.node.attributes.Has("axis");
  const int64_t axis = u.node.attributes.Int("axis", 0);
  u.node.attributes.Erase("broadcast");
  u.node.attributes.Erase("axis");
  if (broadcasts && has_axis) AlignWithAxis(u, axis);
}

// A slope was one for all elements or one for each channel, whatever its shape.
void UpgradePReluSlope(Upgrade& u) {
  UpgradeConsumedInputs(u);
  if (u.input(1) == kNoValue) return;
  u.SetInput(1, u.Emit("Reshape", "slopes", {u.input(1), u.Ints("all", {-1})}));
  AlignWithAxis(u, 1);
}

void UpgradeTestMode(Upgrade& u) {
  UpgradeConsumedInputs(u);
  u.node.attributes.Erase("is_test");
}

void UpgradeConcatAxis(Upgrade& u) {
  if (!u.node.attributes.Has("axis")) u.node.attributes.Set("axis", int64_t(1));
}

// The type was told by its name in the format, such as "FLOAT".
void UpgradeCastName(Upgrade& u) {
  const std::string name(u.node.attributes.String("to", ""));
  for (int32_t number = 1; number <= 16; ++number) {
    if (OnnxTypeName(number) != name || DTypeOfOnnx(number) == DType::kUnknown) continue;
    return u.node.attributes.Set("to", std::string(Name(DTypeOfOnnx(number))));
  }
  u.Unsupported(fmt::format("attribute to asks for element type {}", Printable(name)));
}

void UpgradeReshapeAttribute(Upgrade& u) {
  UpgradeConsumedInputs(u);
  u.AttributeToInput("shape", 1);
}

// The inputs were the number of repeats along one axis, and that axis.
void UpgradeTileAxis(Upgrade& u) {
  if (u.node.inputs.size() < 3) return u.Bad("has too few inputs; got {}, expected 3", u.node.inputs.size());
  Attributes one, to;
  one.Set("value", Tensor::Ints(std::array<int64_t, 1>{1}));
  to.Set("to", std::string("i64"));
  const auto listed = [&](const char* suffix, ValueId id) {
    const ValueId whole = u.Emit("Cast", std::string(suffix) + "_i64", {id}, to);
    return u.Emit("Reshape", suffix, {whole, u.Ints("list", {1})});
  };
  const ValueId rank = u.Emit("Reshape", "ranks", {RankOf(u, "input", u.input(0)), u.Ints("list", {1})});
  const ValueId ones = u.Emit("ConstantOfShape", "once", {rank}, one);
  const ValueId tiles = listed("tiles", u.input(1)), axis = listed("axis", u.input(2));
  u.node.inputs = {u.input(0), u.Emit("ScatterElements", "repeats", {ones, axis, tiles})};
}

void UpgradePaddings(Upgrade& u) {
  if (!u.node.attributes.Has("paddings")) return;
  u.node.attributes.Set("pads", u.node.attributes.IntList("paddings"));
  u.node.attributes.Erase("paddings");
}

void UpgradeUpsampleSides(Upgrade& u) {
  u.node.attributes.Set("scales", Floats{1, 1, u.node.attributes.Float("height_scale", 1),
                                         u.node.attributes.Float("width_scale", 1)});
  u.node.attributes.Erase("height_scale");
  u.node.attributes.Erase("width_scale");
}

// The power of the norm was a float.
void UpgradeNormPower(Upgrade& u) {
  const float p = u.node.attributes.Float("p", 2);
  if (p != 1 && p != 2) return u.Unsupported(fmt::format("p is {}; expected 1 or 2", p));
  u.node.attributes.Set("p", int64_t(p));
}

// The defaults had fewer digits.
void UpgradeSeluDefaults(Upgrade& u) {
  UpgradeConsumedInputs(u);
  if (!u.node.attributes.Has("alpha")) u.node.attributes.Set("alpha", 1.6732f);
  if (!u.node.attributes.Has("gamma")) u.node.attributes.Set("gamma", 1.0507f);
}

void UpgradeOutputSequence(Upgrade& u) { u.node.attributes.Erase("output_sequence"); }

}  // namespace mete::onnx_import
