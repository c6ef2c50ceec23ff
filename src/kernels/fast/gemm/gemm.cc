#include "kernels/fast/gemm/gemm.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"
#include "kernels/fast/tile/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/gemm/gemm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/target/name-inl.h"
#include "kernels/fast/tile/tile-inl.h"

#ifndef METE_GEMM_ONCE
#define METE_GEMM_ONCE
namespace mete {

struct GemmCall {
  const GemmPlan& plan;
  const float* a;
  int64_t a_stride;
  const float* packed;
  const Epilogue& epilogue;
  Range panels;
  float* c;
  int64_t c_stride;
};

struct GemmCode {
  const char* target;
  int64_t panel_width, row_step;
  void (*run)(const GemmCall&, Range rows);
};

// Rows whose inputs stay in a second-level cache while all panels of the block pass by.
inline constexpr int64_t kRowsAtMost = 256;

}  // namespace mete
#endif  // METE_GEMM_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

inline void RunPanel(const GemmCall& g, Range rows, int64_t panel, Strip& s) {
  const int64_t column = panel * kPanelWidth;
  const int64_t residual_stride = g.epilogue.residual_stride ? g.epilogue.residual_stride : g.c_stride;
  s.out = g.c + rows.begin * g.c_stride + column;
  s.out_stride = static_cast<size_t>(g.c_stride);
  s.columns = static_cast<size_t>(std::min<int64_t>(kPanelWidth, g.plan.n - column));
  s.bias = g.epilogue.bias ? g.epilogue.bias + column : nullptr;
  s.residual = g.epilogue.residual ? g.epilogue.residual + rows.begin * residual_stride + column : nullptr;
  s.residual_stride = static_cast<size_t>(residual_stride);
  s.epilogue = &g.epilogue;
  const EvenPieces chunks(std::max<int64_t>(g.plan.k, 1), ChunkLength(kPanelWidth));
  for (int64_t i = 0; i < chunks.count(); ++i) {
    const Range k = g.plan.k > 0 ? chunks[i] : Range{0, 0};
    s.offset = static_cast<size_t>(k.begin);
    s.k = static_cast<size_t>(k.size());
    s.panel = g.packed + (panel * g.plan.k + k.begin) * kPanelWidth;
    s.first = i == 0;
    s.last = i + 1 == chunks.count();
    RunStrip(s);
  }
}

inline void RunRows(const GemmCall& g, Range rows) {
  const float* pointers[kRowsAtMost];
  for (int64_t r = 0; r < rows.size(); ++r) pointers[r] = g.a + (rows.begin + r) * g.a_stride;
  Strip s = {};
  s.rows = pointers;
  s.row_count = static_cast<size_t>(rows.size());
  s.taps = 1;
  for (int64_t p = g.panels.begin; p < g.panels.end; ++p) RunPanel(g, rows, p, s);
}

void RunBlock(const GemmCall& g, Range rows) {
  constexpr int64_t kInputBytes = 256 << 10;  // guess: a quarter to a half of a second-level cache
  const int64_t fitting = kInputBytes / (std::max<int64_t>(g.plan.k, 1) * int64_t{sizeof(float)});
  const EvenPieces passes(rows.size(), std::clamp<int64_t>(fitting, 8 * kTileRows, kRowsAtMost));
  for (int64_t i = 0; i < passes.count(); ++i) {
    RunRows(g, {rows.begin + passes[i].begin, rows.begin + passes[i].end});
  }
}

const GemmCode* GetGemmCode() {
  static constexpr GemmCode code = {TargetName(), kPanelWidth, kTileRows, RunBlock};
  return &code;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetGemmCode);

GemmPlan PlanGemm(int64_t n, int64_t k) {
  GemmPlan plan;
  plan.code = HWY_DYNAMIC_DISPATCH(GetGemmCode)();
  plan.n = n;
  plan.k = k;
  plan.panel_width = plan.code->panel_width;
  plan.row_step = plan.code->row_step;
  plan.panels = (n + plan.panel_width - 1) / plan.panel_width;
  return plan;
}

const char* TargetOf(const GemmPlan& plan) { return plan.code->target; }

size_t PackedGemmBytes(const GemmPlan& plan) {
  return static_cast<size_t>(plan.panels * plan.k * plan.panel_width) * sizeof(float);
}

void PackGemm(const GemmPlan& plan, const float* b, int64_t stride, bool transposed, float scale, Range panels, float* packed) {
  const int64_t width = plan.panel_width;
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    float* to = packed + p * plan.k * width;
    const int64_t columns = std::min(width, plan.n - p * width);
    for (int64_t k = 0; k < plan.k; ++k, to += width) {
      const float* from = transposed ? b + p * width * stride + k : b + k * stride + p * width;
      const int64_t step = transposed ? stride : 1;
      for (int64_t j = 0; j < columns; ++j) to[j] = scale * from[j * step];
      std::fill(to + columns, to + width, 0.0f);
    }
  }
}

void RunGemm(const GemmPlan& plan, const float* a, int64_t a_stride, const float* packed, const Epilogue& epilogue, Range rows,
             Range panels, float* c, int64_t c_stride) {
  plan.code->run({plan, a, a_stride, packed, epilogue, panels, c, c_stride}, rows);
}

}  // namespace mete
#endif  // HWY_ONCE
