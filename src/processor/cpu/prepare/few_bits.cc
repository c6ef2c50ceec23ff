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
        rows_(p.m),
        exact_(p.few_bits != 0),
        plan_(PlanOf(p, of.graph.value(of.node.inputs[1]).constant)) {
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
      const Range panels{plan_.panels * begin / blocks_, plan_.panels * end / blocks_};
      if (rows_ == 1) return Run(in[0].as<float>(), epilogue, panels, out[0].as<float>());
      // The rows read a panel one after the other while a cache has it.
      for (int64_t i = panels.begin; i < panels.end; ++i) {
        Epilogue of_row = epilogue;
        for (int64_t r = 0; r < rows_; ++r) {
          if (epilogue.residual) of_row.residual = epilogue.residual + r * plan_.n;
          Run(in[0].as<float>() + r * plan_.k, of_row, {i, i + 1}, out[0].as<float>() + r * plan_.n);
        }
      }
    });
  }

  Reads reads(size_t input) const override { return input == 1 ? Reads::kNothing : Reads::kElements; }
  std::string kernel() const override {
    return fmt::format("matvec_{}{}_f32 {}", exact_ ? "q" : "w", plan_.bits, TargetOf(plan_));
  }
  std::string reason() const override {
    if (exact_) return fmt::format("the weights are integers of {} bits", plan_.bits);
    return fmt::format("one row: bound by reading the weights, in {} bits", plan_.bits);
  }
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

 private:
  static FewBitsPlan PlanOf(const Product& p, const Tensor& b) {
    if (p.few_bits != 0) return PlanFewBits(*b.source()->few_bits());
    return PlanFewBits(p.n, p.k, PrecisionOf(p) == Precision::kW8 ? 8 : 4);
  }

  void Run(const float* x, const Epilogue& epilogue, Range panels, float* y) const {
    RunFewBits(plan_, x, packed_.data(), epilogue, panels, y);
  }

  void Pack(const Tensor& b, const Product& p, Range panels, void* packed) const {
    if (exact_) return PackFewBits(plan_, *b.source()->few_bits(), panels, packed);
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
  const int64_t rows_;
  const bool exact_;
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
