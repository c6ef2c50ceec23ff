// Pooling over NHWC.
#include <fmt/format.h>

#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/grid.h"

namespace mete {
namespace {

class WindowPool : public PreparedNode {
 public:
  WindowPool(const Pooling& pooling, ThreadPool& pool)
      : pool_(pool), pooling_(pooling), target_(ActiveTarget()) {
    const ConvShape& window = pooling.shape.window;
    const int64_t pixels = window.out_pixels(), taps = window.kernel_height * window.kernel_width;
    blocks_ =
        std::min(pixels, BlocksOf(pixels * taps * window.in_channels, kLeastElements, pool.step_threads()));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const int64_t pixels = pooling_.shape.window.out_pixels();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunPool(pooling_.shape, in[0].as<float>(), {pixels * begin / blocks_, pixels * end / blocks_},
              out[0].as<float>());
    });
  }
  std::string kernel() const override { return fmt::format("{} {}", pooling_.kernel(), target_); }

 private:
  ThreadPool& pool_;
  const Pooling pooling_;
  const std::string target_;
  int64_t blocks_ = 1;
};

// The pixels of an image are divided as the layer before divided them, so that each core reads what it wrote.
// The number of pieces does not depend on the number of threads, so the sums do not either.
class WholeImagePool : public PreparedNode {
 public:
  WholeImagePool(const Pooling& pooling, const Shape& in, ThreadPool& pool)
      : pool_(pool),
        pooling_(pooling),
        images_(in[0]),
        pixels_(in[1] * in[2]),
        channels_(in[3]),
        target_(ActiveTarget()) {
    pieces_ = std::min(pixels_, std::clamp<int64_t>(pixels_ * channels_ / kLeastElements, 1, kMostPieces));
    partial_ = Tensor(DType::kF32, Shape{images_ * pieces_, channels_});
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    float* partial = partial_.mutable_view().as<float>();
    pool_.For(images_ * pieces_, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = pixels_ * (i % pieces_) / pieces_, last = pixels_ * (i % pieces_ + 1) / pieces_;
        const float* from = in[0].as<float>() + (i / pieces_ * pixels_ + first) * channels_;
        GlobalPool(pooling_.kind, from, last - first, channels_, 1, {0, channels_}, partial + i * channels_);
      }
    });
    pool_.For(images_, [&](int, int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        GlobalPool(pooling_.kind, partial + n * pieces_ * channels_, pieces_, channels_, pixels_,
                   {0, channels_}, out[0].as<float>() + n * channels_);
    });
  }
  std::string kernel() const override { return fmt::format("{} {}", pooling_.kernel(), target_); }

 private:
  ThreadPool& pool_;
  const Pooling pooling_;
  const int64_t images_, pixels_, channels_;
  const std::string target_;
  int64_t pieces_ = 1;
  Tensor partial_;  // [image][piece][channel]
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Pooling& pooling, const Preparation& of) {
  if (pooling.whole_image)
    return std::make_unique<WholeImagePool>(pooling, of.graph.value(of.node.inputs[0]).shape, of.pool());
  return std::make_unique<WindowPool>(pooling, of.pool());
}

}  // namespace mete
