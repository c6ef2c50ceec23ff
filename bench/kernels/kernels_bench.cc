// Measures the fast kernels on one core, relative to that core's measured peak. Pin the program:
//   taskset -c 1 build/kernels_bench --benchmark_filter=conv
// METE_TARGET chooses the instruction set. GFLOP/s counts a multiply-add as two. "share" is the share of the
// peak of f32 multiply-adds that is measured at the start (for memory-bound kernels, of the read bandwidth).
// The figures are those of the fastest of several short runs, because machines are shared.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/gemm/gemm.h"
#include "kernels/fast/layout/transpose.h"
#include "kernels/fast/matvec/matvec.h"
#include "kernels/fast/target/target.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {
namespace {

double peak_gflops = 0, peak_gbytes = 0;

class Buffer {
 public:
  explicit Buffer(int64_t count)
      : data_(static_cast<float*>(
            std::aligned_alloc(64, (static_cast<size_t>(count) * sizeof(float) + 64) / 64 * 64))) {
    for (int64_t i = 0; i < count; ++i) data_[i] = static_cast<float>(i % 17) * 0.01f;
  }
  ~Buffer() { std::free(data_); }
  Buffer(const Buffer&) = delete;
  float* get() { return data_; }

 private:
  float* data_;
};

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
  if (flops > 0) {
    state.counters["GFLOP/s"] = flops / best * 1e-9;
    state.counters["share"] = flops / best * 1e-9 / peak_gflops;
  }
  if (bytes > 0) {
    state.counters["GB/s"] = bytes / best * 1e-9;
    state.counters["bandwidth_share"] = bytes / best * 1e-9 / peak_gbytes;
  }
}

// Packed weights as in a network, where no cache has them, because the weights of all other layers were read
// since. The class has enough copies to fill a large last-level cache twice, and uses them in turn.
class ColdWeights {
 public:
  template <class Pack>
  ColdWeights(size_t bytes, const Pack& pack) : length_(static_cast<int64_t>(bytes / 64 + 1) * 16) {
    constexpr int64_t kFloats = (96 << 20) / sizeof(float);
    copies_ = std::max<int64_t>(2, kFloats / length_);
    data_ = std::make_unique<Buffer>(length_ * copies_);
    for (int64_t i = 0; i < copies_; ++i) pack(data_->get() + i * length_);
  }
  const float* Next() { return data_->get() + length_ * (next_ = (next_ + 1) % copies_); }

 private:
  int64_t length_, copies_, next_ = 0;
  std::unique_ptr<Buffer> data_;
};

ConvShape Square(int64_t size, int64_t channels, int64_t outputs, int64_t kernel, int64_t stride) {
  ConvShape s;
  s.in_height = s.in_width = size;
  s.in_channels = channels;
  s.out_channels = outputs;
  s.kernel_height = s.kernel_width = kernel;
  s.stride_y = s.stride_x = stride;
  s.pad_top = s.pad_left = kernel / 2;
  s.out_height = s.out_width = (size + 2 * (kernel / 2) - kernel) / stride + 1;
  return s;
}

void BenchConv(benchmark::State& state, const ConvShape& shape, Activation activation = {FusedOp::kRelu},
               Tile tile = {}) {
  ConvPlan plan = PlanConv(shape);
  plan.gemm.tile = tile;
  Buffer input(shape.batch * shape.in_height * shape.in_width * shape.in_channels),
      output(shape.out_pixels() * shape.out_channels);
  Buffer bias(shape.out_channels), residual(shape.out_pixels() * shape.out_channels);
  const int64_t k = shape.kernel_height * shape.kernel_width * shape.in_channels / shape.groups;
  Buffer weights(shape.out_channels * k);
  Buffer scratch(static_cast<int64_t>(ConvScratchBytes(plan) / sizeof(float)) + 16);
  ColdWeights packed(PackedConvBytes(plan), [&](float* to) {
    PackConv(plan, weights.get(), {0, plan.panels}, to);
  });
  Epilogue epilogue;
  epilogue.bias = bias.get();
  epilogue.activation = activation;
  Measure(state, 2.0 * static_cast<double>(shape.out_pixels() * shape.out_channels * k), 0, [&] {
    RunConv(plan, input.get(), packed.Next(), epilogue, {0, shape.out_pixels()}, {0, plan.panels},
            output.get(), scratch.get());
  });
}

void BenchGemm(benchmark::State& state, int64_t m, int64_t k, int64_t n, Activation activation) {
  const GemmPlan plan = PlanGemm(n, k);
  Buffer a(m * k), b(k * n), c(m * n), bias(n);
  ColdWeights packed(PackedGemmBytes(plan), [&](float* to) {
    PackGemm(plan, b.get(), n, false, 1.0f, {0, plan.panels}, to);
  });
  Epilogue epilogue;
  epilogue.bias = bias.get();
  epilogue.activation = activation;
  Measure(state, 2.0 * static_cast<double>(m * k * n), 0, [&] {
    RunGemm(plan, a.get(), k, packed.Next(), epilogue, {0, m}, {0, plan.panels}, c.get(), n);
  });
}

void RegisterConv(int64_t size, int64_t channels, int64_t outputs, int64_t kernel, int64_t stride) {
  const ConvShape shape = Square(size, channels, outputs, kernel, stride);
  const std::string name = "conv" + std::to_string(kernel) + "x" + std::to_string(kernel) + "/" +
                           std::to_string(size) + "x" + std::to_string(size) + "x" +
                           std::to_string(channels) + "_to_" + std::to_string(outputs) + "_stride" +
                           std::to_string(stride);
  benchmark::RegisterBenchmark(name.c_str(), [shape](benchmark::State& s) { BenchConv(s, shape); })
      ->UseManualTime()
      ->MinTime(0.05);
}

// GFLOP/s counts the operations of the direct convolution, so that it compares with conv3x3 of the same
// shape.
void BenchWinograd(benchmark::State& state, const ConvShape& shape, int m) {
  const WinogradPlan plan = PlanWinograd(shape, m);
  Buffer input(shape.batch * shape.in_height * shape.in_width * shape.in_channels),
      output(shape.out_pixels() * shape.out_channels);
  Buffer bias(shape.out_channels), weights(shape.out_channels * shape.in_channels * 9);
  Buffer scratch(static_cast<int64_t>(WinogradScratchBytes(plan) / sizeof(float)));
  ColdWeights packed(PackedWinogradBytes(plan), [&](float* to) {
    PackWinograd(plan, weights.get(), {0, plan.panels}, to);
  });
  const Epilogue epilogue = {bias.get(), nullptr, 0, {FusedOp::kRelu}};
  Measure(state, 18.0 * static_cast<double>(shape.out_pixels() * shape.out_channels * shape.in_channels), 0,
          [&] {
            RunWinograd(plan, input.get(), packed.Next(), epilogue, {0, plan.tiles}, {0, plan.panels},
                        output.get(), scratch.get());
          });
}

// 3x3 convolutions with stride 1: size, input channels, output channels.
constexpr int64_t kThreeByThree[][3] = {
    // ResNet-18, -50
    {56, 64, 64},
    {28, 128, 128},
    {14, 256, 256},
    {7, 512, 512},
    // VGG-16
    {224, 64, 64},
    {112, 64, 128},
    {112, 128, 128},
    {56, 128, 256},
    {56, 256, 256},
    {28, 256, 512},
    {28, 512, 512},
    {14, 512, 512},
    // GoogLeNet
    {56, 64, 192},
    {28, 96, 128},
    {28, 128, 192},
    {14, 96, 208},
    {14, 112, 224},
    {14, 128, 256},
    {14, 144, 288},
    {14, 160, 320},
    {7, 160, 320},
    {7, 192, 384},
    // SqueezeNet 1.1
    {55, 16, 64},
    {27, 32, 128},
    {13, 48, 192},
    {13, 64, 256},
    // Inception v3
    {147, 32, 64},
    {35, 64, 96},
    {35, 96, 96},
    {8, 448, 384},
};

void RegisterThreeByThree() {
  for (const auto& [size, channels, outputs] : kThreeByThree) {
    const ConvShape shape = Square(size, channels, outputs, 3, 1);
    const std::string side = std::to_string(size), name = side + "x" + side + "x" + std::to_string(channels) +
                                                          "_to_" + std::to_string(outputs);
    benchmark::RegisterBenchmark(("three/" + name + "/direct").c_str(),
                                 [shape](benchmark::State& s) { BenchConv(s, shape); })
        ->UseManualTime()
        ->MinTime(0.05);
    for (const int m : {2, 4, 6}) {
      benchmark::RegisterBenchmark(("three/" + name + "/winograd_f" + std::to_string(m)).c_str(),
                                   [shape, m](benchmark::State& s) { BenchWinograd(s, shape, m); })
          ->UseManualTime()
          ->MinTime(0.05);
    }
  }
}

// The convolutions of ResNet-50, each shape once.
void RegisterResNet50() {
  RegisterConv(224, 3, 64, 7, 2);
  for (const auto& [size, width] : {std::pair<int64_t, int64_t>{56, 64}, {28, 128}, {14, 256}, {7, 512}}) {
    RegisterConv(size, width, width, 3, 1);
    RegisterConv(size, width, 4 * width, 1, 1);
    RegisterConv(size, 4 * width, width, 1, 1);
    if (size > 7) {
      RegisterConv(size, 4 * width, 8 * width, 1, 2);
      RegisterConv(size, 2 * width, 2 * width, 3, 2);
    }
  }
}

void BenchDepthwise(benchmark::State& state, ConvShape shape, Activation activation) {
  shape.groups = shape.in_channels;
  const DepthwisePlan plan = PlanDepthwise(shape);
  const int64_t taps = shape.kernel_height * shape.kernel_width, c = shape.in_channels;
  Buffer input(shape.in_height * shape.in_width * c), output(shape.out_pixels() * c), weights(taps * c),
      packed(taps * c), bias(c);
  PackDepthwise(plan, weights.get(), packed.get());
  const Epilogue epilogue = {bias.get(), nullptr, 0, activation};
  Measure(state, 2.0 * static_cast<double>(shape.out_pixels() * c * taps), 0, [&] {
    RunDepthwise(plan, input.get(), packed.get(), epilogue, {0, plan.out_rows}, {0, c}, output.get());
  });
}

void RegisterDepthwise(int64_t size, int64_t channels, int64_t kernel, int64_t stride) {
  const std::string name = "depthwise" + std::to_string(kernel) + "/" + std::to_string(size) + "x" +
                           std::to_string(channels) + "_stride" + std::to_string(stride);
  benchmark::RegisterBenchmark(
      name.c_str(),
      [=](benchmark::State& state) {
        BenchDepthwise(state, Square(size, channels, channels, kernel, stride), {FusedOp::kClip, 0, 6});
      })
      ->UseManualTime()
      ->MinTime(0.05);
}

void RegisterFullyConnected(int64_t outputs, int64_t k, bool by_rows) {
  const std::string name = std::string("fc_by_") + (by_rows ? "rows/" : "columns/") + std::to_string(k) +
                           "_to_" + std::to_string(outputs);
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 Buffer w(outputs * k), x(k), y(outputs);
                                 const double weights = static_cast<double>(outputs * k);
                                 Measure(state, 2 * weights, 4 * weights, [&] {
                                   (by_rows ? MatVecByRows : MatVecByColumns)(
                                       w.get(), by_rows ? k : outputs, k, x.get(), {}, {0, outputs}, y.get());
                                 });
                               })
      ->UseManualTime()
      ->MinTime(0.05);
}

// The register tiles (rows x vectors) that a cluster may use on panels of the widest tile, with layers of
// ResNet-50.
void RegisterTiles() {
  for (const auto& [size, channels, outputs, kernel] :
       {std::array<int64_t, 4>{56, 64, 256, 1}, {14, 256, 1024, 1}, {7, 2048, 512, 1}, {28, 128, 128, 3}}) {
    const ConvShape shape = Square(size, channels, outputs, kernel, 1);
    const GemmPlan plan = PlanConv(shape).gemm;
    for (const Tile& tile : GemmTiles(plan, shape.out_pixels())) {
      const TileSize of = SizeOf(plan, tile);
      const std::string name = fmt::format("tile/{}x{}x{}_to_{}_kernel{}/{}x{}", size, size, channels,
                                           outputs, kernel, of.rows, of.vectors);
      benchmark::RegisterBenchmark(
          name.c_str(), [shape, tile](benchmark::State& s) { BenchConv(s, shape, {FusedOp::kRelu}, tile); })
          ->UseManualTime()
          ->MinTime(0.05);
    }
  }
}

// The cost of activations after a matrix product, a 1x1 convolution and a depthwise convolution, with shapes
// of ViT-Ti/16, MobileNet v3 and EfficientNet-B0.
void RegisterActivations() {
  const auto add = [](const std::string& name, auto bench) {
    benchmark::RegisterBenchmark(name.c_str(), bench)->UseManualTime()->MinTime(0.05);
  };
  for (const FusedOp op : {FusedOp::kNone, FusedOp::kRelu, FusedOp::kHardSwish, FusedOp::kSwish,
                           FusedOp::kGelu, FusedOp::kTanh}) {
    const Activation activation = DefaultActivation(op);
    const std::string prefix = std::string("activation/") + Name(op);
    add(prefix + "/gemm_197x192_to_768",
        [=](benchmark::State& state) { BenchGemm(state, 197, 192, 768, activation); });
    for (const auto& [size, channels, outputs] :
         {std::array<int64_t, 3>{56, 24, 72}, {28, 40, 120}, {14, 80, 480}, {7, 160, 960}}) {
      const ConvShape shape = Square(size, channels, outputs, 1, 1);
      add(fmt::format("{}/conv_{}x{}_to_{}", prefix, size, channels, outputs),
          [=](benchmark::State& state) { BenchConv(state, shape, activation); });
    }
    add(prefix + "/depthwise3_56x96",
        [=](benchmark::State& state) { BenchDepthwise(state, Square(56, 96, 96, 3, 1), activation); });
    add(prefix + "/depthwise5_14x672",
        [=](benchmark::State& state) { BenchDepthwise(state, Square(14, 672, 672, 5, 1), activation); });
  }
}

// Transposes of `batch` times rows x columns: a picture to NHWC and back, a picture with four channels, the
// channel shuffles of ShuffleNet v2 (two halves of each pixel's channels), an inverse shuffle, and the
// transposes of ViT-Ti/16.
void RegisterTransposes() {
  for (const auto& [batch, rows, columns] : {std::array<int64_t, 3>{1, 3, 224 * 224},
                                             {1, 224 * 224, 3},
                                             {1, 4, 224 * 224},
                                             {784, 2, 58},
                                             {196, 2, 116},
                                             {49, 2, 232},
                                             {784, 58, 2},
                                             {1, 192, 196}}) {
    const std::string name = fmt::format("transpose/{}x{}x{}", batch, rows, columns);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [batch = batch, rows = rows, columns = columns](benchmark::State& state) {
                                   Buffer from(batch * rows * columns), to(batch * rows * columns);
                                   Measure(state, 0, 8.0 * static_cast<double>(batch * rows * columns), [&] {
                                     TransposeEach(from.get(), batch, rows, columns, to.get());
                                   });
                                 })
        ->UseManualTime()
        ->MinTime(0.05);
  }
}

// Depthwise convolutions of MobileNet v1 and v3 (5x5), and the classifiers of ResNet-50 and VGG-16.
void RegisterOthers() {
  for (const auto& [size, channels] :
       {std::pair<int64_t, int64_t>{112, 32}, {56, 128}, {28, 256}, {14, 512}, {7, 1024}}) {
    RegisterDepthwise(size, channels, 3, 1);
  }
  RegisterDepthwise(112, 64, 3, 2);
  RegisterDepthwise(28, 120, 5, 1);
  RegisterDepthwise(14, 672, 5, 2);
  for (const bool by_rows : {true, false}) {
    RegisterFullyConnected(1000, 2048, by_rows);
    RegisterFullyConnected(4096, 25088, by_rows);
  }
}

}  // namespace
}  // namespace mete

int main(int argc, char** argv) {
  const char* target = std::getenv("METE_TARGET");
  mete::ForceTarget(target ? target : "");
  for (int i = 0; i < 5; ++i) mete::peak_gflops = std::max(mete::peak_gflops, mete::MeasurePeakFlops());
  mete::peak_gbytes = mete::MeasureReadBandwidth();
  std::printf("target %s, peak %.1f GFLOP/s, memory %.1f GB/s\n", mete::ActiveTarget(), mete::peak_gflops,
              mete::peak_gbytes);
  mete::RegisterResNet50();
  mete::RegisterOthers();
  mete::RegisterTransposes();
  mete::RegisterActivations();
  mete::RegisterThreeByThree();
  mete::RegisterTiles();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
