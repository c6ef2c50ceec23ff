#include "import/tflite/sparse.h"

#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace mete::tflite_import {
namespace {

// A dimension may be divided into blocks, whose inner places are a level of their own.
constexpr size_t kMostLevels = 2 * size_t(Shape::kMaxRank);

// Integers of any of the format's three widths.
class Numbers {
 public:
  Numbers(tflite::SparseIndexVector kind, const void* table) {
    switch (kind) {
      case tflite::SparseIndexVector::Int32Vector: Use(static_cast<const tflite::Int32Vector*>(table)); break;
      case tflite::SparseIndexVector::Uint16Vector:
        Use(static_cast<const tflite::Uint16Vector*>(table));
        break;
      case tflite::SparseIndexVector::Uint8Vector: Use(static_cast<const tflite::Uint8Vector*>(table)); break;
      default: break;
    }
  }

  int64_t size() const { return count_; }
  int64_t operator[](int64_t i) const {
    const std::byte* from = data_ + size_t(i) * width_;
    if (width_ == sizeof(uint8_t)) return int64_t(*from);
    if (width_ == sizeof(uint16_t)) return At<uint16_t>(from);
    return At<int32_t>(from);
  }

 private:
  template <class Table>
  void Use(const Table* table) {
    if (!table || !table->values()) return;
    data_ = reinterpret_cast<const std::byte*>(table->values()->Data());
    width_ = sizeof(*table->values()->data());
    count_ = table->values()->size();
  }
  template <class T>
  static int64_t At(const std::byte* from) {
    T number;
    std::memcpy(&number, from, sizeof(number));
    return flatbuffers::EndianScalar(number);
  }

  const std::byte* data_ = nullptr;
  size_t width_ = 1;
  int64_t count_ = 0;
};

struct Level {
  int64_t size = 0;    // places
  int64_t stride = 0;  // elements of the tensor from a place to the next
  bool is_dense = true;
  Numbers segments, indices;  // of a level that lists places
};

class Densifier {
 public:
  Densifier(std::span<const std::byte> data, DType type, const Shape& shape, const std::string& name)
      : name_(name),
        data_(data),
        width_(mete::SizeOf(type)),
        count_(int64_t(data.size() / width_)),
        dense_(type, shape) {
    if (count_ * int64_t(width_) != int64_t(data.size())) Fail("parts of elements");
    std::memset(dense_.mutable_view().data, 0, size_t(dense_.elements()) * width_);
  }

  Tensor Read(const tflite::SparsityParameters& layout) {
    ReadLevels(layout);
    for (const Level& level : levels_)
      if (!level.is_dense) CheckSegments(level);
    if (dense_.elements() > 0) Walk(0, 0, 0);  // otherwise other dimensions may be of any size
    if (copied_ != count_) Fail("elements that have no place");
    return std::move(dense_);
  }

 private:
  [[noreturn]] void Fail(const char* what) const {
    Invalid(
        name_,
        "the sparse tensor is damaged; got {}, expected a layout that fits {}; try to make the file again",
        what, ToString(dense_.shape()));
  }

  void ReadLevels(const tflite::SparsityParameters& layout) {
    const auto* order = layout.traversal_order();
    const auto* blocks = layout.block_map();
    const auto* levels = layout.dim_metadata();
    const size_t rank = size_t(dense_.shape().rank()), block_count = blocks ? blocks->size() : 0;
    const size_t count = rank + block_count;
    if (!order || !levels || block_count > rank || order->size() != count || levels->size() != count)
      Fail("another number of levels");
    // The inner places of blocks are the levels of the numbers rank, rank + 1, ...
    std::array<int64_t, kMostLevels> sizes{}, strides{};
    int64_t stride = 1;
    for (size_t d = rank; d-- > 0; stride *= dense_.shape()[int(d)]) {
      sizes[d] = dense_.shape()[int(d)];
      strides[d] = stride;
    }
    std::array<bool, kMostLevels> seen{};
    for (size_t b = 0; b < block_count; ++b) {
      const int64_t of = blocks->Get(unsigned(b));
      if (of < 0 || of >= int64_t(rank) || seen[size_t(of)]) Fail("blocks of a dimension that there is not");
      seen[size_t(of)] = true;
      const int64_t size = BlockSize(*order, *levels, rank + b);
      if (size < 1 || sizes[size_t(of)] % size != 0) Fail("blocks that do not fill the tensor");
      sizes[rank + b] = size;
      strides[rank + b] = strides[size_t(of)];
      sizes[size_t(of)] /= size;
      strides[size_t(of)] *= size;
    }
    seen = {};
    for (unsigned l = 0; l < count; ++l) {
      const int64_t dim = order->Get(l);
      if (dim < 0 || dim >= int64_t(count) || seen[size_t(dim)]) Fail("an order that is none");
      seen[size_t(dim)] = true;
      const tflite::DimensionMetadata& of = *levels->Get(l);
      const bool is_dense = of.format() == tflite::DimensionType::DENSE;
      if (is_dense && of.dense_size() != sizes[size_t(dim)]) Fail("a level of another size");
      levels_.push_back({sizes[size_t(dim)], strides[size_t(dim)], is_dense,
                         Numbers(of.array_segments_type(), of.array_segments()),
                         Numbers(of.array_indices_type(), of.array_indices())});
    }
  }

  // Returns the size of a block, which its level has; 0 if there is no such level.
  static int64_t BlockSize(const flatbuffers::Vector<int32_t>& order,
                           const flatbuffers::Vector<flatbuffers::Offset<tflite::DimensionMetadata>>& levels,
                           size_t number) {
    for (unsigned l = 0; l < order.size(); ++l)
      if (order.Get(l) == int64_t(number)) return levels.Get(l)->dense_size();
    return 0;
  }

  // Segments that do not overlap keep the walk from visiting a place twice.
  void CheckSegments(const Level& level) const {
    int64_t last = 0;
    for (int64_t i = 0; i < level.segments.size(); ++i) {
      if (level.segments[i] < last || level.segments[i] > level.indices.size()) Fail("segments out of order");
      last = level.segments[i];
    }
  }

  // Copies what lies below place `at` of a level, which is element `to` of the tensor.
  void Walk(size_t number, int64_t at, int64_t to) {
    if (number == levels_.size()) {
      if (at < 0 || at >= count_) Fail("too few elements");
      std::memcpy(static_cast<std::byte*>(dense_.mutable_view().data) + size_t(to) * width_,
                  data_.data() + size_t(at) * width_, width_);
      ++copied_;
      return;
    }
    const Level& level = levels_[number];
    if (level.is_dense) {
      for (int64_t i = 0; i < level.size; ++i) Walk(number + 1, at * level.size + i, to + i * level.stride);
      return;
    }
    if (at + 1 >= level.segments.size()) Fail("too few segments");
    for (int64_t i = level.segments[at]; i < level.segments[at + 1]; ++i) {
      if (level.indices[i] < 0 || level.indices[i] >= level.size) Fail("a place outside of its level");
      Walk(number + 1, i, to + level.indices[i] * level.stride);
    }
  }

  const std::string& name_;
  const std::span<const std::byte> data_;
  const size_t width_;
  const int64_t count_;
  int64_t copied_ = 0;
  Tensor dense_;
  std::vector<Level> levels_;
};

}  // namespace

Tensor DenseOf(const tflite::SparsityParameters& layout, std::span<const std::byte> data, DType type,
               const Shape& shape, const std::string& name) {
  return Densifier(data, type, shape, name).Read(layout);
}

}  // namespace mete::tflite_import
