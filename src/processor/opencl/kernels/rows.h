// Softmax and normalisations over the innermost axis as text: kernels whose work-groups each compute a row.
#pragma once

#include <array>
#include <optional>

#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

enum class RowFunction : uint8_t {
  kSoftmax,
  kLogSoftmax,
  kLayerNorm,  // (x - mean) / sqrt(variance + epsilon) * scale[i] + shift[i]
  kRmsNorm,    // x / sqrt(mean of squares + epsilon) * scale[i]
};

// Rows that are the scores of attention, with what is added before their softmax: -infinity for keys that a
// query does not see, else the mask. A row without a key that is seen becomes 0.
struct ScoreRows {
  int64_t heads = 1, queries = 1;
  bool heads_first = false;  // rows are numbered over batch, heads, queries; else over batch, queries, heads
  float softcap = 0;         // c > 0: scores are c tanh(score / c) before the mask
  int64_t past = 0;          // query i is at the place i + past among the keys
  bool causal = false;       // it sees no key behind its place
  int64_t left = -1, right = -1;  // it sees so many keys on both sides; -1: all
  // The mask: u8 (0 hides a key) or floats, of which a query has `mask_length` neighbours; the keys behind
  // them are hidden. The strides are in elements, of the batch, the heads and the queries; 0 repeats.
  bool mask = false;
  DType mask_type = DType::kF32;
  int64_t mask_length = 0;
  std::array<int64_t, 3> mask_strides = {};
};

struct RowSpec {
  RowFunction function = RowFunction::kSoftmax;
  int64_t rows = 1, length = 1;  // without gaps
  DType type = DType::kF32;      // of input and output; all else is f32
  float epsilon = 0;
  // Of the normalisations: f32, one for each run of elements in each of some rows, which repeat. Layers have
  // one for each element of one row, (1, 1); instances of NCHW one for each channel, (channels, length);
  // groups of channels (groups, pixels of an image).
  bool scale = false, shift = false;
  int64_t affine_rows = 1, affine_run = 1;  // the run divides the length

  std::optional<ScoreRows> scores;  // of kSoftmax

  int64_t affine() const { return affine_rows * (length / affine_run); }  // values of scale, and of shift
};

// Arguments: input, mask (if scores have one), scale and shift (if there is one), output, which may be the
// input. `vector`: elements
// that a work-item reads at once. `lanes`: work-items that share a row, a power of two; 1 on a CPU, which
// needs no local memory then.
KernelText RowKernel(const RowSpec& spec, int vector, int lanes);

}  // namespace mete::opencl
