// Upgrades of operators from the forms of older opsets to the canonical form (opset 24). A table in
// upgrade.cc says which function upgrades which versions of an operator.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/node_names.h"
#include "import/problems.h"

namespace mete::onnx_import {

class KnownShapes;

// A node that is not in the graph yet. Upgrade functions change `node` and may add nodes before it to the
// graph, whose results it reads.
struct Upgrade {
  Graph& graph;
  NodeNames& names;
  ImportProblems& problems;
  bool mixed_floats;  // the model has floats other than f32, so a scalar must be cast to its tensor's type
  Node node;
  KnownShapes* shapes = nullptr;  // null: no shape is known (import/onnx/shapes.h)

  ValueId input(size_t i) const { return node.input(i); }
  void SetInput(size_t i, ValueId id);

  ValueId Ints(const std::string& suffix, std::vector<int64_t> values);
  // Returns a scalar of the element type of `like`: an f32 constant, behind a CastLike if mixed_floats is
  // set.
  ValueId Scalar(const std::string& suffix, float value, ValueId like);
  // Adds a node to the graph and returns its output, which is a new value.
  ValueId Emit(const std::string& op, const std::string& suffix, std::vector<ValueId> inputs,
               Attributes attributes = {});
  void Unsupported(const std::string& reason);
  template <class... A>
  void Bad(fmt::format_string<A...> format, A&&... args) {
    problems.Bad(node.name, format, std::forward<A>(args)...);
  }

  // Turns the attribute `name`, a list of integers, into input `i`. Does nothing if the node lacks the
  // attribute.
  void AttributeToInput(const std::string& name, size_t i);
};

// Applies every upgrade from `opset` to 24 and appends the resulting node to the graph.
void UpgradeAndAdd(Upgrade& u, int64_t opset);

// Upgrades of operators whose attributes became inputs (upgrade_attributes.cc).
void UpgradeClip(Upgrade& u);
void UpgradeAxesToInput(Upgrade& u);
void UpgradeSlice(Upgrade& u);
void UpgradePad(Upgrade& u);
void UpgradeSplit(Upgrade& u);
void UpgradeSplitCount(Upgrade& u);
void UpgradeTopK(Upgrade& u);
void UpgradeDropout(Upgrade& u);

// Upgrades of operators that were renamed, or whose meaning or defaults changed (upgrade_meaning.cc).
void UpgradeFlatteningSoftmax(Upgrade& u);
void UpgradeBatchNormalization(Upgrade& u);
void UpgradeUpsample(Upgrade& u);
void UpgradeUpsampleAttribute(Upgrade& u);
void UpgradeResize10(Upgrade& u);
void UpgradeResizeEmptyInputs(Upgrade& u);
void UpgradeScatter(Upgrade& u);
void UpgradeSpaceToDepthMode(Upgrade& u);
void UpgradeGroupNormalization(Upgrade& u);
void UpgradeRoiAlign(Upgrade& u);
void UpgradeGridSample(Upgrade& u);
void UpgradeSimplifiedLayerNormalization(Upgrade& u);

void UpgradeScan8(Upgrade& u);  // upgrade_scan.cc

// Operators that give random numbers (upgrade_random.cc).
void UpgradeSeed(Upgrade& u);
void UpgradeTrainingDropout(Upgrade& u);

// Upgrades of the forms before opset 7 (upgrade_old.cc).
void UpgradeConsumedInputs(Upgrade& u);
void UpgradeBroadcastAttribute(Upgrade& u);
void UpgradePReluSlope(Upgrade& u);
void UpgradeTestMode(Upgrade& u);
void UpgradeConcatAxis(Upgrade& u);
void UpgradeCastName(Upgrade& u);
void UpgradeReshapeAttribute(Upgrade& u);
void UpgradeTileAxis(Upgrade& u);
void UpgradePaddings(Upgrade& u);
void UpgradeUpsampleSides(Upgrade& u);
void UpgradeNormPower(Upgrade& u);
void UpgradeSeluDefaults(Upgrade& u);
void UpgradeOutputSequence(Upgrade& u);

}  // namespace mete::onnx_import
