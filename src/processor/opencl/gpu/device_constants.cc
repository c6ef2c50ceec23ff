#define XXH_INLINE_ALL
#include "processor/opencl/gpu/device_constants.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "base/tensor_source.h"

namespace mete::opencl {

void Content::Add(std::string_view text) {
  const std::string all = fmt::format("{} {} {}", key_, text.size(), text);
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  key_ = fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

void Content::Add(const Content& other) {
  Add(other.key_);
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  owners_.insert(owners_.end(), other.owners_.begin(), other.owners_.end());
}

void Content::Add(const Tensor& constant) {
  bool by_place = false;
  for (const std::span<const std::byte> part : PartsOf(constant)) {
    const bool is_large = part.size() >= kLeastSource;
    by_place = by_place || is_large;
    if (is_large) Add(fmt::format("at {} {}", static_cast<const void*>(part.data()), part.size()));
    else Add(std::string_view(reinterpret_cast<const char*>(part.data()), part.size()));
  }
  if (constant.source()) kept_.push_back(constant.source());
  else if (by_place) owners_.push_back(constant.owner());
}

std::shared_ptr<const Buffer> DeviceConstants::Locked(const Content& content) const {
  const auto at = known_.find(content.key_);
  if (at == known_.end()) return nullptr;
  const std::vector<std::weak_ptr<const void>>& owners = at->second.content.owners_;
  const bool is_gone = std::any_of(owners.begin(), owners.end(), [](const auto& o) { return o.expired(); });
  return is_gone ? nullptr : at->second.buffer.lock();
}

std::shared_ptr<const Buffer> DeviceConstants::Find(const Content& content) const {
  const std::lock_guard lock(mutex_);
  return Locked(content);
}

std::shared_ptr<const Buffer> DeviceConstants::Add(const Content& content,
                                                   std::shared_ptr<const Buffer> buffer) {
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<const Buffer> known = Locked(content)) return known;
  std::erase_if(known_, [](const auto& known) { return known.second.buffer.expired(); });
  known_.insert_or_assign(content.key_, Known{content, buffer});
  return buffer;
}

int64_t DeviceConstants::bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [key, known] : known_)
    if (const auto buffer = known.buffer.lock()) bytes += buffer->bytes();
  return bytes;
}

}  // namespace mete::opencl
