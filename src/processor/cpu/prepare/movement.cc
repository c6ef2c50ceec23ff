// Operators that only move elements: Transpose, Concat, Split.
#include <cstring>

#include <fmt/format.h>

#include "dispatch/reason.h"
#include "dispatch/transposes.h"
#include "kernels/fast/layout/transpose.h"
#include "processor/cpu/prepare/families.h"
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
  MatrixTranspose(int64_t batch, int64_t rows, int64_t columns, ThreadPool& pool)
      : pool_(pool), batch_(batch), rows_(rows), columns_(columns) {
    const int64_t wanted = BlocksOfCopy(batch * rows * columns * 4, pool.step_threads());
    if (batch < wanted) pieces_ = (std::max(rows, columns) + kLine - 1) / kLine;
    blocks_ = std::min(batch * pieces_, wanted);
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
  std::string kernel() const override { return "transpose_f32"; }

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
  const int64_t batch_, rows_, columns_;
  int64_t pieces_ = 1, blocks_ = 1;  // pieces of each matrix, blocks of all matrices
};

// A transpose of three or four dimensions that keeps the last one last: copies whole rows, in the order of
// the output.
class RowTranspose : public PreparedNode {
 public:
  RowTranspose(const Permutation& p, size_t element, ThreadPool& pool)
      : pool_(pool), row_bytes_(size_t(p.dims.back()) * element) {
    const size_t rank = p.dims.size();
    std::vector<int64_t> stride(rank, 1);
    for (size_t i = rank - 1; i-- > 0;) stride[i] = stride[i + 1] * p.dims[i + 1];
    for (size_t i = 0; i + 1 < rank; ++i) {
      dims_[3 - (rank - 1) + i] = p.dims[size_t(p.perm[i])];
      strides_[3 - (rank - 1) + i] = stride[size_t(p.perm[i])] * int64_t(element);
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
  std::string kernel() const override { return "transpose_rows"; }

 private:
  ThreadPool& pool_;
  const size_t row_bytes_;
  // the output's outer dimensions, and the steps in the input that belong to them, in bytes
  int64_t dims_[3] = {1, 1, 1}, strides_[3] = {0, 0, 0};
  int64_t outer_ = 1, blocks_ = 1;
};

// Concat and Split: for each of the `outer` indices, a run of bytes of each part.
class JoinStep : public PreparedNode {
 public:
  JoinStep(bool split, int64_t outer, std::vector<size_t> runs, ThreadPool& pool)
      : pool_(pool), split_(split), outer_(outer), runs_(std::move(runs)) {
    for (size_t r : runs_) whole_ += r;
    blocks_ = std::min(outer, BlocksOfCopy(outer * int64_t(whole_), pool.step_threads()));
  }
  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const int64_t first = outer_ * begin / blocks_, last = outer_ * end / blocks_;
      size_t at = 0;
      for (size_t p = 0; p < runs_.size(); at += runs_[p], ++p) {
        const bool wanted = runs_[p] > 0 && (split_ ? out[p].present() : in[p].present());
        for (int64_t o = first; wanted && o < last; ++o) Copy(in, out, p, size_t(o), at);
      }
    });
  }
  std::string kernel() const override { return split_ ? "split" : "concat"; }

 private:
  void Copy(std::span<const ConstView> in, std::span<View> out, size_t part, size_t o, size_t at) const {
    if (split_)
      std::memcpy(out[part].as<std::byte>() + o * runs_[part], in[0].as<std::byte>() + o * whole_ + at,
                  runs_[part]);
    else
      std::memcpy(out[0].as<std::byte>() + o * whole_ + at, in[part].as<std::byte>() + o * runs_[part],
                  runs_[part]);
  }

  ThreadPool& pool_;
  const bool split_;
  const int64_t outer_;
  const std::vector<size_t> runs_;  // bytes of each part
  size_t whole_ = 0;
  int64_t blocks_ = 1;
};

// Returns whether the first input has elements to move.
bool Moves(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  return shape.known() && shape.Elements() > 0;
}

}  // namespace

std::unique_ptr<PreparedNode> PrepareTranspose(const Graph& graph, const Node& node, Packer& packer,
                                               const KernelOptions&, std::string* why) {
  if (!Moves(graph, node)) return No("nothing to move", why);
  ThreadPool& pool = packer.pool();
  const Value& x = graph.value(node.inputs[0]);
  const Permutation p = JoinedPermutation(x.shape, node.attributes.IntList("perm"));
  const size_t rank = p.dims.size(), element = SizeOf(x.type);
  switch (WayOf(p, element)) {
    case TransposeWay::kMatrices:
      return std::make_unique<MatrixTranspose>(rank == 3 ? p.dims[0] : 1, p.dims[rank - 2], p.dims[rank - 1],
                                               pool);
    case TransposeWay::kRows: return std::make_unique<RowTranspose>(p, element, pool);
    case TransposeWay::kReference: break;
  }
  return No("an order of dimensions without a fast form", why);
}

std::unique_ptr<PreparedNode> PrepareJoin(const Graph& graph, const Node& node, Packer& packer,
                                          const KernelOptions&, std::string* why) {
  if (!Moves(graph, node)) return No("nothing to move", why);
  const bool split = node.op == "Split";
  const std::vector<ValueId>& parts = split ? node.outputs : node.inputs;
  const Shape& whole = graph.value(split ? node.inputs[0] : node.outputs[0]).shape;
  const size_t element = SizeOf(graph.value(split ? node.inputs[0] : node.outputs[0]).type);
  const int64_t given = node.attributes.Int("axis", 0);
  const int axis = int(given < 0 ? given + whole.rank() : given);
  std::vector<size_t> runs;
  for (ValueId id : parts) {
    if (id == kNoValue) return No("a part is omitted", why);
    runs.push_back(size_t(graph.value(id).shape.Elements(axis, whole.rank())) * element);
  }
  return std::make_unique<JoinStep>(split, whole.Elements(0, axis), std::move(runs), packer.pool());
}

}  // namespace mete
