#include "serve/metrics/now.h"

#include <iterator>
#include <utility>

namespace mete::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

ClientMetric Sample(double value, std::vector<ClientMetric::Label> labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  // The serializer reads the member of the family's type.
  metric.gauge.value = value;
  metric.counter.value = value;
  return metric;
}

MetricFamily Family(const char* name, const char* help, MetricType type, double value) {
  return {name, help, type, {Sample(value)}};
}

std::vector<ClientMetric::Label> LabelsOf(const VersionFigures& loaded) {
  return {{"model", loaded.model}, {"version", loaded.version}};
}

// The plans of versions that several processors compute, a family for each figure; none if no version has
// one.
class PlanFamilies {
 public:
  void Add(const VersionFigures& loaded) {
    const PlanFigures& plan = *loaded.plan;
    const double figures[] = {plan.predicted_s, plan.measured_s, double(plan.plans), double(plan.retries),
                              double(plan.losses)};
    for (size_t i = 0; i < std::size(figures); ++i)
      families_[i].metric.push_back(Sample(figures[i], LabelsOf(loaded)));
    for (const PartFigures& part : plan.parts) AddPart(loaded, part);
  }

  void MoveTo(std::vector<MetricFamily>& all) {
    for (MetricFamily& family : families_)
      if (!family.metric.empty()) all.push_back(std::move(family));
  }

 private:
  void AddPart(const VersionFigures& loaded, const PartFigures& part) {
    std::vector<ClientMetric::Label> labels = LabelsOf(loaded);
    labels.push_back({"processor", part.processor});
    families_[5].metric.push_back(Sample(part.predicted_s, labels));
    labels.push_back({"kind", ""});
    for (const auto& [kind, bytes] :
         {std::pair{"weights", part.weights_bytes}, {"values", part.values_bytes}}) {
      labels.back().value = kind;
      families_[6].metric.push_back(Sample(double(bytes), labels));
    }
  }

  MetricFamily families_[7] = {
      {"mete_plan_predicted_seconds",
       "Time of a request by the plan in use, as predicted.",
       MetricType::Gauge,
       {}},
      {"mete_plan_measured_seconds",
       "Usual time of a request by the plan in use; 0: not yet known.",
       MetricType::Gauge,
       {}},
      {"mete_plans_total", "Plans that were in use, one after the other.", MetricType::Counter, {}},
      {"mete_plan_retries_total",
       "Requests that the home computed again because a processor failed.",
       MetricType::Counter,
       {}},
      {"mete_processor_losses_total", "Losses of processors.", MetricType::Counter, {}},
      {"mete_processor_predicted_seconds",
       "What a processor computes of a request by the plan in use, as predicted.",
       MetricType::Gauge,
       {}},
      {"mete_processor_memory_bytes",
       "Memory of a processor for a model in this process: weights, values.",
       MetricType::Gauge,
       {}}};
};

}  // namespace

std::vector<MetricFamily> FamiliesOf(const ServerFigures& now, const std::string& version) {
  MetricFamily build{
      "mete_build_info", "This program's version.", MetricType::Gauge, {Sample(1, {{"version", version}})}};
  MetricFamily models{"mete_models", "Versions of models by their state.", MetricType::Gauge, {}};
  for (const auto& [state, count] : now.models) models.metric.push_back(Sample(count, {{"state", state}}));
  MetricFamily waiting{
      "mete_model_requests_waiting", "Requests for a model that wait for a slot.", MetricType::Gauge, {}};
  PlanFamilies plans;
  for (const VersionFigures& loaded : now.loaded) {
    waiting.metric.push_back(Sample(loaded.waiting, LabelsOf(loaded)));
    if (loaded.plan) plans.Add(loaded);
  }
  const ProcessUse& process = now.process;
  std::vector<MetricFamily> families{
      std::move(build),
      std::move(models),
      Family("mete_requests_waiting", "Requests that wait for a slot.", MetricType::Gauge, now.waiting),
      Family("mete_requests_under_way", "Requests that are computed.", MetricType::Gauge, now.under_way),
      std::move(waiting),
      Family("mete_predicted_wait_seconds", "How long a request that came now would wait.", MetricType::Gauge,
             now.predicted_wait_s),
      Family("mete_uptime_seconds", "Time since the start of the server.", MetricType::Gauge, now.uptime_s),
      Family("process_resident_memory_bytes", "Memory of this process that is in RAM.", MetricType::Gauge,
             double(process.resident_bytes)),
      Family("mete_process_peak_memory_bytes", "The most memory of this process that was in RAM.",
             MetricType::Gauge, double(process.peak_bytes)),
      Family("process_cpu_seconds_total", "CPU time of this process, in the program and in the kernel.",
             MetricType::Counter, process.cpu_s),
  };
  plans.MoveTo(families);
  return families;
}

}  // namespace mete::serve
