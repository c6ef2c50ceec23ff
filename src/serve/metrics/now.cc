#include "serve/metrics/now.h"

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

}  // namespace

std::vector<MetricFamily> FamiliesOf(const ServerFigures& now, const std::string& version) {
  MetricFamily build{
      "mete_build_info", "This program's version.", MetricType::Gauge, {Sample(1, {{"version", version}})}};
  MetricFamily models{"mete_models", "Versions of models by their state.", MetricType::Gauge, {}};
  for (const auto& [state, count] : now.models) models.metric.push_back(Sample(count, {{"state", state}}));
  const ProcessUse& process = now.process;
  return {
      std::move(build),
      std::move(models),
      Family("mete_requests_waiting", "Requests that wait for a slot.", MetricType::Gauge, now.waiting),
      Family("mete_requests_under_way", "Requests that are computed.", MetricType::Gauge, now.under_way),
      Family("process_resident_memory_bytes", "Memory of this process that is in RAM.", MetricType::Gauge,
             double(process.resident_bytes)),
      Family("mete_process_peak_memory_bytes", "The most memory of this process that was in RAM.",
             MetricType::Gauge, double(process.peak_bytes)),
      Family("process_cpu_seconds_total", "CPU time of this process, in the program and in the kernel.",
             MetricType::Counter, process.cpu_s),
  };
}

}  // namespace mete::serve
