#include "kernels/reference/reference.h"

#include <algorithm>
#include <cstdint>

namespace mete {
namespace {

std::vector<RefEntry> BuildTable() {
  std::vector<RefEntry> table;
  for (auto family : {ElementwiseReferences(), ReductionReferences(), ConvolutionReferences(),
                      NormalizationReferences(), MatrixReferences(), TensorReferences(), IndexReferences(),
                      ImageReferences(), SequenceReferences(), QuantizedReferences(), FusedReferences()})
    table.insert(table.end(), family.begin(), family.end());
  std::sort(table.begin(), table.end(), [](auto& a, auto& b) { return std::string_view(a.op) < b.op; });
  return table;
}

}  // namespace

void Scratch::Reset() {
  if (chunks_.size() > 1) {  // one chunk instead, so that the next call of this size does not allocate
    size_t total = 0;
    for (const Chunk& c : chunks_) total += c.size;
    chunks_.clear();
    chunks_.push_back({std::make_unique<std::byte[]>(total), total, 0});
  }
  for (Chunk& c : chunks_) c.used = 0;
}

void* Scratch::GetBytes(size_t bytes) {
  constexpr size_t kAlign = 64;
  bytes = (bytes + 2 * kAlign - 1) / kAlign * kAlign;  // with room to align the start
  if (chunks_.empty() || chunks_.back().size - chunks_.back().used < bytes) {
    chunks_.push_back({std::make_unique<std::byte[]>(bytes), bytes, 0});
  }
  Chunk& c = chunks_.back();
  const auto start = (reinterpret_cast<uintptr_t>(c.memory.get()) + c.used + kAlign - 1) / kAlign * kAlign;
  c.used += bytes;
  return reinterpret_cast<void*>(start);
}

RefKernel FindReference(std::string_view op) {
  static const std::vector<RefEntry> table = BuildTable();  // immutable after the first call
  auto at = std::lower_bound(table.begin(), table.end(), op,
                             [](const RefEntry& a, std::string_view n) { return a.op < n; });
  return at != table.end() && at->op == op ? at->run : nullptr;
}

}  // namespace mete
