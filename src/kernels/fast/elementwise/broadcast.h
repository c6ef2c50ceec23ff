// The broadcast of a tensor to the shape of an element-wise output, by numpy's rule, and the way through its
// elements in the order of the output.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "mete/tensor.h"

namespace mete {

enum class Broadcast : uint8_t {
  kFull,    // one element for each output element
  kScalar,  // one element for all output elements
  kRuns,    // repeated along some dimensions
};

struct BroadcastInput {
  Broadcast spread = Broadcast::kFull;
  // Of kRuns: the output's dimensions, of which neighbours are joined where the input goes through both as
  // through one, and the distances of the input's elements along them: 0 where they are repeated, and 0 or 1
  // along the last dimension.
  int rank = 0;
  std::array<int64_t, Shape::kMaxRank> dims{}, strides{};
};

// Requires that `in` can be broadcast to `out`, which has elements.
BroadcastInput BroadcastOf(const Shape& in, const Shape& out);

// Returns the length of an input whose elements follow each other and are repeated as a whole, such as one
// for each channel of pixels whose channels come last; 0 for others.
inline int64_t PeriodOf(const BroadcastInput& of) {
  if (of.spread != Broadcast::kRuns) return 0;
  const size_t last = static_cast<size_t>(of.rank - 1);
  const bool repeated =
      std::all_of(of.strides.begin(), of.strides.begin() + last, [](int64_t s) { return s == 0; });
  return repeated && of.strides[last] == 1 ? of.dims[last] : 0;
}

// Goes through the elements of an input of kRuns from the output element `begin` on.
template <class T>
class BroadcastCursor {
 public:
  BroadcastCursor() = default;
  BroadcastCursor(const BroadcastInput& of, const T* from, int64_t begin) : of_(&of), at_(from) {
    for (int i = of.rank - 1; i >= 0; --i) {
      const size_t d = static_cast<size_t>(i);
      index_[d] = begin % of.dims[d];
      begin /= of.dims[d];
      at_ += index_[d] * of.strides[d];
    }
  }

  // Returns the elements for the next `count` output elements, where they lie or in `memory`, which has room
  // for kChunk elements and which nobody else writes to. count <= kChunk. Inlined into each kernel of a
  // chunk, it would be larger than the kernel.
  template <int64_t kChunk>
  [[gnu::noinline]] const T* Next(int64_t count, T* memory) {
    if (left() >= count && stride() == 1) return Take(count);
    if (left() >= count) {
      // A run of many chunks fills the memory once.
      if (filled_ != at_) std::fill_n(memory, kChunk, *at_);
      filled_ = at_;
      Take(count);
      return memory;
    }
    filled_ = nullptr;
    for (T* to = memory; count > 0;) {
      const int64_t run = std::min(count, left()), step = stride();
      const T* from = Take(run);
      to = step == 1 ? std::copy_n(from, run, to) : std::fill_n(to, run, *from);
      count -= run;
    }
    return memory;
  }

 private:
  size_t last() const { return static_cast<size_t>(of_->rank - 1); }
  int64_t stride() const { return of_->strides[last()]; }
  int64_t left() const { return of_->dims[last()] - index_[last()]; }  // elements to the end of the run

  // Goes `count` elements on, at most to the end of the run. Returns where they began.
  const T* Take(int64_t count) {
    const T* from = at_;
    at_ += count * stride();
    index_[last()] += count;
    for (size_t d = last(); d > 0 && index_[d] == of_->dims[d]; --d) {
      index_[d] = 0;
      ++index_[d - 1];
      at_ += of_->strides[d - 1] - of_->dims[d] * of_->strides[d];
    }
    return from;
  }

  const BroadcastInput* of_ = nullptr;
  const T *at_ = nullptr, *filled_ = nullptr;  // filled_: whose value fills the memory
  std::array<int64_t, Shape::kMaxRank> index_{};
};

// An input, in chunks of at most kChunk elements in the order of the output.
template <class T, int64_t kChunk>
class BroadcastChunks {
 public:
  BroadcastChunks(const BroadcastInput& of, const T* from, int64_t begin) : spread_(of.spread), from_(from) {
    if (spread_ == Broadcast::kScalar) std::fill_n(memory_, kChunk, *from);
    if (spread_ == Broadcast::kRuns) cursor_ = {of, from, begin};
  }

  const T* Next(int64_t begin, int64_t count) {
    if (spread_ == Broadcast::kFull) return from_ + begin;
    return spread_ == Broadcast::kScalar ? memory_ : cursor_.template Next<kChunk>(count, memory_);
  }

 private:
  const Broadcast spread_;
  const T* from_;
  BroadcastCursor<T> cursor_;
  alignas(64) T memory_[kChunk];
};

}  // namespace mete
