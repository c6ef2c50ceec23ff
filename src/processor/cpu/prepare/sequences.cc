#include "processor/cpu/prepare/sequences.h"

#include "schedule/policy.h"

namespace mete {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Recurrent weights of more bytes than this do not stay in a core's second-level cache together with the
// rest, so that it is better if a thread reads a part of them in each step. This value is a guess: half of 1
// MiB.
constexpr int64_t kNearBytes = 512 << 10;

// A thread takes part in a step if it reads at least so many bytes of weights in each pass. Measured with
// AVX-512 on a busy machine, two threads that divide 4 MiB take 0.6 of the time of one, and those that divide
// 192 KiB 1.1 of it; the value between them is a guess.
constexpr int64_t kLeastBytes = 128 << 10;

// The products of the inputs that are kept at a time. This value is a guess: they share a second-level cache
// with the recurrent weights.
constexpr int64_t kProductBytes = 128 << 10;
// A register tile of the products has at most this number of rows (kernels/fast/tile).
constexpr int64_t kLeastSteps = 8;

constexpr int64_t kFloatsOfLine = 16;
int64_t WholeLines(int64_t floats) { return CeilDiv(floats, kFloatsOfLine) * kFloatsOfLine; }

}  // namespace

SequenceDivision DivideRecurrence(const Recurrence& r, const RecurrencePlan& plan, int threads) {
  SequenceDivision division{r.directions};
  const int64_t each = CeilDiv(threads, r.directions);  // threads for each direction
  if (each == 1) return division;
  const int64_t bytes = plan.columns() * plan.hidden * BitsOf(PrecisionsOf(r).states) / 8;
  const int64_t taking_part = std::min({each, bytes / (kLeastBytes * plan.passes()), plan.panels});
  if ((r.batch >= each && bytes <= kNearBytes) || taking_part <= 1)
    division.row_blocks = std::min(r.batch, each);
  else division.column_blocks = std::min(plan.panels, taking_part * kBlocksPerThread);
  return division;
}

SequenceMemory MemoryOf(const Recurrence& r, const RecurrencePlan& plan, const SequenceDivision& division) {
  SequenceMemory m;
  m.rows = CeilDiv(r.batch, division.row_blocks);
  const int64_t step = m.rows * plan.columns();
  m.steps = std::min(r.length, std::max(kLeastSteps, kProductBytes / (step * int64_t{sizeof(float)})));
  m.inner = WholeLines(m.steps * step);
  m.states = m.inner + WholeLines(m.rows * plan.inner());
  m.sums = m.states + WholeLines(2 * m.rows * plan.hidden);
  const bool apart = PrecisionsOf(r).states != Precision::kF32;
  m.floats = m.sums + (apart ? WholeLines(m.rows * plan.columns()) : 0);
  return m;
}

}  // namespace mete
