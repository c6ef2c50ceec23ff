// FlexAttention of ai.onnx.preview: attention whose scores and probabilities go through subgraphs. Without
// subgraphs it is Attention; with them it becomes the products, the Softmax, and the nodes of the subgraphs.
#include <algorithm>
#include <cmath>

#include "graph/bodies.h"
#include "import/onnx/importer.h"
#include "import/onnx/microsoft_build.h"

namespace mete::onnx_import {
namespace {

// Returns the dimensions from `start` to `end` of a value as a list.
ValueId Dims(Upgrade& u, const std::string& suffix, ValueId id, int64_t start, int64_t end) {
  Attributes attributes = With("start", start);
  attributes.Set("end", end);
  return u.Emit("Shape", suffix, {id}, std::move(attributes));
}

// Repeats the heads of keys or values (batch x heads x length x size) so that there is one for each head of
// the query.
ValueId RepeatedHeads(Upgrade& u, const std::string& name, ValueId id) {
  const auto suffix = [&](const char* what) { return name + "_" + what; };
  const ValueId groups =
      u.Emit("Div", suffix("groups"),
             {Dims(u, suffix("query_heads"), u.input(0), 1, 2), Dims(u, suffix("heads"), id, 1, 2)});
  const ValueId one = u.Ints(suffix("one"), {1, 1});
  const ValueId repeats = u.Emit("Concat", suffix("repeats"), {one, groups, one}, With("axis", int64_t(0)));
  const ValueId apart = u.Emit("Unsqueeze", suffix("apart"), {id, u.Ints(suffix("axis"), {2})});
  const ValueId target =
      u.Emit("Concat", suffix("target"),
             {u.Ints(suffix("batch"), {0, -1}), Dims(u, suffix("rest"), id, 2, 4)}, With("axis", int64_t(0)));
  return u.Emit("Reshape", suffix("repeated"),
                {u.Emit("Expand", suffix("expanded"), {apart, repeats}), target});
}

// The square root of the factor of the scores, which is one over the root of the size of a head if the node
// does not say it.
ValueId RootOfScale(Upgrade& u) {
  if (u.node.attributes.Has("scale"))
    return u.Scalar("root_of_scale", std::sqrt(u.node.attributes.Float("scale", 1)), u.input(0));
  Attributes to;
  to.Set("to", std::string("f32"));
  const ValueId size = u.Emit("Cast", "size", {Dims(u, "size_of_head", u.input(0), 3, 4)}, to);
  const ValueId root = u.Emit("Pow", "root_of_scale", {size, u.Scalar("exponent", -0.25f, kNoValue)});
  return u.mixed_floats ? u.Emit("CastLike", "root_of_scale_cast", {root, u.input(0)}) : root;
}

}  // namespace

// Appends the nodes of the subgraph `name`, if there is one, to the graph, and returns its result for
// `value`.
ValueId Importer::Modified(FlatNode& flat, Upgrade& u, const std::string& name, ValueId value) {
  for (::onnx::AttributeProto& a : *flat.proto.mutable_attribute()) {
    if (a.name() != name || !a.has_g()) continue;
    const ImportedBody body = ImportBody(*a.mutable_g(), flat);
    if (body.graph->inputs.size() != 1 || body.graph->outputs.size() != 1) {
      u.Bad("{} does not fit; got {} inputs and {} outputs, expected 1 of each", name,
            body.graph->inputs.size(), body.graph->outputs.size());
      return value;
    }
    std::vector<ValueId> inputs{value};
    for (const auto& [capture, id] : body.captures) {
      body.graph->inputs.push_back(id);
      inputs.push_back(Reference(capture));
      scope_->first_reader.emplace(inputs.back(), u.node.name);
    }
    const ValueId result = u.graph.AddValue(u.node.name + "/" + name);
    AppendBody(u.graph, *body.graph, inputs, std::span(&result, 1), u.node.name + "/" + name, u.names);
    return result;
  }
  return value;
}

void Importer::ExpandFlexAttention(FlatNode& flat, Upgrade& u) {
  if (u.node.inputs.size() != 3)
    return u.Bad("has the wrong number of inputs; got {}, expected 3", u.node.inputs.size());
  const auto& attributes = flat.proto.attribute();
  if (std::none_of(attributes.begin(), attributes.end(), [](const auto& a) { return a.has_g(); })) {
    u.node.op = "Attention";
    return;
  }
  if (mixed_floats_)
    return u.Unsupported("with a subgraph it computes in f32 alone; expected a model without other floats");
  const ValueId root = RootOfScale(u);
  Attributes exchanged;
  exchanged.Set("perm", Ints{0, 1, 3, 2});
  const ValueId query = u.Emit("Mul", "query", {u.input(0), root});
  const ValueId keys = u.Emit("Mul", "keys", {RepeatedHeads(u, "key", u.input(1)), root});
  const ValueId scores =
      u.Emit("MatMul", "scores", {query, u.Emit("Transpose", "keys_transposed", {keys}, exchanged)});
  const ValueId probabilities =
      u.Emit("Softmax", "probabilities", {Modified(flat, u, "score_mod", scores)}, With("axis", int64_t(-1)));
  const ValueId values = RepeatedHeads(u, "value", u.input(2));
  u.node.inputs = {Modified(flat, u, "prob_mod", probabilities), values};
  u.node.op = "MatMul";
  u.node.attributes = {};
}

}  // namespace mete::onnx_import
