// Trace's printed forms. Rows in brackets are time that no node's arithmetic accounts for.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/table.h"
#include "base/timeline.h"
#include "mete/engine.h"

namespace mete {
namespace {

constexpr size_t kLongestName = 44;  // guess: beyond that a table is hard to read, however wide the terminal

struct Row {
  std::string name, op;
  int64_t ns = 0, flops = 0;
  int count = 0;
};

bool IsLayout(const TraceEvent& e) { return e.layout; }

// The nodes' events on the calling thread without changes of layout, and without the waiting inside them: a
// wait follows its node.
std::vector<TraceEvent> Working(const Trace& trace) {
  std::vector<TraceEvent> nodes;
  for (const TraceEvent& e : trace.events) {
    if (e.worker != 0) continue;
    if (e.waits() && !nodes.empty() && nodes.back().name == e.op)
      nodes.back().end_ns -= e.end_ns - e.start_ns;
    else if (!e.waits() && !IsLayout(e)) nodes.push_back(e);
  }
  return nodes;
}

// The bracket rows: what is inside nodes but not arithmetic, and what is outside of them.
std::vector<Row> BracketRows(const Trace& trace) {
  Row wait{"[wait]", "", 0, 0, 0}, transfer{"[transfer]", "", 0, 0, 0}, layout{"[layout]", "", 0, 0, 0},
      other{"[other]", "", trace.total_ns, 0, 0};
  for (const TraceEvent& e : trace.events) {
    const int64_t ns = e.end_ns - e.start_ns;
    if (e.worker != 0) continue;  // others work at the same time (a simulation's trace has them)
    if (e.waits()) {
      wait.ns += ns;
      ++wait.count;
    } else {
      other.ns -= ns;
    }
    if (IsLayout(e)) {
      layout.ns += ns;
      ++layout.count;
    }
  }
  return {wait, transfer, layout, other};
}

std::string Format(std::vector<Row> rows, const std::vector<Row>& brackets, int64_t total_ns, int limit,
                   const char* first, int columns) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.ns > b.ns; });
  int64_t hidden_ns = 0;
  size_t shown = limit > 0 ? std::min(rows.size(), size_t(limit)) : rows.size();
  for (size_t i = shown; i < rows.size(); ++i) hidden_ns += rows[i].ns;
  const size_t hidden = rows.size() - shown;
  rows.resize(shown);
  if (hidden > 0) rows.push_back({fmt::format("({} more)", hidden), "", hidden_ns, 0, 0});
  rows.insert(rows.end(), brackets.begin(), brackets.end());
  Rows table{{first, "operator", "us", "%", "GFLOP/s"}};
  for (const Row& r : rows)
    table.push_back({Shortened(r.name, kLongestName), r.op, fmt::format("{:.1f}", double(r.ns) * 1e-3),
                     fmt::format("{:.1f}", total_ns > 0 ? 100.0 * double(r.ns) / double(total_ns) : 0.0),
                     r.flops > 0 && r.ns > 0 ? fmt::format("{:.1f}", double(r.flops) / double(r.ns)) : ""});
  table.push_back({"total", "", fmt::format("{:.1f}", double(total_ns) * 1e-3), "", ""});
  return FormatTable(table, {.align = "llrrr", .columns = columns});
}

}  // namespace

std::string Trace::Table(int limit, int columns) const {
  std::vector<Row> rows;
  for (const TraceEvent& e : Working(*this))
    rows.push_back({e.name, e.op, e.end_ns - e.start_ns, e.flops, 1});
  return Format(std::move(rows), BracketRows(*this), total_ns, limit, "node", columns);
}

std::string Trace::TableByOperator(int columns) const {
  std::map<std::string, Row> by_op;
  for (const TraceEvent& e : Working(*this)) {
    Row& row = by_op[e.op];
    row.ns += e.end_ns - e.start_ns;
    row.flops += e.flops;
    ++row.count;
  }
  std::vector<Row> rows;
  for (auto& [op, row] : by_op)
    rows.push_back({fmt::format("{} nodes", row.count), op, row.ns, row.flops, row.count});
  return Format(std::move(rows), BracketRows(*this), total_ns, 0, "nodes", columns);
}

void Trace::KeepLeast(const Trace& other) {
  std::erase_if(events, [](const TraceEvent& e) { return e.waits() || e.worker != 0; });
  size_t i = 0;
  for (const TraceEvent& e : other.events) {
    if (e.waits() || e.worker != 0) continue;
    if (i == events.size() || events[i].name != e.name) return;
    TraceEvent& mine = events[i++];
    mine.end_ns = mine.start_ns + std::min(mine.end_ns - mine.start_ns, e.end_ns - e.start_ns);
  }
}

namespace {

double Us(int64_t ns) { return double(ns) / 1000; }

// The events of one node: those of a worker are its pieces, and perhaps a wait at the last one's end. Nodes
// of a graph have different names.
using NodeEvents = std::span<const TraceEvent>;

const std::string& NodeOf(const TraceEvent& e) { return e.waits() ? e.op : e.name; }

NodeEvents FirstNode(NodeEvents events) {
  const auto of_other = [&](const TraceEvent& e) { return NodeOf(e) != NodeOf(events[0]); };
  return events.first(size_t(std::find_if(events.begin(), events.end(), of_other) - events.begin()));
}

// A time inside of what ends there: viewers take the end itself for what follows.
double UsBefore(int64_t end_ns) { return Us(end_ns - 1); }

struct Computed {
  int worker = -1;
  int64_t start_ns = 0, end_ns = 0;
};

// The worker that computed longest, for which the others waited.
Computed LastOf(NodeEvents node) {
  Computed last;
  for (const TraceEvent& e : node) {
    if (e.waits()) continue;
    Computed c{e.worker, e.start_ns, e.end_ns};
    for (const TraceEvent& wait : node)
      if (wait.waits() && wait.worker == e.worker && wait.end_ns == e.end_ns) c.end_ns = wait.start_ns;
    if (last.worker < 0 || c.end_ns > last.end_ns) last = c;
  }
  return last;
}

}  // namespace

std::string Trace::ChromeJson() const {
  int workers = int(lanes.size());
  for (const TraceEvent& e : events) workers = std::max(workers, e.worker + 1);
  Timeline timeline;
  const int run = timeline.AddProcess(process.empty() ? "a run" : process);
  std::vector<Timeline::Lane> lane_of;
  for (int w = 0; w < workers; ++w)
    lane_of.push_back(
        timeline.AddLane(run, size_t(w) < lanes.size() ? lanes[size_t(w)] : fmt::format("thread {}", w)));
  for (const TraceEvent& e : events)
    timeline.AddSlice(lane_of[size_t(e.worker)], e.name,
                      e.waits()     ? "wait"
                      : IsLayout(e) ? "layout"
                                    : "node",
                      Us(e.start_ns), Us(e.end_ns), {{"op", e.op}, {"flops", e.flops}, {"bytes", e.bytes}});
  for (NodeEvents rest(events); !rest.empty();) {
    const NodeEvents node = FirstNode(rest);
    const Computed last = LastOf(node);
    for (const TraceEvent& e : node)
      if (e.waits() && last.worker >= 0 && e.worker != last.worker)
        timeline.AddArrow("waited for", lane_of[size_t(last.worker)], UsBefore(last.end_ns),
                          lane_of[size_t(e.worker)], UsBefore(e.end_ns));
    rest = rest.subspan(node.size());
  }
  for (const Row& row : BracketRows(*this)) timeline.AddCounter(run, row.name, "us", 0, Us(row.ns));
  for (const TraceCounter& counter : counters)
    for (const auto& [ns, value] : counter.points)
      timeline.AddCounter(run, counter.name, counter.unit, Us(ns), value);
  return timeline.ToJson();
}

}  // namespace mete
