// The packed weights that kernels use. The shares of one CPU have one copy of those that they pack alike: the
// rows of a layer, the whole layer of the model that computes retries, and both in another plan. Channels of
// a layer are a constant of their share's own, and are packed for each share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mete/tensor.h"

namespace mete {

// Thread-safe.
class PackedInUse {
 public:
  // Returns what stands for the content of a constant.
  static const void* IdOf(const Tensor& constant);

  // Returns the weights that were packed of the constant with this id, in the way `what`; no value where no
  // kernel uses them, or the constant has gone.
  Tensor Find(const void* id, const std::string& what) const;
  // Makes packed weights known as long as they are used. `constant` null: they are only counted.
  void Add(const Tensor* constant, const std::string& what, const Tensor& packed);

  int64_t bytes() const;  // of all that are in use

 private:
  // Packed weights that live as long as the kernels that use them, of weights that have their id as long as
  // `source` lives.
  struct InUse {
    std::weak_ptr<const void> source, owner;
    const void* data = nullptr;
    int64_t bytes = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<const void*, std::string>, InUse> known_;
  std::vector<InUse> others_;
};

}  // namespace mete
