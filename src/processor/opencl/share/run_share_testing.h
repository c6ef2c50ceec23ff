// Runs a share on any OpenCL device, for tests: each launch by itself, nothing is kept.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "processor/opencl/kernels/run_testing.h"
#include "processor/opencl/share/share_on_gpu.h"

namespace mete::opencl {

// A test that runs shares.
class WithShares : public WithQueue {
 protected:
  // Returns the outputs of a graph that has had all passes.
  std::vector<Tensor> Run(const Graph& graph, const ShareOnGpu& share, const std::vector<Tensor>& inputs) {
    buffers_.clear();
    for (size_t i = 0; i < inputs.size(); ++i) Fill({Space::kInput, int32_t(i)}, inputs[i]);
    for (size_t i = 0; i < share.constants.size(); ++i)
      Fill({Space::kConstant, int32_t(i)}, share.constants[i]);
    for (size_t i = 0; i < share.packed.size(); ++i) Clear({Space::kPacked, int32_t(i)}, share.packed[i]);
    if (share.arena_bytes > 0) Clear({Space::kArena, 0}, share.arena_bytes);
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const Value& value = graph.value(graph.outputs[i]);
      outputs.emplace_back(value.type, value.shape);
      if (outputs[i].bytes() > 0) Clear({Space::kOutput, int32_t(i)}, int64_t(outputs[i].bytes()));
    }
    for (const auto* launches : {&share.packing, &share.launches})
      for (const Launch& launch : *launches) {
        RunOne(launch);
        if (HasFatalFailure()) return {};
      }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].bytes() > 0)
        ReadInto(buffers_.at({Space::kOutput, int32_t(i)}),
                 {static_cast<std::byte*>(outputs[i].mutable_view().data), outputs[i].bytes()});
    return outputs;
  }

 private:
  using Key = std::pair<Space, int32_t>;

  void Fill(const Key& key, const Tensor& tensor) {
    if (tensor.bytes() > 0)
      buffers_.insert_or_assign(key, Make({static_cast<const std::byte*>(tensor.data()), tensor.bytes()}));
  }
  // Bytes that no launch has written are NaN as f32 and as f16.
  void Clear(const Key& key, int64_t bytes) {
    buffers_.insert_or_assign(key, Make(std::vector<std::byte>(size_t(bytes), std::byte{0xff})));
  }

  void RunOne(const Launch& launch) {
    std::vector<Argument> arguments;
    for (const Place& place : launch.arguments) {
      const Buffer& whole = buffers_.at({place.space, place.index});
      ASSERT_LE(place.offset + place.bytes, whole.bytes());
      arguments.emplace_back(&whole, place.offset);
    }
    RunWithAll(launch.text, arguments);
  }

  std::map<Key, Buffer> buffers_;
};

}  // namespace mete::opencl
