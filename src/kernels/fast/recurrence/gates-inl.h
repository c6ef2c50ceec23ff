// What the gates of recurrent cells do with their sums, one vector of hidden units at a time.
#if defined(METE_GATES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_GATES_INL_H
#undef METE_GATES_INL_H
#else
#define METE_GATES_INL_H
#endif

#include "kernels/fast/activation-inl.h"
#include "kernels/fast/recurrence/recurrence.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

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
inline Activation ActivationOf(const RecurrentFunction& f) {
  switch (f.kind) {
    case RecurrentKind::kRelu: return {FusedOp::kRelu};
    case RecurrentKind::kLeakyRelu: return {FusedOp::kLeakyRelu, f.alpha};
    case RecurrentKind::kHardSigmoid: return {FusedOp::kHardSigmoid, f.alpha, f.beta};
    case RecurrentKind::kElu: return {FusedOp::kElu, f.alpha};
    case RecurrentKind::kSoftplus: return {FusedOp::kSoftplus};
    default: return {};
  }
}

inline HWY_NOINLINE V32 Evaluate(const RecurrentFunction& f, V32 x) {
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

// The passes of the cells: `kGates` of the `kOf` gates that a panel of x has, from kFirst on, and what
// becomes of their sums, by ONNX's defaults and by rules. kScaled: of the products with RecurrentRow::inner.
struct LstmPass {
  static constexpr int kGates = 4, kOf = 4, kFirst = 0;
  static constexpr bool kScaled = false;
  static HWY_INLINE void Apply(const RecurrentUnits& u) {
    const F32 d;
    const V32 in = Sigmoid(u.Gate(0)), out = Sigmoid(u.Gate(1)), forget = Sigmoid(u.Gate(2));
    float* c = u.Inner();
    const V32 next = hn::MulAdd(forget, hn::LoadU(d, c), hn::Mul(in, Tanh(u.Gate(3))));
    hn::StoreU(next, d, c);
    u.Store(hn::Mul(out, Tanh(next)));
  }
  static HWY_INLINE void ApplyRules(const RecurrentUnits& u) {
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

struct GruPass {
  static constexpr int kGates = 3, kOf = 3, kFirst = 0;
  static constexpr bool kScaled = false;
  static HWY_INLINE void Apply(const RecurrentUnits& u) {
    const V32 update = Sigmoid(u.Gate(0)), reset = Sigmoid(u.Gate(1));
    u.StoreUpdated(update, Tanh(hn::MulAdd(reset, u.Recurrent(), u.Input(2))));
  }
  static HWY_INLINE void ApplyRules(const RecurrentUnits& u) {
    const UnitRules by(u);
    const V32 update = by.Gate(0, u.Gate(0)), reset = by.Gate(0, u.Gate(1));
    u.StoreUpdated(update, by.Gate(1, hn::MulAdd(reset, u.Recurrent(), u.Input(2))));
  }
};

// The two passes of a GRU whose reset gate comes first. The states that it has scaled lie in front of the
// update gates.
struct ResetPass {
  static constexpr int kGates = 2, kOf = 3, kFirst = 0;
  static constexpr bool kScaled = false;
  static HWY_INLINE void Apply(const RecurrentUnits& u) {
    const F32 d;
    hn::StoreU(Sigmoid(u.Gate(0)), d, u.Update());
    hn::StoreU(hn::Mul(Sigmoid(u.Gate(1)), u.State()), d, u.Inner());
  }
  static HWY_INLINE void ApplyRules(const RecurrentUnits& u) {
    const F32 d;
    const UnitRules by(u);
    hn::StoreU(by.Gate(0, u.Gate(0)), d, u.Update());
    hn::StoreU(hn::Mul(by.Gate(0, u.Gate(1)), u.State()), d, u.Inner());
  }
};

struct HiddenPass {
  static constexpr int kGates = 1, kOf = 3, kFirst = 2;
  static constexpr bool kScaled = true;
  static HWY_INLINE void Apply(const RecurrentUnits& u) {
    u.StoreUpdated(hn::LoadU(F32(), u.Update()), Tanh(u.Gate(0)));
  }
  static HWY_INLINE void ApplyRules(const RecurrentUnits& u) {
    u.StoreUpdated(hn::LoadU(F32(), u.Update()), UnitRules(u).Gate(1, u.Gate(0)));
  }
};

struct RnnPass {
  static constexpr int kGates = 1, kOf = 1, kFirst = 0;
  static constexpr bool kScaled = false;
  static HWY_INLINE void Apply(const RecurrentUnits& u) { u.Store(Tanh(u.Gate(0))); }
  static HWY_INLINE void ApplyRules(const RecurrentUnits& u) { u.Store(UnitRules(u).Gate(0, u.Gate(0))); }
};

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
