// The transfers between two groups, and the time at which each processor has its inputs. All senders begin at
// the same time. A processor is ready when the slowest of its senders has sent everything (to all its
// receivers through that link) and when all bytes have come through the processor's own link. What two
// processors of one worker exchange passes the worker's memory, and takes nothing of the network
// (LinkBetween).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "partition/part.h"
#include "plan/placement.h"

namespace mete {

// Returns the bytes that two parts of a value have in common; 0 if the shape is unknown.
int64_t CommonBytes(const Value& value, const Part& a, const Part& b);

// Returns the time of `bytes` through a link of this rate.
inline double TransferUs(int64_t bytes, double mbit_per_s) { return double(bytes) * 8 / mbit_per_s; }

// Returns a lower bound of the time until a processor with `link` has received `bytes`, whichever processors
// send them. Microseconds.
double LeastReadyUs(const LinkCosts& link, int64_t bytes);

// One message: all bytes that a processor sends to another processor between two groups.
struct Transfer {
  int from = 0, to = 0;
  int64_t bytes = 0;
};

// Returns the time until a transfer has arrived if nothing else is sent: Exchange::ReadyUs() of this transfer
// alone.
double AloneReadyUs(const Transfer& transfer, const PoolCosts& pool);

class Exchange {
 public:
  explicit Exchange(const PoolCosts& pool);  // keeps a reference
  void Clear();

  // Adds the transfers for a part of a value that `processor` needs. `held` tells which processors have which
  // parts of the value (PartsOn). Parts that `processor` has itself are not sent. The caller must add all
  // needs of one processor one after another.
  void Need(int processor, const Value& value, const Part& part, std::span<const PlacedPart> held);

  double ReadyUs(int processor) const;  // 0 if nothing is sent to the processor
  int64_t BytesTo(int processor) const;
  std::span<const Transfer> To(int processor) const;
  std::span<const Transfer> All() const { return transfers_; }
  LinkKind KindOf(const Transfer& transfer) const { return LinksOf(transfer).kind; }

 private:
  void Send(int from, int to, int64_t bytes);
  LinksBetween LinksOf(const Transfer& t) const {
    return LinkBetween(pool_.processors[size_t(t.from)], pool_.processors[size_t(t.to)]);
  }

  struct Range {
    size_t begin = 0, end = 0;
  };
  const PoolCosts& pool_;
  std::vector<Transfer> transfers_;
  std::vector<Range> to_;                             // by receiver: its range in transfers_
  std::vector<std::array<int64_t, kLinkKinds>> out_;  // by sender: bytes through each of its links
  std::vector<size_t> last_;  // by sender: index of its last transfer, perhaps from before the last Clear()
};

// Returns the energy that the network's links at both ends take for all transfers; memory takes none of its
// own, because the power while computing includes it. The pool must have power figures.
double JoulesToSend(const Exchange& exchange, const PoolCosts& pool);

}  // namespace mete
