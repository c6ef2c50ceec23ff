#include "quantize/quantize.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/problems.h"
#include "passes/rewrite.h"
#include "quantize/insert.h"

namespace mete {
namespace {

bool IsOfQuantization(const Node& node) {
  return node.op.find("Quantize") != std::string::npos || node.op.find("QLinear") != std::string::npos ||
         IsOneOf(node.op, {"ConvInteger", "MatMulInteger"});
}

void CheckIsOfFloats(const Graph& graph) {
  const auto at = std::find_if(graph.nodes.begin(), graph.nodes.end(), IsOfQuantization);
  if (at != graph.nodes.end())
    Invalid(at->name,
            "the model is quantized already; got {}, expected a model of floats; try the model from "
            "which this one was made",
            at->op);
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [&](const Node& node) { return HasWeights(graph, node); });
  if (!any)
    Invalid(graph.name,
            "nothing can be quantized; expected a Conv, Gemm or MatMul of f32 with constant weights");
}

// Names the node that makes a value, or the input that it is.
std::string MakerOf(const Graph& graph, ValueId id) {
  const int p = Uses(graph).producer[size_t(id)];
  return p < 0 ? "input " + graph.value(id).name : graph.nodes[size_t(p)].name;
}

void CheckRanges(const Graph& graph, std::span<const ValueId> values, std::span<const Histogram> histograms) {
  SharedProblems problems;
  for (size_t i = 0; i < values.size(); ++i) {
    const Histogram& h = histograms[i];
    if (h.not_finite() > 0)
      problems.Add(
          MakerOf(graph, values[i]),
          "its values are infinite or not numbers on the calibration's inputs; expected numbers; try the "
          "right preprocessing, or inputs that the model was made for");
    else if (h.count() == h.zeros())
      problems.Add(
          MakerOf(graph, values[i]),
          "all of its values are 0 on the calibration's inputs, so they have no range; try more inputs, "
          "the right preprocessing, or --keep");
  }
  problems.ThrowIfAny();
}

}  // namespace

Calibration Calibrate(const Graph& graph, const QuantizeOptions& options, const Samples& samples,
                      const Runs& runs) {
  CheckIsOfFloats(graph);
  Calibration c{graph, {}, {}};
  for (const auto& set : FindPlaces(c.graph, options.kept).measured)
    c.values.insert(c.values.end(), set.begin(), set.end());
  c.histograms = HistogramsOf(c.graph, c.values, samples, runs);
  CheckRanges(c.graph, c.values, c.histograms);
  return c;
}

Quantized Quantize(const Calibration& c, const QuantizeOptions& options) {
  Quantized q;
  q.places = FindPlaces(c.graph, options.kept);
  std::map<ValueId, const Histogram*> of;
  for (size_t i = 0; i < c.values.size(); ++i) of[c.values[i]] = &c.histograms[i];
  for (const auto& set : q.places.measured) {
    Histogram all;
    for (const ValueId id : set) all.Merge(*of.at(id));
    q.scales.push_back(ScaleOf(RangeOf(all, options.ranges), options.activations));
  }
  q.graph = InsertQuantization(c.graph, q.places, q.scales);
  return q;
}

}  // namespace mete
