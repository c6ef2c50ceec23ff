// Pooling over NHWC.
#include "kernels/fast/pool/pool.h"

#include <fmt/format.h>

#include "kernels/fast/target/target.h"
#include "processor/cpu/families.h"

namespace mete {
namespace {

// A piece of work smaller than this costs less than handing it out. Guess.
constexpr int64_t kLeastElements = 16 * 1024;

class WindowPool : public Prepared {
 public:
  WindowPool(const PoolShape& shape, Pool& pool) : pool_(pool), shape_(shape), target_(ActiveTarget()) {
    const int64_t pixels = shape.window.out_pixels();
    const int64_t taps = shape.window.kernel_height * shape.window.kernel_width;
    blocks_ = std::min(pixels, BlocksOf(pixels * taps * shape.window.in_channels, kLeastElements, pool.step_threads()));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const int64_t pixels = shape_.window.out_pixels();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunPool(shape_, in[0].as<float>(), {pixels * begin / blocks_, pixels * end / blocks_}, out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("pool_f32 {}", target_); }

 private:
  Pool& pool_;
  const PoolShape shape_;
  const std::string target_;
  int64_t blocks_ = 1;
};

// An image's pixels are divided as the layer before divided them, so that each core reads what it wrote. How many pieces there are
// does not depend on the threads, and so the sums do not.
class WholeImagePool : public Prepared {
 public:
  WholeImagePool(PoolKind kind, const Shape& in, Pool& pool)
      : pool_(pool), kind_(kind), images_(in[0]), pixels_(in[1] * in[2]), channels_(in[3]), target_(ActiveTarget()) {
    constexpr int64_t kMostPieces = 16;  // guess: enough for as many cores; joining them costs nothing yet
    pieces_ = std::min(pixels_, std::clamp<int64_t>(pixels_ * channels_ / kLeastElements, 1, kMostPieces));
    partial_ = Tensor(DType::kF32, Shape{images_ * pieces_, channels_});
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    float* partial = partial_.mutable_view().as<float>();
    pool_.For(images_ * pieces_, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = pixels_ * (i % pieces_) / pieces_, last = pixels_ * (i % pieces_ + 1) / pieces_;
        const float* from = in[0].as<float>() + (i / pieces_ * pixels_ + first) * channels_;
        GlobalPool(kind_, from, last - first, channels_, 1, {0, channels_}, partial + i * channels_);
      }
    });
    pool_.For(images_, [&](int, int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        GlobalPool(kind_, partial + n * pieces_ * channels_, pieces_, channels_, pixels_, {0, channels_},
                   out[0].as<float>() + n * channels_);
    });
  }
  std::string kernel() const override { return fmt::format("global_pool_f32 {}", target_); }

 private:
  Pool& pool_;
  const PoolKind kind_;
  const int64_t images_, pixels_, channels_;
  const std::string target_;
  int64_t pieces_ = 1;
  Tensor partial_;  // [image][piece][channel]
};

}  // namespace

std::unique_ptr<Prepared> PreparePool(const Graph& graph, const Node& node, Pool& pool, std::string* why) {
  const bool max = node.op == "MaxPool" || node.op == "GlobalMaxPool";
  const bool global = node.op == "GlobalAveragePool" || node.op == "GlobalMaxPool";
  if (!max && !global && node.op != "AveragePool") return nullptr;
  if (node.attributes.String("layout", "") != "NHWC") return *why = "not in NHWC", nullptr;
  if (!IsF32(graph, node.inputs[0]) || graph.value(node.inputs[0]).shape.Elements() == 0) return *why = "not f32, or empty", nullptr;
  if (node.output(1) != kNoValue) return *why = "the indices are wanted", nullptr;
  const PoolKind kind = max ? PoolKind::kMax : PoolKind::kAverage;
  if (global) return std::make_unique<WholeImagePool>(kind, graph.value(node.inputs[0]).shape, pool);
  const Ints& kernel = node.attributes.IntList("kernel_shape");
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  PoolShape shape{WindowOf(x, y, node.attributes, kernel[0], kernel[1]), kind};
  shape.count_include_pad = node.attributes.Int("count_include_pad", 0) != 0 || node.attributes.Int("mete_caffe", 0) != 0;
  const Ints& pads = node.attributes.IntList("pads");
  const std::string_view mode = node.attributes.String("auto_pad", "NOTSET");
  if (shape.count_include_pad && mode != "NOTSET" && mode != "VALID") return *why = "padding counts and is automatic", nullptr;
  if (pads.size() == 4) shape.pad_bottom = pads[2], shape.pad_right = pads[3];
  return std::make_unique<WindowPool>(shape, pool);
}

}  // namespace mete
