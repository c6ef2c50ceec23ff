// Operators that only move elements: Transpose, Concat, Split.
#include <cstring>

#include "kernels/fast/layout/transpose.h"
#include "kernels/fast/layout/transpose_bytes.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/grid.h"

namespace mete {
namespace {

// The least number of bytes that are moved by several threads. This value is a guess: moving them takes some
// microseconds.
constexpr int64_t kLeastBytes = 64 * 1024;
// Bytes of a block. Policies count in blocks, and consecutive blocks are moved in one pass; blocks are so
// small that cores of different speeds get fitting shares of one picture. This value is a guess: from memory
// a block takes about a microsecond.
constexpr int64_t kGrainBytes = 16 * 1024;

int64_t BlocksOfCopy(int64_t bytes, int threads) {
  return bytes < 2 * kLeastBytes ? 1 : BlocksOf(bytes, kGrainBytes, threads);
}

// Transposes batch x rows x columns to batch x columns x rows, of 4-byte elements. A block is a run of whole
// matrices where the batch is large enough, otherwise a run of pieces of matrices. Pieces divide the longer
// side: for a picture, whose channels are few rows, they divide the pixels.
class MatrixTranspose : public PreparedNode {
 public:
  MatrixTranspose(const Transposition& of, ThreadPool& pool)
      : pool_(pool), name_(of.kernel()), batch_(of.matrices()), rows_(of.rows()), columns_(of.columns()) {
    const int64_t wanted = BlocksOfCopy(batch_ * rows_ * columns_ * 4, pool.step_threads());
    if (batch_ < wanted) pieces_ = (std::max(rows_, columns_) + kLine - 1) / kLine;
    blocks_ = std::min(batch_ * pieces_, wanted);
  }
  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const float* from = in[0].as<float>();
    float* to = out[0].as<float>();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const int64_t last = batch_ * pieces_ * end / blocks_;
      for (int64_t p = batch_ * pieces_ * begin / blocks_, next; p < last; p = next) {
        const int64_t matrix = p / pieces_, whole = (last - p) / pieces_, at = matrix * rows_ * columns_;
        if (p % pieces_ == 0 && whole > 0) {
          TransposeEach(from + at, whole, rows_, columns_, to + at);
          next = p + whole * pieces_;
        } else {
          next = std::min(last, (matrix + 1) * pieces_);
          Part(from + at, {p % pieces_ * kLine, (next - matrix * pieces_) * kLine}, to + at);
        }
      }
    });
  }
  std::string kernel() const override { return name_; }

 private:
  // elements of the longer side in a piece: a cache line of 4-byte elements, so that pieces of columns write
  // whole lines
  static constexpr int64_t kLine = 16;

  // Transposes the part of one matrix that `part` covers of its longer side.
  void Part(const float* from, Range part, float* to) const {
    const bool wide = rows_ < columns_;
    part.end = std::min(part.end, std::max(rows_, columns_));
    if (wide) Transpose(from + part.begin, columns_, {0, rows_}, part.size(), to + part.begin * rows_, rows_);
    else Transpose(from, columns_, part, columns_, to, rows_);
  }

  ThreadPool& pool_;
  const std::string name_;
  const int64_t batch_, rows_, columns_;
  int64_t pieces_ = 1, blocks_ = 1;  // pieces of each matrix, blocks of all matrices
};

// The same of bytes. A block is a run of whole matrices, or of rows of the only one.
class ByteTranspose : public PreparedNode {
 public:
  ByteTranspose(const Transposition& of, ThreadPool& pool)
      : pool_(pool), name_(of.kernel()), batch_(of.matrices()), rows_(of.rows()), columns_(of.columns()) {
    const int64_t wanted = BlocksOfCopy(batch_ * rows_ * columns_, pool.step_threads());
    blocks_ = std::min(batch_ > 1 ? batch_ : (rows_ + kStep - 1) / kStep, wanted);
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const uint8_t* from = in[0].as<uint8_t>();
    uint8_t* to = out[0].as<uint8_t>();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      if (batch_ == 1) {
        const int64_t steps = (rows_ + kStep - 1) / kStep;
        const Range rows{steps * begin / blocks_ * kStep, std::min(rows_, steps * end / blocks_ * kStep)};
        return TransposeBytes(from, columns_, rows, columns_, to, rows_);
      }
      const int64_t first = batch_ * begin / blocks_, at = first * rows_ * columns_;
      TransposeBytesEach(from + at, batch_ * end / blocks_ - first, rows_, columns_, to + at);
    });
  }
  std::string kernel() const override { return name_; }

 private:
  static constexpr int64_t kStep = 64;  // rows: a cache line of the output

  ThreadPool& pool_;
  const std::string name_;
  const int64_t batch_, rows_, columns_;
  int64_t blocks_ = 1;
};

// A transpose of three or four dimensions that keeps the last one last: copies whole rows, in the order of
// the output.
class RowTranspose : public PreparedNode {
 public:
  RowTranspose(const Transposition& of, ThreadPool& pool)
      : pool_(pool), name_(of.kernel()), row_bytes_(size_t(of.columns()) * of.element_bytes) {
    const Permutation& p = of.permutation;
    const size_t rank = p.dims.size();
    std::vector<int64_t> stride(rank, 1);
    for (size_t i = rank - 1; i-- > 0;) stride[i] = stride[i + 1] * p.dims[i + 1];
    for (size_t i = 0; i + 1 < rank; ++i) {
      dims_[3 - (rank - 1) + i] = p.dims[size_t(p.perm[i])];
      strides_[3 - (rank - 1) + i] = stride[size_t(p.perm[i])] * int64_t(of.element_bytes);
    }
    outer_ = dims_[0] * dims_[1];
    blocks_ = std::min(outer_, BlocksOfCopy(outer_ * dims_[2] * int64_t(row_bytes_), pool.step_threads()));
  }
  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const auto* from = static_cast<const std::byte*>(in[0].data);
    auto* to = static_cast<std::byte*>(out[0].data);
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      for (int64_t o = outer_ * begin / blocks_; o < outer_ * end / blocks_; ++o) {
        const std::byte* source = from + o / dims_[1] * strides_[0] + o % dims_[1] * strides_[1];
        std::byte* target = to + size_t(o * dims_[2]) * row_bytes_;
        for (int64_t r = 0; r < dims_[2]; ++r)
          std::memcpy(target + size_t(r) * row_bytes_, source + r * strides_[2], row_bytes_);
      }
    });
  }
  std::string kernel() const override { return name_; }

 private:
  ThreadPool& pool_;
  const std::string name_;
  const size_t row_bytes_;
  // the output's outer dimensions, and the steps in the input that belong to them, in bytes
  int64_t dims_[3] = {1, 1, 1}, strides_[3] = {0, 0, 0};
  int64_t outer_ = 1, blocks_ = 1;
};

// Copies runs of a size that the compiler knows, for example the corners of boxes, without a call for each.
template <size_t kRun>
void CopyRunsOf(const std::byte* from, size_t from_step, std::byte* to, size_t to_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += from_step, to += to_step) std::memcpy(to, from, kRun);
}

// Copies runs of `run` bytes, those of the given numbers, which are `from_step` and `to_step` bytes apart.
// Short runs, such as a few channels of a pixel, are copied without a call for each: in pieces, of which the
// last ends with the run.
void CopyRuns(const std::byte* from, size_t from_step, std::byte* to, size_t to_step, size_t run,
              Range numbers) {
  constexpr size_t kPiece = 16, kShort = 128;
  from += size_t(numbers.begin) * from_step;
  to += size_t(numbers.begin) * to_step;
  if (run == 4) return CopyRunsOf<4>(from, from_step, to, to_step, numbers.size());
  if (run == 8) return CopyRunsOf<8>(from, from_step, to, to_step, numbers.size());
  for (int64_t i = numbers.begin; i < numbers.end; ++i, from += from_step, to += to_step) {
    if (run < kPiece || run > kShort) {
      std::memcpy(to, from, run);
      continue;
    }
    for (size_t at = 0; at + kPiece < run; at += kPiece) std::memcpy(to + at, from + at, kPiece);
    std::memcpy(to + run - kPiece, from + run - kPiece, kPiece);
  }
}

// Concat and Split: for each of the `outer` indices, a run of bytes of each part.
class JoinStep : public PreparedNode {
 public:
  JoinStep(const Join& join, ThreadPool& pool) : pool_(pool), join_(join) {
    for (size_t r : join.runs) whole_ += r;
    blocks_ = std::min(join.outer, BlocksOfCopy(join.outer * int64_t(whole_), pool.step_threads()));
  }
  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range outer{join_.outer * begin / blocks_, join_.outer * end / blocks_};
      size_t at = 0;
      for (size_t p = 0; p < join_.runs.size(); at += join_.runs[p], ++p) {
        const size_t run = join_.runs[p];
        if (run == 0 || !(join_.split ? out[p].present() : in[p].present())) continue;
        if (join_.split)
          CopyRuns(in[0].as<std::byte>() + at, whole_, out[p].as<std::byte>(), run, run, outer);
        else CopyRuns(in[p].as<std::byte>(), run, out[0].as<std::byte>() + at, whole_, run, outer);
      }
    });
  }
  std::string kernel() const override { return join_.kernel(); }

 private:
  ThreadPool& pool_;
  const Join join_;
  size_t whole_ = 0;
  int64_t blocks_ = 1;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Transposition& transposition, const Preparation& of) {
  if (transposition.way == TransposeWay::kMatrices && transposition.element_bytes == 1)
    return std::make_unique<ByteTranspose>(transposition, of.pool());
  if (transposition.way == TransposeWay::kMatrices)
    return std::make_unique<MatrixTranspose>(transposition, of.pool());
  return std::make_unique<RowTranspose>(transposition, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const Join& join, const Preparation& of) {
  return std::make_unique<JoinStep>(join, of.pool());
}

}  // namespace mete
