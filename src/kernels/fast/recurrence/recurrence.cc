#include "kernels/fast/recurrence/recurrence.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/fast/target/targets.h"
#include "kernels/fast/tile/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/recurrence/recurrence.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/recurrence/gates-inl.h"
#include "kernels/fast/target/name-inl.h"

#ifndef METE_RECURRENCE_ONCE
#define METE_RECURRENCE_ONCE
namespace mete {

struct RecurrentStepCall {
  const RecurrencePlan& plan;
  int64_t pass;
  const RecurrentWeights& weights;
  std::span<const RecurrentRow> rows;
};

struct RecurrenceCode {
  const char* target;
  int64_t lanes;
  void (*run)(const RecurrentStepCall&, Range panels);
};

}  // namespace mete
#endif  // METE_RECURRENCE_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// The largest number of rows of a tile: the sums of four gates take half of the registers of AVX-512 and
// NEON, and of the 16 registers of older instruction sets.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kRecurrentRows = 4;
#else
constexpr int kRecurrentRows = 2;
#endif

// Multiplies the states of MR rows by P panels. `sums` receives vectors [row][panel][gate]. The order of
// additions in a sum does not depend on the tile.
template <int kGates, int P, int MR>
HWY_NOINLINE void MultiplyStates(const float* const* states, const float* panel, size_t hidden, float* sums) {
  const F32 d;
  constexpr int V = P * kGates;
  constexpr size_t kWidth = kGates * kLanes;
  V32 s[MR][V];
  const float* h[MR];
#pragma GCC unroll 4
  for (int i = 0; i < MR; ++i) {
    h[i] = states[i];
#pragma GCC unroll 8
    for (int j = 0; j < V; ++j) s[i][j] = hn::Zero(d);
  }
  for (size_t k = 0; k < hidden; ++k) {
    V32 weights[V];
#pragma GCC unroll 8
    for (int j = 0; j < V; ++j) {
      const size_t p = size_t(j / kGates), gate = size_t(j % kGates);
      weights[j] = hn::LoadU(d, panel + (p * hidden + k) * kWidth + gate * kLanes);
    }
#pragma GCC unroll 4
    for (int i = 0; i < MR; ++i) {
      const V32 x = hn::Set(d, h[i][k]);
#pragma GCC unroll 8
      for (int j = 0; j < V; ++j) s[i][j] = hn::MulAdd(x, weights[j], s[i][j]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < V; ++j) hn::StoreU(s[i][j], d, sums + size_t(i * V + j) * kLanes);
  }
}

// The functions of tiles, indexed by their number of rows minus one.
using MultiplyFunction = void (*)(const float* const*, const float*, size_t, float*);
template <int kGates, int P, int... I>
constexpr std::array<MultiplyFunction, sizeof...(I)> MultiplyOf(std::integer_sequence<int, I...>) {
  return {MultiplyStates<kGates, P, I + 1>...};
}

// Panels that a tile of one row computes together, so that there are enough chains of multiply-adds to hide
// their latency: eight for two units with a latency of four cycles. With one gate tiles of all heights do so.
template <int kGates>
constexpr int kTogether = kGates <= 2 ? 4 : 2;
template <int kGates>
constexpr int kRowsTogether = kGates == 1 ? kRecurrentRows : 1;
template <int kGates>
constexpr auto kOne = MultiplyOf<kGates, 1>(std::make_integer_sequence<int, kRecurrentRows>());
template <int kGates>
constexpr auto kSeveral =
    MultiplyOf<kGates, kTogether<kGates>>(std::make_integer_sequence<int, kRowsTogether<kGates>>());

// The sums of a tile: four gates or four panels of each row, or two panels of four gates.
constexpr size_t kMostSums = 4 * std::max(kRecurrentRows, 2) * kLanes;

// Applies the gates of a tile, whose sums are in vectors [row][panel][gate].
template <class Pass, bool kByRules>
void ApplyTile(const RecurrentStepCall& call, std::span<const RecurrentRow> rows, Range panels,
               const float* sums) {
  const size_t hidden = static_cast<size_t>(call.plan.hidden), begin = static_cast<size_t>(panels.begin),
               end = static_cast<size_t>(panels.end);
  const size_t padded = static_cast<size_t>(call.plan.padded_hidden());
  for (const RecurrentRow& row : rows) {
    for (size_t p = begin; p < end; ++p, sums += Pass::kGates * kLanes) {
      const size_t first = p * kLanes;
      const float* x = row.x + (p * Pass::kOf + Pass::kFirst) * kLanes;
      const RecurrentUnits units{row, call.weights, sums, x, first, hidden - first, padded};
      if constexpr (kByRules) Pass::ApplyRules(units);
      else Pass::Apply(units);
    }
  }
}

using ApplyFunction = void (*)(const RecurrentStepCall&, std::span<const RecurrentRow>, Range panels,
                               const float* sums);

// A pass, for tiles of any of its sizes.
struct PassCode {
  size_t gates;
  int64_t together, rows_together;
  const MultiplyFunction *one, *several;  // of one panel, and of `together`
  bool scaled;                            // of the states that the pass before has scaled
  ApplyFunction apply, apply_rules;
};
template <class Pass>
constexpr PassCode kPass = {Pass::kGates,
                            kTogether<Pass::kGates>,
                            kRowsTogether<Pass::kGates>,
                            kOne<Pass::kGates>.data(),
                            kSeveral<Pass::kGates>.data(),
                            Pass::kScaled,
                            ApplyTile<Pass, false>,
                            ApplyTile<Pass, true>};

// Computes one panel, or code.together, for all rows in tiles of at most `most` rows.
HWY_NOINLINE void RunPanels(const RecurrentStepCall& call, const PassCode& code, Range panels, int64_t most) {
  HWY_ALIGN float sums[kMostSums];
  const float* states[kRecurrentRows];
  const MultiplyFunction* multiply = panels.size() > 1 ? code.several : code.one;
  const ApplyFunction apply = call.weights.rules ? code.apply_rules : code.apply;
  const size_t hidden = static_cast<size_t>(call.plan.hidden), begin = static_cast<size_t>(panels.begin);
  const EvenPieces tiles(static_cast<int64_t>(call.rows.size()), most);
  for (int64_t t = 0; t < tiles.count(); ++t) {
    const Range tile = tiles[t];
    const auto rows = call.rows.subspan(static_cast<size_t>(tile.begin), static_cast<size_t>(tile.size()));
    for (size_t i = 0; i < rows.size(); ++i) states[i] = code.scaled ? rows[i].inner : rows[i].h;
    multiply[rows.size() - 1](states, call.weights.packed + begin * code.gates * kLanes * hidden, hidden,
                              sums);
    apply(call, rows, panels, sums);
  }
}

void ApplyGates(const RecurrentStepCall& call, const PassCode& code, Range panels) {
  const ApplyFunction apply = call.weights.rules ? code.apply_rules : code.apply;
  const size_t first = static_cast<size_t>(panels.begin) * code.gates * kLanes;
  for (const RecurrentRow& row : call.rows) apply(call, {&row, 1}, panels, row.sums + first);
}

void RunPass(const RecurrentStepCall& call, const PassCode& code, Range panels) {
  if (!call.weights.packed) return ApplyGates(call, code, panels);
  int64_t p = panels.begin;
  if (static_cast<int64_t>(call.rows.size()) <= code.rows_together || code.gates == 1)
    for (; p + code.together <= panels.end; p += code.together)
      RunPanels(call, code, {p, p + code.together}, code.rows_together);
  for (; p < panels.end; ++p) RunPanels(call, code, {p, p + 1}, kRecurrentRows);
}

void RunRecurrent(const RecurrentStepCall& call, Range panels) {
  switch (call.plan.cell) {
    case RecurrentCell::kLstm: return RunPass(call, kPass<LstmPass>, panels);
    case RecurrentCell::kGru: return RunPass(call, kPass<GruPass>, panels);
    case RecurrentCell::kGruResetFirst:
      return RunPass(call, call.pass == 0 ? kPass<ResetPass> : kPass<HiddenPass>, panels);
    case RecurrentCell::kRnn: return RunPass(call, kPass<RnnPass>, panels);
  }
}

const RecurrenceCode* GetRecurrenceCode() {
  static constexpr RecurrenceCode code = {TargetName(), static_cast<int64_t>(kLanes), RunRecurrent};
  return &code;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetRecurrenceCode);

RecurrencePlan PlanRecurrence(RecurrentCell cell, int64_t inputs, int64_t hidden) {
  RecurrencePlan plan;
  plan.cell = cell;
  plan.hidden = hidden;
  plan.code = HWY_DYNAMIC_DISPATCH(GetRecurrenceCode)();
  plan.lanes = plan.code->lanes;
  plan.panels = (hidden + plan.lanes - 1) / plan.lanes;
  const auto packed = [&](int64_t first, int64_t count, int64_t k, int64_t vectors) {
    const GemmPlan gemm = PlanGemm(plan.padded_hidden() * count, k, vectors);
    return PackedGates{first, count, hidden, plan.lanes, gemm};
  };
  const int64_t gates = plan.gates(), behind = plan.passes() - 1;  // gates of the second pass
  plan.inputs = packed(0, gates, inputs, 0);
  plan.states[0] = packed(0, gates - behind, hidden, gates - behind);
  if (behind > 0) plan.states[1] = packed(gates - behind, behind, hidden, behind);
  return plan;
}

const char* TargetOf(const RecurrencePlan& plan) { return plan.code->target; }

void RunRecurrentStep(const RecurrencePlan& plan, int64_t pass, const RecurrentWeights& weights,
                      std::span<const RecurrentRow> rows, Range panels) {
  plan.code->run({plan, pass, weights, rows}, panels);
}

}  // namespace mete
#endif  // HWY_ONCE
