// Measures the fast kernels on one core, relative to that core's measured peak: the nodes of
// bench/kernels/nodes/, prepared as the engine prepares them. Pin the program, and start it in the root of
// the repository:
//   taskset -c 1 build/release/kernels_bench --benchmark_filter=conv
// METE_TARGET chooses the instruction set, METE_WITHOUT switches its features off. GFLOP/s counts a
// multiply-add as two, and for Winograd the operations of the direct sum. "share" is the share of the peak of
// f32 multiply-adds that is measured at the start; GB/s counts inputs, weights and outputs, and
// "bandwidth_share" is their share of the read bandwidth. The figures are those of the fastest of several
// short runs, because machines are shared.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "dispatch/dispatch.h"
#include "graph/flops.h"
#include "graph/node_text/node_text.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/environment.h"
#include "processor/cpu/prepare/float_conv.h"
#include "processor/cpu/prepare/kernels.h"

namespace mete {
namespace {

const std::string kFolder = "bench/kernels/nodes/";

double peak_gflops = 0, peak_gbytes = 0;

// Returns this thread's processor time: time in which other threads have the core does not count.
double Seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// One iteration of Google Benchmark is one call. The reported time and rates are those of the fastest call.
void Measure(benchmark::State& state, double flops, double bytes, const std::function<void()>& run) {
  double best = 1e30;
  run();
  for (auto _ : state) {
    const double start = Seconds();
    run();
    const double took = Seconds() - start;
    state.SetIterationTime(took);
    best = std::min(best, took);
  }
  state.counters["us"] = best * 1e6;
  state.counters["GB/s"] = bytes / best * 1e-9;
  state.counters["bandwidth_share"] = bytes / best * 1e-9 / peak_gbytes;
  if (flops <= 0) return;
  state.counters["GFLOP/s"] = flops / best * 1e-9;
  state.counters["share"] = flops / best * 1e-9 / peak_gflops;
}

// The number of copies of `bytes` of packed weights that fill a large last-level cache twice: in a network no
// cache has the weights of a layer, because the weights of all other layers were read since.
size_t CopiesFor(int64_t bytes) {
  constexpr int64_t kCold = int64_t{96} << 20, kMost = 4096;
  return bytes <= 0 ? 1 : size_t(std::clamp<int64_t>(kCold / bytes, 2, kMost));
}

// A node that is prepared so often that its copies, used in turn, find their weights in memory.
class ColdNode {
 public:
  ColdNode(const NodeText& node, const KernelOptions& options)
      : one_(MakeOneNodeGraph(node, 1)), kernels_(options) {
    copies_.push_back(Prepare());
    if (copies_[0]->kernel() == "reference")
      Fail(Code::kFailedPrecondition, node.where, "no fast kernel computes this node: {}",
           copies_[0]->reason());
    while (copies_.size() < CopiesFor(copies_[0]->packed_bytes())) copies_.push_back(Prepare());
    for (const Tensor& t : one_.data) in_.push_back(t.view());
    for (const ValueId id : one_.node().outputs) {
      const Value& value = one_.graph.value(id);
      outputs_.emplace_back(value.type, value.shape);
      out_.push_back(outputs_.back().mutable_view());
    }
  }

  void Run() {
    copies_[next_]->Execute(in_, out_);
    next_ = (next_ + 1) % copies_.size();
  }
  double flops() const { return double(Flops(one_.graph, one_.node())); }
  double bytes() const { return double(BytesMoved(one_.graph, one_.node())); }

 private:
  std::unique_ptr<PreparedNode> Prepare() {
    return kernels_.Prepare(one_.graph, one_.node(), Step{.threads = 1});
  }

  const OneNodeGraph one_;
  CpuKernels kernels_;
  std::vector<std::unique_ptr<PreparedNode>> copies_;
  std::vector<Tensor> outputs_;
  std::vector<ConstView> in_;
  std::vector<View> out_;
  size_t next_ = 0;
};

// Google Benchmark calls a benchmark several times in succession with more iterations each time: what the
// last one has prepared is kept until another one begins.
template <class T>
T& Kept(const std::string& name, const std::function<std::unique_ptr<T>()>& make) {
  static std::string kept_name;
  static std::unique_ptr<T> kept;
  if (kept_name == name) return *kept;
  kept.reset();  // the memory of the last one is free before the next one takes its own
  kept = make();
  kept_name = name;
  return *kept;
}

void Register(const std::string& name, const std::function<void(benchmark::State&)>& bench) {
  benchmark::RegisterBenchmark(name.c_str(), bench)->UseManualTime()->MinTime(0.05);
}

void RegisterNode(const std::string& name, const NodeText& node, const KernelOptions& options) {
  Register(name, [=](benchmark::State& state) {
    ColdNode& cold = Kept<ColdNode>(name, [&] { return std::make_unique<ColdNode>(node, options); });
    Measure(state, cold.flops(), cold.bytes(), [&] { cold.Run(); });
  });
}

ConvShape ShapeOf(const NodeText& node) {
  const OneNodeGraph one = MakeOneNodeGraph(node, 1);
  std::string why;
  const auto conv = ConvolutionOf(one.graph, one.node(), {}, &why);
  if (!conv) Fail(Code::kFailedPrecondition, node.where, "no fast kernel computes this node: {}", why);
  return conv->shape;
}

// Registers the nodes of a family, and each convolution once for each algorithm that can compute it.
void RegisterFamily(const KernelFamily& family) {
  for (const NodeText& node : ReadNodes(kFolder + family.name + ".txt")) {
    const std::string name = fmt::format("{}/{}", family.name, node.text);
    if (node.op != "Conv") {
      RegisterNode(name, node, {});
      continue;
    }
    for (const ConvAlgorithm algorithm : ConvAlgorithmsFor(ShapeOf(node)))
      RegisterNode(fmt::format("{}/{}", name, Name(algorithm)), node, {.dispatch = {.conv = algorithm}});
  }
}

// The register tiles (rows x vectors) that a cluster may use on panels of the widest tile.
void RegisterTiles() {
  for (const NodeText& node : ReadNodes(kFolder + "tiles.txt")) {
    const ConvShape shape = ShapeOf(node);
    const GemmPlan plan = PlanConv(shape).gemm;
    for (const Tile& tile : GemmTiles(plan, shape.out_pixels())) {
      const TileSize of = SizeOf(plan, tile);
      Register(fmt::format("tile/{}/{}x{}", node.text, of.rows, of.vectors), [=](benchmark::State& state) {
        const OneNodeGraph one = MakeOneNodeGraph(node, 1);
        ThreadPool pool(1);
        Packer packer(pool);
        std::vector<std::unique_ptr<FloatConv>> copies;
        const auto add = [&] {
          copies.push_back(std::make_unique<FloatConv>(shape, one.data[1], ConvWay{.tiles = {tile}}, packer));
        };
        add();
        while (copies.size() < CopiesFor(copies[0]->packed_bytes())) add();
        Tensor output(DType::kF32, one.graph.value(one.node().outputs[0]).shape);
        Epilogue epilogue{one.data[2].as<float>(), nullptr, 0, {FusedOp::kRelu}};
        size_t next = 0;
        Measure(state, double(Flops(one.graph, one.node())), double(BytesMoved(one.graph, one.node())), [&] {
          copies[next]->Run(one.data[0].as<float>(), epilogue, output.mutable_view().as<float>());
          next = (next + 1) % copies.size();
        });
      });
    }
  }
}

void MeasurePeaks() {
  (void)ReferenceFromEnvironment();  // all that it measures are fast kernels
  for (int i = 0; i < 5; ++i) peak_gflops = std::max(peak_gflops, MeasurePeakFlops());
  peak_gbytes = MeasureReadBandwidth();
  std::printf("target %s, peak %.1f GFLOP/s, memory %.1f GB/s\n", ActiveTarget(), peak_gflops, peak_gbytes);
}

}  // namespace
}  // namespace mete

int main(int argc, char** argv) try {
  benchmark::Initialize(&argc, argv);
  mete::MeasurePeaks();
  for (const mete::KernelFamily& family : mete::KernelFamilies()) mete::RegisterFamily(family);
  mete::RegisterTiles();
  benchmark::RunSpecifiedBenchmarks();
} catch (const mete::Error& e) {
  std::fprintf(stderr, "kernels_bench: %s\n", e.what());
  return 1;
}
