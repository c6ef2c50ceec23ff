// Measures the convolutions of ResNet-50 and VGG-16 on an OpenCL device, beside the device's own peak of
// multiply-adds, and CLBlast's product where a convolution is one:
//   POCL_AFFINITY=1 build/release/opencl_bench gpu:0/1 4 f32    # device, candidates of tiles, type in memory
// f32, f16, or u8 for sums of bytes in f32. Products of one row are measured beside a copy of their weights.
// The device is "gpu:0" if none is given; PoCL on the CPU counts. "first" is the tile that is taken without
// measuring, "best" the fastest of the candidates; both are the least of several runs by the device's clock,
// because machines are shared. The peak is measured before and after, and the larger one counts. GFLOP/s
// counts a multiply-add as two, taps in the padding as well, which kernels may leave out; "Winograd" counts
// those of the plain sum.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <tuple>

#include "bench/opencl/clblast.h"
#include "processor/opencl/api/opencl.h"
#include "processor/opencl/kernels/convolution.h"
#include "processor/opencl/kernels/map.h"
#include "processor/opencl/kernels/matvec.h"
#include "processor/opencl/kernels/winograd.h"
#include "processor/opencl/probe/probes.h"

namespace mete::opencl {
namespace {

struct Layer {
  const char* name;
  int count;  // how often the network has it
  int64_t size, channels, outputs, kernel, stride;
};

// Square images and kernels, padded so that a stride of 1 keeps the size.
constexpr Layer kResNet50[] = {
    {"conv1", 1, 224, 3, 64, 7, 2},           {"conv2 reduce", 1, 56, 64, 64, 1, 1},
    {"conv2 3x3", 3, 56, 64, 64, 3, 1},       {"conv2 expand", 4, 56, 64, 256, 1, 1},
    {"conv2 reduce", 2, 56, 256, 64, 1, 1},   {"conv3 reduce", 1, 56, 256, 128, 1, 1},
    {"conv3 3x3 /2", 1, 56, 128, 128, 3, 2},  {"conv3 shortcut", 1, 56, 256, 512, 1, 2},
    {"conv3 expand", 4, 28, 128, 512, 1, 1},  {"conv3 reduce", 3, 28, 512, 128, 1, 1},
    {"conv3 3x3", 3, 28, 128, 128, 3, 1},     {"conv4 reduce", 1, 28, 512, 256, 1, 1},
    {"conv4 3x3 /2", 1, 28, 256, 256, 3, 2},  {"conv4 shortcut", 1, 28, 512, 1024, 1, 2},
    {"conv4 expand", 6, 14, 256, 1024, 1, 1}, {"conv4 reduce", 5, 14, 1024, 256, 1, 1},
    {"conv4 3x3", 5, 14, 256, 256, 3, 1},     {"conv5 reduce", 1, 14, 1024, 512, 1, 1},
    {"conv5 3x3 /2", 1, 14, 512, 512, 3, 2},  {"conv5 shortcut", 1, 14, 1024, 2048, 1, 2},
    {"conv5 expand", 3, 7, 512, 2048, 1, 1},  {"conv5 reduce", 2, 7, 2048, 512, 1, 1},
    {"conv5 3x3", 2, 7, 512, 512, 3, 1},
};
constexpr Layer kVgg16[] = {
    {"conv1_1", 1, 224, 3, 64, 3, 1},   {"conv1_2", 1, 224, 64, 64, 3, 1},
    {"conv2_1", 1, 112, 64, 128, 3, 1}, {"conv2_2", 1, 112, 128, 128, 3, 1},
    {"conv3_1", 1, 56, 128, 256, 3, 1}, {"conv3_2", 2, 56, 256, 256, 3, 1},
    {"conv4_1", 1, 28, 256, 512, 3, 1}, {"conv4_2", 2, 28, 512, 512, 3, 1},
    {"conv5", 3, 14, 512, 512, 3, 1},
};

ConvSpec SpecOf(const Layer& layer, DType type) {
  ConvSpec spec;
  ConvShape& s = spec.shape;
  s.in_height = s.in_width = layer.size;
  s.out_height = s.out_width = layer.size / layer.stride;
  s.in_channels = layer.channels;
  s.out_channels = layer.outputs;
  s.kernel_height = s.kernel_width = layer.kernel;
  s.stride_x = s.stride_y = layer.stride;
  s.pad_top = s.pad_left = layer.kernel / 2;
  spec.input = spec.weights = spec.output = type;
  if (type == DType::kU8) {
    spec.weights = DType::kI8;
    spec.bytes.emplace();
  } else {
    spec.activation.op = FusedOp::kRelu;
  }
  return spec;
}

class Bench {
 public:
  Bench(const Device& device, size_t tiles, DType type)
      : device_(device), context_(device), queue_(context_, {.profiling = true}), tiles_(tiles), type_(type) {
    is_cpu_ = device.facts().type == "cpu";
  }

  void Network(const char* name, std::span<const Layer> layers, int clblast_unit) {
    const double before = Peak();
    std::printf("%s\n%-16s %9s %9s %9s %9s  %s\n", name, "layer", "first", "best", "Winograd", "CLBlast",
                "best tile");
    struct Row {
      double first, best, winograd, clblast, flops;
    };
    std::vector<Row> rows;
    for (const Layer& layer : layers) {
      const ConvSpec spec = SpecOf(layer, type_);
      const ConvShape& s = spec.shape;
      const double flops =
          2.0 * double(s.out_pixels() * s.out_channels * s.in_channels * layer.kernel * layer.kernel);
      std::string tile;
      Row row{.first = 0, .best = 0, .winograd = 0, .clblast = 0, .flops = flops * layer.count};
      std::tie(row.first, row.best) = Measure(spec, flops, tile);
      if (const int m = ChooseWinograd(spec)) row.winograd = flops / WinogradSeconds(spec, m) * 1e-9;
      const bool is_product = layer.kernel == 1 && layer.stride == 1 && type_ == DType::kF32;
      const double seconds =
          is_product ? ClblastSeconds(clblast_unit, s.out_pixels(), s.out_channels, s.in_channels) : 0;
      if (seconds > 0) row.clblast = flops / seconds * 1e-9;
      std::printf("%-16s %9.1f %9.1f %9.1f %9.1f  %s\n", layer.name, row.first, row.best, row.winograd,
                  row.clblast, tile.c_str());
      std::fflush(stdout);
      rows.push_back(row);
    }
    const double peak = std::max(before, Peak());
    double flops = 0, first_s = 0, best_s = 0, winograd_s = 0, least = 1e30, log_ratio = 0;
    int products = 0;
    for (const Row& row : rows) {
      flops += row.flops;
      first_s += row.flops / row.first;
      best_s += row.flops / row.best;
      winograd_s += row.flops / std::max(row.best, row.winograd);
      least = std::min(least, row.best);
      if (row.clblast > 0) log_ratio += std::log(row.clblast / row.best), ++products;
    }
    std::printf(
        "peak %.1f GFLOP/s; all layers: first tiles %.1f (%.2f of the peak), best tiles %.1f (%.2f); least "
        "%.2f; with Winograd %.1f\n",
        peak, flops / first_s, flops / first_s / peak, flops / best_s, flops / best_s / peak, least / peak,
        flops / winograd_s);
    if (products)
      std::printf("time / CLBlast's, geometric mean of %d products: %.3f\n", products,
                  std::exp(log_ratio / products));
  }

  void Rows() {
    struct Matrix {
      const char* name;
      int64_t k, n;
      bool rows_of_n;
    };
    std::printf("%-16s %9s %9s %9s\n", "one row", "GB/s", "copy", "ratio");
    for (const Matrix& m :
         {Matrix{"VGG-16 fc6", 25088, 4096, true}, Matrix{"VGG-16 fc7", 4096, 4096, true},
          Matrix{"4096 x 11008", 4096, 11008, false}, Matrix{"4096 x 4096", 4096, 4096, false}}) {
      const MatVecSpec spec{.n = m.n, .k = m.k, .rows_of_n = m.rows_of_n, .weights = type_};
      const MatVecTile tile = ChooseMatVecTile(spec, {is_cpu_, int(device_.facts().float_vector)});
      const Buffer x = Filled(m.k, DType::kF32), y = Filled(m.n, DType::kF32), w = Filled(m.k * m.n, type_),
                   to = Filled(m.k * m.n, type_);
      const MapOperand all{.type = type_, .strides = {1}};
      const double bytes = double(w.bytes());
      const double rate = bytes / Seconds(MatVecKernel(spec, tile), {&x, &w, &y}) * 1e-9;
      // A copy reads as many bytes as it writes.
      const KernelText copy =
          MapKernel({.sizes = {m.k * m.n}, .inputs = {all}, .output = all, .program = {}}, 16);
      const double copied = 2 * bytes / Seconds(copy, {&w, &to}) * 1e-9;
      std::printf("%-16s %9.1f %9.1f %9.2f\n", m.name, rate, copied, rate / copied);
      std::fflush(stdout);
    }
  }

 private:
  double Peak() {
    ProbeFacts facts;
    ProbePeakF32(device_, facts);
    return facts.f32_gflops;
  }

  // Returns GFLOP/s of the first candidate and of the best one.
  std::pair<double, double> Measure(const ConvSpec& spec, double flops, std::string& best_tile) {
    std::vector<Tile> tiles = ConvTiles(spec, {is_cpu_, int(device_.facts().float_vector)});
    if (tiles.size() > tiles_) tiles.resize(tiles_);
    double first = 0, best = 0;
    for (const Tile& tile : tiles) {
      const double rate = flops / Seconds(spec, tile) * 1e-9;
      if (first == 0) first = rate;
      if (rate <= best) continue;
      best = rate;
      best_tile = ToString(tile);
    }
    return {first, best};
  }

  Buffer Filled(int64_t elements, DType type) {
    Buffer buffer(context_, {.bytes = elements * int64_t(SizeOf(type))});
    queue_.Write(buffer, 0, std::vector<std::byte>(size_t(buffer.bytes())));
    return buffer;
  }

  double Seconds(const ConvSpec& spec, const Tile& tile) {
    const ConvShape& s = spec.shape;
    const Buffer input = Filled(s.batch * s.in_height * s.in_width * s.in_channels, spec.input);
    const Buffer packed = Filled(PackedSizes(spec, tile).bytes, DType::kU8);
    const Buffer output = Filled(s.out_pixels() * s.out_channels, spec.output);
    return Seconds(ConvKernel(spec, tile), {&input, &packed, &output});
  }

  double WinogradSeconds(const ConvSpec& conv, int m) {
    const ConvShape& s = conv.shape;
    const WinogradSpec spec{.conv = conv, .m = m, .tiles = WinogradTiles(s, m)};
    const ConvSpec product = WinogradProduct(spec);
    const Tile tile = ConvTiles(product, {is_cpu_, int(device_.facts().float_vector)})[0];
    const int vector = is_cpu_ ? int(device_.facts().float_vector) : 4;
    const Buffer input = Filled(s.batch * s.in_height * s.in_width * s.in_channels, conv.input);
    const Buffer packed = Filled(PackedSizes(product, tile).bytes, DType::kU8);
    const Buffer transformed = Filled((m + 2) * (m + 2) * spec.tiles * s.in_channels, DType::kF32);
    const Buffer products = Filled((m + 2) * (m + 2) * spec.tiles * s.out_channels, DType::kF32);
    const Buffer output = Filled(s.out_pixels() * s.out_channels, conv.output);
    return Seconds(WinogradInputKernel(spec, vector), {&input, &transformed}) +
           Seconds(ConvKernel(product, tile), {&transformed, &packed, &products}) +
           Seconds(WinogradOutputKernel(spec, vector), {&products, &output});
  }

  double Seconds(const KernelText& text, std::initializer_list<const Buffer*> arguments) {
    const Program program(context_, text.source, "");
    Kernel kernel(program, text.name);
    uint32_t index = 0;
    for (const Buffer* argument : arguments) kernel.SetPlace(index++, *argument);
    int64_t best = INT64_MAX, all = 0;
    for (int i = 0; i < 20 && (i < 4 || all < 200'000'000); ++i) {
      const Event event = queue_.Launch(kernel, RangeOf(text));
      event.Wait();
      best = std::min(best, event.times().run_ns());
      all += event.times().run_ns();
    }
    return double(best) * 1e-9;
  }

  const Device device_;
  Context context_;
  Queue queue_;
  size_t tiles_;
  DType type_;
  bool is_cpu_ = false;
};

int Main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "gpu:0";
  const size_t tiles = argc > 2 ? size_t(std::atoi(argv[2])) : 6;
  const std::string type_name = argc > 3 ? argv[3] : "f32";
  const DType type = type_name == "f16" ? DType::kF16 : type_name == "u8" ? DType::kU8 : DType::kF32;
  const size_t slash = name.find('/');
  const Device device = OpenDevice(name, CpuDevices::kCount);
  Bench bench(device, tiles, type);
  const int unit = slash == std::string::npos ? -1 : std::atoi(name.c_str() + slash + 1);
  std::printf("%s, %s in memory, sums in f32\n", device.facts().model.c_str(), Name(type));
  if (type != DType::kU8) bench.Rows();
  bench.Network("ResNet-50", kResNet50, unit);
  bench.Network("VGG-16", kVgg16, unit);
  return 0;
}

}  // namespace
}  // namespace mete::opencl

int main(int argc, char** argv) {
  try {
    return mete::opencl::Main(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "opencl_bench: %s\n", e.what());
    return 1;
  }
}
