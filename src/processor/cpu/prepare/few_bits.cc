#include "processor/cpu/prepare/few_bits.h"

#include <fmt/format.h>

#include <algorithm>

#include "dispatch/activations.h"
#include "kernels/fast/matvec/few_bits.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/weight_rows.h"

namespace mete {
namespace {

class FewBitsStep : public PreparedNode {
 public:
  FewBitsStep(const Product& p, const Preparation& of)
      : pool_(of.pool()),
        residual_(p.residual),
        plan_(PlanFewBits(p.n, p.k, PrecisionOf(p) == Precision::kW8 ? 8 : 4)) {
    epilogue_.activation = *FastActivation(of.node);
    if (p.bias != kNoValue) epilogue_.bias = of.graph.value(p.bias).constant.as<float>();
    const Tensor& b = of.graph.value(of.node.inputs[1]).constant;
    const std::string what = fmt::format("{}, {}x{}, rows {}{}", kernel(), p.k, p.n, p.b_stride,
                                         p.transposed ? ", transposed" : "");
    packed_ = of.packer.Pack(what, b, int64_t(PackedFewBitsBytes(plan_)), plan_.panels,
                             [&](Range panels, float* packed) { Pack(b, p, panels, packed); });
    ReleasePagesOf(b);
    // This value is a guess: a block reads at least 16 KiB of weights.
    const int64_t panel_bytes = std::max<int64_t>(1, packed_bytes() / plan_.panels);
    blocks_ = BlocksOf(plan_.panels, std::max<int64_t>(1, (16 << 10) / panel_bytes), pool_.step_threads());
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Epilogue epilogue = epilogue_;
    if (residual_ >= 0) epilogue.residual = in[size_t(residual_)].as<float>();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunFewBits(plan_, in[0].as<float>(), packed_.data(), epilogue,
                 {plan_.panels * begin / blocks_, plan_.panels * end / blocks_}, out[0].as<float>());
    });
  }

  Reads reads(size_t input) const override { return input == 1 ? Reads::kNothing : Reads::kElements; }
  std::string kernel() const override {
    return fmt::format("matvec_w{}_f32 {}", plan_.bits, TargetOf(plan_));
  }
  std::string reason() const override {
    return fmt::format("one row: bound by reading the weights, in {} bits", plan_.bits);
  }
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

 private:
  void Pack(const Tensor& b, const Product& p, Range panels, void* packed) const {
    const GemmWeights matrix{nullptr, p.b_stride, p.transposed};
    if (!b.source()) return PackFewBits(plan_, {b.as<float>(), p.b_stride, p.transposed}, panels, packed);
    WeightRows rows(b);
    for (int64_t i = panels.begin; i < panels.end; ++i) {
      const Range outputs{i * plan_.width, std::min(p.n, (i + 1) * plan_.width)};
      PackFewBits(plan_, ColumnsOf(rows, 0, matrix, p.k, outputs), {i, i + 1}, packed);
    }
  }

  ThreadPool& pool_;
  const int residual_;
  const FewBitsPlan plan_;
  Epilogue epilogue_;
  Tensor packed_;
  int64_t blocks_ = 1;
};

}  // namespace

std::unique_ptr<PreparedNode> PrepareFewBits(const Product& product, const Preparation& of) {
  of.pool().BeginStep(0);
  return std::make_unique<FewBitsStep>(product, of);
}

}  // namespace mete
