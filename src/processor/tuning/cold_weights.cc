#include "processor/tuning/cold_weights.h"

#include <algorithm>

#include "kernels/fast/reuse/reuse.h"
#include "kernels/fast/target/target.h"
#include "processor/tuning/tuner.h"

namespace mete {
namespace {

void Read(const void* data, size_t bytes) {
  ReadAndCompute(static_cast<const float*>(data), bytes / sizeof(float) / kReuseStep * kReuseStep, 0);
}

}  // namespace

void ColdWeights::Evict(const ConstView& weights, const ConstView& input) {
  EvictFromCaches(weights.data, weights.bytes());
  const size_t bytes = std::min(weights.bytes(), kMost);
  if (!other_.has_value() || other_.bytes() < bytes) {
    other_ = {};
    other_ = Ones(int64_t((bytes + sizeof(float) - 1) / sizeof(float)));
  }
  // otherwise these bytes may still be in the caches from the last call, and would displace nothing
  EvictFromCaches(other_.data(), bytes);
  Read(other_.data(), bytes);
  Read(input.data, input.bytes());
}

}  // namespace mete
