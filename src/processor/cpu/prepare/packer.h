// Weights in the order of the kernels: packed by all threads, or mapped from a file where an earlier session
// has stored them.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/rethrow.h"
#include "base/tensor_source.h"
#include "kernels/fast/epilogue.h"
#include "mete/tensor.h"
#include "processor/cpu/prepare/packed_file.h"
#include "processor/cpu/prepare/packed_in_use.h"
#include "processor/cpu/threads/thread_pool.h"

namespace mete {

// Keeps the first exception of several threads.
class FirstFailure {
 public:
  template <class F>
  void Catch(F&& work) {
    try {
      work();
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
  }
  void Rethrow() const {
    if (!first_) return;
    try {
      std::rethrow_exception(first_);
    } catch (...) {
      RethrowNaming("weights");
    }
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

class Packer {
 public:
  // `folder`: the folder for packed weights, a file each in its subfolder "weights"; empty: no files. Keeps a
  // reference to `pool`. Packers with the same `in_use` share what they pack; null: this one alone.
  explicit Packer(ThreadPool& pool, std::string folder = "", std::shared_ptr<PackedInUse> in_use = nullptr)
      : pool_(pool),
        folder_(std::move(folder)),
        in_use_(in_use ? std::move(in_use) : std::make_shared<PackedInUse>()) {}

  // Sets the node's constants. Pack() packs the weights of a constant once: as long as a kernel uses the
  // packed weights, later calls with the same constant and the same `what` return them, so that the kernels
  // of all shapes of a session share one copy. Pack() packs other weights at every call, for example the
  // floats that a preparation makes from 8-bit weights.
  void SetConstants(std::vector<Tensor> constants) { constants_ = std::move(constants); }

  // Returns `bytes` bytes of packed weights, which are zero where `fill` writes nothing. Serial equivalent:
  // for (i = 0; i < pieces; ++i) fill({i, i + 1}, packed); ranges are joined, and threads work in parallel.
  // `what` describes all that the packed bytes depend on beside `weights` and the code: the kernel with its
  // target, and its sizes. The caller must not write to the result.
  template <class T, class F>
  Tensor Pack(const std::string& what, std::span<const T> weights, int64_t bytes, int64_t pieces, F&& fill) {
    return PackAs<T>(
        what, weights.data(), [=] { return Parts{std::as_bytes(weights)}; }, bytes, pieces, fill);
  }
  // The same for weights that may have a source (base/tensor_source.h): `fill` reads it, and writes elements
  // of T.
  template <class T = float, class F>
  Tensor Pack(const std::string& what, const Tensor& weights, int64_t bytes, int64_t pieces, F&& fill) {
    return PackAs<T>(
        what, PackedInUse::IdOf(weights), [&] { return PartsOf(weights); }, bytes, pieces, fill);
  }

  ThreadPool& pool() const { return pool_; }
  int64_t mapped_bytes() const { return mapped_.bytes; }
  int64_t packed_bytes() const { return in_use_->bytes(); }
  const std::vector<std::string>& problems() const { return problems_; }  // problems with files, for people
  // Returns lines for people: what was mapped, what was written, and what failed. Empty without a folder.
  std::string Explain() const;

 private:
  using Parts = std::vector<std::span<const std::byte>>;

  // `id` stands for the weights, which the bytes that content() returns decide.
  template <class T, class C, class F>
  Tensor PackAs(const std::string& what, const void* id, C&& content, int64_t bytes, int64_t pieces,
                F&& fill) {
    const std::string all = fmt::format("{}, {} bytes in {} pieces", what, bytes, pieces);
    Tensor packed = in_use_->Find(id, all);
    if (packed.has_value()) return packed;
    const bool keep = Keeps(bytes);
    const PackedDigest key = keep ? KeyOf(all, content()) : PackedDigest{};
    packed = keep ? Find(key, bytes) : Tensor();
    if (!packed.has_value()) {
      packed = Tensor(DType::kU8, Shape{bytes});
      T* to = static_cast<T*>(packed.mutable_view().data);
      pool_.BeginStep(0);    // packs all pieces, also where the caller stands in for one worker
      FirstFailure failure;  // of a buffer for rows that cannot be had: blocks must not throw
      pool_.For(pieces, [&](int, int64_t begin, int64_t end) {
        failure.Catch([&] { fill(Range{begin, end}, to); });
      });
      failure.Rethrow();
      if (keep) Keep(key, packed);
    }
    Know(id, all, packed);
    return packed;
  }

  struct Count {
    int tensors = 0;
    int64_t bytes = 0;
    void Add(int64_t more) {
      ++tensors;
      bytes += more;
    }
  };

  void Know(const void* id, const std::string& what, const Tensor& packed);
  bool Keeps(int64_t bytes);
  PackedDigest KeyOf(const std::string& what, const Parts& weights) const;
  std::string PathOf(const PackedDigest& key) const;
  Tensor Find(const PackedDigest& key, int64_t bytes);  // has no value where there is no such file
  void Keep(const PackedDigest& key, const Tensor& packed);

  ThreadPool& pool_;
  const std::string folder_;
  bool writable_ = true;  // false after a file could not be written
  Count mapped_, written_, small_, lost_;
  std::vector<std::string> problems_;
  const std::shared_ptr<PackedInUse> in_use_;
  std::vector<Tensor> constants_;
};

}  // namespace mete
