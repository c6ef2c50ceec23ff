// Short descriptions of machines, and networks of known sizes (shapes only, no weights), for tests of costs
// and of the simulation.
#pragma once

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "costs/estimate.h"

namespace mete {

// Clusters, fastest first: {cores, sustained GFLOP/s of a core, GB/s of the cluster}. 8-bit numbers have four
// times this speed, depthwise convolutions half of it. The memory has 100 GB/s.
struct ToyCluster {
  int cores;
  double gflops, gbytes_per_s;
};

inline MachineFile ToyMachine(const std::vector<ToyCluster>& clusters, double dequeue_ns = 0,
                              double barrier_us = 0) {
  MachineFile file;
  file.machine.name = "toy";
  file.memory_gbytes_per_s = {100, "estimate"};
  int cpu = 0;
  for (const ToyCluster& toy : clusters) {
    Cluster cluster{"c" + std::to_string(file.clusters.size()),
                    std::vector<int>(size_t(toy.cores)),
                    {},
                    toy.gflops / clusters[0].gflops};
    std::iota(cluster.cores.begin(), cluster.cores.end(), cpu);
    cpu += toy.cores;
    file.machine.clusters.push_back(std::move(cluster));
    ClusterFigures figures;
    figures.max_mhz = {1000, "manual"};
    figures.f32_flops_per_cycle = {toy.gflops / 0.8, "manual"};
    figures.int8_ops_per_cycle = {4 * toy.gflops / 0.8, "manual"};
    figures.compute_share = {0.8, "estimate"};
    figures.depthwise_share = {0.4, "estimate"};
    figures.gbytes_per_s = {toy.gbytes_per_s, "manual"};
    figures.dequeue_ns = {dequeue_ns, "estimate"};
    figures.barrier_us = {barrier_us, "estimate"};
    file.clusters.push_back(std::move(figures));
  }
  return file;
}

// Builds a network that is a chain of nodes, in NHWC.
class Chain {
 public:
  explicit Chain(const Shape& input, DType type = DType::kF32)
      : type_(type), last_(graph_.AddValue("in", type, input)) {
    graph_.inputs = {last_};
  }

  // The padding is such that only the stride makes the output smaller.
  Chain& Conv(int64_t channels, int64_t kernel, int64_t stride = 1, int64_t groups = 1) {
    const Shape x = graph_.value(last_).shape;
    Attributes a;
    a.Set("layout", std::string("NHWC"));
    a.Set("group", groups);
    const ValueId weights = graph_.AddValue(Next("w"), type_, {channels, x[3] / groups, kernel, kernel});
    return Add("Conv", {last_, weights},
               {x[0], (x[1] + stride - 1) / stride, (x[2] + stride - 1) / stride, channels}, a);
  }
  Chain& Product(int64_t n) {
    const Shape x = graph_.value(last_).shape;
    const int64_t k = x.back(), m = x.Elements() / k;
    if (x.rank() != 2) Add("Reshape", {last_}, {m, k});
    return Add("MatMul", {last_, graph_.AddValue(Next("w"), type_, {k, n})}, {m, n});
  }
  Chain& Flat() { return Add("Reshape", {last_}, {1, graph_.value(last_).shape.Elements()}); }
  Chain& MaxPool() {
    const Shape x = graph_.value(last_).shape;
    return Add("MaxPool", {last_}, {x[0], x[1] / 2, x[2] / 2, x[3]});
  }
  Chain& Relu() { return Add("Relu", {last_}, graph_.value(last_).shape); }

  Graph Done() {
    graph_.outputs = {last_};
    return std::move(graph_);
  }

 private:
  std::string Next(const char* name) { return name + std::to_string(graph_.values.size()); }
  Chain& Add(const char* op, std::vector<ValueId> inputs, const Shape& shape, Attributes a = {}) {
    last_ = graph_.AddValue(Next("v"), type_, shape);
    graph_.AddNode(op, Next(op), std::move(inputs), {last_}, std::move(a));
    return *this;
  }

  const DType type_;
  Graph graph_;
  ValueId last_ = kNoValue;
};

inline Graph Vgg16() {
  Chain net({1, 224, 224, 3});
  for (const auto& [channels, convs] :
       std::vector<std::pair<int64_t, int>>{{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < convs; ++i) net.Conv(channels, 3);
    net.MaxPool();
  }
  return net.Flat().Product(4096).Product(4096).Product(1000).Done();
}

// ResNet-50 without its additions, which are fused into the convolutions before them, and without the four
// small convolutions of its shortcuts.
inline Graph ResNet50() {
  Chain net({1, 224, 224, 3});
  net.Conv(64, 7, 2).MaxPool();
  int64_t channels = 64;
  for (const int units : {3, 4, 6, 3}) {
    for (int i = 0; i < units; ++i)
      net.Conv(channels, 1).Conv(channels, 3, i == 0 && channels > 64 ? 2 : 1).Conv(4 * channels, 1);
    channels *= 2;
  }
  return net.Done();
}

// The matrix products of ViT-B/16 with 197 tokens.
inline Graph VitB16() {
  Chain net({197, 768});
  for (int i = 0; i < 12; ++i) net.Product(3 * 768).Product(768).Product(4 * 768).Product(768);
  return net.Done();
}

}  // namespace mete
