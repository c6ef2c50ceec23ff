// Prints a Graph as text and as Graphviz.
#include <fmt/format.h>

#include "graph/graph.h"

namespace mete {
namespace {

std::string Ref(const Graph& graph, ValueId id) { return id == kNoValue ? "-" : "%" + graph.value(id).name; }

std::string TypedRef(const Graph& graph, ValueId id) {
  if (id == kNoValue) return Ref(graph, id);
  const Value& value = graph.value(id);
  return Ref(graph, id) + ": " + Describe(value) + (value.layout == Layout::kNhwc ? " nhwc" : "");
}

using RefText = std::string (*)(const Graph& graph, ValueId id);

std::string Refs(const Graph& graph, const std::vector<ValueId>& ids, RefText text) {
  std::string out;
  for (ValueId id : ids) out += (out.empty() ? "" : ", ") + text(graph, id);
  return out;
}

std::string GraphText(const Graph& graph, const std::string& indent);

std::string AttributesText(const Attributes& attributes) {
  std::string out;
  for (const auto& [name, value] : attributes)
    out += (out.empty() ? " {" : ", ") + name + "=" + ToString(value);
  return out.empty() ? out : out + "}";
}

// Returns a quoted label. A line break in the text becomes a line break in the picture.
std::string DotQuote(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + "\"";
}

// The bodies of a node as text, below its line.
std::string BodiesText(const Node& node, const std::string& indent) {
  std::string out;
  for (const auto& [name, value] : node.attributes)
    if (const auto* body = std::get_if<GraphPtr>(&value))
      out += indent + name + ":\n" + GraphText(**body, indent + "  ");
  return out;
}

std::string GraphText(const Graph& graph, const std::string& indent) {
  std::string out = indent + "graph " + graph.name + "\n";
  const std::string line = indent + "  ";
  for (ValueId id : graph.inputs) out += line + "input " + TypedRef(graph, id) + "\n";
  for (size_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].is_constant()) out += line + "const " + TypedRef(graph, ValueId(i)) + "\n";
  for (const Node& node : graph.nodes) {
    out += fmt::format("{}{} = {}({}){}  # {}\n", line, Refs(graph, node.outputs, TypedRef), node.op,
                       Refs(graph, node.inputs, Ref), AttributesText(node.attributes), node.name);
    out += BodiesText(node, line + "  ");
  }
  for (ValueId id : graph.outputs) out += line + "output " + Ref(graph, id) + "\n";
  return out;
}

}  // namespace

std::string ToText(const Graph& graph) { return GraphText(graph, ""); }

std::string ToDot(const Graph& graph) {
  std::string out =
      "digraph " + DotQuote(graph.name) + " {\n  rankdir=TB; node [shape=box, fontname=\"sans-serif\"];\n";
  for (ValueId id : graph.inputs)
    out += fmt::format("  v{} [shape=ellipse, label={}];\n", id,
                       DotQuote(graph.value(id).name + "\n" + Describe(graph.value(id))));
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    out += fmt::format("  n{} [label={}];\n", n, DotQuote(graph.nodes[n].op + "\n" + graph.nodes[n].name));
  const Uses uses(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (ValueId id : graph.nodes[n].inputs) {
      if (id == kNoValue || graph.value(id).is_constant()) continue;
      const int producer = uses.producer[size_t(id)];
      const std::string from = producer >= 0 ? fmt::format("n{}", producer) : fmt::format("v{}", id);
      out += fmt::format("  {} -> n{} [label={}];\n", from, n, DotQuote(Describe(graph.value(id))));
    }
  for (ValueId id : graph.outputs) {
    out += fmt::format("  o{} [shape=ellipse, label={}];\n", id,
                       DotQuote(graph.value(id).name + "\n" + Describe(graph.value(id))));
    if (uses.producer[size_t(id)] >= 0) out += fmt::format("  n{} -> o{};\n", uses.producer[size_t(id)], id);
  }
  return out + "}\n";
}

}  // namespace mete
