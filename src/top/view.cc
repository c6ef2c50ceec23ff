#include "top/view.h"

#include <algorithm>
#include <cmath>

namespace mete::top {
namespace {

// Two polls, or one: then nothing is a rate.
struct Polls {
  const Figures* before;
  const Figures& now;

  double interval_s() const { return before ? std::max(0.0, now.at_s - before->at_s) : 0; }
};

// How much a counter grew. Nothing: it is not known, or began anew.
std::optional<double> Growth(std::optional<double> before, std::optional<double> now) {
  if (!before || !now || *now < *before) return {};
  return *now - *before;
}

std::optional<double> Rate(std::optional<double> growth, double interval_s) {
  if (!growth || !(interval_s > 0)) return {};
  return *growth / interval_s;
}

const ModelFigures* Find(const Figures* figures, const ModelFigures& like) {
  if (!figures) return nullptr;
  const auto found = std::find_if(figures->models.begin(), figures->models.end(), [&](const ModelFigures& m) {
    return m.name == like.name && m.version == like.version;
  });
  return found == figures->models.end() ? nullptr : &*found;
}

const ProcessorFigures* Find(const Figures* figures, const ProcessorFigures& like) {
  if (!figures) return nullptr;
  const auto found = std::find_if(figures->processors.begin(), figures->processors.end(),
                                  [&](const ProcessorFigures& p) { return p.name == like.name; });
  return found == figures->processors.end() ? nullptr : &*found;
}

// A version that was not there before has counted from 0; a source that answers for the first time has not.
ModelRow RowOf(const Polls& polls, const ModelFigures& now) {
  ModelRow row;
  row.name = now.version.empty() ? now.name : now.name + " " + now.version;
  row.failed = now.failed;
  row.waiting = now.waiting;
  row.predicted_s = now.predicted_s;
  row.measured_s = now.measured_s;
  row.plans = now.plans;
  row.retries = now.retries;
  row.losses = now.losses;
  const ModelFigures* before = Find(polls.before, now);
  if (!polls.before) return row;
  const auto was = [&](std::optional<double> ModelFigures::*counter) {
    return before && before->*counter ? before->*counter : std::optional(0.0);
  };
  row.requests_per_s = Rate(Growth(was(&ModelFigures::answered), now.answered), polls.interval_s());
  row.failed_per_s = Rate(Growth(was(&ModelFigures::failed), now.failed.value_or(0)), polls.interval_s());
  const auto between = [&](const std::optional<Latencies>& of_before,
                           const std::optional<Latencies>& of_now) {
    if (!of_now) return std::optional<Latencies>();
    return of_before ? Between(*of_before, *of_now) : of_now;
  };
  if (const auto times = between(before ? before->latencies : std::nullopt, now.latencies)) {
    row.median = QuantileOf(*times, 0.5);
    row.high = QuantileOf(*times, kHighQuantile);
  }
  if (const auto times = between(before ? before->queued : std::nullopt, now.queued))
    row.queued_s = MeanOf(*times);
  return row;
}

ProcessorRow RowOf(const Polls& polls, const ProcessorFigures& now, std::optional<double> requests) {
  ProcessorRow row{.name = now.name,
                   .waiting = now.waiting,
                   .predicted_s = now.predicted_s,
                   .memory_bytes = now.memory_bytes};
  const ProcessorFigures* before = Find(polls.before, now);
  // as a version, it has counted from 0 if it was not there before
  const std::optional<double> was = before         ? before->busy_s
                                    : polls.before ? std::optional(0.0)
                                                   : std::nullopt;
  const std::optional<double> busy_s = Growth(was, now.busy_s);
  // Work counts when it ends, so that an interval may end more than there is time in it.
  if (const auto busy = Rate(busy_s, polls.interval_s())) row.busy = std::min(*busy, 1.0);
  if (row.predicted_s && busy_s && requests && *requests > 0) row.measured_s = *busy_s / *requests;
  return row;
}

// The requests that were answered between the polls, of all models. Nothing: a counter is not known.
std::optional<double> AnsweredBetween(const Polls& polls) {
  std::optional<double> all = polls.before && !polls.now.models.empty() ? std::optional(0.0) : std::nullopt;
  for (const ModelFigures& now : polls.now.models) {
    const ModelFigures* before = Find(polls.before, now);
    const auto growth = Growth(before ? before->answered : std::optional(0.0), now.answered);
    all = all && growth ? std::optional(*all + *growth) : std::nullopt;
  }
  return all;
}

View ViewOf(const Polls& polls) {
  const Figures& now = polls.now;
  View view{.source = now.source,
            .about = now.about,
            .interval_s = polls.interval_s(),
            .uptime_s = now.uptime_s,
            .waiting = now.waiting,
            .under_way = now.under_way,
            .predicted_wait_s = now.predicted_wait_s,
            .callers = now.callers,
            .resident_bytes = now.resident_bytes,
            .peak_bytes = now.peak_bytes,
            .memory = now.memory,
            .cpu_cores = Rate(Growth(polls.before ? polls.before->cpu_s : std::nullopt, now.cpu_s),
                              polls.interval_s()),
            .plan = now.plan,
            .events = now.events};
  for (const ModelFigures& model : now.models) view.models.push_back(RowOf(polls, model));
  const std::optional<double> requests = AnsweredBetween(polls);
  for (const ProcessorFigures& processor : now.processors)
    view.processors.push_back(RowOf(polls, processor, requests));
  return view;
}

}  // namespace

std::optional<double> ModelRow::drift() const {
  if (!predicted_s || !measured_s || !(*predicted_s > 0) || !(*measured_s > 0)) return {};
  return *measured_s / *predicted_s - 1;
}

View Compare(const Figures& before, const Figures& now) { return ViewOf({&before, now}); }
View FirstView(const Figures& now) { return ViewOf({nullptr, now}); }

}  // namespace mete::top
