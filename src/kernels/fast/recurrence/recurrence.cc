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

#include "kernels/fast/activation-inl.h"
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

// One vector of hidden units of one row. `sums` and `x` have a vector for each gate; `count` is the number of
// units, which may be more than the lanes.
struct RecurrentUnits {
  const RecurrentRow& row;
  const RecurrentWeights& weights;
  const float *sums, *x;
  size_t first, count, padded_hidden;

  HWY_INLINE V32 Sum(size_t gate) const { return hn::LoadU(F32(), sums + gate * kLanes); }
  HWY_INLINE V32 Input(size_t gate) const { return hn::LoadU(F32(), x + gate * kLanes); }
  HWY_INLINE V32 Gate(size_t gate) const { return hn::Add(Input(gate), Sum(gate)); }
  // Returns the product of a GRU's hidden gate, which the reset gate scales.
  HWY_INLINE V32 Recurrent() const { return hn::Add(Sum(2), hn::LoadU(F32(), weights.hidden_bias + first)); }
  HWY_INLINE V32 State() const { return LoadN(F32(), row.h + first, count); }
  HWY_INLINE float* Inner() const { return row.inner + first; }
  HWY_INLINE float* Update() const { return Inner() + padded_hidden; }  // of a GRU whose reset gate is first
  HWY_INLINE void Store(V32 h) const { StoreN(h, F32(), row.next + first, count); }
  HWY_INLINE void StoreUpdated(V32 update, V32 hidden) const {
    Store(hn::MulAdd(update, hn::Sub(State(), hidden), hidden));
  }
};

// Returns the activation that ActivateRow() has for a function.
Activation ActivationOf(const RecurrentFunction& f) {
  switch (f.kind) {
    case RecurrentKind::kRelu: return {FusedOp::kRelu};
    case RecurrentKind::kLeakyRelu: return {FusedOp::kLeakyRelu, f.alpha};
    case RecurrentKind::kHardSigmoid: return {FusedOp::kHardSigmoid, f.alpha, f.beta};
    case RecurrentKind::kElu: return {FusedOp::kElu, f.alpha};
    case RecurrentKind::kSoftplus: return {FusedOp::kSoftplus};
    default: return {};
  }
}

HWY_NOINLINE V32 Evaluate(const RecurrentFunction& f, V32 x) {
  const V32 alpha = Num(f.alpha), beta = Num(f.beta);
  switch (f.kind) {
    case RecurrentKind::kTanh: return Tanh(x);
    case RecurrentKind::kSigmoid: return Sigmoid(x);
    case RecurrentKind::kAffine: return hn::MulAdd(alpha, x, beta);
    case RecurrentKind::kThresholdedRelu: return hn::IfThenElseZero(hn::Gt(x, alpha), x);
    case RecurrentKind::kScaledTanh: return hn::Mul(alpha, Tanh(hn::Mul(beta, x)));
    case RecurrentKind::kSoftsign: return hn::Div(x, hn::Add(Num(1.0f), hn::Abs(x)));
    default: break;
  }
  HWY_ALIGN float lanes[kLanes];
  hn::Store(x, F32(), lanes);
  ActivateRow(ActivationOf(f), lanes, kLanes, lanes);
  return hn::Load(F32(), lanes);
}

// The rules of a vector of units. Which function it is, is asked anew for each vector: that takes some cycles
// of the hundreds that the products of the vector take.
struct UnitRules {
  explicit HWY_INLINE UnitRules(const RecurrentUnits& u)
      : rules(*u.weights.rules),
        peepholes(u.weights.peepholes ? u.weights.peepholes + u.first : nullptr),
        padded_hidden(u.padded_hidden) {}

  HWY_INLINE V32 Gate(size_t function, V32 sum) const {
    if (rules.clip > 0) sum = Clamp(sum, Num(-rules.clip), Num(rules.clip));
    return Evaluate(rules.functions[function], sum);
  }
  HWY_INLINE V32 SeeCell(size_t gate, V32 sum, V32 c) const {
    return peepholes ? hn::MulAdd(hn::LoadU(F32(), peepholes + gate * padded_hidden), c, sum) : sum;
  }

  const RecurrentRules& rules;
  const float* peepholes;
  size_t padded_hidden;
};

// The passes of the cells: `kGates` of the `kOf` gates that a panel of x has, from kFirst on; the states that
// they multiply, and what becomes of the sums, by ONNX's defaults and by rules.
struct OfStates {
  static HWY_INLINE const float* States(const RecurrentRow& row) { return row.h; }
};

struct LstmPass : OfStates {
  static constexpr int kGates = 4, kOf = 4, kFirst = 0;
  static HWY_INLINE void Apply(const RecurrentUnits& u) {
    const F32 d;
    const V32 in = Sigmoid(u.Gate(0)), out = Sigmoid(u.Gate(1)), forget = Sigmoid(u.Gate(2));
    float* c = u.Inner();
    const V32 next = hn::MulAdd(forget, hn::LoadU(d, c), hn::Mul(in, Tanh(u.Gate(3))));
    hn::StoreU(next, d, c);
    u.Store(hn::Mul(out, Tanh(next)));
  }
  static HWY_NOINLINE void ApplyRules(const RecurrentUnits& u) {
    const F32 d;
    const UnitRules by(u);
    float* cell = u.Inner();
    const V32 c = hn::LoadU(d, cell), in = by.Gate(0, by.SeeCell(0, u.Gate(0), c));
    const V32 forget =
        by.rules.input_forget ? hn::Sub(Num(1.0f), in) : by.Gate(0, by.SeeCell(2, u.Gate(2), c));
    const V32 next = hn::MulAdd(forget, c, hn::Mul(in, by.Gate(1, u.Gate(3))));
    hn::StoreU(next, d, cell);
    const V32 out = by.Gate(0, by.SeeCell(1, u.Gate(1), next));
    u.Store(hn::Mul(out, Evaluate(by.rules.functions[2], next)));
  }
};

struct GruPass : OfStates {
  static constexpr int kGates = 3, kOf = 3, kFirst = 0;
  static HWY_INLINE void Apply(const RecurrentUnits& u) {
    const V32 update = Sigmoid(u.Gate(0)), reset = Sigmoid(u.Gate(1));
    u.StoreUpdated(update, Tanh(hn::MulAdd(reset, u.Recurrent(), u.Input(2))));
  }
  static HWY_NOINLINE void ApplyRules(const RecurrentUnits& u) {
    const UnitRules by(u);
    const V32 update = by.Gate(0, u.Gate(0)), reset = by.Gate(0, u.Gate(1));
    u.StoreUpdated(update, by.Gate(1, hn::MulAdd(reset, u.Recurrent(), u.Input(2))));
  }
};

// The two passes of a GRU whose reset gate comes first. The states that it has scaled lie in front of the
// update gates.
struct ResetPass : OfStates {
  static constexpr int kGates = 2, kOf = 3, kFirst = 0;
  static HWY_INLINE void Apply(const RecurrentUnits& u) {
    const F32 d;
    hn::StoreU(Sigmoid(u.Gate(0)), d, u.Update());
    hn::StoreU(hn::Mul(Sigmoid(u.Gate(1)), u.State()), d, u.Inner());
  }
  static HWY_NOINLINE void ApplyRules(const RecurrentUnits& u) {
    const F32 d;
    const UnitRules by(u);
    hn::StoreU(by.Gate(0, u.Gate(0)), d, u.Update());
    hn::StoreU(hn::Mul(by.Gate(0, u.Gate(1)), u.State()), d, u.Inner());
  }
};

struct HiddenPass {
  static constexpr int kGates = 1, kOf = 3, kFirst = 2;
  static HWY_INLINE const float* States(const RecurrentRow& row) { return row.inner; }
  static HWY_INLINE void Apply(const RecurrentUnits& u) {
    u.StoreUpdated(hn::LoadU(F32(), u.Update()), Tanh(u.Gate(0)));
  }
  static HWY_NOINLINE void ApplyRules(const RecurrentUnits& u) {
    u.StoreUpdated(hn::LoadU(F32(), u.Update()), UnitRules(u).Gate(1, u.Gate(0)));
  }
};

struct RnnPass : OfStates {
  static constexpr int kGates = 1, kOf = 1, kFirst = 0;
  static HWY_INLINE void Apply(const RecurrentUnits& u) { u.Store(Tanh(u.Gate(0))); }
  static HWY_NOINLINE void ApplyRules(const RecurrentUnits& u) { u.Store(UnitRules(u).Gate(0, u.Gate(0))); }
};

// Panels that a tile of one row computes together, so that there are enough chains of multiply-adds to hide
// their latency: eight for two units with a latency of four cycles. With one gate tiles of all heights do so.
template <int kGates>
constexpr int kTogether = kGates <= 2 ? 4 : 2;
template <int kGates>
constexpr int kRowsTogether = kGates == 1 ? kRecurrentRows : 1;

// The functions of tiles, indexed by their number of rows minus one.
using MultiplyFunction = void (*)(const float* const*, const float*, size_t, float*);
template <int kGates, int P, int... I>
constexpr std::array<MultiplyFunction, sizeof...(I)> MultiplyOf(std::integer_sequence<int, I...>) {
  return {MultiplyStates<kGates, P, I + 1>...};
}

// Computes one panel, or kTogether, for all rows in tiles of at most `most` rows.
template <class Pass>
HWY_NOINLINE void RunPanels(const RecurrentStepCall& call, Range panels, const MultiplyFunction* multiply,
                            int64_t most) {
  constexpr int kGates = Pass::kGates;
  constexpr size_t kWidth = kGates * kLanes;
  HWY_ALIGN float sums[std::max(kRecurrentRows, kRowsTogether<kGates> * kTogether<kGates>) * kWidth];
  const float* states[kRecurrentRows];
  const size_t hidden = static_cast<size_t>(call.plan.hidden), begin = static_cast<size_t>(panels.begin),
               end = static_cast<size_t>(panels.end);
  const size_t padded = static_cast<size_t>(call.plan.padded_hidden());
  const EvenPieces tiles(static_cast<int64_t>(call.rows.size()), most);
  for (int64_t t = 0; t < tiles.count(); ++t) {
    const std::span<const RecurrentRow> rows =
        call.rows.subspan(static_cast<size_t>(tiles[t].begin), static_cast<size_t>(tiles[t].size()));
    for (size_t i = 0; i < rows.size(); ++i) states[i] = Pass::States(rows[i]);
    multiply[rows.size() - 1](states, call.weights.packed + begin * kWidth * hidden, hidden, sums);
    const float* of = sums;
    for (const RecurrentRow& row : rows) {
      for (size_t p = begin; p < end; ++p, of += kWidth) {
        const size_t first = p * kLanes;
        const float* x = row.x + (p * Pass::kOf + Pass::kFirst) * kLanes;
        const RecurrentUnits units{row, call.weights, of, x, first, hidden - first, padded};
        if (call.weights.rules) Pass::ApplyRules(units);
        else Pass::Apply(units);
      }
    }
  }
}

template <class Pass>
void RunPass(const RecurrentStepCall& call, Range panels) {
  constexpr int kGates = Pass::kGates, P = kTogether<kGates>, kRows = kRowsTogether<kGates>;
  static constexpr auto kOne = MultiplyOf<kGates, 1>(std::make_integer_sequence<int, kRecurrentRows>());
  static constexpr auto kSeveral = MultiplyOf<kGates, P>(std::make_integer_sequence<int, kRows>());
  int64_t p = panels.begin;
  if (kGates == 1 || call.rows.size() == 1)
    for (; p + P <= panels.end; p += P) RunPanels<Pass>(call, {p, p + P}, kSeveral.data(), kRows);
  for (; p < panels.end; ++p) RunPanels<Pass>(call, {p, p + 1}, kOne.data(), kRecurrentRows);
}

void RunRecurrent(const RecurrentStepCall& call, Range panels) {
  switch (call.plan.cell) {
    case RecurrentCell::kLstm: return RunPass<LstmPass>(call, panels);
    case RecurrentCell::kGru: return RunPass<GruPass>(call, panels);
    case RecurrentCell::kGruResetFirst:
      return call.pass == 0 ? RunPass<ResetPass>(call, panels) : RunPass<HiddenPass>(call, panels);
    case RecurrentCell::kRnn: return RunPass<RnnPass>(call, panels);
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
