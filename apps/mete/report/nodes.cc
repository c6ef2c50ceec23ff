// What a report says of nodes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/parts.h"

namespace mete::cli {
namespace {

// Returns the steps of the only share of a plan for one processor; an empty list if it is another plan.
Json StepsOfPlan(const Json& plan) {
  const Json::json_pointer steps("/groups/0/shares/0/threads/steps");
  return plan.is_object() && plan.contains(steps) ? plan.at(steps) : Json::array();
}

double TimeOf(const Json& node) { return node.value("us", 0.0); }

}  // namespace

void AddNodes(const Json& steps, const Json& plan, Report& report) {
  const Json planned = StepsOfPlan(plan);
  for (size_t i = 0; i < steps.size(); ++i) {
    Json node = steps[i];
    if (i < planned.size() && planned[i].value("node", Json()) == node.value("node", Json()))
      for (const char* key : {"reason", "rejected"})
        if (planned[i].contains(key)) node[key] = planned[i][key];
    report.nodes.push_back(std::move(node));
  }
}

void SayNodes(Report& report) {
  struct Operator {
    double us = 0;
    int nodes = 0;
  };
  std::map<std::string, Operator> by_op;
  double all = 0;
  const Json* longest = nullptr;
  for (const Json& node : report.nodes) {
    const double us = TimeOf(node);
    if (us <= 0) continue;
    Operator& op = by_op[node.value("op", "")];
    op.us += us;
    ++op.nodes;
    all += us;
    if (!longest || us > TimeOf(*longest)) longest = &node;
  }
  if (!longest) return;
  const auto most = std::max_element(by_op.begin(), by_op.end(),
                                     [](const auto& a, const auto& b) { return a.second.us < b.second.us; });
  report.says.push_back(
      fmt::format("{} takes {} of the nodes' time, in {} node{}. The longest node is '{}' with {}, {} of it.",
                  most->first, FormatPercent(most->second.us / all), most->second.nodes,
                  most->second.nodes == 1 ? "" : "s", longest->value("node", ""),
                  FormatMs(TimeOf(*longest) * 1e-3), FormatPercent(TimeOf(*longest) / all)));
}

void CompareNodes(Report& report) {
  double predicted = 0, measured = 0;
  for (const Json& node : report.nodes) {
    if (TimeOf(node) <= 0 || node.value("kernel", "") == "view") continue;
    const double us = node.value("predicted_us", 0.0);
    if (us <= 0) return;
    predicted += us;
    measured += TimeOf(node);
  }
  if (predicted > 0)
    report.compared.push_back(
        {{"what", "all nodes"}, {"predicted_us", predicted}, {"measured_us", measured}});
}

}  // namespace mete::cli
