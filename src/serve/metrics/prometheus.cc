// Metrics with prometheus-cpp, which no other folder knows.
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <sstream>
#include <utility>

#include "serve/metrics/metrics.h"
#include "serve/metrics/now.h"

namespace mete::serve {
namespace {

const std::string kUnknown = "unknown";

// Upper ends in seconds, three for each power of ten, so that a quantile that is interpolated in one errs by
// a factor of 2.5 at most. From a tenth of a millisecond, which is the server's own work for a request, to
// ten seconds, at which callers have given up: both are guesses.
const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};
// Requests. Powers of two, up to more than pays on any processor that was measured: a guess.
const prometheus::Histogram::BucketBoundaries kBatches = {1, 2, 4, 8, 16, 32, 64};

class PrometheusMetrics : public Metrics {
 public:
  PrometheusMetrics(const std::vector<std::string>& slot_processors, const std::string& version)
      : version_(version),
        requests_(prometheus::BuildCounter()
                      .Name("mete_requests_total")
                      .Help("Requests that were answered or refused, by the name of gRPC's code.")
                      .Register(registry_)),
        busy_(prometheus::BuildCounter()
                  .Name("mete_slot_busy_seconds_total")
                  .Help("Time for which requests, shares of other devices, or loads occupied a slot.")
                  .Register(registry_)),
        processor_busy_(
            prometheus::BuildCounter()
                .Name("mete_processor_busy_seconds_total")
                .Help("Time for which a processor of a pool computed its parts of runs that had all slots.")
                .Register(registry_)),
        whole_(prometheus::BuildHistogram()
                   .Name("mete_request_seconds")
                   .Help("From the arrival of a request to its answer.")
                   .Register(registry_)),
        steps_(prometheus::BuildHistogram()
                   .Name("mete_step_seconds")
                   .Help("Steps of answered requests: queue, decode, scale, compute.")
                   .Register(registry_)),
        batches_(prometheus::BuildHistogram()
                     .Name("mete_batch_requests")
                     .Help("Requests that were computed together.")
                     .Register(registry_)) {
    for (size_t slot = 0; slot < slot_processors.size(); ++slot)
      slots_.push_back(&busy_.Add({{"slot", std::to_string(slot)}, {"processor", slot_processors[slot]}}));
  }

  void AddVersion(const std::string& model, const std::string& version) override {
    const std::lock_guard lock(mutex_);
    ModelSeries& series = models_[model];
    if (!series.batches) series.batches = &batches_.Add({{"model", model}}, kBatches);
    VersionSeries& of_version = series.versions[version];
    if (of_version.whole) return;
    const prometheus::Labels labels{{"model", model}, {"version", version}};
    of_version.whole = &whole_.Add(labels, kSeconds);
    for (const char* step : {"queue", "decode", "scale", "compute"}) {
      prometheus::Labels with_step = labels;
      with_step["step"] = step;
      of_version.steps.push_back(&steps_.Add(with_step, kSeconds));
    }
  }

  void Count(const RequestFigures& request) override {
    const std::lock_guard lock(mutex_);
    const auto found = models_.find(request.model);
    ModelSeries& series = found == models_.end() ? unknown_ : found->second;
    const std::string& version = series.versions.count(request.version) > 0 ? request.version : kUnknown;
    VersionSeries& of_version = series.versions[version];
    prometheus::Counter*& counter = of_version.outcomes[request.code];
    if (!counter)
      counter = &requests_.Add({{"model", found == models_.end() ? kUnknown : request.model},
                                {"version", version},
                                {"outcome", CodeName(request.code)}});
    counter->Increment();
    if (request.code == Code::kOk && of_version.whole) Observe(of_version, request);
  }

  void Count(const StartFigures& start) override {
    const std::lock_guard lock(mutex_);
    const auto model = models_.find(start.model);
    if (model != models_.end()) model->second.batches->Observe(start.requests);
    for (size_t slot = 0; slot < slots_.size(); ++slot)
      if (start.wide || int(slot) == start.slot) slots_[slot]->Increment(start.busy_s);
  }

  void CountProcessor(const std::string& processor, double busy_s) override {
    const std::lock_guard lock(mutex_);
    prometheus::Counter*& counter = processors_[processor];
    if (!counter) counter = &processor_busy_.Add({{"processor", processor}});
    counter->Increment(busy_s);
  }

  std::string Text(const ServerFigures& now) override {
    std::vector<prometheus::MetricFamily> families = registry_.Collect();
    for (prometheus::MetricFamily& family : FamiliesOf(now, version_)) families.push_back(std::move(family));
    std::ostringstream text;
    prometheus::TextSerializer().Serialize(text, families);
    return text.str();
  }

 private:
  struct VersionSeries {
    std::map<Code, prometheus::Counter*> outcomes;
    // a version that is there has them
    prometheus::Histogram* whole = nullptr;
    std::vector<prometheus::Histogram*> steps;
  };
  struct ModelSeries {
    std::map<std::string, VersionSeries> versions;
    prometheus::Histogram* batches = nullptr;  // a model that is there has it
  };

  static void Observe(VersionSeries& series, const RequestFigures& request) {
    series.whole->Observe(request.whole_s);
    const double steps[] = {request.queue_s, request.decode_s, request.scale_s, request.compute_s};
    for (size_t step = 0; step < series.steps.size(); ++step)
      if (steps[step] > 0) series.steps[step]->Observe(steps[step]);
  }

  const std::string version_;
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>&requests_, &busy_, &processor_busy_;
  prometheus::Family<prometheus::Histogram>&whole_, &steps_, &batches_;
  std::vector<prometheus::Counter*> slots_;
  std::mutex mutex_;  // of the maps
  std::map<std::string, ModelSeries> models_;
  std::map<std::string, prometheus::Counter*> processors_;  // of pools
  ModelSeries unknown_;                                     // of requests for models that are not there
};

}  // namespace

std::unique_ptr<Metrics> MakeMetrics(const std::vector<std::string>& slot_processors,
                                     const std::string& version) {
  return std::make_unique<PrometheusMetrics>(slot_processors, version);
}

}  // namespace mete::serve
