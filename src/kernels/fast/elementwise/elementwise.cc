#include "kernels/fast/elementwise/elementwise.h"

#include <algorithm>
#include <cmath>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/elementwise/elementwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

template <class F>
HWY_INLINE void MapRows(const float* a, const float* b, size_t count, float* to, const F& f) {
  const F32 d;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, to + i);
  if (i < count) StoreN(f(LoadN(d, a + i, count - i), LoadN(d, b + i, count - i)), d, to + i, count - i);
}

HWY_INLINE V32 KeepNan(V32 a, V32 otherwise) { return hn::IfThenElse(hn::Eq(a, a), otherwise, a); }

inline void RunBinary(FusedOp op, const float* a, const float* b, size_t n, float* to) {
  switch (op) {
    case FusedOp::kAdd: return MapRows(a, b, n, to, [](V32 x, V32 y) HWY_ATTR { return hn::Add(x, y); });
    case FusedOp::kSub: return MapRows(a, b, n, to, [](V32 x, V32 y) HWY_ATTR { return hn::Sub(x, y); });
    case FusedOp::kMul: return MapRows(a, b, n, to, [](V32 x, V32 y) HWY_ATTR { return hn::Mul(x, y); });
    case FusedOp::kDiv: return MapRows(a, b, n, to, [](V32 x, V32 y) HWY_ATTR { return hn::Div(x, y); });
    case FusedOp::kMin:
      return MapRows(a, b, n, to, [](V32 x, V32 y) HWY_ATTR { return KeepNan(x, AtMost(x, y)); });
    case FusedOp::kMax:
      return MapRows(a, b, n, to, [](V32 x, V32 y) HWY_ATTR { return KeepNan(x, AtLeast(x, y)); });
    default: break;
  }
  // Pow uses the library's function because of negative bases, infinities and the precision of large
  // exponents.
  for (size_t i = 0; i < n; ++i) to[i] = std::pow(a[i], b[i]);
}

inline void RunUnary(const Activation& f, const float* a, size_t n, float* to) {
  switch (f.op) {
    case FusedOp::kErf: return MapRow(a, n, to, [](V32 x) HWY_ATTR { return Erf(x); });
    case FusedOp::kExp: return MapRow(a, n, to, [](V32 x) HWY_ATTR { return Exp(x); });
    case FusedOp::kLog: return MapRow(a, n, to, [](V32 x) HWY_ATTR { return Log(x); });
    case FusedOp::kSqrt: return MapRow(a, n, to, [](V32 x) HWY_ATTR { return hn::Sqrt(x); });
    case FusedOp::kReciprocal: return MapRow(a, n, to, [](V32 x) HWY_ATTR { return hn::Div(Num(1.0f), x); });
    case FusedOp::kAbs: return MapRow(a, n, to, [](V32 x) HWY_ATTR { return hn::Abs(x); });
    case FusedOp::kNeg: return MapRow(a, n, to, [](V32 x) HWY_ATTR { return hn::Neg(x); });
    default: ActivateRow(f, a, n, to);
  }
}

void RunStep(const Activation& f, const float* a, const float* b, size_t count, float* to) {
  if (IsBinary(f.op)) return RunBinary(f.op, a, b, count, to);
  RunUnary(f, a, count, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(RunStep);

namespace {

constexpr int64_t kChunk = ElementwisePlan::kChunk;

class Slots {
 public:
  int Take() {
    for (int i = 0; i < ElementwisePlan::kSlots; ++i) {
      if (!taken_[static_cast<size_t>(i)]) {
        taken_[static_cast<size_t>(i)] = true;
        return i;
      }
    }
    return -1;
  }
  void GiveBack(int slot) {
    if (slot >= 0) taken_[static_cast<size_t>(slot)] = false;
  }

 private:
  std::array<bool, ElementwisePlan::kSlots> taken_{};
};

// Returns the last step that reads each register, or -1 if no step reads it.
auto LastUses(const FusedProgram& p) {
  std::array<int, FusedProgram::kMaxInputs + FusedProgram::kMaxSteps> last;
  last.fill(-1);
  for (int k = 0; k < p.steps; ++k) {
    for (const int r : p.step[static_cast<size_t>(k)].args) {
      if (r >= 0) last[static_cast<size_t>(r)] = k;
    }
  }
  return last;
}

// Returns the short period that all periodic inputs share, or 0.
int64_t SharedPeriod(const ElementwisePlan& plan) {
  int64_t shared = 0;
  for (int i = 0; i < plan.program.inputs; ++i) {
    const int64_t period = PeriodOf(plan.inputs[static_cast<size_t>(i)]);
    if (period == 0 || period > kChunk / 2) continue;  // longer ones are copied in few pieces
    if (shared != 0 && period != shared) return 0;
    shared = period;
  }
  return shared;
}

}  // namespace

bool PlanElementwise(const FusedProgram& program, std::span<const BroadcastInput> inputs,
                     ElementwisePlan* plan) {
  *plan = {};
  plan->program = program;
  plan->slot.fill(-1);
  Slots slots;
  for (int i = 0; i < program.inputs; ++i) {
    plan->inputs[static_cast<size_t>(i)] = inputs[static_cast<size_t>(i)];
    if (inputs[static_cast<size_t>(i)].spread == Broadcast::kFull) continue;
    const int slot = slots.Take();  // kept to the end, and only filled again if its contents change
    if (slot < 0) return false;
    plan->slot[static_cast<size_t>(i)] = static_cast<int8_t>(slot);
  }
  const auto last = LastUses(program);
  for (int k = 0; k < program.steps; ++k) {
    const auto& args = program.step[static_cast<size_t>(k)].args;
    for (size_t i = 0; i < args.size(); ++i) {
      const int r = args[i];
      const bool repeated = i > 0 && r == args[0];
      if (r >= program.inputs && last[static_cast<size_t>(r)] == k && !repeated)
        slots.GiveBack(plan->slot[static_cast<size_t>(r)]);
    }
    const int slot = slots.Take();
    if (slot < 0) return false;
    const size_t result = static_cast<size_t>(program.inputs + k);
    plan->slot[result] = static_cast<int8_t>(slot);
    if (last[result] < 0) slots.GiveBack(slot);
  }
  plan->period = SharedPeriod(*plan);
  return true;
}

void RunElementwise(const ElementwisePlan& plan, const float* const* inputs, Range range, float* output) {
  alignas(64) float memory[ElementwisePlan::kSlots][kChunk];
  const FusedProgram& program = plan.program;
  const auto slot_of = [&](int r) { return plan.slot[static_cast<size_t>(r)]; };
  std::array<BroadcastCursor<float>, FusedProgram::kMaxInputs> cursors;
  std::array<const float*, FusedProgram::kMaxInputs> chunk;
  // Whole periods, of which each chunk has the same elements.
  const int64_t length = plan.period > 0 ? kChunk / plan.period * plan.period : kChunk;
  std::array<bool, FusedProgram::kMaxInputs> fixed{};
  for (size_t i = 0; i < static_cast<size_t>(program.inputs); ++i) {
    const BroadcastInput& input = plan.inputs[i];
    float* slot = memory[std::max<int>(plan.slot[i], 0)];
    if (input.spread == Broadcast::kRuns) cursors[i] = {input, inputs[i], range.begin};
    if (input.spread == Broadcast::kScalar) std::fill_n(slot, kChunk, *inputs[i]);
    chunk[i] = slot;
    fixed[i] = plan.period > 0 && PeriodOf(input) == plan.period;
    if (fixed[i]) chunk[i] = cursors[i].Next<kChunk>(length, slot);
  }
  for (int64_t begin = range.begin; begin < range.end; begin += length) {
    const int64_t count = std::min(length, range.end - begin);
    for (size_t i = 0; i < static_cast<size_t>(program.inputs); ++i) {
      const Broadcast spread = plan.inputs[i].spread;
      if (spread == Broadcast::kFull) chunk[i] = inputs[i] + begin;
      if (spread == Broadcast::kRuns && !fixed[i])
        chunk[i] = cursors[i].Next<kChunk>(count, memory[plan.slot[i]]);
    }
    const auto read = [&](int r) -> const float* {
      if (r < 0) return nullptr;
      return r < program.inputs ? chunk[static_cast<size_t>(r)] : memory[slot_of(r)];
    };
    for (int k = 0; k < program.steps; ++k) {
      const FusedStep& step = program.step[static_cast<size_t>(k)];
      float* to = k + 1 == program.steps ? output + begin : memory[slot_of(program.inputs + k)];
      HWY_DYNAMIC_DISPATCH(RunStep)
      (step.function, read(step.args[0]), read(step.args[1]), static_cast<size_t>(count), to);
    }
  }
}

}  // namespace mete
#endif  // HWY_ONCE
