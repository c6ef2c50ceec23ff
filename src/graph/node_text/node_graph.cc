// Makes graphs of one node from text, with random values.
#include <algorithm>
#include <random>
#include <type_traits>

#include "base/narrow.h"
#include "base/visit_type.h"
#include "graph/node_text/node_text.h"
#include "graph/operators.h"

namespace mete {
namespace {

// Returns the ends of the range of an input's random values.
std::pair<double, double> RangeOf(const NodeInput& input) {
  if (input.range) return *input.range;
  if (IsFloat(input.type)) return {-1, 1};
  switch (input.type) {
    case DType::kBool: return {0, 1};
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64: return {0, 255};
    default: return {-128, 127};
  }
}

template <class T>
T As(auto value) {
  if constexpr (std::is_arithmetic_v<T>) return T(value);
  else return T(float(value));  // a type of 16 bits
}

template <class T>
void FillAtRandom(const View& to, const NodeInput& input, std::mt19937& random) {
  const auto [least, most] = RangeOf(input);
  T* out = to.as<T>();
  if (IsFloat(input.type)) {
    std::uniform_real_distribution<float> values{float(least), float(most)};
    for (int64_t i = 0; i < to.elements(); ++i) out[i] = As<T>(values(random));
  } else {
    std::uniform_int_distribution<int64_t> values{int64_t(least), int64_t(most)};
    for (int64_t i = 0; i < to.elements(); ++i) out[i] = As<T>(values(random));
  }
}

Tensor DataOf(const NodeInput& input, std::mt19937& random) {
  Tensor data(input.type, input.shape);
  if (IsNarrow(input.type)) {  // bytes at random: their other bits are ignored
    std::generate_n(data.mutable_view().as<uint8_t>(), data.elements(), [&] { return uint8_t(random()); });
    return data;
  }
  VisitAny(input.type, [&]<class T> {
    const View to = data.mutable_view();
    if (input.values.empty()) return FillAtRandom<T>(to, input, random);
    for (size_t i = 0; i < input.values.size(); ++i) to.as<T>()[i] = As<T>(input.values[i]);
  });
  return data;
}

}  // namespace

OneNodeGraph MakeOneNodeGraph(const NodeText& node, uint32_t seed) {
  std::mt19937 random(seed);
  OneNodeGraph one;
  one.graph.name = node.where;
  std::vector<ValueId> inputs, outputs;
  for (const NodeInput& input : node.inputs) {
    const std::string number = std::to_string(inputs.size());
    if (!input.shape.known()) {
      inputs.push_back(kNoValue);
      one.data.emplace_back();
      continue;
    }
    one.data.push_back(DataOf(input, random));
    if (input.constant) {
      inputs.push_back(one.graph.AddConstant("c" + number, one.data.back()));
    } else {
      inputs.push_back(one.graph.AddValue("x" + number, input.type, input.shape));
      one.graph.inputs.push_back(inputs.back());
    }
  }
  for (int i = 0; i < node.outputs; ++i) outputs.push_back(one.graph.AddValue("y" + std::to_string(i)));
  one.graph.outputs = outputs;
  one.graph.AddNode(node.op, node.where, inputs, outputs, node.attributes);
  InferShapes(one.graph);
  return one;
}

}  // namespace mete
