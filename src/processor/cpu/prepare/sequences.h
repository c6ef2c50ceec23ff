// Where the sequences of a recurrent node lie in its tensors, and how they are divided among threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dispatch/recurrence.h"

namespace mete {

// Offsets of the elements of a step `t`, a direction `d` and a sequence `n`.
struct SequencePlaces {
  explicit SequencePlaces(const Recurrence& recurrence) : r(recurrence) {}

  int64_t X(int64_t t, int64_t n) const {
    return (r.batch_first ? n * r.length + t : t * r.batch + n) * r.inputs;
  }
  int64_t Y(int64_t t, int64_t d, int64_t n) const {
    return (r.batch_first ? (n * r.length + t) * r.directions + d : (t * r.directions + d) * r.batch + n) *
           r.hidden;
  }
  int64_t State(int64_t d, int64_t n) const {
    return (r.batch_first ? n * r.directions + d : d * r.batch + n) * r.hidden;
  }
  // Elements of X from a time to the next, and from a sequence to the next.
  int64_t x_time() const { return r.batch_first ? r.inputs : r.batch * r.inputs; }
  int64_t x_sequence() const { return r.batch_first ? r.length * r.inputs : r.inputs; }

  bool Backward(int64_t d) const { return r.reverse || d == 1; }
  // Returns the time that a sequence of `length` steps is at in step `s`: a backward direction begins at the
  // sequence's own end.
  int64_t TimeOf(int64_t d, int64_t s, int64_t length) const { return Backward(d) ? length - 1 - s : s; }

  Recurrence r;
};

// The shares of a recurrent node: sequences of one direction, which depend on no other share. Either a thread
// computes all steps of a share, or, where that leaves threads without work, all threads divide the columns
// of each step and meet behind it.
struct SequenceDivision {
  int64_t directions = 1, row_blocks = 1;
  int64_t column_blocks = 1;  // of a step of a share; 1: a thread computes whole shares

  int64_t shares() const { return directions * row_blocks; }
};

SequenceDivision DivideRecurrence(const Recurrence& recurrence, const RecurrencePlan& plan, int threads);

// The working memory of a share in floats, and its parts.
struct SequenceMemory {
  int64_t rows = 0;   // most sequences of a share
  int64_t steps = 0;  // of which the inputs are multiplied at a time
  // Offsets: RecurrentRow::inner, states that are no output, and RecurrentRow::sums, which only rounded
  // states have.
  int64_t inner = 0, states = 0, sums = 0;
  int64_t floats = 0;
};

SequenceMemory MemoryOf(const Recurrence& recurrence, const RecurrencePlan& plan,
                        const SequenceDivision& division);

}  // namespace mete
