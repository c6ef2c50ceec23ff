// What is sent between two groups, and when each device has what it needs: all senders begin at once, and a
// device is ready when the slowest of those that send to it has sent everything, or when everything has come
// through its own link.
#pragma once

#include <cstdint>
#include <span>
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

// At the least, until a device has so many bytes, from whomever.
double LeastReadyUs(const LinkCosts& link, int64_t bytes);

// One message: all that a device sends to another.
struct Transfer {
  int from = 0, to = 0;
  int64_t bytes = 0;
};

// Until it is there, if nothing else is sent meanwhile: Exchange::ReadyUs() of it alone.
double AloneReadyUs(const Transfer& transfer, const PoolCosts& pool);

class Exchange {
 public:
  explicit Exchange(const PoolCosts& pool);  // keeps a reference
  void Clear();

  // `device` needs a part of a value that lies as `held` says (PartsOn). What it has itself is not sent. All
  // needs of a device come one after the other.
  void Need(int device, const Value& value, const Part& part, std::span<const DevicePart> held);

  double ReadyUs(int device) const;  // 0 where nothing is sent to it
  int64_t BytesTo(int device) const;
  std::span<const Transfer> To(int device) const;
  std::span<const Transfer> All() const { return transfers_; }

 private:
  void Send(int from, int to, int64_t bytes);

  struct Range {
    size_t begin = 0, end = 0;
  };
  const PoolCosts& pool_;
  std::vector<Transfer> transfers_;
  std::vector<Range> to_;     // by device, in transfers_
  std::vector<int64_t> out_;  // by device, bytes that it sends
  std::vector<size_t> last_;  // by device, where its last transfer is, or was before the last Clear()
};

// What the links of both ends take for all of it, where the pool has power figures.
double JoulesToSend(const Exchange& exchange, const PoolCosts& pool);

}  // namespace mete
