#include "processor/cpu/prepare/half_product.h"

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "dispatch/activations.h"
#include "processor/cpu/prepare/conv_ways.h"

namespace mete {
namespace {

// Returns the elements from the first to the last that a convolution reads.
int64_t InputsOf(const ConvShape& s) {
  const int64_t pixels = s.batch * s.in_height * s.in_width;
  return (pixels - 1) * (s.in_pixel_stride ? s.in_pixel_stride : s.in_channels) + s.in_channels;
}

class HalfMatrixStep : public PreparedNode {
 public:
  HalfMatrixStep(const Product& p, const Preparation& of)
      : p_(p), product_(AsConvolution(p), WeightsOf(p, of), AllOf(of), of.packer) {
    epilogue_.activation = *FastActivation(of.node);
    epilogue_.residual_stride = p.n;
    if (p.bias != kNoValue) epilogue_.bias = of.graph.value(p.bias).constant.as<float>();
    const Tensor& b = of.graph.value(of.node.inputs[1]).constant;
    ReleasePages(b.data(), b.bytes());
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Epilogue epilogue = epilogue_;
    if (p_.residual >= 0) epilogue.residual = in[size_t(p_.residual)].as<float>();
    product_.Run(in[0].as<float>(), epilogue, out[0].as<float>());
  }

  std::string kernel() const override { return product_.kernel(); }
  std::string reason() const override { return "rounded to bf16"; }
  int64_t packed_bytes() const override { return product_.packed_bytes(); }

 private:
  static HalfWeights WeightsOf(const Product& p, const Preparation& of) {
    const float* b = of.graph.value(of.node.inputs[1]).constant.as<float>();
    return p.transposed ? HalfWeights{b, p.b_stride, 1, p.alpha} : HalfWeights{b, 1, p.b_stride, p.alpha};
  }
  static std::span<const float> AllOf(const Preparation& of) {
    const Tensor& b = of.graph.value(of.node.inputs[1]).constant;
    return {b.as<float>(), size_t(b.elements())};
  }

  const Product p_;
  Epilogue epilogue_;
  HalfProduct product_;
};

}  // namespace

HalfProduct::HalfProduct(const ConvShape& shape, const HalfWeights& weights, std::span<const float> all,
                         Packer& packer)
    : pool_(packer.pool()), plan_(PlanHalfConv(shape)), inputs_(InputsOf(shape)) {
  const std::string what = fmt::format("{}, {}, weights by {} and {}, times {}", kernel(), ToText(shape),
                                       weights.channel_stride, weights.element_stride, weights.scale);
  packed_ = packer.Pack(what, all, int64_t(PackedHalfConvBytes(plan_)), plan_.panels,
                        [&](Range panels, float* packed) { PackHalfConv(plan_, weights, panels, packed); });
  const int64_t row_bytes =
      inputs_ * int64_t{sizeof(uint16_t)} + shape.out_pixels() * shape.out_channels * int64_t{sizeof(float)};
  grid_ = MakeGrid({shape.out_pixels(), plan_.row_step, row_bytes, plan_.panels, packed_bytes()},
                   pool_.step_speeds());
  // This value is a guess: a block is rounded in about a microsecond.
  roundings_ = BlocksOf(inputs_, 8 << 10, pool_.step_threads());
  pool_.ReserveShared(inputs_ * int64_t{sizeof(uint16_t)});
  pool_.ReserveScratch(int64_t(HalfConvScratchBytes(plan_)));
}

void HalfProduct::Run(const float* input, const Epilogue& epilogue, float* output) {
  uint16_t* rounded = reinterpret_cast<uint16_t*>(pool_.shared());
  pool_.For(roundings_, [&](int, int64_t begin, int64_t end) {
    const int64_t first = inputs_ * begin / roundings_, last = inputs_ * end / roundings_;
    RoundToBf16(input + first, last - first, rounded + first);
  });
  pool_.For(
      grid_.blocks(),
      [&](int worker, int64_t begin, int64_t end) {
        grid_.ForPieces(begin, end, [&](Range rows, Range panels) {
          RunHalfConv(plan_, rounded, packed_.data(), epilogue, rows, panels, output, pool_.scratch(worker));
        });
      },
      grid_.run());
}

std::string HalfProduct::kernel() const { return "conv_bf16 " + TargetOf(plan_); }

std::unique_ptr<PreparedNode> PrepareRounded(const Product& product, const Preparation& of) {
  of.pool().BeginStep(0);
  return std::make_unique<HalfMatrixStep>(product, of);
}

}  // namespace mete
