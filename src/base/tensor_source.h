// The content of a constant before it lies in memory as it is read: code that packs weights reads a few rows
// of it at a time, and a copy of all of it is made only if other code asks the tensor for its data.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "mete/tensor.h"

namespace mete {

struct FewBitMatrix;  // base/few_bit_matrix.h

class TensorSource {
 public:
  TensorSource() = default;
  virtual ~TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;

  // Writes the elements [first, first + count) to `to`. Thread-safe.
  virtual void Read(int64_t first, int64_t count, void* to) const = 0;
  // Returns the elements as they lie somewhere, not aligned to their size; null: they lie nowhere yet.
  virtual const void* bytes() const { return nullptr; }
  // Returns the matrix whose columns are the rows of this one (TransposedMatrix); null: there is none.
  virtual const Tensor* transposed() const { return nullptr; }
  // Returns the matrix whose elements these are, integers with scales; null: there is none.
  virtual const FewBitMatrix* few_bits() const { return nullptr; }
  // Returns bytes that decide all elements, with the kind of the source: what is read of files is not copied.
  virtual std::vector<std::span<const std::byte>> Parts() const = 0;
  // Drops pages of a file that were read (base/mapped_file.h); they may be read again.
  virtual void ReleasePages() const = 0;

  // Returns all elements in memory. The first call makes them, later ones return the same. Thread-safe.
  const Tensor& All(DType type, const Shape& shape);

 private:
  std::once_flag made_;
  Tensor all_;
};

// Tensors with less than this are copied at once. This value is a guess: some pages, which a copy costs
// microseconds.
inline constexpr size_t kLeastSource = 64 << 10;

// Returns a tensor whose elements lie at `bytes`, not aligned to their size, as long as `owner` lives.
Tensor UnalignedTensor(DType type, const Shape& shape, std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner);

// Returns the f32 tensor float(double(t[r][i]) * scale[r]), where r is the first of the dimensions of `t`.
Tensor ScaledRows(const Tensor& t, std::vector<double> scale);

// Returns the f32 tensor with the elements of `t`, which are f16 or bf16.
Tensor WidenedHalves(const Tensor& t);

// Returns the transposed matrix of `t`, [n][k] of [k][n], as a tensor of `shape`, whose first dimension is n.
Tensor TransposedMatrix(const Tensor& t, const Shape& shape);

// Reads the elements [first, first + count) of a tensor, from its source if it has one.
void ReadElements(const Tensor& t, int64_t first, int64_t count, void* to);

// Returns bytes that decide the tensor's elements: its own, or the parts of its source.
std::vector<std::span<const std::byte>> PartsOf(const Tensor& t);

// Drops the pages of a file that hold the tensor or its source.
void ReleasePagesOf(const Tensor& t);

}  // namespace mete
