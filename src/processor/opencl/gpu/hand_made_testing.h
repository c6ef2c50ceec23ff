// Shares made by hand, of a few launches, for tests of what runs them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "processor/opencl/kernels/map.h"
#include "processor/opencl/share/share_on_gpu.h"

namespace mete::opencl {

// A graph of one node for each step, all of one shape, and its share.
struct HandMade {
  Graph graph;
  ShareOnGpu share;
};

// A kernel that computes operand 0 + operand 1 of `elements` floats.
inline KernelText AddText(int64_t elements) {
  MapSpec spec;
  spec.sizes = {elements};
  spec.inputs = {{.strides = {1}}, {.strides = {1}}};
  spec.output = {.strides = {1}};
  spec.program.inputs = 2;
  spec.program.steps = 1;
  spec.program.step[0] = {DefaultActivation(FusedOp::kAdd), {0, 1, -1}};
  return MapKernel(spec, 4);
}

// Adds the constant 1 to `elements` floats, `steps` times, over the arena. The constant is packed first, from
// two halves that it is the sum of.
inline HandMade AddsOne(int64_t elements, int steps) {
  HandMade made;
  Graph& graph = made.graph;
  graph.name = "adds_one";
  ValueId x = graph.AddValue("x", DType::kF32, {elements});
  graph.inputs = {x};
  for (int i = 0; i < steps; ++i) {
    const std::string name = "add" + std::to_string(i);
    const ValueId y = graph.AddValue(name + "_out", DType::kF32, {elements});
    graph.AddNode("Add", name, {x, x}, {y});
    x = y;
  }
  graph.outputs = {x};
  const int64_t bytes = elements * 4, slot = (bytes + 127) / 128 * 128;
  const std::vector<float> half(size_t(elements), 0.5f);
  ShareOnGpu& share = made.share;
  share.constants = {Tensor::Floats({elements}, half)};
  share.packed = {bytes};
  const Place constant{Space::kConstant, 0, 0, bytes}, one{Space::kPacked, 0, 0, bytes};
  share.packing = {{AddText(elements), {constant, constant, one}}};
  share.arena_bytes = 2 * slot;
  const auto place = [&](int step) {
    if (step == 0) return Place{Space::kInput, 0, 0, bytes};
    if (step == steps) return Place{Space::kOutput, 0, 0, bytes};
    return Place{Space::kArena, 0, step % 2 * slot, bytes};
  };
  for (int i = 0; i < steps; ++i)
    share.launches.push_back({AddText(elements), {place(i), one, place(i + 1)}, i});
  return made;
}

}  // namespace mete::opencl
