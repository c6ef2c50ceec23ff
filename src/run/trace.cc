// Trace's printed forms. Rows in brackets are time that no node's arithmetic accounts for.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "mete/engine.h"

namespace mete {
namespace {

struct Row {
  std::string name, op;
  int64_t ns = 0, flops = 0;
  int count = 0;
};

bool IsLayout(const TraceEvent& e) { return e.layout; }
bool IsWait(const TraceEvent& e) { return e.name == "[wait]"; }

// The nodes' events without changes of layout, and without the waiting inside them: a wait follows its node.
std::vector<TraceEvent> Working(const Trace& trace) {
  std::vector<TraceEvent> nodes;
  for (const TraceEvent& e : trace.events) {
    if (IsWait(e) && !nodes.empty() && nodes.back().name == e.op) nodes.back().end_ns -= e.end_ns - e.start_ns;
    else if (!IsWait(e) && !IsLayout(e)) nodes.push_back(e);
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
    if (IsWait(e)) wait.ns += ns, ++wait.count;
    else other.ns -= ns;
    if (IsLayout(e)) layout.ns += ns, ++layout.count;
  }
  return {wait, transfer, layout, other};
}

std::string Format(std::vector<Row> rows, const std::vector<Row>& brackets, int64_t total_ns, int limit, const char* first) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.ns > b.ns; });
  int64_t hidden_ns = 0;
  size_t shown = limit > 0 ? std::min(rows.size(), size_t(limit)) : rows.size();
  for (size_t i = shown; i < rows.size(); ++i) hidden_ns += rows[i].ns;
  const size_t hidden = rows.size() - shown;
  rows.resize(shown);
  if (hidden > 0) rows.push_back({fmt::format("({} more)", hidden), "", hidden_ns, 0, 0});
  rows.insert(rows.end(), brackets.begin(), brackets.end());
  size_t width = 8, op_width = 8;
  for (const Row& r : rows) width = std::max(width, std::min<size_t>(r.name.size(), 44)), op_width = std::max(op_width, r.op.size());
  std::string out = fmt::format("{:<{}}  {:<{}}  {:>9}  {:>6}  {:>8}\n", first, width, "operator", op_width, "us", "%", "GFLOP/s");
  for (const Row& r : rows) {
    const std::string name = r.name.size() > width ? r.name.substr(0, width - 2) + ".." : r.name;
    const std::string gflops = r.flops > 0 && r.ns > 0 ? fmt::format("{:.1f}", double(r.flops) / double(r.ns)) : "";
    out += fmt::format("{:<{}}  {:<{}}  {:>9.1f}  {:>6.1f}  {:>8}\n", name, width, r.op, op_width, double(r.ns) * 1e-3,
                       total_ns > 0 ? 100.0 * double(r.ns) / double(total_ns) : 0.0, gflops);
  }
  return out + fmt::format("{:<{}}  {:<{}}  {:>9.1f}\n", "total", width, "", op_width, double(total_ns) * 1e-3);
}

}  // namespace

std::string Trace::Table(int limit) const {
  std::vector<Row> rows;
  for (const TraceEvent& e : Working(*this)) rows.push_back({e.name, e.op, e.end_ns - e.start_ns, e.flops, 1});
  return Format(std::move(rows), BracketRows(*this), total_ns, limit, "node");
}

std::string Trace::TableByOperator() const {
  std::map<std::string, Row> by_op;
  for (const TraceEvent& e : Working(*this)) {
    Row& row = by_op[e.op];
    row.ns += e.end_ns - e.start_ns;
    row.flops += e.flops;
    ++row.count;
  }
  std::vector<Row> rows;
  for (auto& [op, row] : by_op) rows.push_back({fmt::format("{} nodes", row.count), op, row.ns, row.flops, row.count});
  return Format(std::move(rows), BracketRows(*this), total_ns, 0, "nodes");
}

void Trace::KeepLeast(const Trace& other) {
  std::erase_if(events, IsWait);
  size_t i = 0;
  for (const TraceEvent& e : other.events) {
    if (IsWait(e)) continue;
    if (i == events.size() || events[i].name != e.name) return;
    TraceEvent& mine = events[i++];
    mine.end_ns = mine.start_ns + std::min(mine.end_ns - mine.start_ns, e.end_ns - e.start_ns);
  }
}

std::string Trace::ChromeJson() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TraceEvent& e : events)
    list.push_back({{"name", e.name},
                    {"cat", IsWait(e)     ? "wait"
                            : IsLayout(e) ? "layout"
                                          : "node"},
                    {"ph", "X"},
                    {"pid", 0},
                    {"tid", e.worker},
                    {"ts", double(e.start_ns) * 1e-3},
                    {"dur", double(e.end_ns - e.start_ns) * 1e-3},
                    {"args", {{"op", e.op}, {"flops", e.flops}, {"bytes", e.bytes}}}});
  for (const auto& row : BracketRows(*this))
    list.push_back({{"name", row.name}, {"cat", "sum"}, {"ph", "C"}, {"pid", 0}, {"ts", 0}, {"args", {{"us", double(row.ns) * 1e-3}}}});
  return nlohmann::ordered_json{{"displayTimeUnit", "ms"}, {"traceEvents", list}}.dump(1, ' ', false,
                                                                                       nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace mete
