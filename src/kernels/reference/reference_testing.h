// Runs one operator, with inference and its reference kernel, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/infer_testing.h"
#include "kernels/reference/reference.h"

namespace mete {

// Returns the outputs of `op`. An input without a value counts as left out. Throws the error of inference or
// of the kernel.
inline std::vector<Tensor> RunOp(const std::string& op, const Attributes& attributes,
                                 const std::vector<Tensor>& inputs, size_t outputs = 1) {
  std::vector<ConstView> in;
  for (const Tensor& t : inputs) in.push_back(t.has_value() ? t.view() : ConstView{});
  const Node node{.name = "node",
                  .op = op,
                  .inputs = {},
                  .outputs = std::vector<ValueId>(outputs, 0),
                  .attributes = attributes};
  const auto results = InferNode(node, in);
  const RefKernel kernel = FindReference(op);
  if (!kernel) Fail(Code::kUnimplemented, op, "no reference kernel");

  std::vector<Tensor> made(outputs);
  std::vector<View> out(outputs);
  auto allocate = [&](size_t i, DType type, const Shape& shape) {
    made[i] = Tensor(type, shape);
    out[i] = made[i].mutable_view();
  };
  for (size_t i = 0; i < outputs; ++i)
    if (results[i].type != DType::kUnknown && results[i].shape.known())
      allocate(i, results[i].type, results[i].shape);
  Scratch scratch;
  RefArgs args{node.attributes, in, out, scratch, allocate};
  kernel(args);
  return made;
}

// Returns the first output of `op` as a vector. T must have the size of the output's element type.
template <class T>
std::vector<T> RunFor(const std::string& op, const Attributes& attributes,
                      const std::vector<Tensor>& inputs) {
  const Tensor out = RunOp(op, attributes, inputs)[0];
  return std::vector<T>(out.as<T>(), out.as<T>() + out.elements());
}

template <class T>
Tensor MakeTensor(DType type, const Shape& shape, const std::vector<T>& values) {
  Tensor t(type, shape);
  if (size_t(t.elements()) != values.size() || SizeOf(type) != sizeof(T))
    Invalid("test", "values do not fill the shape {}", ToString(shape));
  std::copy(values.begin(), values.end(), t.mutable_view().as<T>());
  return t;
}

inline Tensor F(const Shape& shape, const std::vector<float>& values) {
  return MakeTensor(DType::kF32, shape, values);
}
inline Tensor I64(const Shape& shape, const std::vector<int64_t>& values) {
  return MakeTensor(DType::kI64, shape, values);
}
inline Tensor I32(const Shape& shape, const std::vector<int32_t>& values) {
  return MakeTensor(DType::kI32, shape, values);
}
inline Tensor U8(const Shape& shape, const std::vector<uint8_t>& values) {
  return MakeTensor(DType::kU8, shape, values);
}
inline Tensor Bools(const Shape& shape, const std::vector<uint8_t>& values) {
  return MakeTensor(DType::kBool, shape, values);
}

// Compares element by element. The tolerance is relative to the larger of 1 and the expected magnitude; NaN
// and infinities must match.
template <class T>
void ExpectNear(const std::vector<T>& got, const std::vector<T>& expected, double tolerance,
                const std::string& what = "") {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = double(got[i]), e = double(expected[i]);
    const bool same = g == e || (std::isnan(g) && std::isnan(e));
    EXPECT_TRUE(same || std::abs(g - e) <= tolerance * std::max(1.0, std::abs(e)))
        << what << " element " << i << ": got " << g << ", expected " << e;
  }
}

}  // namespace mete
