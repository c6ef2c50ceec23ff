#include "explain_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "pool_figure.h"
#include "plan/pool/placements.h"
#include "plan/pool/plan_exchanges.h"
#include "terminal.h"

namespace mete::cli {
namespace {

template <class F>
void ForTransfers(const PlannedPool& p, const F& f) {
  PlanExchanges exchanges(p.graph, p.plan, p.pool());
  for (size_t at = 0; at < exchanges.count(); ++at)
    for (const Transfer& transfer : exchanges.At(at).All()) f(at, transfer);
}

std::string LinksText(const PlannedPool& p) {
  Rows rows{{"before group", "from", "to", "sent", "by itself"}};
  size_t last = p.plan.groups.size() + 1;
  ForTransfers(p, [&](size_t at, const Transfer& t) {
    const std::string group = at < p.plan.groups.size() ? std::to_string(at + 1) : "the end";
    rows.push_back({at == last ? "" : group, p.plan.processors[size_t(t.from)],
                    p.plan.processors[size_t(t.to)], FormatBytes(t.bytes),
                    FormatMs(AloneReadyUs(t, p.pool()) * 1e-3)});
    last = at;
  });
  if (rows.size() == 1) return "Nothing is sent.\n";
  return FormatTable(rows, "lllrr") +
         "\nBy itself: if nothing else went through both ends' links at the time.\n";
}

// Returns the load of each device over all groups: if a link is the bottleneck, this table shows it.
std::string LoadsText(const PlannedPool& p) {
  std::vector<int64_t> out(p.pool().processors.size(), 0), in = out;
  ForTransfers(
      p, [&](size_t, const Transfer& t) { out[size_t(t.from)] += t.bytes, in[size_t(t.to)] += t.bytes; });
  const std::vector<ProcessorLoad> loads = LoadsOf(p.graph, p.plan, p.pool());
  Rows rows{{"of a request", "computes for", "sends", "for", "gets", "for"}};
  for (size_t d = 0; d < loads.size(); ++d)
    if (loads[d].compute_us + loads[d].up_us + loads[d].down_us > 0)
      rows.push_back({p.plan.processors[d], FormatMs(loads[d].compute_us * 1e-3), FormatBytes(out[d]),
                      FormatMs(loads[d].up_us * 1e-3), FormatBytes(in[d]),
                      FormatMs(loads[d].down_us * 1e-3)});
  return FormatTable(rows, "lrrrrr");
}

// Returns the processors without a part; equal processors form one group.
std::vector<std::vector<int>> UnusedProcessors(const PlannedPool& p) {
  const std::set<int> used = UsedProcessors(p.plan);
  std::vector<std::vector<int>> unused;
  for (int d = 0; d < int(p.pool().processors.size()); ++d) {
    if (used.count(d)) continue;
    const auto alike = [&](const std::vector<int>& some) {
      return some[0] != 0 && Alike(p.pool().processors[size_t(some[0])], p.pool().processors[size_t(d)]);
    };
    const auto at = std::find_if(unused.begin(), unused.end(), alike);
    if (at == unused.end()) unused.push_back({d});
    else at->push_back(d);
  }
  return unused;
}

// Returns the effect of a part for this device: "81.34 ms, 1.7 % more" or "81.34 ms, as long". The plans for
// latency that were weighed have this number.
std::string WithItText(const PlannedPool& p, const ProcessorCosts& device) {
  const auto like_it = [&](const LeftOutProcessor& l) {  // has the same link and costs
    const ProcessorCosts& other = p.pool().processors[size_t(l.processor)];
    return other.link == device.link && other.layers == device.layers;
  };
  const auto known = std::find_if(p.left_out.begin(), p.left_out.end(), like_it);
  if (known == p.left_out.end()) return "-";
  if (!std::isfinite(known->us)) return "not weighed";
  const double percent = 100 * (known->us / p.plan.predicted_us - 1);
  return fmt::format("{}, {}", FormatMs(known->us * 1e-3),
                     percent < 0.05 ? "as long" : fmt::format("{:.1f} % more", percent));
}

const char* WhenUsed(PoolObjective objective) {
  switch (objective) {
    case PoolObjective::kThroughput:
      return "the busiest device or link, which sets the period, then has less to do";
    case PoolObjective::kEnergy: return "that saves more joules than sending and its idle power take";
    default: return "that saves more time than it takes to send its part";
  }
}

std::string UnusedText(const PlannedPool& p) {
  const std::vector<std::vector<int>> unused = UnusedProcessors(p);
  if (unused.empty()) return "Every device has a part.\n";
  const bool latency = p.objective == PoolObjective::kLatency;
  Rows rows{{"not used", "computes all in", "alone, links included", "there and back"}};
  if (!latency) rows[0].push_back(FigureName(p.objective) + " alone");
  rows[0].push_back(latency ? "with a part, at least" : "the plan's");
  for (const std::vector<int>& processors : unused) {
    const size_t d = size_t(processors[0]);
    const Plan& alone = p.alone[d];
    const std::string others =
        processors.size() > 1 ? fmt::format(" and {} alike", processors.size() - 1) : "";
    const double there_and_back_us =
        AloneReadyUs({0, int(d), 0}, p.pool()) + AloneReadyUs({int(d), 0, 0}, p.pool());
    rows.push_back({p.plan.processors[d] + others, FormatMs(alone.groups[0].shares[0].compute_us * 1e-3),
                    FormatMs(alone.predicted_us * 1e-3), d == 0 ? "-" : FormatMs(there_and_back_us * 1e-3)});
    if (!latency) rows.back().push_back(FigureText(FigureOf(alone, p.objective), p.objective));
    rows.back().push_back(latency ? WithItText(p, p.pool().processors[d])
                                  : FigureText(FigureOf(p.plan, p.objective), p.objective));
  }
  const std::string legend = fmt::format(
      "There and back: what the least message to it and its answer take. A device gets a part only where {}.",
      WhenUsed(p.objective));
  std::string text = FormatTable(rows, latency ? "lrrrr" : "lrrrrr") + "\n";
  for (const std::string& line : WrapText(legend, TerminalColumns(1))) text += line + "\n";
  return text;
}

}  // namespace

std::string ExplainPool(const PlannedPool& p) {
  return fmt::format("\n{}\n{}\n{}", LinksText(p), LoadsText(p), UnusedText(p));
}

Json SentJson(const PlannedPool& p) {
  Json sent = Json::array();
  for (size_t at = 0; at <= p.plan.groups.size(); ++at) sent.push_back(Json::array());
  ForTransfers(p, [&](size_t at, const Transfer& t) {
    sent[at].push_back({{"from", p.plan.processors[size_t(t.from)]},
                        {"to", p.plan.processors[size_t(t.to)]},
                        {"bytes", t.bytes},
                        {"us", AloneReadyUs(t, p.pool())}});
  });
  return sent;
}

}  // namespace mete::cli
