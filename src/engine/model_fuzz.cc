// libFuzzer: bytes as an ONNX model, imported, sent through every pass (constants are folded, which runs the
// reference kernels) and, where that is little work, prepared and run once. The mutator changes the parsed
// model, so that most inputs get past the parser.
#include <algorithm>
#include <cstring>
#include <random>

#include "base/narrow.h"
#include "base/visit_type.h"
#include "graph/bodies.h"
#include "graph/operators.h"
#include "import/onnx/onnx.h"
#include "import/onnx/proto.h"
#include "mete/error.h"
#include "passes/fold_work.h"
#include "passes/pass.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/prepare/kernels.h"
#include "processor/cpu/executor.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace mete {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

// Names of attributes that only the passes may write (graph/fused.h).
constexpr const char* kOurs[] = {"layout",          "residual",  "activation",  "activation_alpha",
                                 "activation_beta", "sum_piece", "into_offset", "into_channels",
                                 "levels",          "operands",  "mete_caffe",  "mete_layout"};

// The passes and kernels trust what is named so: an import that lets it through is a fault, whatever happens
// then.
void CheckNothingIsOurs(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op.starts_with("mete.")) __builtin_trap();
    if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN") continue;  // three of the names are theirs
    for (const char* name : kOurs)
      if (node.attributes.Has(name)) __builtin_trap();
  }
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  void Change(ModelProto& model) {
    GraphProto& g = Below(2) ? *model.mutable_graph() : SubgraphOf(*model.mutable_graph());
    switch (Below(8)) {
      case 0: return ChangeInput(g);
      case 1: return ChangeWiring(g);
      case 2: return ChangeOperator(g);
      case 3:
      case 4: return ChangeConstant(g);
      default: return ChangeAttribute(g);
    }
  }

  size_t Below(size_t n) { return n == 0 ? 0 : random_() % n; }

 private:
  int64_t Number() {
    static constexpr int64_t kEdges[] = {INT64_MIN,
                                         INT64_MAX,
                                         -(int64_t(1) << 31),
                                         int64_t(1) << 31,
                                         int64_t(1) << 32,
                                         int64_t(1) << 40,
                                         int64_t(1) << 61,
                                         1000000007,
                                         100000,
                                         4096,
                                         255,
                                         -1,
                                         0,
                                         1,
                                         2};
    return Below(2) ? kEdges[Below(std::size(kEdges))] : int64_t(Below(9)) - 3;
  }

  float Real() {
    static constexpr float kEdges[] = {0,         -0.0f, 1e-30f, -1e-30f, 1e30f, -1e30f, INFINITY,
                                       -INFINITY, NAN,   0.5f,   -1,      3e9f,  1e19f,  1e-45f};
    return kEdges[Below(std::size(kEdges))];
  }

  template <class List>
  auto* Pick(List* list) {
    return list->size() ? list->Mutable(int(Below(size_t(list->size())))) : nullptr;
  }

  template <class List, class Value>
  void ChangeList(List* list, Value value) {
    const size_t what = Below(8);
    if (what == 0 && list->size() > 0) list->RemoveLast();
    else if (what == 1 || list->size() == 0) list->Add(value);
    else list->Set(int(Below(size_t(list->size()))), value);
  }

  // A subgraph of one of the nodes, or the graph itself.
  GraphProto& SubgraphOf(GraphProto& g) {
    NodeProto* node = Pick(g.mutable_node());
    AttributeProto* a = node ? Pick(node->mutable_attribute()) : nullptr;
    return a && a->has_g() ? *a->mutable_g() : g;
  }

  std::string ValueName(const GraphProto& g) {
    std::vector<std::string> names{""};
    for (const auto& i : g.input()) names.push_back(i.name());
    for (const auto& i : g.initializer()) names.push_back(i.name());
    for (const auto& n : g.node()) names.insert(names.end(), n.output().begin(), n.output().end());
    return names[Below(names.size())];
  }

  void ChangeInput(GraphProto& g) {
    auto* input = Pick(g.mutable_input());
    if (!input) return;
    auto* tensor = input->mutable_type()->mutable_tensor_type();
    if (Below(4) == 0) return tensor->set_elem_type(int32_t(Below(28)));
    if (auto* d = Pick(tensor->mutable_shape()->mutable_dim())) d->set_dim_value(Number());
  }

  void ChangeWiring(GraphProto& g) {
    NodeProto* node = Pick(g.mutable_node());
    if (!node) return;
    if (Below(5) == 0) {  // a second operator behind the first
      NodeProto copy = *node;
      copy.set_name("");
      for (auto& out : *copy.mutable_output()) out += "'";
      if (copy.input_size() > 0 && node->output_size() > 0)
        copy.set_input(int(Below(size_t(copy.input_size()))), node->output(0));
      if (copy.output_size() > 0) g.add_output()->set_name(copy.output(0));
      *g.add_node() = copy;
    } else if (node->input_size() == 0 || Below(6) == 0) node->add_input(ValueName(g));
    else if (Below(6) == 0) node->mutable_input()->RemoveLast();
    else *Pick(node->mutable_input()) = ValueName(g);
  }

  void ChangeOperator(GraphProto& g) {
    static const auto operators = AllOperators();
    if (NodeProto* node = Pick(g.mutable_node()))
      node->set_op_type(std::string(operators[Below(operators.size())]->name));
  }

  void ChangeConstant(GraphProto& g) {
    if (TensorProto* t = Pick(g.mutable_initializer())) ChangeTensor(*t);
  }

  void ChangeTensor(TensorProto& t) {
    const size_t what = Below(8);
    if (what == 0) return t.set_data_type(int32_t(Below(18)));
    if (what <= 2) return ChangeList(t.mutable_dims(), Number());
    std::string raw = t.raw_data();
    if (raw.empty()) return;
    if (t.data_type() == TensorProto::INT64 && raw.size() >= 8) {
      const int64_t v = Number();
      memcpy(raw.data() + Below(raw.size() / 8) * 8, &v, 8);
    } else if (t.data_type() == TensorProto::FLOAT && raw.size() >= 4) {
      const float v = Real();
      memcpy(raw.data() + Below(raw.size() / 4) * 4, &v, 4);
    } else {
      raw[Below(raw.size())] ^= char(1 << Below(8));
    }
    t.set_raw_data(raw);
  }

  void ChangeAttribute(GraphProto& g) {
    NodeProto* node = Pick(g.mutable_node());
    if (!node) return;
    AttributeProto* a = Pick(node->mutable_attribute());
    if (!a) return ChangeConstant(g);
    if (Below(16) == 0) return node->mutable_attribute()->RemoveLast();
    if (Below(32) == 0) return a->set_name(kOurs[Below(std::size(kOurs))]);
    switch (a->type()) {
      case AttributeProto::INT: return a->set_i(Number());
      case AttributeProto::FLOAT: return a->set_f(Real());
      case AttributeProto::INTS: return ChangeList(a->mutable_ints(), Number());
      case AttributeProto::FLOATS: return ChangeList(a->mutable_floats(), Real());
      case AttributeProto::TENSOR: return ChangeTensor(*a->mutable_t());
      case AttributeProto::STRING: {
        std::string text = a->s() + "  ";
        text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), a->s().size(), text.size()));
        return a->set_s(text);
      }
      default: return;
    }
  }

  std::mt19937 random_;
};

// Small numbers, which serve as indices, sizes and repeats without asking for much; floats also get what is
// not finite.
Tensor SmallInput(const Value& value) {
  static constexpr float kReals[] = {0, 1, -1, 0.5f, 2, -3, 1e30f, INFINITY, NAN};
  Tensor tensor(value.type, value.shape);
  if (IsNarrow(value.type)) {
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i)
      tensor.mutable_view().as<uint8_t>()[i] = uint8_t(i % 3);
    return tensor;
  }
  VisitAny(value.type, [&]<class T>() {
    T* to = tensor.mutable_view().as<T>();
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i) {
      if constexpr (std::is_integral_v<T>) to[i] = T(i % 3);
      else to[i] = T(kReals[size_t(i) % std::size(kReals)]);
    }
  });
  return tensor;
}

bool IsLittleWork(const Graph& graph, int most_runs);

// How often the bodies of a control flow node run at most, if that is known and little; 0 if not.
int RunsOf(const Graph& graph, const Node& node, int most) {
  if (node.op == "If") return 1;
  if (node.op == "Loop") {
    const ValueId id = node.input(0);
    if (!IsConstant(graph, id) || graph.value(id).type != DType::kI64) return 0;
    const int64_t runs = *graph.value(id).constant.as<int64_t>();
    return runs <= most ? int(std::max<int64_t>(runs, 1)) : 0;
  }
  int64_t longest = 1;  // a Scan runs along an axis of an input
  for (const ValueId id : node.inputs)
    if (id != kNoValue)
      for (const int64_t d : graph.value(id).shape) longest = std::max(longest, d);
  return longest <= most ? int(longest) : 0;
}

// The inputs of a node's bodies, without data.
std::vector<ConstView> InputsOfBodies(const Graph& graph, const Node& node) {
  const size_t captures = CapturesOf(node.attributes);
  const size_t scanned = size_t(node.attributes.Int("num_scan_inputs", 0));
  const size_t first_scanned = node.inputs.size() - captures - scanned;
  std::vector<ConstView> views;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    ConstView view =
        id == kNoValue ? ConstView() : ConstView{nullptr, graph.value(id).type, graph.value(id).shape};
    if (node.op == "If" && i == 0) continue;
    if (node.op == "Loop" && i < 2) view = {nullptr, i == 0 ? DType::kI64 : DType::kBool, {}};
    if (node.op == "Scan" && i >= first_scanned && i < first_scanned + scanned && view.shape.rank() > 0)
      view.shape = Shape(view.shape.dims().subspan(1));
    views.push_back(view);
  }
  return views;
}

// Whether the bodies of a node are little work: all shapes are known, and stay from run to run.
bool AreLittleWork(const Graph& graph, const Node& node, int most_runs) {
  const int runs = RunsOf(graph, node, most_runs);
  if (runs == 0 || node.attributes.Has("scan_input_axes")) return false;
  const size_t captures = CapturesOf(node.attributes);
  const size_t carried = node.op == "Loop" ? node.inputs.size() - 2 - captures : 0;
  for (size_t i = 0; i < carried; ++i)
    if (node.output(i) == kNoValue || !graph.value(node.output(i)).shape.known()) return false;
  for (const std::string_view name : BodyNames(node.op)) {
    const Graph body = WithInputs(*node.attributes.GraphOf(name), InputsOfBodies(graph, node));
    const auto unknown = [](const Value& v) { return !v.shape.known(); };
    if (std::any_of(body.values.begin(), body.values.end(), unknown)) return false;
    if (!IsLittleWork(body, most_runs / runs)) return false;
  }
  return true;
}

// Whether a run is a matter of milliseconds. Nodes whose shapes hang on data count with what is known.
// `most_runs`: of a node, the bodies of nodes around it included.
bool IsLittleWork(const Graph& graph, int most_runs) {
  constexpr double kMaxWork = 1e6;        // inner-loop steps: as folding may take
  constexpr int64_t kMaxBytes = 1 << 22;  // of all values
  double work = 0;
  int64_t bytes = 0;
  for (const Node& node : graph.nodes) {
    work += FoldWork(graph, node);
    if (IsControlFlow(node.op) && !AreLittleWork(graph, node, most_runs)) return false;
  }
  for (const Value& v : graph.values)
    if (v.shape.known()) bytes += v.shape.Elements() * int64_t(SizeOf(v.type));
  return work <= kMaxWork && bytes <= kMaxBytes;
}

// Prepares and runs as a Session does, on the fast kernels or on the reference.
void RunOnce(const Graph& graph, bool reference) {
  const Machine machine{"fuzz", {{"cluster0", {0}}}, 1 << 30};
  const ThreadPlan plan = PlanOneCpu(graph, machine, {1});
  CpuKernels cpu({1, {}, reference});
  Executor executor(graph, plan, cpu);
  std::vector<Tensor> tensors;
  std::vector<ConstView> inputs;
  for (ValueId id : graph.inputs) tensors.push_back(SmallInput(graph.value(id)));
  for (const Tensor& t : tensors) inputs.push_back(t.view());
  std::vector<Tensor> results;
  std::vector<View> outputs;
  for (ValueId id : graph.outputs) {
    const Value& v = graph.value(id);
    const bool known = v.shape.known() && v.type != DType::kUnknown;
    results.push_back(known ? Tensor(v.type, v.shape) : Tensor());
    outputs.push_back(known ? results.back().mutable_view() : View());
  }
  executor.Run(inputs, outputs, {});
}

}  // namespace
}  // namespace mete

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  mete::Mutator mutator(seed);
  mete::ModelProto model;
  if (mutator.Below(16) == 0 || !model.ParseFromArray(data, int(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  for (size_t i = mutator.Below(4) + 1; i > 0; --i) mutator.Change(model);
  const std::string out = model.SerializeAsString();
  if (out.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  memcpy(data, out.data(), out.size());
  return out.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mete::ImportOptions options;
  options.max_value_bytes = 1 << 20;
  mete::FoldLimits limits;  // small: what is wanted is many inputs a second
  limits.max_value_bytes = int64_t(1) << 33;
  limits.max_result_bytes = 1 << 20;
  limits.max_bytes = 1 << 24;
  limits.max_work = 1e6;
  try {
    mete::Imported imported =
        mete::ImportOnnx({reinterpret_cast<const std::byte*>(data), size}, nullptr, "fuzz", "", options);
    mete::CheckNothingIsOurs(imported.graph);
    mete::RunPasses(imported.graph, {.limits = limits});
    mete::Verify(imported.graph);
    constexpr int kMostRuns = 64;  // of a body, those of bodies around it included
    if (mete::IsLittleWork(imported.graph, kMostRuns)) mete::RunOnce(imported.graph, size % 4 == 0);
  } catch (const mete::Error&) {}
  return 0;
}
