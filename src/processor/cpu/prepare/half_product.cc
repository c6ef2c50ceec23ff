#include "processor/cpu/prepare/half_product.h"

#include <fmt/format.h>

#include "base/tensor_source.h"
#include "dispatch/activations.h"
#include "processor/cpu/prepare/weight_rows.h"

namespace mete {
namespace {

// Returns the elements from the first to the last that a convolution reads.
int64_t InputsOf(const ConvShape& s) {
  const int64_t pixels = s.batch * s.in_height * s.in_width;
  return (pixels - 1) * (s.in_pixel_stride ? s.in_pixel_stride : s.in_channels) + s.in_channels;
}

GemmWeights WeightsOf(const Product& p, const float* b = nullptr) {
  return {b, p.b_stride, p.transposed, p.alpha};
}

// This value is a guess: so many elements are rounded in about a microsecond.
constexpr int64_t kRoundedAtOnce = 8 << 10;

std::string KernelOf(Precision operands, const HalfConvPlan& plan) {
  return fmt::format("conv_{} {}", Name(operands), TargetOf(plan));
}

std::string ReasonOf(Precision operands, const HalfConvPlan& plan) {
  return fmt::format("{}rounded to {}", RoundsInputs(plan) ? "" : "weights ", Name(operands));
}

class HalfMatrixStep : public PreparedNode {
 public:
  HalfMatrixStep(const Product& p, const Preparation& of)
      : p_(p),
        product_(AsConvolution(p), p.operands, of.graph.value(of.node.inputs[1]).constant, WeightsOf(p),
                 of.packer) {
    epilogue_.activation = *FastActivation(of.node);
    epilogue_.residual_stride = p.n;
    if (p.bias != kNoValue) epilogue_.bias = of.graph.value(p.bias).constant.as<float>();
    ReleasePagesOf(of.graph.value(of.node.inputs[1]).constant);
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Epilogue epilogue = epilogue_;
    if (p_.residual >= 0) epilogue.residual = in[size_t(p_.residual)].as<float>();
    product_.Run(in[0].as<float>(), epilogue, out[0].as<float>());
  }

  Reads reads(size_t input) const override { return input == 1 ? Reads::kNothing : Reads::kElements; }
  std::string kernel() const override { return product_.kernel(); }
  std::string reason() const override { return product_.reason(); }
  int64_t packed_bytes() const override { return product_.packed_bytes(); }

 private:
  const Product p_;
  Epilogue epilogue_;
  HalfProduct product_;
};

// Products whose right operands are computed. All threads round the left operands and pack the right ones,
// then they divide the products.
class ComputedHalfStep : public PreparedNode {
 public:
  ComputedHalfStep(const Product& p, const Preparation& of)
      : pool_(of.pool()),
        p_(p),
        plan_(PlanHalfConv(AsConvolution(p), p.operands)),
        matrices_(p.b_step == 0 ? 1 : p.batch),
        input_(plan_, of.graph.value(of.node.inputs[0]).shape.Elements(), of.pool()),
        inputs_bytes_(RoundedUp(input_.bytes())),
        packed_bytes_(RoundedUp(int64_t(PackedHalfConvBytes(plan_)))) {
    epilogue_.activation = *FastActivation(of.node);
    if (p.bias != kNoValue) epilogue_.bias = of.graph.value(p.bias).constant.as<float>();
    const int64_t row_bytes = p.m * (p.k + p.n) * int64_t{sizeof(float)};
    const std::span<const double> speeds = pool_.step_speeds();
    const bool many = p.batch >= pool_.step_threads();
    grid_ = MakeGrid({p.m, plan_.row_step, row_bytes, plan_.panels, packed_bytes_},
                     many ? speeds.first(1) : speeds);
    pool_.ReserveShared(inputs_bytes_ + matrices_ * packed_bytes_);
    pool_.ReserveScratch(int64_t(HalfConvScratchBytes(plan_)));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const float* b = in[1].as<float>();
    input_.Round(in[0].as<float>());
    pool_.For(matrices_ * plan_.panels, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Pack(b, i / plan_.panels, i % plan_.panels);
    });
    const float* residual = p_.residual < 0 ? nullptr : in[size_t(p_.residual)].as<float>();
    pool_.For(p_.batch * grid_.blocks(), [&](int worker, int64_t begin, int64_t end) {
      for (int64_t i = begin, last; i < end; i = last) {
        const int64_t product = i / grid_.blocks(), first = product * grid_.blocks();
        last = std::min(end, first + grid_.blocks());
        grid_.ForPieces(i - first, last - first, [&](Range rows, Range panels) {
          Multiply(worker, product, rows, panels, residual, out[0].as<float>());
        });
      }
    });
  }

  std::string kernel() const override { return KernelOf(p_.operands, plan_); }
  std::string reason() const override { return ReasonOf(p_.operands, plan_) + "; B is packed at each run"; }

 private:
  static int64_t RoundedUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

  MatMulView::Product Place(int64_t i) const {
    return p_.view ? p_.view->At(i) : MatMulView::Product{i * p_.m * p_.k, i * p_.b_step, i * p_.m * p_.n};
  }

  std::byte* PackedAt(int64_t product) const {
    return pool_.shared() + inputs_bytes_ + (p_.b_step == 0 ? 0 : product * packed_bytes_);
  }

  void Pack(const float* b, int64_t matrix, int64_t panel) const {
    PackHalfConv(plan_, WeightsOf(p_, b + Place(matrix).b), {panel, panel + 1}, PackedAt(matrix));
  }

  void Multiply(int worker, int64_t product, Range rows, Range panels, const float* residual, float* out) {
    const MatMulView::Product at = Place(product);
    Epilogue epilogue = epilogue_;
    if (residual) epilogue.residual = residual + at.y;
    RunHalfConv(plan_, reinterpret_cast<const uint16_t*>(pool_.shared()) + at.a, PackedAt(product), epilogue,
                rows, panels, out + at.y, pool_.scratch(worker));
  }

  ThreadPool& pool_;
  const Product p_;
  const HalfConvPlan plan_;
  const int64_t matrices_;
  const RoundedInput input_;
  const int64_t inputs_bytes_, packed_bytes_;
  Epilogue epilogue_;
  Grid grid_;
};

}  // namespace

RoundedInput::RoundedInput(const HalfConvPlan& plan, int64_t elements, ThreadPool& pool)
    : plan_(plan),
      elements_(elements),
      blocks_(BlocksOf(elements, kRoundedAtOnce, pool.step_threads())),
      pool_(pool) {}

const uint16_t* RoundedInput::Round(const float* from) const {
  uint16_t* to = reinterpret_cast<uint16_t*>(pool_.shared());
  pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
    const int64_t first = elements_ * begin / blocks_, last = elements_ * end / blocks_;
    RoundInputs(plan_, from + first, last - first, to + first);
  });
  return to;
}

HalfProduct::HalfProduct(const ConvShape& shape, Precision operands, const Tensor& weights,
                         const GemmWeights& matrix, Packer& packer)
    : pool_(packer.pool()),
      operands_(operands),
      plan_(PlanHalfConv(shape, operands)),
      inputs_(InputsOf(shape)) {
  // Packing depends on no size of the input, so that all shapes of a session share the packed weights.
  const std::string what = fmt::format("{}, {} x {} of {} groups, {}x{}, taps {} of {}, rows {}{}, times {}",
                                       kernel(), shape.out_channels, shape.in_channels, shape.groups,
                                       shape.kernel_height, shape.kernel_width, plan_.taps, plan_.tap_length,
                                       matrix.stride, matrix.transposed ? ", transposed" : "", matrix.scale);
  packed_ = packer.Pack(what, weights, int64_t(PackedHalfConvBytes(plan_)), plan_.panels,
                        [&](Range panels, float* packed) { Pack(weights, matrix, panels, packed); });
  const int64_t row_bytes =
      inputs_ * plan_.input_bytes + shape.out_pixels() * shape.out_channels * int64_t{sizeof(float)};
  grid_ = MakeGrid({shape.out_pixels(), plan_.row_step, row_bytes, plan_.panels, packed_bytes()},
                   pool_.step_speeds());
  pool_.ReserveScratch(int64_t(HalfConvScratchBytes(plan_)));
  if (!RoundsInputs(plan_)) return;
  rounded_.emplace(plan_, inputs_, pool_);
  pool_.ReserveShared(rounded_->bytes());
}

void HalfProduct::Pack(const Tensor& weights, GemmWeights matrix, Range panels, void* packed) const {
  if (!weights.source()) {
    matrix.b = weights.as<float>();
    return PackHalfConv(plan_, matrix, panels, packed);
  }
  const int64_t k = plan_.group_channels * plan_.shape.kernel_height * plan_.shape.kernel_width;
  WeightRows rows(weights);
  for (int64_t p = panels.begin; p < panels.end; ++p)
    PackHalfConv(plan_, ColumnsOf(rows, 0, matrix, k, PanelChannels(plan_, p)), {p, p + 1}, packed);
}

void HalfProduct::Run(const float* input, const Epilogue& epilogue, float* output) {
  if (rounded_) Multiply(rounded_->Round(input), epilogue, output);
  else Multiply(input, epilogue, output);
}

template <class Input>
void HalfProduct::Multiply(const Input* input, const Epilogue& epilogue, float* output) {
  pool_.For(
      grid_.blocks(),
      [&](int worker, int64_t begin, int64_t end) {
        grid_.ForPieces(begin, end, [&](Range rows, Range panels) {
          RunHalfConv(plan_, input, packed_.data(), epilogue, rows, panels, output, pool_.scratch(worker));
        });
      },
      grid_.run());
}

std::string HalfProduct::kernel() const { return KernelOf(operands_, plan_); }

std::string HalfProduct::reason() const { return ReasonOf(operands_, plan_); }

std::unique_ptr<PreparedNode> PrepareRounded(const Product& product, const Preparation& of) {
  of.pool().BeginStep(0);
  if (!PacksOnce(product)) return std::make_unique<ComputedHalfStep>(product, of);
  return std::make_unique<HalfMatrixStep>(product, of);
}

}  // namespace mete
