// Upgrades of operators that were renamed, or whose meaning or defaults changed.
#include "import/onnx/upgrade.h"

#include <algorithm>

namespace mete::onnx_import {

// Before opset 13, Softmax, LogSoftmax and Hardmax worked on the rows of the matrix that Flatten(axis) makes.
// For axis -1 both forms mean the same.
void UpgradeFlatteningSoftmax(Upgrade& u) {
  const int64_t axis = u.node.attributes.Int("axis", 1);
  u.node.attributes.Set("axis", int64_t(-1));
  if (axis == -1 || u.node.inputs.empty() || u.node.outputs.empty()) return;
  const ValueId x = u.input(0), out = u.node.outputs[0];
  Attributes flatten;
  flatten.Set("axis", axis);
  const ValueId matrix = u.Emit("Flatten", "flatten", {x}, flatten);
  const ValueId result = u.Emit(u.node.op, "matrix", {matrix}, u.node.attributes);
  const ValueId shape = u.Emit("Shape", "shape", {x});
  u.node.op = "Reshape";
  u.node.inputs = {result, shape};
  u.node.outputs = {out};
  u.node.attributes = {};
  u.node.attributes.Set("allowzero", int64_t(1));  // a 0 in Shape(x) is a dimension of 0
}

// Keeps only the first output; the others (running and saved statistics) are for training.
void UpgradeBatchNormalization(Upgrade& u) {
  if (u.node.attributes.Int("spatial", 1) == 0) u.Unsupported("spatial=0 is not supported");
  u.node.attributes.Erase("spatial");
  while (u.node.outputs.size() > 1) u.node.outputs.pop_back();
}

void UpgradeUpsampleAttribute(Upgrade& u) {
  const Floats scales = u.node.attributes.FloatList("scales");
  u.node.attributes.Erase("scales");
  u.SetInput(1,
             u.graph.AddConstant(u.node.name + "/scales", Tensor::Floats({int64_t(scales.size())}, scales)));
}

void UpgradeUpsample(Upgrade& u) { u.node.op = "Resize"; }

// Upsample, and Resize at opset 10, use the "asymmetric" coordinates and round down.
void UpgradeResize10(Upgrade& u) {
  u.node.attributes.Set("coordinate_transformation_mode", "asymmetric");
  u.node.attributes.Set("nearest_mode", "floor");
  if (u.node.attributes.String("mode", "") == "bilinear") u.node.attributes.Set("mode", "linear");
  const ValueId scales = u.input(1);
  u.SetInput(2, scales);
  u.SetInput(1, kNoValue);
}

// At opset 11 the inputs roi and scales were required, and were empty where they did not matter. This upgrade
// removes empty inputs.
void UpgradeResizeEmptyInputs(Upgrade& u) {
  for (ValueId& id : u.node.inputs)
    if (id != kNoValue && u.graph.value(id).is_constant() && u.graph.value(id).constant.elements() == 0)
      id = kNoValue;
  if (u.node.attributes.String("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn")
    u.Unsupported("coordinate_transformation_mode tf_half_pixel_for_nn is not supported");
}

// Since opset 26 a mode says whether the pixels of a block or the channels come first. Graph has the pixels
// first; the others are exchanged behind it.
void UpgradeSpaceToDepthMode(Upgrade& u) {
  const std::string mode(u.node.attributes.String("mode", "DCR"));
  u.node.attributes.Erase("mode");
  if (mode == "DCR" || u.node.outputs.empty()) return;
  if (mode != "CRD") return u.Bad("mode; got '{}', expected DCR or CRD", Printable(mode));
  const int64_t block = u.node.attributes.Int("blocksize", 1), pixels = block * block;
  if (block < 1 || block > 1 << 15) return u.Bad("blocksize; got {}, expected 1 to {}", block, 1 << 15);
  Attributes sides, along, exchanged;
  sides.Set("start", int64_t(2));
  along.Set("axis", int64_t(0));
  exchanged.Set("perm", Ints{0, 2, 1, 3, 4});
  const ValueId blocks = u.Emit(u.node.op, "blocks", u.node.inputs, u.node.attributes);
  const ValueId size = u.Emit("Shape", "size", {blocks}, sides);
  const auto target = [&](const char* suffix, std::vector<int64_t> first) {
    const ValueId list = u.Ints(std::string(suffix) + "_first", std::move(first));
    return u.Emit("Concat", suffix, {list, size}, along);
  };
  const ValueId apart = u.Emit("Reshape", "apart", {blocks, target("apart_shape", {0, pixels, -1})});
  u.node.inputs = {u.Emit("Transpose", "exchanged", {apart}, exchanged), target("shape", {0, -1})};
  u.node.op = "Reshape";
  u.node.attributes = {};
}

void UpgradeScatter(Upgrade& u) { u.node.op = "ScatterElements"; }

// Scale and bias had one value for each group. This upgrade repeats each value for the channels of its group.
void UpgradeGroupNormalization(Upgrade& u) {
  const int64_t groups = u.node.attributes.Int("num_groups", 0);
  if (u.node.inputs.size() < 3)
    return u.Bad("has too few inputs; got {}, expected X, scale and bias", u.node.inputs.size());
  if (groups <= 0) return u.Bad("num_groups; got {}, expected a number from 1 on", groups);
  Attributes channels;
  channels.Set("start", int64_t(1));
  channels.Set("end", int64_t(2));
  Attributes along;
  along.Set("axis", int64_t(0));
  const ValueId channel_count = u.Emit("Shape", "channels", {u.input(0)}, channels);
  const ValueId per_group = u.Emit("Div", "per_group", {channel_count, u.Ints("groups", {groups})});
  const ValueId table = u.Emit("Concat", "table", {u.Ints("one", {1}), per_group}, along);
  const ValueId column = u.Ints("column", {-1, 1}), row = u.Ints("row", {-1});
  for (size_t i : {1, 2}) {
    const std::string what = i == 1 ? "scale" : "bias";
    const ValueId standing = u.Emit("Reshape", what + "_column", {u.input(i), column});
    const ValueId repeated = u.Emit("Expand", what + "_repeated", {standing, table});
    u.SetInput(i, u.Emit("Reshape", what, {repeated, row}));
  }
}

void UpgradeRoiAlign(Upgrade& u) {
  u.node.attributes.Set("coordinate_transformation_mode", "output_half_pixel");
}

void UpgradeGridSample(Upgrade& u) {
  const std::string mode(u.node.attributes.String("mode", "bilinear"));
  if (mode == "bilinear") u.node.attributes.Set("mode", "linear");
  if (mode == "bicubic") u.node.attributes.Set("mode", "cubic");
}

// ONNX Runtime's name of RMSNormalization, from before ONNX had it, in ONNX's own domain. Its second output
// is for training.
void UpgradeSimplifiedLayerNormalization(Upgrade& u) {
  if (u.node.output(1) != kNoValue) return u.Unsupported("its output for training is not supported");
  u.node.op = "RMSNormalization";
  u.node.outputs.resize(std::min<size_t>(u.node.outputs.size(), 1));
}

}  // namespace mete::onnx_import
