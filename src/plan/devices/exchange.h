// What is sent between two groups, and when each device has what it needs: all senders begin at once, and a device is ready when the
// slowest of those that send to it has sent everything, or when everything has come through its own link.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "partition/part.h"
#include "plan/devices/placement.h"

namespace mete {

// Bytes that two parts of a value have in common; 0 where its shape is not known.
int64_t CommonBytes(const Value& value, const Part& a, const Part& b);

// Through a link of such a rate.
inline double TransferUs(int64_t bytes, double mbit_per_s) { return double(bytes) * 8 / mbit_per_s; }

class Exchange {
 public:
  explicit Exchange(const PoolCosts& pool);  // keeps a reference
  void Clear();

  // `device` needs a part of a value that lies as `held` says on the devices of `from`. What it has itself is not sent.
  void Need(int device, const Value& value, const Part& part, const Placement& from, const std::vector<std::optional<Part>>& held);

  double ReadyUs(int device) const;  // 0 where nothing is sent to it
  int64_t BytesTo(int device) const { return in_[size_t(device)]; }
  int64_t Bytes(int from, int to) const { return between_[size_t(from) * in_.size() + size_t(to)]; }

 private:
  const PoolCosts& pool_;
  std::vector<int64_t> in_, out_, between_;
};

}  // namespace mete
