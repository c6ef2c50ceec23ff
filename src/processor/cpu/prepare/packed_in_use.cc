#include "processor/cpu/prepare/packed_in_use.h"

#include "base/tensor_source.h"

namespace mete {
namespace {

std::shared_ptr<const void> LifeOf(const Tensor& constant) {
  return constant.source() ? std::shared_ptr<const void>(constant.source()) : constant.owner();
}

}  // namespace

const void* PackedInUse::IdOf(const Tensor& constant) {
  return constant.source() ? static_cast<const void*>(constant.source().get()) : constant.data();
}

Tensor PackedInUse::Find(const void* id, const std::string& what) const {
  const std::lock_guard lock(mutex_);
  const auto at = known_.find({id, what});
  if (at == known_.end() || at->second.source.expired()) return {};
  std::shared_ptr<const void> owner = at->second.owner.lock();
  if (!owner) return {};
  return Tensor(DType::kU8, Shape{at->second.bytes}, at->second.data, std::move(owner));
}

void PackedInUse::Add(const Tensor* constant, const std::string& what, const Tensor& packed) {
  InUse in_use{{}, packed.owner(), packed.data(), int64_t(packed.bytes())};
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second.owner.expired(); });
  std::erase_if(others_, [](const InUse& other) { return other.owner.expired(); });
  if (!constant) return others_.push_back(std::move(in_use));
  in_use.source = LifeOf(*constant);
  // What another thread has packed meanwhile, or for a constant that has gone, is still counted.
  InUse& known = known_[{IdOf(*constant), what}];
  if (!known.owner.expired()) others_.push_back(known);
  known = std::move(in_use);
}

int64_t PackedInUse::bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [key, packed] : known_)
    if (!packed.owner.expired()) bytes += packed.bytes;
  for (const InUse& packed : others_)
    if (!packed.owner.expired()) bytes += packed.bytes;
  return bytes;
}

}  // namespace mete
