// A plan as text: a table with a row for each share, and below it the threads of the steps where a share has
// them. Other texts of a plan are parts of this one.
#include <fmt/ranges.h>

#include "base/units.h"
#include "plan/plan.h"

namespace mete {
namespace {

void AddStepsText(const ThreadPlan& plan, std::string& out) {
  for (const Step& s : plan.steps) {
    out += fmt::format("    {}: {} of {} threads, {}", s.node, s.threads, plan.threads, s.policy);
    if (s.predicted_us > 0)
      out += fmt::format(", blocks {}, {:.1f} us predicted", fmt::join(s.blocks, " + "), s.predicted_us);
    out += fmt::format(" ({})\n", s.reason);
    for (const Rejected& r : s.rejected)
      out += fmt::format("      not {}, {:.1f} us: {}\n", r.choice, r.predicted_us, r.reason);
  }
}

// Returns the time as text; "-" if the plan has no prediction of it.
std::string TimeText(double us) { return us > 0 ? FormatMs(us * 1e-3) : "-"; }

}  // namespace

std::string LayersText(const Plan& plan, const PlannedGroup& group) {
  if (group.first == group.last) return "values move";
  if (group.last - group.first == 1) return plan.layers[size_t(group.first)];
  return fmt::format("{} to {}, {} layers", plan.layers[size_t(group.first)],
                     plan.layers[size_t(group.last) - 1], group.last - group.first);
}

std::string PartText(const Graph& graph, const Share& share, const Placement& placement) {
  const SplitAxis split = placement.split;
  if (split == SplitAxis::kBranches)
    return fmt::format("branches: {} of {} values", share.outputs.size(), placement.owners.size());
  for (const ValuePart& output : share.outputs)
    if (!output.part.all())
      return fmt::format("{} {} to {} of {}", Name(split), output.part.rows.begin, output.part.rows.end,
                         graph.value(output.value).shape[output.part.axis]);
  return "all";
}

std::string Summary(const Plan& plan) {
  std::string text;
  for (const PlannedGroup& group : plan.groups) {
    if (group.first == group.last) continue;  // values move alone
    std::string processors;
    for (const Share& share : group.shares)
      processors += (processors.empty() ? "" : "+") + plan.processors[size_t(share.processor)];
    const bool one = group.last - group.first == 1;
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ",
                        one ? fmt::format("layer {}", group.last)
                            : fmt::format("layers {} to {}", group.first + 1, group.last),
                        processors);
  }
  return text;
}

Rows SharesTable(const Plan& plan, const Graph& graph) {
  Rows rows{{"group", "layers", "processor", "computes", "gets", "ready after", "computing"}};
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const PlannedGroup& group = plan.groups[g];
    for (size_t k = 0; k < group.shares.size(); ++k) {
      const Share& share = group.shares[k];
      rows.push_back({k == 0 ? std::to_string(g + 1) : "", k == 0 ? LayersText(plan, group) : "",
                      plan.processors[size_t(share.processor)], PartText(graph, share, group.placement),
                      share.bytes > 0 ? FormatBytes(share.bytes) : "-",
                      share.bytes > 0 ? TimeText(share.ready_us) : "-", TimeText(share.compute_us)});
    }
  }
  return rows;
}

std::string ToText(const Plan& plan, const Graph& graph) {
  std::string out =
      fmt::format("plan for {} on {}: {}\n", plan.model, fmt::join(plan.processors, ", "), Summary(plan));
  out += FormatTable(SharesTable(plan, graph), {.align = kSharesAlign});
  const bool one = plan.processors.size() == 1;
  for (size_t g = 0; g < plan.groups.size(); ++g)
    for (const Share& share : plan.groups[g].shares) {
      if (!share.threads || (!one && share.threads->threads == 1)) continue;  // one thread has no choice
      if (!one) out += fmt::format("  group {} on {}\n", g + 1, plan.processors[size_t(share.processor)]);
      AddStepsText(*share.threads, out);
    }
  return out;
}

}  // namespace mete
