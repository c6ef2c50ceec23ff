#include "plan/pool/least_ready.h"

#include <algorithm>
#include <limits>

namespace mete {
namespace {

using OfValue = LiveParts::OfValue;

// Returns the common bytes of two parts of one value.
int64_t Common(const Value& value, const OfValue& a, const OfValue& b) {
  if (a.part.all()) return b.bytes;
  if (b.part.all()) return a.bytes;
  if (a.part.axis != b.part.axis) return CommonBytes(value, a.part, b.part);
  const IndexRange x = a.part.rows, y = b.part.rows;
  return a.bytes / x.size() * std::max<int64_t>(0, std::min(x.end, y.end) - std::max(x.begin, y.begin));
}

int64_t Common(const Graph& graph, const std::vector<ValueId>& live, const LiveParts& a, const LiveParts& b) {
  int64_t bytes = 0;
  for (auto p = a.parts.begin(), q = b.parts.begin(); p != a.parts.end() && q != b.parts.end();) {
    if (p->live == q->live) bytes += Common(graph.value(live[p->live]), *p, *q);
    const bool next_a = p->live <= q->live, next_b = q->live <= p->live;
    p += next_a;
    q += next_b;
  }
  return bytes;
}

}  // namespace

LeastReady::LeastReady(const Graph& graph, const PoolCosts& pool, const std::vector<ValueId>& live)
    : graph_(graph), pool_(pool), live_(live), owns_(pool.processors.size()) {}

void LeastReady::Add(HeldByProcessor held) {
  Senders senders{std::numeric_limits<double>::infinity(), 0};
  for (size_t d = 0; d < held.size(); ++d) {
    const auto known = std::find(owns_[d].begin(), owns_[d].end(), held[d]);
    own_.push_back(uint32_t(known - owns_[d].begin()));
    if (known == owns_[d].end()) owns_[d].push_back(held[d]);
    if (held[d]->parts.empty()) continue;
    const LinkCosts link = BestLinkOf(pool_.processors[d]);
    senders.latency_us = std::min(senders.latency_us, link.latency_us);
    senders.up_mbit_per_s += link.up_mbit_per_s;
  }
  senders_.push_back(senders);
  held_.push_back(std::move(held));
}

const LeastReady::Table& LeastReady::Of(const LiveParts& need, int processor) {
  const auto [at, is_new] = tables_.try_emplace(need.number * pool_.processors.size() + size_t(processor));
  Table& table = at->second;
  if (!is_new) return table;
  const LinkCosts link = BestLinkOf(pool_.processors[size_t(processor)]);
  for (const LiveParts* own : owns_[size_t(processor)]) {
    table.bytes.push_back(need.bytes - Common(graph_, live_, need, *own));
    table.us.push_back(LeastReadyUs(link, table.bytes.back()));
  }
  table.least_us = *std::min_element(table.us.begin(), table.us.end());
  return table;
}

}  // namespace mete
