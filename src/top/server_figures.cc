#include "top/server_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace mete::top {
namespace {

constexpr std::string_view kSlot = "slot ", kUnknown = "unknown";

void Add(std::optional<double>& sum, double value) {
  if (const std::optional<double> usable = Usable(value)) sum = sum.value_or(0) + *usable;
}

// Collects a histogram from its samples, which have the name of its family and an ending.
class HistogramSamples {
 public:
  void AddBucket(const std::string& end, double count) {
    const double upper =
        end == "+Inf" ? std::numeric_limits<double>::infinity() : std::strtod(end.c_str(), nullptr);
    if (!std::isnan(upper)) at_most_[upper] = count;
  }
  void AddSum(double sum) { sum_s_ = sum; }

  std::optional<Latencies> Made() const {
    Latencies latencies;
    for (const auto& [upper_s, count] : at_most_) {
      latencies.upper_s.push_back(upper_s);
      latencies.at_most.push_back(count);
    }
    latencies.sum_s = sum_s_;
    return IsWhole(latencies) ? std::optional(std::move(latencies)) : std::nullopt;
  }

 private:
  std::map<double, double> at_most_;
  double sum_s_ = 0;
};

// The versions, in the order in which they are named first.
class Reader {
 public:
  void Read(const MetricSample& sample) {
    if (sample.name.starts_with("mete_request_seconds_")) return ReadHistogram(sample, latencies_);
    if (sample.name.starts_with("mete_step_seconds_") && sample.Label("step") == "queue")
      return ReadHistogram(sample, queued_);
    if (ReadOfModel(sample) || ReadOfProcessor(sample)) return;
    if (sample.name == "mete_build_info") {
      figures_.about = "mete " + sample.Label("version");
      is_mete_ = true;
    }
    for (const auto& [name, member] : kNow)
      if (sample.name == name) figures_.*member = Usable(sample.value);
  }

  Figures Made() {
    for (const auto& [key, samples] : latencies_) ModelAt(key).latencies = samples.Made();
    for (const auto& [key, samples] : queued_) ModelAt(key).queued = samples.Made();
    return std::move(figures_);
  }
  bool is_mete() const { return is_mete_; }

 private:
  using Key = std::pair<std::string, std::string>;  // model and version
  using Histograms = std::map<Key, HistogramSamples>;

  static constexpr std::pair<std::string_view, std::optional<double> Figures::*> kNow[] = {
      {"mete_requests_waiting", &Figures::waiting},
      {"mete_requests_under_way", &Figures::under_way},
      {"mete_predicted_wait_seconds", &Figures::predicted_wait_s},
      {"mete_uptime_seconds", &Figures::uptime_s},
      {"process_resident_memory_bytes", &Figures::resident_bytes},
      {"mete_process_peak_memory_bytes", &Figures::peak_bytes},
      {"process_cpu_seconds_total", &Figures::cpu_s}};
  static constexpr std::pair<std::string_view, std::optional<double> ModelFigures::*> kOfModel[] = {
      {"mete_model_requests_waiting", &ModelFigures::waiting},
      {"mete_plan_predicted_seconds", &ModelFigures::predicted_s},
      {"mete_plan_measured_seconds", &ModelFigures::measured_s},
      {"mete_plans_total", &ModelFigures::plans},
      {"mete_plan_retries_total", &ModelFigures::retries},
      {"mete_processor_losses_total", &ModelFigures::losses}};

  static Key KeyOf(const MetricSample& sample) { return {sample.Label("model"), sample.Label("version")}; }

  static void ReadHistogram(const MetricSample& sample, Histograms& histograms) {
    HistogramSamples& histogram = histograms[KeyOf(sample)];
    if (sample.name.ends_with("_bucket")) histogram.AddBucket(sample.Label("le"), sample.value);
    if (sample.name.ends_with("_sum")) histogram.AddSum(sample.value);
  }

  bool ReadOfModel(const MetricSample& sample) {
    if (sample.name == "mete_requests_total") {
      ModelFigures& model = ModelAt(KeyOf(sample));
      Add(sample.Label("outcome") == "OK" ? model.answered : model.failed, sample.value);
      return true;
    }
    for (const auto& [name, member] : kOfModel)
      if (sample.name == name) {
        ModelAt(KeyOf(sample)).*member = Usable(sample.value);
        return true;
      }
    return false;
  }

  bool ReadOfProcessor(const MetricSample& sample) {
    const std::string& processor = sample.Label("processor");
    if (sample.name == "mete_slot_busy_seconds_total")
      ProcessorAt(std::string(kSlot) + sample.Label("slot") + ", " + processor).busy_s = Usable(sample.value);
    else if (sample.name == "mete_processor_busy_seconds_total")
      ProcessorAt(processor).busy_s = Usable(sample.value);
    else if (sample.name == "mete_processor_memory_bytes")
      Add(ProcessorAt(processor).memory_bytes, sample.value);
    else return false;
    return true;
  }

  ModelFigures& ModelAt(const Key& key) {
    const auto [at, is_new] = models_.emplace(key, figures_.models.size());
    if (is_new) figures_.models.push_back({.name = key.first, .version = key.second});
    return figures_.models[at->second];
  }
  ProcessorFigures& ProcessorAt(const std::string& name) {
    const auto [at, is_new] = processors_.emplace(name, figures_.processors.size());
    if (is_new) figures_.processors.push_back({.name = name});
    return figures_.processors[at->second];
  }

  Figures figures_;
  bool is_mete_ = false;
  std::map<Key, size_t> models_;
  std::map<std::string, size_t> processors_;
  Histograms latencies_, queued_;
};

// The server tells its figures in any order: versions come by their names, those that are not there last, and
// slots by their numbers before the processors of pools.
void PutInOrder(Figures& figures) {
  std::sort(figures.models.begin(), figures.models.end(), [](const ModelFigures& a, const ModelFigures& b) {
    return std::tuple(!a.latencies, a.name, a.version.size(), a.version) <
           std::tuple(!b.latencies, b.name, b.version.size(), b.version);
  });
  const auto key = [](const ProcessorFigures& p) {
    const bool is_slot = p.name.starts_with(kSlot);
    const size_t digits = is_slot ? p.name.find(',') : 0;  // a longer number is greater
    return std::tuple(!is_slot, digits, p.name);
  };
  std::sort(figures.processors.begin(), figures.processors.end(),
            [&](const ProcessorFigures& a, const ProcessorFigures& b) { return key(a) < key(b); });
}

// Requests for models that are not there are counted under "unknown" (serve/metrics), and so are those that
// were refused before they had a version.
void NameAndCount(ModelFigures& model) {
  if (!model.latencies) {
    if (model.version == kUnknown) model.version = model.name == kUnknown ? "" : "(refused)";
    if (model.name == kUnknown) model.name = "(no such model)";
    return;
  }
  // an outcome that no request had has no counter yet
  model.answered = model.answered.value_or(0);
  model.failed = model.failed.value_or(0);
}

}  // namespace

Figures ServerFiguresOf(const std::vector<MetricSample>& samples, const std::string& source, double at_s) {
  Reader reader;
  for (const MetricSample& sample : samples) reader.Read(sample);
  if (!reader.is_mete())
    Fail(Code::kDataLoss, source,
         "tells no figures of mete serve; got metrics without mete_build_info; try the address of a mete "
         "serve");
  Figures figures = reader.Made();
  figures.source = source;
  figures.at_s = at_s;
  PutInOrder(figures);
  for (ModelFigures& model : figures.models) NameAndCount(model);
  return figures;
}

}  // namespace mete::top
