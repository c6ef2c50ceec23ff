// From the forms that operators had in older opsets to the canonical one (opset 24). One table in
// upgrade.cc says which function takes an operator of which versions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/onnx/problems.h"

namespace mete::onnx_import {

// Names of nodes that are not in use yet.
class NodeNames {
 public:
  std::string Unique(const std::string& wanted);

 private:
  std::map<std::string, int> used_;  // and the number to try next
};

// A node on its way into the graph. Upgrade functions change `node`, and may add nodes that run before or
// after it.
struct Upgrade {
  Graph& graph;
  NodeNames& names;
  Problems& problems;
  bool mixed_floats;  // the model has floats other than f32: a scalar must follow the type of its tensor
  Node node;

  ValueId input(size_t i) const { return node.input(i); }
  void SetInput(size_t i, ValueId id);

  ValueId Ints(const std::string& suffix, std::vector<int64_t> values);
  // An f32 scalar of the element type of `like`.
  ValueId Scalar(const std::string& suffix, float value, ValueId like);
  // Adds a node that makes a new value.
  ValueId Emit(const std::string& op, const std::string& suffix, std::vector<ValueId> inputs,
               Attributes attributes = {});
  void Unsupported(const std::string& reason);
  template <class... A>
  void Bad(fmt::format_string<A...> format, A&&... args) {
    problems.Bad(node.name, format, std::forward<A>(args)...);
  }

  // The integer list attribute `name` becomes input `i`; absent stays absent.
  void AttributeToInput(const std::string& name, size_t i);
};

// Applies every upgrade from `opset` to 24, and appends the result to the graph.
void UpgradeAndAdd(Upgrade& u, int64_t opset);

// The first opset below 7 at which `op` has the form that later opsets keep (or that an upgrade covers);
// 7 for all others.
int64_t OldestOpset(const std::string& op);

// Attributes that became inputs (upgrade_attributes.cc).
void UpgradeClip(Upgrade& u);
void UpgradeAxesToInput(Upgrade& u);
void UpgradeSlice(Upgrade& u);
void UpgradePad(Upgrade& u);
void UpgradeSplit(Upgrade& u);
void UpgradeSplitCount(Upgrade& u);
void UpgradeTopK(Upgrade& u);
void UpgradeDropout(Upgrade& u);

// Other meanings (upgrade_meaning.cc).
void UpgradeFlatteningSoftmax(Upgrade& u);
void UpgradeBatchNormalization(Upgrade& u);
void UpgradeUpsample(Upgrade& u);
void UpgradeUpsampleAttribute(Upgrade& u);
void UpgradeResize10(Upgrade& u);
void UpgradeResizeEmptyInputs(Upgrade& u);
void UpgradeScatter(Upgrade& u);
void UpgradeGroupNormalization(Upgrade& u);
void UpgradeRoiAlign(Upgrade& u);
void UpgradeGridSample(Upgrade& u);

}  // namespace mete::onnx_import
