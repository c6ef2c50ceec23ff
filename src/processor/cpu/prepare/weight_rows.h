// Rows of weights, as code that packs them reads them: where they lie, or, of a constant that has a source
// (base/tensor_source.h), copied into a buffer that is reused.
#pragma once

#include <memory>

#include "base/tensor_source.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {

class WeightRows {
 public:
  // `weights`: f32; its rows are those of its first dimension. Keeps a reference to it.
  explicit WeightRows(const Tensor& weights)
      : weights_(weights), row_(weights.elements() / std::max<int64_t>(weights.shape()[0], 1)) {}

  // Returns the rows, valid until the next call.
  const float* Of(Range rows) {
    if (!weights_.source()) return weights_.as<float>() + rows.begin * row_;
    return Read(rows.begin * row_, rows.size() * row_, 1, 0);
  }

  // Returns `count` strips of `length` elements, one after the other; strip i begins at first + i * step.
  const float* Read(int64_t first, int64_t length, int64_t count, int64_t step) {
    if (length * count > capacity_) buffer_ = std::make_unique_for_overwrite<float[]>(size_t(length * count));
    capacity_ = std::max(capacity_, length * count);
    for (int64_t i = 0; i < count; ++i)
      ReadElements(weights_, first + i * step, length, buffer_.get() + i * length);
    return buffer_.get();
  }

 private:
  const Tensor& weights_;
  const int64_t row_;
  std::unique_ptr<float[]> buffer_;
  int64_t capacity_ = 0;
};

// Returns columns of a constant matrix of k rows whose first element is `base` of the weights, valid until
// the next call; `matrix` is how it lies, without its data.
inline GemmWeights ColumnsOf(WeightRows& rows, int64_t base, GemmWeights matrix, int64_t k, Range columns) {
  const int64_t count = columns.size();
  matrix.b = matrix.transposed ? rows.Read(base + columns.begin * matrix.stride, k, count, matrix.stride)
                               : rows.Read(base + columns.begin, count, k, matrix.stride);
  matrix.stride = matrix.transposed ? k : count;
  matrix.first = columns.begin;
  return matrix;
}

}  // namespace mete
