#include "explain_pool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "pool_figure.h"
#include "terminal.h"

namespace mete::cli {
namespace {

std::string LinksText(const PoolPlan& p) {
  Rows rows{{"before group", "from", "to", "sent", "by itself"}};
  int last = -1;
  for (const PoolPlan::Transfer& t : p.transfers) {
    const std::string group =
        t.before_group < int(p.groups.size()) ? std::to_string(t.before_group + 1) : "the end";
    rows.push_back({t.before_group == last ? "" : group, p.processors[size_t(t.from)].name,
                    p.processors[size_t(t.to)].name, FormatBytes(t.bytes), FormatMs(t.us * 1e-3)});
    last = t.before_group;
  }
  if (rows.size() == 1) return "Nothing is sent.\n";
  return FormatTable(rows, "lllrr") +
         "\nBy itself: if nothing else went through both ends' links at the time.\n";
}

// Returns by how much the request would take longer: "whole on gpu 3.10 ms, by channels 0.2 ms".
std::string InsteadText(const PoolPlan& p, const PoolPlan::Group& group) {
  std::string text;
  for (const PoolPlan::Instead& other : group.instead)
    text +=
        fmt::format("{}{} {}{}", text.empty() ? "" : ", ", other.how, other.us < p.predicted_us ? "-" : "",
                    FormatMs(std::abs(other.us - p.predicted_us) * 1e-3));
  return text.empty() ? "-" : text;
}

// Returns for each group how long each of its processors waits, and what was weighed instead.
std::string GroupsText(const PoolPlan& p) {
  Rows rows{
      {"group", "takes", "processor", "done after", "then waits", "instead, the request takes longer by"}};
  for (size_t g = 0; g < p.groups.size(); ++g) {
    const PoolPlan::Group& group = p.groups[g];
    for (size_t k = 0; k < group.shares.size(); ++k) {
      const PoolPlan::Share& share = group.shares[k];
      const double done_us = share.ready_us + share.compute_us;
      rows.push_back({k == 0 ? std::to_string(g + 1) : "", k == 0 ? FormatMs(group.us * 1e-3) : "",
                      p.processors[size_t(share.processor)].name, FormatMs(done_us * 1e-3),
                      FormatMs(std::max(0.0, group.us - done_us) * 1e-3),
                      k == 0 ? InsteadText(p, group) : ""});
    }
  }
  return FormatTable(rows, "lrlrrw");
}

// Returns "conv_f32 13, pool_f32".
std::string KernelsOfShare(const PoolPlan::Share& share) {
  std::string text;
  for (const PoolPlan::Kernel& kernel : share.kernels)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", kernel.name,
                        kernel.times > 1 ? fmt::format(" x {}", kernel.times) : "");
  return text.empty() ? "-" : text;
}

// Returns the kernels of each share, and the types that they read.
std::string KernelsText(const PoolPlan& p) {
  Rows rows{{"group", "processor", "kernels, by estimate"}};
  for (size_t g = 0; g < p.groups.size(); ++g)
    for (const PoolPlan::Share& share : p.groups[g].shares)
      rows.push_back({&share == p.groups[g].shares.data() ? std::to_string(g + 1) : "",
                      p.processors[size_t(share.processor)].name, KernelsOfShare(share)});
  return FormatTable(rows, "llw");
}

// Returns what sharing takes on each processor beside layers and messages.
std::string SharingText(const PoolPlan& p) {
  std::string text;
  for (const PoolPlan::Processor& processor : p.processors) {
    std::vector<std::string> parts;
    if (processor.share_us > 0)
      parts.push_back(
          fmt::format("each share takes {} beside its layers", FormatMs(processor.share_us * 1e-3)));
    if (processor.slowed > 1)
      parts.push_back(fmt::format("shares take {:.2f} times as long while others of its memory compute",
                                  processor.slowed));
    if (parts.empty()) continue;
    for (const std::string& line :
         WrapText(fmt::format("{}: {}", processor.name, fmt::join(parts, ", and ")), TerminalColumns(1)))
      text += line + "\n";
  }
  return text.empty() ? "" : text + "\n";
}

// Returns the load of each processor over all groups: if a link is the bottleneck, this table shows it.
std::string LoadsText(const PoolPlan& p) {
  Rows rows{{"of a request", "computes for", "sends", "for", "gets", "for"}};
  for (const PoolPlan::Processor& processor : p.processors)
    if (processor.compute_us + processor.up_us + processor.down_us > 0)
      rows.push_back({processor.name, FormatMs(processor.compute_us * 1e-3),
                      FormatBytes(processor.sent_bytes), FormatMs(processor.up_us * 1e-3),
                      FormatBytes(processor.received_bytes), FormatMs(processor.down_us * 1e-3)});
  return FormatTable(rows, "lrrrrr");
}

// Returns a time, or that there is none because the processor lacks a layer.
std::string AloneText(double us) { return std::isfinite(us) ? FormatMs(us * 1e-3) : "cannot"; }

// Returns the first of each kind of processors without a part, and how many there are of it.
std::vector<std::pair<size_t, int>> UnusedProcessors(const PoolPlan& p) {
  std::vector<std::pair<size_t, int>> unused;
  for (size_t i = 0; i < p.processors.size(); ++i) {
    if (p.processors[i].is_used) continue;
    const auto alike = [&](const auto& kind) {
      return p.processors[kind.first].alike == p.processors[i].alike;
    };
    const auto at = std::find_if(unused.begin(), unused.end(), alike);
    if (at == unused.end()) unused.push_back({i, 1});
    else ++at->second;
  }
  return unused;
}

// Returns the effect of a part for this processor: "81.34 ms, 1.7 % more" or "81.34 ms, as long". The plans
// for latency that were weighed have this number.
std::string WithItText(const PoolPlan& p, const PoolPlan::Processor& processor) {
  if (!processor.with_it_us) return "-";
  if (!std::isfinite(*processor.with_it_us)) return "not weighed";
  const double percent = 100 * (*processor.with_it_us / p.predicted_us - 1);
  return fmt::format("{}, {}", FormatMs(*processor.with_it_us * 1e-3),
                     percent < 0.05 ? "as long" : fmt::format("{:.1f} % more", percent));
}

const char* WhenUsed(const std::string& objective) {
  if (objective == "throughput")
    return "the busiest device or link, which sets the period, then has less to do";
  if (objective == "energy") return "that saves more joules than sending and its idle power take";
  return "that saves more time than it takes to send its part";
}

std::string UnusedText(const PoolPlan& p) {
  const auto unused = UnusedProcessors(p);
  if (unused.empty()) return "Every device has a part.\n";
  const bool latency = p.objective == "latency";
  Rows rows{{"not used", "computes all in", "alone, links included", "there and back"}};
  if (!latency) rows[0].push_back(FigureName(p.objective) + " alone");
  rows[0].push_back(latency ? "with a part, at least" : "the plan's");
  for (const auto& [first, count] : unused) {
    const PoolPlan::Processor& processor = p.processors[first];
    rows.push_back({processor.name + (count > 1 ? fmt::format(" and {} alike", count - 1) : ""),
                    AloneText(processor.alone_compute_us), AloneText(processor.alone_us),
                    first == 0 ? "-" : FormatMs(processor.there_and_back_us * 1e-3)});
    if (!latency) rows.back().push_back(FigureText(processor.alone_figure, p.objective));
    rows.back().push_back(latency ? WithItText(p, processor) : FigureText(p.figure, p.objective));
  }
  const std::string legend = fmt::format(
      "There and back: what the least message to it and its answer take. A device gets a part only where {}.",
      WhenUsed(p.objective));
  std::string text = FormatTable(rows, latency ? "lrrrr" : "lrrrrr") + "\n";
  for (const std::string& line : WrapText(legend, TerminalColumns(1))) text += line + "\n";
  return text;
}

}  // namespace

std::string LacksText(const PoolPlan& p) {
  std::string text;
  for (const PoolPlan::Processor& processor : p.processors)
    for (const std::string& lack : processor.lacks)
      for (const std::string& line : WrapText(processor.name + " " + lack, TerminalColumns(1)))
        text += line + "\n";
  return text;
}

std::string ExplainPool(const PoolPlan& p) {
  return fmt::format("\n{}\n{}\n{}\n{}\n{}{}", GroupsText(p), KernelsText(p), LinksText(p), LoadsText(p),
                     SharingText(p), UnusedText(p));
}

Json KernelsJson(const PoolPlan& p) {
  Json groups = Json::array();
  for (const PoolPlan::Group& group : p.groups) {
    groups.push_back(Json::array());
    for (const PoolPlan::Share& share : group.shares) {
      Json kernels = Json::array();
      for (const PoolPlan::Kernel& kernel : share.kernels)
        kernels.push_back({{"name", kernel.name}, {"times", kernel.times}});
      groups.back().push_back(
          {{"processor", p.processors[size_t(share.processor)].name}, {"kernels", std::move(kernels)}});
    }
  }
  return groups;
}

Json SentJson(const PoolPlan& p) {
  Json sent = Json::array();
  for (size_t at = 0; at <= p.groups.size(); ++at) sent.push_back(Json::array());
  for (const PoolPlan::Transfer& t : p.transfers)
    sent[size_t(t.before_group)].push_back({{"from", p.processors[size_t(t.from)].name},
                                            {"to", p.processors[size_t(t.to)].name},
                                            {"bytes", t.bytes},
                                            {"us", t.us}});
  return sent;
}

}  // namespace mete::cli
