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

}  // namespace

void Packer::Know(const void* id, const std::string& what, const Tensor& packed) {
  const auto source = std::find_if(constants_.begin(), constants_.end(), [&](const Tensor& constant) {
    return PackedInUse::IdOf(constant) == id && (constant.source() || constant.owner());
  });
  in_use_->Add(source == constants_.end() ? nullptr : &*source, what, packed);
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
