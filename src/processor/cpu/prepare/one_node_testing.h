// One node that is prepared as the engine does it, and compared with the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "graph/node_text/node_text.h"
#include "processor/cpu/prepare/kernels.h"

namespace mete {

class OneNode {
 public:
  OneNode(const NodeText& node, uint32_t seed) : one_(MakeOneNodeGraph(node, seed)) {}
  OneNode(const std::string& line, uint32_t seed) : OneNode(ParseNode("test", line), seed) {}

  const Tensor& data(size_t input) const { return one_.data[input]; }
  void SetInput(size_t input, int64_t element, float value) {
    one_.data[input].mutable_view().as<float>()[element] = value;
  }

  // Returns the outputs of the node on a CPU; `kernel` gets the name of the kernel that ran.
  std::vector<Tensor> Run(const KernelOptions& options, std::string* kernel = nullptr) {
    CpuKernels cpu(options);
    auto prepared = Prepare(cpu, options.threads);
    if (kernel)
      *kernel = prepared->kernel() + (prepared->kernel() == "reference" ? ": " + prepared->reason() : "");
    std::vector<Tensor> results;
    for (ValueId id : one_.node().outputs)
      results.emplace_back(one_.graph.value(id).type, one_.graph.value(id).shape);
    Execute(*prepared, results);
    return results;
  }

  // Returns the reason of the prepared node for a step of `threads` threads; 0: of all threads.
  std::string Reason(const KernelOptions& options, int threads = 0) {
    CpuKernels cpu(options);
    return Prepare(cpu, threads > 0 ? threads : options.threads)->reason();
  }

  // Returns the bytes of packed weights that were mapped when the node was prepared.
  int64_t MappedBytes(const KernelOptions& options) {
    CpuKernels cpu(options);
    Prepare(cpu, options.threads);
    return cpu.packer().mapped_bytes();
  }

  // Returns the only output, whose elements were all `before` at first.
  Tensor RunOver(float before, const KernelOptions& options) {
    CpuKernels cpu(options);
    std::vector<Tensor> results{Tensor(DType::kF32, one_.graph.value(one_.node().outputs[0]).shape)};
    std::fill_n(results[0].mutable_view().as<float>(), results[0].elements(), before);
    Execute(*Prepare(cpu, options.threads), results);
    return results[0];
  }

 private:
  std::unique_ptr<PreparedNode> Prepare(CpuKernels& cpu, int threads) {
    return cpu.Prepare(one_.graph, one_.node(), Step{.threads = threads});
  }

  void Execute(PreparedNode& prepared, std::vector<Tensor>& results) {
    std::vector<ConstView> in;
    for (const Tensor& t : one_.data) in.push_back(t.view());
    std::vector<View> out;
    for (Tensor& t : results) out.push_back(t.mutable_view());
    prepared.Execute(in, out);
  }

  OneNodeGraph one_;
};

// Sums of up to a few thousand products of magnitude 1: the error grows with sqrt(K) * epsilon, and 1e-5
// is more than ten times that for K = 4096.
inline constexpr float kTolerance = 1e-5f;

// Expects equal tensors, floats within kTolerance.
inline void ExpectEqual(const Tensor& want, const Tensor& got) {
  ASSERT_EQ(want.type(), got.type());
  ASSERT_EQ(want.shape(), got.shape());
  if (want.type() != DType::kF32) {
    ASSERT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0);
    return;
  }
  for (int64_t i = 0; i < want.elements(); ++i) {
    const float a = want.as<float>()[i], b = got.as<float>()[i];
    ASSERT_NEAR(a, b, kTolerance * (1 + std::abs(a))) << "element " << i;
  }
}

// Expects that the node runs on the kernel whose name its line expects, with the outputs of the reference.
inline void ExpectFastEqualsReference(const NodeText& text) {
  for (int threads : {1, 2, 3}) {
    SCOPED_TRACE(text.where + ": " + text.text + " with " + std::to_string(threads) + " threads");
    OneNode node(text, 11);
    std::string kernel, reference;
    const auto want = node.Run({.reference = true}, &reference),
               got = node.Run({.threads = threads}, &kernel);
    ASSERT_TRUE(reference.starts_with("reference"));
    ASSERT_TRUE(kernel.starts_with(text.expected)) << "it ran on " << kernel;
    for (size_t o = 0; o < want.size(); ++o) ExpectEqual(want[o], got[o]);
  }
}

}  // namespace mete
