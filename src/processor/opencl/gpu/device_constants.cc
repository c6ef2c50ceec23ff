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
  sources_.insert(sources_.end(), other.sources_.begin(), other.sources_.end());
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
  if (constant.source()) sources_.push_back(constant.source());
  else if (by_place) owners_.push_back(constant.owner());
}

std::shared_ptr<const Buffer> DeviceConstants::Locked(const Content& content) const {
  const auto at = known_.find(content.key_);
  if (at == known_.end()) return nullptr;
  const Known& known = at->second;
  const bool is_gone =
      std::any_of(known.owners.begin(), known.owners.end(), [](const auto& o) { return o.expired(); });
  return is_gone ? nullptr : known.buffer.lock();
}

std::shared_ptr<const Buffer> DeviceConstants::Find(const Content& content) const {
  const std::lock_guard lock(mutex_);
  return Locked(content);
}

std::shared_ptr<const Buffer> DeviceConstants::Add(const Content& content,
                                                   std::shared_ptr<const Buffer> buffer) {
  // The sources go with the last share that uses the buffer: they may keep a whole file.
  struct InUse {
    std::shared_ptr<const Buffer> buffer;
    std::vector<std::shared_ptr<const void>> sources;
  };
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<const Buffer> known = Locked(content)) return known;
  std::erase_if(known_, [](const auto& known) { return known.second.buffer.expired(); });
  std::erase_if(replaced_, [](const auto& replaced) { return replaced.expired(); });
  const auto in_use = std::make_shared<const InUse>(InUse{std::move(buffer), content.sources_});
  std::shared_ptr<const Buffer> shared(in_use, in_use->buffer.get());
  Known& known = known_[content.key_];
  if (!known.buffer.expired()) replaced_.push_back(known.buffer);
  known = {content.owners_, shared};
  return shared;
}

int64_t DeviceConstants::bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  const auto add = [&](const std::weak_ptr<const Buffer>& of) {
    if (const auto buffer = of.lock()) bytes += buffer->bytes();
  };
  for (const auto& [key, known] : known_) add(known.buffer);
  for (const std::weak_ptr<const Buffer>& replaced : replaced_) add(replaced);
  return bytes;
}

}  // namespace mete::opencl
