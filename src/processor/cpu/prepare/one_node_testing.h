// One node that is prepared as the engine does it, and compared with the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "graph/operators.h"
#include "processor/cpu/prepare/kernels.h"

namespace mete {

// One node over f32 inputs with random values; the inputs in `constants` are weights.
struct Case {
  std::string op;
  std::vector<Shape> shapes;  // of the inputs; Unknown(): the input is left out
  std::vector<size_t> constants;
  Attributes attributes;
  size_t outputs = 1;
};

inline Attributes With(std::initializer_list<std::pair<const char*, Attribute>> items) {
  Attributes a;
  for (const auto& [name, value] : items) a.Set(name, value);
  return a;
}

inline Tensor Random(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor t(DType::kF32, shape);
  for (int64_t e = 0; e < t.elements(); ++e)
    t.mutable_view().as<float>()[e] = std::uniform_real_distribution<float>(-1, 1)(random);
  return t;
}

class OneNode {
 public:
  OneNode(const Case& c, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<ValueId> in, out;
    for (size_t i = 0; i < c.shapes.size(); ++i) {
      if (!c.shapes[i].known()) {
        in.push_back(kNoValue);
        data_.emplace_back();
        continue;
      }
      Tensor t(DType::kF32, c.shapes[i]);
      for (int64_t e = 0; e < t.elements(); ++e)
        t.mutable_view().as<float>()[e] = std::uniform_real_distribution<float>(-1, 1)(random);
      const bool constant = std::find(c.constants.begin(), c.constants.end(), i) != c.constants.end();
      in.push_back(constant ? graph_.AddConstant("c" + std::to_string(i), t)
                            : graph_.AddValue("x" + std::to_string(i), DType::kF32, c.shapes[i]));
      data_.push_back(t);
    }
    for (size_t i = 0; i < c.outputs; ++i) out.push_back(graph_.AddValue("y" + std::to_string(i)));
    graph_.AddNode(c.op, "node", in, out, c.attributes);
    InferShapes(graph_);
  }

  const Tensor& data(size_t input) const { return data_[input]; }
  void SetInput(size_t input, int64_t element, float value) {
    data_[input].mutable_view().as<float>()[element] = value;
  }

  // Returns the outputs of the node on a CPU; `kernel` gets the name of the kernel that ran.
  std::vector<Tensor> Run(const KernelOptions& options, std::string* kernel = nullptr) {
    CpuKernels cpu(options);
    auto prepared = cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = options.threads});
    if (kernel)
      *kernel = prepared->kernel() + (prepared->kernel() == "reference" ? ": " + prepared->reason() : "");
    std::vector<Tensor> results;
    for (ValueId id : graph_.nodes[0].outputs)
      results.emplace_back(graph_.value(id).type, graph_.value(id).shape);
    Execute(*prepared, results);
    return results;
  }

  // Returns the reason of the prepared node for a step of `threads` threads; 0: of all threads.
  std::string Reason(const KernelOptions& options, int threads = 0) {
    CpuKernels cpu(options);
    return cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = threads > 0 ? threads : options.threads})
        ->reason();
  }

  // Returns the bytes of packed weights that were mapped when the node was prepared.
  int64_t MappedBytes(const KernelOptions& options) {
    CpuKernels cpu(options);
    cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = options.threads});
    return cpu.packer().mapped_bytes();
  }

  // Returns the only output, whose elements were all `before` at first.
  Tensor RunOver(float before, const KernelOptions& options) {
    CpuKernels cpu(options);
    std::vector<Tensor> results{Tensor(DType::kF32, graph_.value(graph_.nodes[0].outputs[0]).shape)};
    std::fill_n(results[0].mutable_view().as<float>(), results[0].elements(), before);
    Execute(*cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = options.threads}), results);
    return results[0];
  }

 private:
  void Execute(PreparedNode& prepared, std::vector<Tensor>& results) {
    std::vector<ConstView> in;
    for (const Tensor& t : data_) in.push_back(t.view());
    std::vector<View> out;
    for (Tensor& t : results) out.push_back(t.mutable_view());
    prepared.Execute(in, out);
  }

  Graph graph_;
  std::vector<Tensor> data_;
};

// Sums of up to a few thousand products of magnitude 1: the error grows with sqrt(K) * epsilon, and 1e-5
// is more than ten times that for K = 4096.
inline constexpr float kTolerance = 1e-5f;

inline void ExpectFastEqualsReference(const Case& c, const std::string& expected_kernel) {
  for (int threads : {1, 2, 3}) {
    OneNode node(c, 11);
    std::string kernel, reference;
    const auto want = node.Run({1, {}, true}, &reference), got = node.Run({threads, {}, false}, &kernel);
    ASSERT_EQ(reference.rfind("reference", 0), 0u);
    ASSERT_EQ(kernel.rfind(expected_kernel, 0), 0u) << c.op << " ran on " << kernel;
    for (size_t o = 0; o < want.size(); ++o)
      for (int64_t i = 0; i < want[o].elements(); ++i) {
        const float a = want[o].as<float>()[i], b = got[o].as<float>()[i];
        ASSERT_NEAR(a, b, kTolerance * (1 + std::abs(a)))
            << c.op << " output " << o << " element " << i << " with " << threads << " threads";
      }
  }
}

inline const std::pair<const char*, Attribute> kNhwc{"layout", std::string("NHWC")};

}  // namespace mete
