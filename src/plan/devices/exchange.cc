#include "plan/devices/exchange.h"

#include <algorithm>

namespace mete {

int64_t CommonBytes(const Value& value, const Part& a, const Part& b) {
  if (!value.shape.known()) return 0;
  const int64_t all = value.shape.Elements() * int64_t(SizeOf(value.type));
  if (a.all() && b.all()) return all;
  if (a.all()) return CommonBytes(value, b, a);
  const int64_t row = all / value.shape[a.axis];
  if (b.all()) return row * a.rows.size();
  if (a.axis != b.axis) return row * a.rows.size() / value.shape[b.axis] * b.rows.size();
  return row * std::max<int64_t>(0, std::min(a.rows.end, b.rows.end) - std::max(a.rows.begin, b.rows.begin));
}

Exchange::Exchange(const PoolCosts& pool)
    : pool_(pool), in_(pool.devices.size()), out_(pool.devices.size()), between_(pool.devices.size() * pool.devices.size()) {}

void Exchange::Clear() {
  std::fill(in_.begin(), in_.end(), 0);
  std::fill(out_.begin(), out_.end(), 0);
  std::fill(between_.begin(), between_.end(), 0);
}

void Exchange::Need(int device, const Value& value, const Part& part, const Placement& from, const std::vector<std::optional<Part>>& held) {
  for (size_t k = 0; k < held.size(); ++k) {
    const int sender = from.devices[k];
    if (!held[k] || sender == device) continue;
    const int64_t bytes = CommonBytes(value, part, *held[k]);
    in_[size_t(device)] += bytes;
    out_[size_t(sender)] += bytes;
    between_[size_t(sender) * in_.size() + size_t(device)] += bytes;
  }
}

double Exchange::ReadyUs(int device) const {
  double ready_us = 0, messages_us = 0;
  const LinkCosts& own = pool_.devices[size_t(device)].link;
  for (size_t sender = 0; sender < out_.size(); ++sender) {
    if (Bytes(int(sender), device) == 0) continue;
    const LinkCosts& link = pool_.devices[sender].link;
    messages_us += std::max(link.message_us, own.message_us);
    ready_us = std::max(ready_us, link.latency_us + own.latency_us + TransferUs(out_[sender], link.up_mbit_per_s));
  }
  if (in_[size_t(device)] == 0) return 0;
  return messages_us + std::max(ready_us, own.latency_us + TransferUs(BytesTo(device), own.down_mbit_per_s));
}

}  // namespace mete
