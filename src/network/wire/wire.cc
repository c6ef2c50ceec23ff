#include "network/wire/wire.h"

#include <cstring>
#include <set>

#include "base/custom_operators.h"
#include "base/error.h"
#include "src/network/wire/graph.pb.h"

namespace mete {
namespace {

constexpr const char* kWhere = "graph from another device";
constexpr size_t kMostName = 1000;  // characters; guess: exporters write the paths of scopes

// ---- packing

void PackDims(const Shape& shape, google::protobuf::RepeatedField<int64_t>* dims) {
  for (const int64_t d : shape.dims()) dims->Add(d);
}

class Packer {
 public:
  using NameWeight = std::function<Digest(const Tensor&)>;

  explicit Packer(NameWeight name) : name_(std::move(name)) {}

  PackedGraph Do(const Graph& graph) {
    wire::Graph to;
    to.set_version(kWireVersion);
    PackGraph(graph, &to);
    packed_.bytes = to.SerializeAsString();
    return std::move(packed_);
  }

 private:
  void PackGraph(const Graph& graph, wire::Graph* to) {
    to->set_name(graph.name);
    to->set_share_of_bytes(graph.share_of_bytes);
    for (const Value& value : graph.values) PackValue(value, to->add_values());
    for (const Node& node : graph.nodes) PackNode(node, to->add_nodes());
    for (const ValueId id : graph.inputs) to->add_inputs(id);
    for (const ValueId id : graph.outputs) to->add_outputs(id);
  }

  void PackTensor(const Tensor& tensor, wire::Tensor* to) {
    to->set_type(uint32_t(tensor.type()));
    PackDims(tensor.shape(), to->mutable_dims());
    if (tensor.bytes() <= kMostInlineBytes) {
      to->set_raw(tensor.data(), tensor.bytes());
      return;
    }
    const Digest digest = name_(tensor);
    to->set_digest(digest.data(), digest.size());
    packed_.weights.emplace(digest, tensor);
  }

  void PackValue(const Value& value, wire::Value* to) {
    if (value.layout != Layout::kPlain)
      Invalid(value.name, "is not in plain order; try to send the graph as it is before its layout changes");
    to->set_name(value.name);
    to->set_type(uint32_t(value.type));
    to->set_known(value.shape.known());
    PackDims(value.shape, to->mutable_dims());
    if (value.is_constant()) PackTensor(value.constant, to->mutable_constant());
  }

  void PackAttribute(const Attributes::Item& item, wire::Attribute* to) {
    to->set_name(item.first);
    if (const auto* i = std::get_if<int64_t>(&item.second)) to->set_i(*i);
    else if (const auto* f = std::get_if<float>(&item.second)) to->set_f(*f);
    else if (const auto* s = std::get_if<std::string>(&item.second)) to->set_s(*s);
    else if (const auto* is = std::get_if<Ints>(&item.second))
      *to->mutable_ints()->mutable_v() = {is->begin(), is->end()};
    else if (const auto* fs = std::get_if<Floats>(&item.second))
      *to->mutable_floats()->mutable_v() = {fs->begin(), fs->end()};
    else if (const auto* ss = std::get_if<Strings>(&item.second))
      *to->mutable_strings()->mutable_v() = {ss->begin(), ss->end()};
    else if (const auto* body = std::get_if<GraphPtr>(&item.second)) PackGraph(**body, to->mutable_graph());
    else PackTensor(std::get<Tensor>(item.second), to->mutable_tensor());
  }

  void PackNode(const Node& node, wire::Node* to) {
    if (node.op == kCustomOperator)
      Fail(Code::kUnimplemented, node.name,
           "an operator of the program's own is not sent; got {}, expected a plan that keeps it at home",
           node.attributes.String(kCustomName, ""));
    to->set_name(node.name);
    to->set_op(node.op);
    for (const ValueId id : node.inputs) to->add_inputs(id);
    for (const ValueId id : node.outputs) to->add_outputs(id);
    for (const Attributes::Item& item : node.attributes) PackAttribute(item, to->add_attributes());
  }

  const NameWeight name_;
  PackedGraph packed_;
};

// ---- unpacking

void CheckCounts(const wire::Graph& graph, const WireLimits& limits) {
  if (graph.values_size() > limits.max_values || graph.nodes_size() > limits.max_nodes)
    Fail(Code::kResourceExhausted, kWhere,
         "is too large; got {} values and {} nodes, expected {} and {} at most", graph.values_size(),
         graph.nodes_size(), limits.max_values, limits.max_nodes);
  const auto check = [&](const char* what, int count, int most) {
    if (count > most)
      Fail(Code::kResourceExhausted, kWhere, "has too many {}; got {}, expected {} at most", what, count,
           most);
  };
  check("inputs", graph.inputs_size(), limits.max_values);
  check("outputs", graph.outputs_size(), limits.max_values);
  for (const wire::Node& node : graph.nodes()) {
    check("inputs of a node", node.inputs_size(), limits.max_values);
    check("outputs of a node", node.outputs_size(), limits.max_values);
    check("attributes of a node", node.attributes_size(), limits.max_attributes);
    for (const wire::Attribute& attribute : node.attributes())
      if (attribute.has_graph()) CheckCounts(attribute.graph(), limits);
  }
}

wire::Graph Parse(std::string_view bytes, const WireLimits& limits) {
  if (bytes.size() > limits.max_bytes)
    Fail(Code::kResourceExhausted, kWhere, "is too long; got {} bytes, expected {} at most", bytes.size(),
         limits.max_bytes);
  wire::Graph graph;
  if (!graph.ParseFromArray(bytes.data(), int(bytes.size())))
    Invalid(kWhere, "is not one; got {} bytes that do not parse", bytes.size());
  if (graph.version() != kWireVersion)
    Fail(Code::kFailedPrecondition, kWhere,
         "has another version; got {}, expected {}; try the same version of mete on all devices",
         graph.version(), kWireVersion);
  CheckCounts(graph, limits);
  return graph;
}

const std::string& Named(const std::string& name) {
  if (name.size() > kMostName || Printable(name) != name)
    Invalid(kWhere, "has a name that cannot be printed, or of more than {} letters; got '{}'", kMostName,
            Printable(name.substr(0, 40)));
  return name;
}

DType TypeOf(uint32_t type) {
  if (type > uint32_t(kLastDType)) Invalid(kWhere, "has an unknown type; got {}", type);
  return DType(type);
}

class Unpacker {
 public:
  Unpacker(const FindWeight& find, const WireLimits& limits) : find_(find), limits_(limits) {}

  Graph Do(const wire::Graph& from) {
    Graph graph = UnpackGraph(from);
    Verify(graph);
    return graph;
  }

 private:
  Graph UnpackGraph(const wire::Graph& from) {
    Graph graph;
    graph.name = Named(from.name());
    graph.share_of_bytes = from.share_of_bytes();
    for (const wire::Value& value : from.values()) graph.values.push_back(UnpackValue(value));
    for (const wire::Node& node : from.nodes()) graph.nodes.push_back(UnpackNode(node));
    graph.inputs.assign(from.inputs().begin(), from.inputs().end());
    graph.outputs.assign(from.outputs().begin(), from.outputs().end());
    return graph;
  }

  // Verified by itself, because the inference of its node trusts it.
  GraphPtr UnpackBody(const wire::Graph& from) {
    auto body = std::make_shared<Graph>(UnpackGraph(from));
    Verify(*body);
    return body;
  }

  Shape UnpackShape(DType type, const google::protobuf::RepeatedField<int64_t>& dims) const {
    const Shape shape(std::span<const int64_t>(dims.data(), size_t(dims.size())));
    if (CheckedElements(shape, type, limits_.max_value_bytes) < 0)
      Fail(Code::kResourceExhausted, kWhere,
           "has a value that is too large, or a dimension below 0; got {}, expected {} bytes at most",
           ToString(shape), limits_.max_value_bytes);
    return shape;
  }

  Tensor UnpackTensor(const wire::Tensor& from) {
    const DType type = TypeOf(from.type());
    if (type == DType::kUnknown) Invalid(kWhere, "has a constant without a type");
    const Shape shape = UnpackShape(type, from.dims());
    const int64_t bytes = shape.Elements() * int64_t(SizeOf(type));
    weight_bytes_ += bytes;
    if (weight_bytes_ > limits_.max_weight_bytes)
      Fail(Code::kResourceExhausted, kWhere, "has too large constants; expected {} bytes of all at most",
           limits_.max_weight_bytes);
    if (from.has_digest()) return Found(DigestFrom(from.digest()), type, shape);
    if (int64_t(from.raw().size()) != bytes)
      Invalid(kWhere, "has a constant of the wrong size; got {} bytes for {} {}", from.raw().size(),
              Name(type), ToString(shape));
    Tensor tensor(type, shape);
    if (bytes > 0) std::memcpy(tensor.mutable_view().data, from.raw().data(), size_t(bytes));
    return tensor;
  }

  Tensor Found(const Digest& digest, DType type, const Shape& shape) const {
    Tensor tensor = find_(digest, type, shape);
    if (!tensor.has_value())
      Fail(Code::kFailedPrecondition, kWhere, "names a weight that is not here; got {}",
           ToHex(digest).substr(0, 16));
    if (tensor.type() != type || tensor.shape() != shape)
      Invalid(kWhere, "names a weight that is another; got {} {} as {}, expected {} {}", Name(tensor.type()),
              ToString(tensor.shape()), ToHex(digest).substr(0, 16), Name(type), ToString(shape));
    return tensor;
  }

  Value UnpackValue(const wire::Value& from) {
    Value value;
    value.name = Named(from.name());
    value.type = TypeOf(from.type());
    if (from.known() && value.type == DType::kUnknown) Invalid(value.name, "has a shape but no type");
    if (from.known()) value.shape = UnpackShape(value.type, from.dims());
    if (from.has_constant()) value.constant = UnpackTensor(from.constant());
    return value;
  }

  Attribute UnpackAttribute(const wire::Attribute& from) {
    switch (from.value_case()) {
      case wire::Attribute::kI: return from.i();
      case wire::Attribute::kF: return from.f();
      case wire::Attribute::kS: return from.s();
      case wire::Attribute::kInts: return Ints(from.ints().v().begin(), from.ints().v().end());
      case wire::Attribute::kFloats: return Floats(from.floats().v().begin(), from.floats().v().end());
      case wire::Attribute::kStrings: return Strings(from.strings().v().begin(), from.strings().v().end());
      case wire::Attribute::kTensor: return UnpackTensor(from.tensor());
      case wire::Attribute::kGraph: return UnpackBody(from.graph());
      case wire::Attribute::VALUE_NOT_SET: break;
    }
    Invalid(kWhere, "has an attribute without a value; got '{}'", from.name());
  }

  Node UnpackNode(const wire::Node& from) {
    Node node{Named(from.name()), Named(from.op()), {}, {}, {}};
    node.inputs.assign(from.inputs().begin(), from.inputs().end());
    node.outputs.assign(from.outputs().begin(), from.outputs().end());
    for (const wire::Attribute& attribute : from.attributes())
      node.attributes.Set(Named(attribute.name()), UnpackAttribute(attribute));
    return node;
  }

  const FindWeight& find_;
  const WireLimits& limits_;
  int64_t weight_bytes_ = 0;
};

void AddDigest(const wire::Tensor& tensor, std::set<Digest>& digests) {
  if (tensor.has_digest()) digests.insert(DigestFrom(tensor.digest()));
}

void AddDigests(const wire::Graph& graph, std::set<Digest>& digests) {
  for (const wire::Value& value : graph.values()) AddDigest(value.constant(), digests);
  for (const wire::Node& node : graph.nodes())
    for (const wire::Attribute& attribute : node.attributes()) {
      AddDigest(attribute.tensor(), digests);
      AddDigests(attribute.graph(), digests);
    }
}

}  // namespace

PackedGraph PackGraph(const Graph& graph, DigestMemo* digests) {
  return Packer([&](const Tensor& tensor) { return digests ? digests->Of(tensor) : DigestOf(tensor.view()); })
      .Do(graph);
}

std::string PackWithoutWeights(const Graph& graph) {
  uint32_t number = 0;
  const auto next = [&](const Tensor&) {
    Digest digest{};
    std::memcpy(digest.data(), &++number, sizeof number);
    return digest;
  };
  return Packer(next).Do(graph).bytes;
}

std::vector<Digest> WeightsIn(std::string_view bytes, const WireLimits& limits) {
  std::set<Digest> digests;
  AddDigests(Parse(bytes, limits), digests);
  return {digests.begin(), digests.end()};
}

Graph UnpackGraph(std::string_view bytes, const FindWeight& find, const WireLimits& limits) {
  return Unpacker(find, limits).Do(Parse(bytes, limits));
}

}  // namespace mete
