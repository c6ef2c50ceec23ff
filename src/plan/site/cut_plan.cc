#include "plan/site/cut_plan.h"

#include <algorithm>

#include "base/error.h"
#include "plan/site/cut_model.h"

namespace mete {
namespace {

// The data of a cut go from the device to the server alone, so that an order with all of the device's layers
// first has each layer behind those whose values it reads.
Graph DeviceFirst(const Graph& graph, const std::vector<Layer>& layers, const OnDevice& on_device) {
  Graph ordered = graph;
  ordered.nodes.clear();
  for (const bool side : {true, false})
    for (size_t l = 0; l < layers.size(); ++l)
      if (on_device[l] == side)
        ordered.nodes.insert(ordered.nodes.end(), graph.nodes.begin() + layers[l].begin,
                             graph.nodes.begin() + layers[l].end);
  return ordered;
}

int NodesOnDevice(const std::vector<Layer>& layers, const OnDevice& on_device) {
  int nodes = 0;
  for (size_t l = 0; l < layers.size(); ++l)
    if (on_device[l]) nodes += layers[l].end - layers[l].begin;
  return nodes;
}

// Where the answers lie at the end: those of the server's layers on the server, all others on the device.
Placement PlaceOfAnswers(const Graph& graph, const std::vector<ValueId>& answers, int first_of_server) {
  const Uses uses(graph);
  std::vector<int> owners;
  for (const ValueId id : answers) owners.push_back(uses.producer[size_t(id)] >= first_of_server);
  const bool all_there = std::all_of(owners.begin(), owners.end(), [](int owner) { return owner == 1; });
  return all_there ? WholeOn(1) : OwnedBy(owners);
}

}  // namespace

CutPlan PlanOfCut(const Graph& graph, const OnDevice& on_device, const std::vector<std::string>& processors) {
  const CutModel model(graph);
  CheckCut(model, on_device);
  for (const bool side : {true, false})
    if (std::find(on_device.begin(), on_device.end(), side) == on_device.end())
      Invalid("cut", "gives the {} no layer; expected layers on both sides", side ? "device" : "server");
  CutPlan cut;
  cut.graph = DeviceFirst(graph, model.layers, on_device);
  const int nodes = NodesOnDevice(model.layers, on_device);
  const std::vector<Layer> layers = LayersOf(cut.graph);
  const auto border =
      std::find_if(layers.begin(), layers.end(), [&](const Layer& layer) { return layer.begin == nodes; });
  if (border == layers.end())
    Fail(Code::kUnimplemented, "cut",
         "the server cannot begin with the model's first layer '{}', which is no layer of its own behind "
         "others; "
         "try a cut that leaves it to the device",
         model.layers[0].name);
  const int first = int(border - layers.begin()), last = int(layers.size());
  NamePlan(cut.plan, cut.graph, processors, "cut");
  cut.plan.groups.resize(2);
  cut.plan.groups[0].last = cut.plan.groups[1].first = first;
  cut.plan.groups[1].last = last;
  cut.plan.groups[0].placement = WholeOn(0);
  cut.plan.groups[1].placement = PlaceOfAnswers(cut.graph, LiveValues(cut.graph, layers).back(), nodes);
  DeriveShares(cut.plan, cut.graph);
  return cut;
}

}  // namespace mete
