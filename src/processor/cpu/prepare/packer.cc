#include "processor/cpu/prepare/packer.h"

#include <fmt/format.h>

#include <algorithm>

#include "processor/cpu/prepare/sources_digest.h"

namespace mete {
namespace {

// Weights with fewer bytes are packed as fast as a file is opened and checked: measured over convolutions of
// 1x1, 3x3 and F(4x4) with 16 KiB to 36 MiB of packed weights, on one core and with the file in the system's
// cache.
constexpr int64_t kLeastKept = 1 << 20;

std::shared_ptr<const void> LifeOf(const Tensor& constant) {
  return constant.source() ? std::shared_ptr<const void>(constant.source()) : constant.owner();
}

}  // namespace

const void* Packer::IdOf(const Tensor& constant) {
  return constant.source() ? static_cast<const void*>(constant.source().get()) : constant.data();
}

Tensor Packer::Known(const void* weights, const std::string& what) const {
  const auto at = in_use_.find({weights, what});
  if (at == in_use_.end() || at->second.source.expired()) return {};
  std::shared_ptr<const void> owner = at->second.owner.lock();
  if (!owner) return {};
  return Tensor(DType::kU8, Shape{at->second.bytes}, at->second.data, std::move(owner));
}

void Packer::Know(const void* weights, const std::string& what, const Tensor& packed) {
  std::erase_if(in_use_, [](const auto& entry) { return entry.second.owner.expired(); });
  const auto source = std::find_if(constants_.begin(), constants_.end(), [&](const Tensor& constant) {
    return IdOf(constant) == weights && (constant.source() || constant.owner());
  });
  if (source == constants_.end()) return;
  in_use_[{weights, what}] = {LifeOf(*source), packed.owner(), packed.data(), int64_t(packed.bytes())};
}

int64_t Packer::packed_bytes() const {
  int64_t bytes = 0;
  for (const auto& [what, packed] : in_use_)
    if (!packed.owner.expired()) bytes += packed.bytes;
  return bytes;
}

bool Packer::Keeps(int64_t bytes) {
  if (folder_.empty()) return false;
  if (bytes < kLeastKept) small_.Add(bytes);
  return bytes >= kLeastKept;
}

PackedDigest Packer::KeyOf(const std::string& what, const Parts& weights) const {
  std::string text = fmt::format("{}\n{}", kSourcesDigest, what);
  for (const std::span<const std::byte> part : weights)
    text += fmt::format("\n{}", ToString(DigestOf(part, pool_)));
  return DigestOf(text);
}

std::string Packer::PathOf(const PackedDigest& key) const {
  return fmt::format("{}/weights/{}.packed", folder_, ToString(key));
}

Tensor Packer::Find(const PackedDigest& key, int64_t bytes) {
  std::string problem;
  const PackedContent content = ReadPacked(PathOf(key), key, size_t(bytes), pool_, &problem);
  if (!problem.empty()) problems_.push_back(problem + "; packed again");
  if (!content.file) return {};
  mapped_.Add(bytes);
  return Tensor(DType::kU8, Shape{bytes}, content.bytes.data(), content.file);
}

void Packer::Keep(const PackedDigest& key, const Tensor& packed) {
  if (!writable_) return lost_.Add(int64_t(packed.bytes()));
  const std::string problem =
      WritePacked(PathOf(key), key, {static_cast<const std::byte*>(packed.data()), packed.bytes()}, pool_);
  if (problem.empty()) return written_.Add(int64_t(packed.bytes()));
  lost_.Add(int64_t(packed.bytes()));
  writable_ = false;  // after a full disk, or in a folder without permission, the next write would fail too
  problems_.push_back(problem + "; nothing more is kept; try another cache folder");
}

std::string Packer::Explain() const {
  if (folder_.empty()) return "";
  std::string out;
  auto add = [&](const Count& count, const char* what) {
    if (count.tensors == 0) return;
    out += fmt::format("{}{} ({:.1f} MiB) {}", out.empty() ? "" : ", ", count.tensors,
                       double(count.bytes) / (1 << 20), what);
  };
  add(mapped_, "mapped");
  add(written_, "packed and written");
  add(lost_, "packed and not written");
  add(small_, "packed, too small for a file");
  out = fmt::format("packed weights, kept in {}: {}\n", folder_, out.empty() ? "none" : out);
  for (const std::string& problem : problems_) out += "  " + problem + "\n";
  return out;
}

}  // namespace mete
