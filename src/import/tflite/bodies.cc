// The parts of the Builder that make bodies of subgraphs.
#include "graph/bodies.h"

#include <algorithm>

#include "graph/operators.h"
#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

constexpr int kMostDepth = 32;  // as the front end for ONNX

// Each body is converted a few times, until the shapes of what it hands on are found.
constexpr int64_t kTimesEach = 16, kMore = 1000;

// What it takes to convert a graph: about the same time for an operator, a tensor and 64 bytes of names.
int64_t CostOf(const File& graph) {
  size_t names = 0;
  for (const TensorInfo& tensor : graph.tensors) names += tensor.name.size();
  return int64_t(graph.operators.size() + graph.tensors.size() + names / 64) + 1;
}

int64_t CostOfAll(const File& network) {
  int64_t cost = CostOf(network);
  for (const File& other : network.others) cost += CostOf(other);
  return cost;
}

}  // namespace

const File& Builder::Subgraph(int number, const std::string& where) const {
  const int64_t count = int64_t(network_.others.size());
  if (number < 1 || number > count)
    Invalid(where, "there is no subgraph {} that it may run; expected 1 to {}", number, count);
  return network_.others[size_t(number) - 1];
}

Builder::Builder(Builder& outer, int number, const std::string& where)
    : network_(outer.network_),
      file_(outer.Subgraph(number, where)),
      outer_(&outer),
      number_(number),
      options_(outer.options_),
      problems_(outer.problems_),
      states_(file_.tensors.size()) {
  result_.graph.name = file_.name;
  Builder* network = &outer;
  int depth = 1;
  for (; network->outer_; network = network->outer_, ++depth)
    if (network->number_ == number) Invalid(where, "subgraph {} runs itself", number);
  if (depth > kMostDepth) Invalid(where, "subgraphs nest deeper than {}; expected less", kMostDepth);
  if (network->left_ == 0) network->left_ = kTimesEach * CostOfAll(network_) + kMore;
  network->left_ -= CostOf(file_);
  if (network->left_ < 1) {
    network->left_ = 1;
    mete::Fail(Code::kUnimplemented, where, "subgraphs run each other too often");
  }
}

void Builder::AddInputsLike(std::span<const Value> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const TensorInfo& of = info(file_.inputs[i]);
    State& state = states_[size_t(file_.inputs[i])];
    const Value& value = values[i];
    if (state.raw[0] != kNoValue) Invalid(of.name, "two inputs of a subgraph are this tensor");
    if (!of.unsupported.empty())
      throw Error(Code::kUnimplemented, fmt::format("tensor '{}': {}", of.name, of.unsupported));
    if (value.type != of.type && value.type != DType::kUnknown)
      Invalid(of.name, "a subgraph gets another type than it says; got {}, expected {}", Name(value.type),
              Name(of.type));
    state.raw[0] = value.is_constant() ? graph().AddConstant(of.name, value.constant)
                                       : graph().AddValue(of.name, of.type, value.shape);
    if (!value.is_constant()) graph().inputs.push_back(state.raw[0]);
    taken_.insert(state.raw[0]);
  }
}

ValueId Builder::BodyOutput(size_t i) {
  if (HasFailed(file_.outputs[i])) throw Error(Code::kUnimplemented, "Mete lacks a part of its subgraph");
  return Raw(file_.outputs[i], Order::kFile);
}

ValueId Builder::Append(const Graph& body, std::span<const ValueId> inputs, const std::string& name) {
  const size_t first = graph().nodes.size();
  const ValueId output = graph().AddValue(name);
  AppendBody(graph(), body, inputs, std::span(&output, 1), name, names_);
  for (size_t n = first; n < graph().nodes.size(); ++n) {
    const Node& node = graph().nodes[n];
    const auto results = InferNode(graph(), node, options_.max_value_bytes);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      graph().value(node.outputs[i]).type = results[i].type;
      graph().value(node.outputs[i]).shape = results[i].shape;
    }
  }
  return output;
}

void Builder::Note(const std::string& text) {
  if (outer_) return outer_->Note(text);
  if (std::find(result_.notes.begin(), result_.notes.end(), text) == result_.notes.end())
    result_.notes.push_back(text);
}

}  // namespace mete::tflite_import
