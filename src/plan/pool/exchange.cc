#include "plan/pool/exchange.h"

#include <algorithm>

namespace mete {
namespace {

int64_t BytesOf(const Value& value) {
  return value.shape.known() ? value.shape.Elements() * int64_t(SizeOf(value.type)) : 0;
}

// Returns the common bytes of two parts of a value with `all` bytes.
int64_t CommonOf(const Shape& shape, int64_t all, const Part& a, const Part& b) {
  if (all == 0 || (a.all() && b.all())) return all;
  const Part& one = a.all() ? b : a;
  const int64_t row = all / shape[one.axis];
  if (a.all() || b.all()) return row * one.rows.size();
  if (a.axis != b.axis) return row * a.rows.size() / shape[b.axis] * b.rows.size();
  return row * std::max<int64_t>(0, std::min(a.rows.end, b.rows.end) - std::max(a.rows.begin, b.rows.begin));
}

}  // namespace

int64_t CommonBytes(const Value& value, const Part& a, const Part& b) {
  return CommonOf(value.shape, BytesOf(value), a, b);
}

double LeastReadyUs(const LinkCosts& link, int64_t bytes) {
  return bytes == 0 ? 0 : link.message_us + link.latency_us + TransferUs(bytes, link.down_mbit_per_s);
}

double AloneReadyUs(const Transfer& t, const PoolCosts& pool) {
  const auto [kind, out, in] = LinkBetween(pool.processors[size_t(t.from)], pool.processors[size_t(t.to)]);
  return std::max(out.message_us, in.message_us) + in.latency_us +
         std::max(TransferUs(t.bytes, in.down_mbit_per_s),
                  out.latency_us + TransferUs(t.bytes, out.up_mbit_per_s));
}

Exchange::Exchange(const PoolCosts& pool)
    : pool_(pool), to_(pool.processors.size()), out_(pool.processors.size()), last_(pool.processors.size()) {}

void Exchange::Clear() {
  for (const Transfer& t : transfers_) {
    out_[size_t(t.from)] = {};
    to_[size_t(t.to)] = {};
  }
  transfers_.clear();
}

void Exchange::Need(int processor, const Value& value, const Part& part, std::span<const PlacedPart> held) {
  // Few of hundreds of processors have rows that one processor needs: a binary search finds the first of
  // them.
  const auto before = [&](const PlacedPart& h) {
    return !part.all() && h.part.axis == part.axis && h.part.rows.end <= part.rows.begin;
  };
  const int64_t all = BytesOf(value);
  for (auto h = std::partition_point(held.begin(), held.end(), before); h != held.end(); ++h) {
    const int64_t bytes = CommonOf(value.shape, all, part, h->part);
    if (bytes == 0) break;
    if (h->processor != processor) Send(h->processor, processor, bytes);
  }
}

void Exchange::Send(int from, int to, int64_t bytes) {
  Range& range = to_[size_t(to)];
  if (range.begin == range.end) range.begin = range.end = transfers_.size();
  const LinkKind kind = KindOf({from, to, bytes});
  out_[size_t(from)][size_t(kind)] += bytes;
  size_t& last = last_[size_t(from)];
  if (last >= range.begin && last < range.end && transfers_[last].from == from)
    return void(transfers_[last].bytes += bytes);
  last = transfers_.size();
  transfers_.push_back({from, to, bytes});
  ++range.end;
}

std::span<const Transfer> Exchange::To(int processor) const {
  const Range& range = to_[size_t(processor)];
  return std::span(transfers_).subspan(range.begin, range.end - range.begin);
}

int64_t Exchange::BytesTo(int processor) const {
  int64_t bytes = 0;
  for (const Transfer& t : To(processor)) bytes += t.bytes;
  return bytes;
}

double Exchange::ReadyUs(int processor) const {
  std::array<int64_t, kLinkKinds> bytes{};
  double ready_us = 0, messages_us = 0;
  for (const Transfer& t : To(processor)) {
    const auto [kind, out, in] = LinksOf(t);
    messages_us += std::max(out.message_us, in.message_us);
    bytes[size_t(kind)] += t.bytes;
    const double sent_us = TransferUs(out_[size_t(t.from)][size_t(kind)], out.up_mbit_per_s),
                 received_us = TransferUs(bytes[size_t(kind)], in.down_mbit_per_s);
    ready_us = std::max({ready_us, out.latency_us + in.latency_us + sent_us, in.latency_us + received_us});
  }
  return messages_us + ready_us;
}

double JoulesToSend(const Exchange& exchange, const PoolCosts& pool) {
  double joules = 0;
  for (const Transfer& t : exchange.All())
    if (exchange.KindOf(t) == LinkKind::kNetwork)
      joules += double(t.bytes) * (pool.processors[size_t(t.from)].power->sent_joules_per_byte +
                                   pool.processors[size_t(t.to)].power->received_joules_per_byte);
  return joules;
}

}  // namespace mete
