#include "kernels/fast/gemm/gemm.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"
#include "kernels/fast/tile/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/gemm/gemm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/target/name-inl.h"
#include "kernels/fast/tile/dots-inl.h"
#include "kernels/fast/tile/tile-inl.h"

#ifndef METE_GEMM_ONCE
#define METE_GEMM_ONCE
namespace mete {

struct GemmCall {
  const GemmPlan& plan;
  const float* a;
  int64_t a_stride;
  const float* packed;
  const float* after;
  const Epilogue& epilogue;
  Range panels;
  float* c;
  int64_t c_stride;
};

struct GemmCode {
  const char* target;
  int64_t lanes, most_vectors, row_step;
  const int* most_rows;  // largest number of rows of a tile, by its number of vectors
  bool halves_in_order;  // whether in-order cores are faster with tiles of half a panel
  void (*run)(const GemmCall&, Range rows);
};

// The largest number of rows that run over all panels of the block while their inputs stay in a second-level
// cache.
inline constexpr int64_t kRowsAtMost = 256;

}  // namespace mete
#endif  // METE_GEMM_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

inline void RunColumns(const GemmCall& g, Range rows, int64_t panel, Strip& s) {
  const Range columns = g.plan.split.Columns(panel);
  const int64_t column = columns.begin, width = g.plan.split.Width(panel);
  const int64_t residual_stride = g.epilogue.residual_stride ? g.epilogue.residual_stride : g.c_stride;
  const bool last_panel = panel + 1 == g.panels.end;
  s.columns = static_cast<size_t>(columns.size());
  s.width = static_cast<size_t>(width);
  s.out_stride = static_cast<size_t>(g.c_stride);
  s.residual_stride = static_cast<size_t>(residual_stride);
  s.epilogue = &g.epilogue;
  s.PointAt(g.c, rows.begin, column);
  if (g.plan.dots) {
    s.k = static_cast<size_t>(g.plan.k);
    s.panel = g.packed;
    return RunDots(s);
  }
  const EvenPieces chunks(std::max<int64_t>(g.plan.k, 1), ChunkLength(width));
  for (int64_t i = 0; i < chunks.count(); ++i) {
    const Range k = g.plan.k > 0 ? chunks[i] : Range{0, 0};
    s.first = i == 0;
    s.last = i + 1 == chunks.count();
    s.offset = static_cast<size_t>(k.begin);
    s.k = static_cast<size_t>(k.size());
    s.panel = g.packed + column * g.plan.k + k.begin * width;
    s.next = last_panel && s.last ? g.after : s.panel + k.size() * width;
    RunPanel(s);
  }
}

inline void RunRows(const GemmCall& g, Range rows) {
  const float* pointers[kRowsAtMost];
  for (int64_t r = 0; r < rows.size(); ++r) pointers[r] = g.a + (rows.begin + r) * g.a_stride;
  Strip s = {};
  s.rows = pointers;
  s.row_count = static_cast<size_t>(rows.size());
  s.taps = 1;
  s.tile = g.plan.tile;
  for (int64_t p = g.panels.begin; p < g.panels.end; ++p) RunColumns(g, rows, p, s);
}

void RunBlock(const GemmCall& g, Range rows) {
  constexpr int64_t kInputBytes = 256 << 10;  // this value is a guess: 1/4 to 1/2 of a second-level cache
  const int64_t fitting = kInputBytes / (std::max<int64_t>(g.plan.k, 1) * int64_t{sizeof(float)});
  const EvenPieces passes(rows.size(), std::clamp<int64_t>(fitting, 8 * kTileRows, kRowsAtMost));
  for (int64_t i = 0; i < passes.count(); ++i) {
    RunRows(g, {rows.begin + passes[i].begin, rows.begin + passes[i].end});
  }
}

const GemmCode* GetGemmCode() {
  static constexpr GemmCode code = {
      TargetName(), static_cast<int64_t>(kLanes), kMostVectors, kTileRows, kMostRows, kHalvesInOrder,
      RunBlock};
  return &code;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetGemmCode);

GemmPlan PlanGemm(int64_t n, int64_t k, int64_t most_vectors, SumOrder order) {
  GemmPlan plan;
  plan.code = HWY_DYNAMIC_DISPATCH(GetGemmCode)();
  plan.n = n;
  plan.k = k;
  plan.split = Panels(n, plan.code->lanes, most_vectors > 0 ? most_vectors : plan.code->most_vectors);
  plan.panels = plan.split.count();
  plan.dots = order == SumOrder::kAny && TakesDots(n, 1, k, plan.code->lanes);
  plan.row_step = plan.dots ? kRowsOfDots : plan.code->row_step;
  plan.steps = plan.dots ? DotSteps(n, 1, k, plan.code->lanes) : k;
  return plan;
}

std::vector<int64_t> GemmTileWidths(int64_t n) {
  const GemmCode* code = HWY_DYNAMIC_DISPATCH(GetGemmCode)();
  std::vector<int64_t> widths{code->most_vectors};
  auto panels = [&](int64_t width) { return Panels(n, code->lanes, width).count(); };
  for (int64_t width = code->most_vectors - 1; width > 1; --width)
    if (panels(width) != panels(widths.back())) widths.push_back(width);
  return widths;
}

std::vector<Tile> GemmTiles(const GemmPlan& plan, int64_t rows, bool in_order) {
  // Rows whose distance is a power of two share a set of a cache, and the caches of small cores have four
  // ways. This value is a guess.
  constexpr int64_t kFewRows = 4;
  std::vector<Tile> tiles{{}};
  if (plan.dots) return tiles;
  if (SizeOf(plan, {0, true}).vectors < SizeOf(plan, {}).vectors)
    tiles.insert(in_order && plan.code->halves_in_order ? tiles.begin() : tiles.end(), Tile{0, true});
  if (rows > kFewRows && SizeOf(plan, {}).rows > kFewRows) tiles.push_back({kFewRows, false});
  return tiles;
}

TileSize SizeOf(const GemmPlan& plan, const Tile& tile) {
  int64_t vectors = 0;
  for (int64_t p = 0; p < plan.panels; ++p)
    vectors = std::max(vectors, plan.split.Width(p) / plan.split.lanes());
  if (tile.half && vectors == 4) vectors = 2;
  const int64_t rows = plan.code->most_rows[vectors];
  return {tile.rows > 0 ? std::min(rows, tile.rows) : rows, vectors};
}

const char* TargetOf(const GemmPlan& plan) { return plan.code->target; }

size_t PackedGemmBytes(const GemmPlan& plan) {
  return static_cast<size_t>(plan.packed_columns() * plan.k) * sizeof(float);
}

namespace {

// Copies `count` elements of B from row `k` and column `column` on, along the columns or, if `down`, along
// the rows.
void CopyScaled(const GemmWeights& w, int64_t k, int64_t column, int64_t count, bool down, float* to) {
  column -= w.first;
  const float* from = w.transposed ? w.b + column * w.stride + k : w.b + k * w.stride + column;
  const int64_t step = down != w.transposed ? w.stride : 1;
  for (int64_t j = 0; j < count; ++j) to[j] = w.scale * from[j * step];
}

// Packs the only panel as [column][k].
void PackDots(const GemmPlan& plan, const GemmWeights& weights, float* packed) {
  for (int64_t column = 0; column < plan.n; ++column)
    CopyScaled(weights, 0, column, plan.k, true, packed + column * plan.k);
}

}  // namespace

void PackGemm(const GemmPlan& plan, const GemmWeights& weights, Range panels, float* packed) {
  if (plan.dots) return panels.size() > 0 ? PackDots(plan, weights, packed) : void();
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const int64_t first = plan.split.Columns(p).begin, columns = plan.split.Columns(p).size(),
                  width = plan.split.Width(p);
    float* to = packed + first * plan.k;
    for (int64_t k = 0; k < plan.k; ++k, to += width) {
      CopyScaled(weights, k, first, columns, false, to);
      std::fill(to + columns, to + width, 0.0f);
    }
  }
}

void RunGemm(const GemmPlan& plan, const float* a, int64_t a_stride, const float* packed,
             const Epilogue& epilogue, Range rows, Range panels, float* c, int64_t c_stride,
             const float* after) {
  if (!after) after = packed + plan.split.Columns(panels.begin).begin * plan.k;
  plan.code->run({plan, a, a_stride, packed, after, epilogue, panels, c, c_stride}, rows);
}

}  // namespace mete
#endif  // HWY_ONCE
