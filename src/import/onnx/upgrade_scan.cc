// Scan of opset 8, which scanned along axis 1 and ran for each sequence of a batch: a Scan of opset 9 along
// the batch, whose body scans one sequence.
#include "graph/bodies.h"
#include "import/onnx/microsoft_build.h"
#include "import/onnx/upgrade.h"

namespace mete::onnx_import {
namespace {

// Inputs: the lengths of the sequences (optional), the states, the scanned values, the captures.
struct OldScan {
  GraphPtr body;
  size_t captures = 0, states = 0, scanned = 0, scans = 0;
  bool has_lengths = false;
};

// Reports a node that is no Scan, and returns false.
bool Read(Upgrade& u, OldScan& scan) {
  const Attributes& a = u.node.attributes;
  scan.body = a.GraphOf("body");
  if (!scan.body) return false;  // which is reported
  scan.captures = CapturesOf(a);
  scan.has_lengths = u.input(0) != kNoValue;
  const int64_t own = int64_t(u.node.inputs.size()) - 1 - int64_t(scan.captures);
  const int64_t scanned = a.Int("num_scan_inputs", 0);
  if (scanned < 1 || scanned > own)
    return u.Bad("num_scan_inputs; got {}, expected 1 to {}", scanned, own), false;
  scan.scanned = size_t(scanned);
  scan.states = size_t(own - scanned);
  if (scan.body->outputs.size() < scan.states)
    return u.Bad("body has too few outputs; got {}, expected at least {}", scan.body->outputs.size(),
                 scan.states),
           false;
  scan.scans = scan.body->outputs.size() - scan.states;
  return true;
}

ValueId AddInput(Graph& graph, const std::string& name) {
  graph.inputs.push_back(graph.AddValue(name));
  return graph.inputs.back();
}

// The body of the outer Scan: it scans one sequence, as long as its length says. What lies behind that length
// is zeros in the scan outputs.
GraphPtr OneSequence(const Upgrade& u, const OldScan& scan) {
  auto graph = std::make_shared<Graph>();
  NodeNames names;
  Upgrade one{*graph, names, u.problems, u.mixed_floats, {u.node.name, "Scan", {}, {}, {}}};
  std::vector<ValueId>& inputs = one.node.inputs;
  for (size_t i = 0; i < scan.states; ++i) inputs.push_back(AddInput(*graph, fmt::format("state{}", i)));
  for (size_t i = 0; i < scan.scanned; ++i) inputs.push_back(AddInput(*graph, fmt::format("scanned{}", i)));
  ValueId rest = kNoValue;  // what the sequence is shorter than the longest one may be
  if (scan.has_lengths) {
    const ValueId length = CastTo(one, Reshaped(one, AddInput(*graph, "length"), {1}), "i64");
    rest = Op(one, "Sub", {DimOf(one, inputs[scan.states], 0), length});
    const ValueId sizes = Op(one, "Concat", {length, rest}, "axis", 0);
    for (size_t i = scan.states; i < inputs.size(); ++i) inputs[i] = Parts(one, inputs[i], 0, 2, sizes)[0];
  }
  for (size_t i = 0; i < scan.captures; ++i) inputs.push_back(AddInput(*graph, fmt::format("capture{}", i)));
  std::vector<ValueId>& outputs = one.node.outputs;
  for (size_t i = 0; i < scan.states + scan.scans; ++i)
    outputs.push_back(graph->AddValue(fmt::format("result{}", i)));
  Attributes& a = one.node.attributes;
  a.Set("body", scan.body);
  a.Set("num_scan_inputs", int64_t(scan.scanned));
  if (u.node.attributes.Has("directions"))
    a.Set("scan_input_directions", u.node.attributes.IntList("directions"));
  if (scan.captures > 0) a.Set(kCaptures, int64_t(scan.captures));
  graph->outputs = outputs;
  graph->AddNode("Scan", names.Unique(u.node.name), inputs, outputs, a);
  if (scan.has_lengths)
    for (size_t i = scan.states; i < graph->outputs.size(); ++i)
      graph->outputs[i] = Op(one, "Pad",
                             {graph->outputs[i], Op(one, "Concat", {Constant(one, {0}), rest}, "axis", 0),
                              kNoValue, Constant(one, {0})});
  return graph;
}

}  // namespace

void UpgradeScan8(Upgrade& u) {
  OldScan scan;
  if (!Read(u, scan)) return;
  std::vector<ValueId> inputs(u.node.inputs.begin() + 1, u.node.inputs.end());
  if (scan.has_lengths) inputs.insert(inputs.end() - std::ptrdiff_t(scan.captures), u.input(0));
  Attributes a = With("body", OneSequence(u, scan));
  a.Set("num_scan_inputs", int64_t(scan.states + scan.scanned + (scan.has_lengths ? 1 : 0)));
  if (scan.captures > 0) a.Set(kCaptures, int64_t(scan.captures));
  Become(u, "Scan", std::move(inputs), std::move(a));
}

}  // namespace mete::onnx_import
