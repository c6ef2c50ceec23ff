// Graphs with forks, for tests of branches side by side.
#pragma once

#include "passes/graphs_testing.h"

namespace mete {

// A random fork: two or three branches of one or two layers, with or without a layer before them and behind
// them. A node joins the branches, or they are outputs themselves.
class RandomFork : public Builder {
 public:
  explicit RandomFork(uint32_t seed) : Builder(seed), random_(seed) {
    ValueId x = Input({1, 4, Pick(4, 12), Pick(4, 8)});
    if (Pick(0, 1)) x = Layer(x);
    std::vector<ValueId> branches;
    for (int64_t i = 0, count = Pick(2, 3); i < count; ++i) {
      branches.push_back(Layer(x));
      if (Pick(0, 1)) branches.back() = Layer(branches.back());
    }
    Join(branches);
    InferShapes(graph);
    Settle(graph);
  }

 private:
  int64_t Pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  // All shapes are the same.
  ValueId Layer(ValueId x) {
    if (Pick(0, 3) > 0) return Pick(0, 1) ? Conv(x, 4, 4, 3, {1, 1, 1, 1}) : Op("Relu", {Conv(x, 4, 4, 1)});
    Attributes a;
    a.Set("kernel_shape", mete::Ints{3, 3});
    a.Set("pads", mete::Ints{1, 1, 1, 1});
    return Op("MaxPool", {x}, a);
  }

  void Join(const std::vector<ValueId>& branches) {
    const int64_t kind = Pick(0, 2);
    if (kind == 0) {
      for (const ValueId branch : branches) Output(branch);
      return;
    }
    ValueId joined = branches[0];
    Attributes a;
    a.Set("axis", int64_t(1));
    if (kind == 1) joined = Op("Concat", branches, a);
    else
      for (size_t i = 1; i < branches.size(); ++i) joined = Op("Add", {joined, branches[i]});
    const int64_t channels = 4 * (kind == 1 ? int64_t(branches.size()) : 1);
    Output(Pick(0, 1) ? joined : Conv(joined, channels, 4, 1));
  }

  std::mt19937 random_;
};

// A chain of modules like the last ones of GoogLeNet, with images of 7x7. The branches of each module are
// 1x1; 1x1 and 3x3; 1x1 and 5x5; a pool and 1x1.
class ModuleChain : public Builder {
 public:
  explicit ModuleChain(int modules) {
    ValueId x = Input({1, 64, 7, 7});
    for (int i = 0; i < modules; ++i) x = Module(x);
    Output(x);
    InferShapes(graph);
  }

 private:
  ValueId Module(ValueId x) {
    const ValueId one = Conv(x, 64, 16, 1);
    const ValueId three = Conv(Conv(x, 64, 16, 1), 16, 24, 3, {1, 1, 1, 1});
    const ValueId five = Conv(Conv(x, 64, 8, 1), 8, 16, 5, {2, 2, 2, 2});
    Attributes pool, axis;
    pool.Set("kernel_shape", mete::Ints{3, 3});
    pool.Set("pads", mete::Ints{1, 1, 1, 1});
    axis.Set("axis", int64_t(1));
    return Op("Concat", {one, three, five, Conv(Op("MaxPool", {x}, pool), 64, 8, 1)}, axis);
  }
};

}  // namespace mete
