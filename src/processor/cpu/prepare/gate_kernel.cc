#include "processor/cpu/prepare/gate_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace mete {
namespace {

int64_t WholeLines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

ConvShape AsConvolution(int64_t rows, int64_t columns, int64_t k, int64_t out_stride) {
  ConvShape s;
  s.in_width = s.out_width = rows;
  s.in_channels = k;
  s.out_channels = columns;
  s.out_pixel_stride = out_stride;
  return s;
}

Range ColumnsOf(const GemmPlan& plan, int64_t panel) { return plan.split.Columns(panel); }
Range ColumnsOf(const HalfConvPlan& plan, int64_t panel) { return PanelChannels(plan, panel); }
Range ColumnsOf(const FewBitsPlan& plan, int64_t panel) {
  return {panel * plan.width, std::min(plan.n, (panel + 1) * plan.width)};
}

size_t BytesOf(const GemmPlan& plan) { return PackedGemmBytes(plan); }
size_t BytesOf(const HalfConvPlan& plan) { return PackedHalfConvBytes(plan); }
size_t BytesOf(const FewBitsPlan& plan) { return PackedFewBitsBytes(plan); }

void PackPanel(const GemmPlan& plan, const GemmWeights& weights, Range panel, std::byte* packed) {
  PackGemm(plan, weights, panel, reinterpret_cast<float*>(packed));
}
void PackPanel(const HalfConvPlan& plan, const GemmWeights& weights, Range panel, std::byte* packed) {
  PackHalfConv(plan, weights, panel, packed);
}
void PackPanel(const FewBitsPlan& plan, const GemmWeights& weights, Range panel, std::byte* packed) {
  PackFewBits(plan, weights, panel, packed);
}

// The rows read a panel one after the other while a cache has it.
void RunFewBitsOfRows(const FewBitsPlan& plan, std::span<const float* const> rows, const std::byte* packed,
                      const Epilogue& epilogue, Range panels, float* c, int64_t c_stride) {
  for (int64_t p = panels.begin; p < panels.end; ++p)
    for (size_t r = 0; r < rows.size(); ++r)
      RunFewBits(plan, rows[r], packed, epilogue, {p, p + 1}, c + int64_t(r) * c_stride);
}

}  // namespace

GateKernel::GateKernel(const PackedGates& gates, int64_t k, Precision precision)
    : precision_(precision), k_(k), plan_(gates.gemm) {
  if (IsHalf(precision))
    plan_ = PlanHalfConv(AsConvolution(int64_t{kRows}, gates.columns(), k, gates.columns()), precision);
  else if (rounds()) plan_ = PlanFewBits(gates.columns(), k, BitsOf(precision));
}

std::string GateKernel::target() const {
  return std::visit([](const auto& plan) -> std::string { return TargetOf(plan); }, plan_);
}

int64_t GateKernel::panels() const {
  return std::visit([](const auto& plan) { return plan.panels; }, plan_);
}

Range GateKernel::Columns(int64_t panel) const {
  return std::visit([&](const auto& plan) { return ColumnsOf(plan, panel); }, plan_);
}

int64_t GateKernel::MostColumns() const {
  int64_t most = 0;
  for (int64_t p = 0; p < panels(); ++p) most = std::max(most, Columns(p).size());
  return most;
}

int64_t GateKernel::packed_bytes() const {
  return WholeLines(std::visit([](const auto& plan) { return int64_t(BytesOf(plan)); }, plan_));
}

int64_t GateKernel::HalvesBytes() const {
  const HalfConvPlan& plan = std::get<HalfConvPlan>(plan_);
  return WholeLines(int64_t{kRows} * k_ * plan.input_bytes);
}

int64_t GateKernel::scratch_bytes() const {
  const HalfConvPlan* plan = std::get_if<HalfConvPlan>(&plan_);
  return plan ? HalvesBytes() + int64_t(HalfConvScratchBytes(*plan)) : 0;
}

void GateKernel::Pack(const float* columns, int64_t panel, std::byte* packed) const {
  const GemmWeights weights{columns, k_, true, 1, Columns(panel).begin};
  std::visit([&](const auto& plan) { PackPanel(plan, weights, {panel, panel + 1}, packed); }, plan_);
}

void GateKernel::Run(const float* first, int64_t stride, int64_t count, const std::byte* packed,
                     const Epilogue& epilogue, Range panels, float* c, int64_t c_stride,
                     std::byte* scratch) const {
  if (const GemmPlan* gemm = std::get_if<GemmPlan>(&plan_))
    return RunGemm(*gemm, first, stride, reinterpret_cast<const float*>(packed), epilogue, {0, count}, panels,
                   c, c_stride);
  std::array<const float*, kRows> rows;
  for (int64_t r = 0; r < count; r += int64_t{kRows}) {
    const size_t together = std::min(kRows, size_t(count - r));
    for (size_t i = 0; i < together; ++i) rows[i] = first + (r + int64_t(i)) * stride;
    RunRounded(std::span(rows).first(together), packed, epilogue, panels, c + r * c_stride, c_stride,
               scratch);
  }
}

void GateKernel::RunRounded(std::span<const float* const> rows, const std::byte* packed,
                            const Epilogue& epilogue, Range panels, float* c, int64_t c_stride,
                            std::byte* scratch) const {
  if (const FewBitsPlan* plan = std::get_if<FewBitsPlan>(&plan_))
    return RunFewBitsOfRows(*plan, rows, packed, epilogue, panels, c, c_stride);
  RunHalves(std::get<HalfConvPlan>(plan_), rows, packed, epilogue, panels, c, c_stride, scratch);
}

void GateKernel::RunHalves(const HalfConvPlan& packed_plan, std::span<const float* const> rows,
                           const std::byte* packed, const Epilogue& epilogue, Range panels, float* c,
                           int64_t c_stride, std::byte* scratch) const {
  HalfConvPlan plan = packed_plan;  // packing depends on no number of rows
  plan.shape.in_width = plan.shape.out_width = int64_t(rows.size());
  plan.shape.out_pixel_stride = c_stride;
  const Range all{0, int64_t(rows.size())};
  std::byte* table = scratch + HalvesBytes();
  if (RoundsInputs(plan)) {
    uint16_t* halves = reinterpret_cast<uint16_t*>(scratch);
    for (size_t r = 0; r < rows.size(); ++r) RoundInputs(plan, rows[r], k_, halves + int64_t(r) * k_);
    return RunHalfConv(plan, halves, packed, epilogue, all, panels, c, table);
  }
  float* copies = reinterpret_cast<float*>(scratch);
  for (size_t r = 0; rows.size() > 1 && r < rows.size(); ++r)
    std::copy_n(rows[r], k_, copies + int64_t(r) * k_);
  RunHalfConv(plan, rows.size() > 1 ? copies : rows[0], packed, epilogue, all, panels, c, table);
}

}  // namespace mete
