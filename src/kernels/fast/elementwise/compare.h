// Comparisons of f32 or i64, and And and Or of bool, over any broadcast.
#pragma once

#include <cstdint>

#include "kernels/fast/elementwise/broadcast.h"
#include "kernels/fast/epilogue.h"

namespace mete {

// A greater-than is a less-than of the operands in the other order.
enum class CompareOp : uint8_t { kEqual, kLess, kLessOrEqual, kAnd, kOr };

struct ComparePlan {
  CompareOp op = CompareOp::kEqual;
  DType type = DType::kF32;  // of the operands: f32 or i64; bool for kAnd and kOr
  BroadcastInput a, b;
};

// Computes the output elements [range.begin, range.end), bytes of 0 or 1. All pointers are those of the whole
// tensors; the output may be one of the kFull inputs of bool.
void RunCompare(const ComparePlan& plan, const void* a, const void* b, Range range, uint8_t* output);

}  // namespace mete
