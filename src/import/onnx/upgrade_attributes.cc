// Upgrades of operators whose attributes became inputs.
#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

void UpgradeClip(Upgrade& u) {
  const ValueId x = u.input(0);
  size_t place = 1;
  for (const char* name : {"min", "max"}) {
    if (u.node.attributes.Has(name)) u.SetInput(place, u.Scalar(name, u.node.attributes.Float(name, 0), x));
    u.node.attributes.Erase(name);
    ++place;
  }
}

void UpgradeAxesToInput(Upgrade& u) { u.AttributeToInput("axes", 1); }

void UpgradeSlice(Upgrade& u) {
  u.AttributeToInput("starts", 1);
  u.AttributeToInput("ends", 2);
  u.AttributeToInput("axes", 3);
}

void UpgradePad(Upgrade& u) {
  const ValueId x = u.input(0);
  u.AttributeToInput("pads", 1);
  const float value = u.node.attributes.Float("value", 0);
  if (value != 0) u.SetInput(2, u.Scalar("value", value, x));
  u.node.attributes.Erase("value");
}

void UpgradeSplit(Upgrade& u) { u.AttributeToInput("split", 1); }

// Before opset 18 the number of equal parts followed from the number of outputs.
void UpgradeSplitCount(Upgrade& u) {
  if (u.input(1) == kNoValue) u.node.attributes.Set("num_outputs", int64_t(u.node.outputs.size()));
}

void UpgradeTopK(Upgrade& u) {
  if (!u.node.attributes.Has("k")) return;
  u.SetInput(1, u.Ints("k", {u.node.attributes.Int("k", 0)}));
  u.node.attributes.Erase("k");
}

// Inference never drops elements, so the ratio does not matter. In the old form the mask was not filled at
// inference.
void UpgradeDropout(Upgrade& u) {
  u.node.attributes.Erase("ratio");
  while (u.node.inputs.size() > 1) u.node.inputs.pop_back();
}

}  // namespace mete::onnx_import
