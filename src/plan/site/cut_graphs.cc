#include "plan/site/cut_graphs.h"

#include <algorithm>

#include "base/error.h"
#include "partition/share.h"
#include "plan/site/cut_model.h"

namespace mete {
namespace {

std::vector<int> NodesOn(const std::vector<Layer>& layers, const OnDevice& on_device, Side side) {
  std::vector<int> nodes;
  for (size_t l = 0; l < layers.size(); ++l)
    for (int n = layers[l].begin; on_device[l] == (side == Side::kDevice) && n < layers[l].end; ++n)
      nodes.push_back(n);
  return nodes;
}

CutPart PartOf(const Graph& graph, const std::vector<int>& nodes) {
  CutPart part;
  std::vector<ValuePart> wanted;
  for (const ValueId id : BorderOf(graph, Uses(graph), nodes).outputs) {
    wanted.push_back({id, Part::All()});
    part.outputs.push_back(id);
  }
  ShareGraph share = MakeShareGraph(graph, nodes, wanted);
  for (const ValuePart& input : share.parts.inputs) part.inputs.push_back(input.value);
  part.graph = std::move(share.graph);
  return part;
}

}  // namespace

CutParts PartsOfCut(const Graph& graph, const OnDevice& on_device) {
  const CutModel model(graph);
  if (on_device.size() != model.layers.size())
    Invalid("cut", "is of another model; got {} layers, expected {}", on_device.size(), model.layers.size());
  for (const CutValue& value : model.values) {
    if (value.producer < 0 || on_device[size_t(value.producer)]) continue;
    for (const int reader : value.readers)
      if (on_device[size_t(reader)])
        Invalid("cut",
                "the device's layer '{}' reads what the server's layer '{}' makes; expected data from the "
                "device to the server alone",
                model.layers[size_t(reader)].name, model.layers[size_t(value.producer)].name);
  }
  return {PartOf(graph, NodesOn(model.layers, on_device, Side::kDevice)),
          PartOf(graph, NodesOn(model.layers, on_device, Side::kServer))};
}

}  // namespace mete
