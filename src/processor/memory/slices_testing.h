// A graph whose convolutions write slices of one value, for tests of run.
#pragma once

#include <string>

#include "base/fused.h"
#include "graph/graph.h"

namespace mete {

enum class Slices { kInPlace, kJoined };

// in -> three convolutions of 7 + 9 + 16 channels into one value, an Exp of the input between them -> Relu,
// Softmax. Values: 0 in, 1 weights 7, 2 weights 9, 3 weights 16, 4 exp, 5 to 7 the slices, 8 relu, 9 softmax.
// With kJoined, 5 to 7 are the convolutions' own outputs and 10 their Concat.
inline Graph SlicesNet(Slices slices = Slices::kInPlace) {
  const bool in_place = slices == Slices::kInPlace;
  Graph g;
  g.name = "slices";
  g.inputs = {g.AddValue("in", DType::kF32, {1, 4, 4, 8})};
  const int64_t channels[] = {7, 9, 16};
  for (int64_t m : channels) {
    Tensor w(DType::kF32, {m, 8, 1, 1});
    for (int64_t i = 0; i < w.elements(); ++i)
      w.mutable_view().as<float>()[i] = float((i * 37 + m) % 101 - 50) * 0.01f;
    g.AddConstant("w" + std::to_string(m), w);
  }
  g.AddValue("exp", DType::kF32, {1, 4, 4, 8});
  for (int64_t m : channels)
    g.AddValue("slice" + std::to_string(m), DType::kF32, {1, 4, 4, in_place ? 32 : m});
  g.AddValue("relu", DType::kF32, {1, 4, 4, 32});
  g.AddValue("softmax", DType::kF32, {1, 4, 4, 32});
  auto slice = [&](ValueId x, ValueId w, ValueId into, ValueId out, int64_t offset) {
    Attributes a;
    a.Set("layout", std::string("NHWC"));
    if (in_place) a.Set(kIntoOffset, offset);
    if (in_place) a.Set(kIntoChannels, int64_t{32});
    g.AddNode("Conv", "conv" + std::to_string(out), {x, w, kNoValue, kNoValue, in_place ? into : kNoValue},
              {out}, a);
  };
  slice(0, 1, kNoValue, 5, 0);
  g.AddNode("Exp", "exp", {0}, {4});
  slice(4, 2, 5, 6, 7);
  slice(4, 3, 6, 7, 16);
  ValueId joined = 7;
  if (!in_place) {
    Attributes axis;
    axis.Set("axis", int64_t{3});
    joined = g.AddValue("joined", DType::kF32, {1, 4, 4, 32});
    g.AddNode("Concat", "concat", {5, 6, 7}, {joined}, axis);
  }
  g.AddNode("Relu", "relu", {joined}, {8});
  g.AddNode("Softmax", "softmax", {8}, {9});
  g.outputs = {9, joined};
  return g;
}

}  // namespace mete
