// Helpers for tests of graph/ops: they infer the outputs of one node.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/operators.h"

namespace mete {

// An input of the node: a value of a type and shape, a constant whose data the inference may read, or an
// omitted input ({}).
struct TestInput {
  TestInput() = default;
  TestInput(const Shape& shape) : TestInput(DType::kF32, shape) {}
  TestInput(DType type, const Shape& shape) : type(type), shape(shape) {}
  TestInput(Tensor t) : type(t.type()), shape(t.shape()), constant(std::move(t)) {}

  DType type = DType::kUnknown;
  Shape shape;
  Tensor constant;
};

inline std::vector<InferContext::Result> InferOp(std::string op, Attributes attributes,
                                                 const std::vector<TestInput>& inputs, size_t outputs = 1) {
  Graph graph;
  std::vector<ValueId> in, out;
  for (const TestInput& i : inputs) {
    const std::string name = fmt::format("in{}", in.size());
    if (i.constant.has_value()) in.push_back(graph.AddConstant(name, i.constant));
    else in.push_back(i.type == DType::kUnknown ? kNoValue : graph.AddValue(name, i.type, i.shape));
  }
  for (size_t i = 0; i < outputs; ++i) out.push_back(graph.AddValue(fmt::format("out{}", i)));
  return InferNode(graph, graph.AddNode(std::move(op), "node", in, out, std::move(attributes)));
}

// Returns "f32 2x3" (or "unknown ?") for every output, separated by ", ", or the message of an Error as
// "error: ...".
inline std::string InferText(std::string op, Attributes attributes, const std::vector<TestInput>& inputs,
                             size_t outputs = 1) try {
  std::string text;
  for (const auto& r : InferOp(std::move(op), std::move(attributes), inputs, outputs))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", Name(r.type), ToString(r.shape));
  return text;
} catch (const Error& e) {
  return std::string("error: ") + e.what();
}

// Makes attributes from pairs: Attrs({{"axis", int64_t(1)}, {"mode", std::string("x")}}).
inline Attributes Attrs(std::initializer_list<Attributes::Item> items) {
  Attributes attributes;
  for (const auto& [name, value] : items) attributes.Set(name, value);
  return attributes;
}

}  // namespace mete
