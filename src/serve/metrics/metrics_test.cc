#include "serve/metrics/metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>
#include <thread>

namespace mete::serve {
namespace {

// The text format of Prometheus, read back: samples by "name{labels}" with their labels sorted, and the type
// of each family.
struct Parsed {
  std::map<std::string, double> samples;
  std::map<std::string, std::string> types, helps;

  std::optional<double> Of(const std::string& sample) const {
    const auto found = samples.find(sample);
    return found == samples.end() ? std::nullopt : std::optional(found->second);
  }
};

// `labels` without braces: a="b",c="d". Values have no commas in these tests.
std::string Sorted(const std::string& labels) {
  std::map<std::string, std::string> sorted;
  std::istringstream in(labels);
  for (std::string label; std::getline(in, label, ',');) sorted[label.substr(0, label.find('='))] = label;
  std::string text;
  for (const auto& [name, label] : sorted) text += (text.empty() ? "" : ",") + label;
  return text;
}

Parsed Parse(const std::string& text) {
  Parsed parsed;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string hash, kind, name, rest;
    if (line.starts_with("# ")) {
      words >> hash >> kind >> name >> std::ws;
      std::getline(words, rest);
      EXPECT_TRUE((kind == "TYPE" ? parsed.types : parsed.helps).emplace(name, rest).second) << line;
      continue;
    }
    const size_t space = line.rfind(' '), brace = line.find('{');
    EXPECT_NE(space, std::string::npos) << line;
    std::string sample = line.substr(0, space);
    if (brace != std::string::npos)
      sample = line.substr(0, brace) + "{" + Sorted(line.substr(brace + 1, space - brace - 2)) + "}";
    EXPECT_TRUE(parsed.samples.emplace(sample, std::stod(line.substr(space + 1))).second)
        << "twice: " << line;
  }
  return parsed;
}

std::unique_ptr<Metrics> TwoSlots() {
  auto metrics = MakeMetrics({"cpu0", "cpu1"}, "1.2.3");
  metrics->AddVersion("net", "1");
  metrics->AddVersion("net", "2");
  return metrics;
}

TEST(MetricsTest, CountsRequestsByModelVersionAndOutcome) {
  const auto metrics = TwoSlots();
  metrics->Count(RequestFigures{.model = "net", .version = "1"});
  metrics->Count(RequestFigures{.model = "net", .version = "1"});
  metrics->Count(RequestFigures{.model = "net", .version = "2"});
  metrics->Count(RequestFigures{.model = "net", .version = "2", .code = Code::kResourceExhausted});
  const Parsed parsed = Parse(metrics->Text({}));
  EXPECT_EQ(parsed.Of(R"(mete_requests_total{model="net",outcome="OK",version="1"})"), 2);
  EXPECT_EQ(parsed.Of(R"(mete_requests_total{model="net",outcome="OK",version="2"})"), 1);
  EXPECT_EQ(parsed.Of(R"(mete_requests_total{model="net",outcome="RESOURCE_EXHAUSTED",version="2"})"), 1);
}

TEST(MetricsTest, TextsOfCallersAreNoLabels) {
  const auto metrics = TwoSlots();
  const size_t before = Parse(metrics->Text({})).samples.size();
  for (int i = 0; i < 1000; ++i) {
    const std::string text = "made up \"\n" + std::to_string(i);
    metrics->Count(RequestFigures{.model = text, .version = text, .code = Code::kNotFound});
    metrics->Count(RequestFigures{.model = "net", .version = text, .code = Code::kNotFound});
    metrics->Count(StartFigures{.model = text});
  }
  const Parsed parsed = Parse(metrics->Text({}));
  EXPECT_EQ(parsed.Of(R"(mete_requests_total{model="unknown",outcome="NOT_FOUND",version="unknown"})"), 1000);
  EXPECT_EQ(parsed.Of(R"(mete_requests_total{model="net",outcome="NOT_FOUND",version="unknown"})"), 1000);
  EXPECT_EQ(parsed.samples.size(), before + 2);
}

TEST(MetricsTest, HistogramsHaveTheStepsThatAnAnsweredRequestHad) {
  const auto metrics = TwoSlots();
  metrics->Count(RequestFigures{
      .model = "net", .version = "1", .queue_s = 0.0003, .compute_s = 0.003, .whole_s = 0.004});
  metrics->Count(RequestFigures{.model = "net",
                                .version = "1",
                                .queue_s = 0.0007,
                                .decode_s = 0.06,
                                .scale_s = 0.015,
                                .compute_s = 100,
                                .whole_s = 101});
  metrics->Count(RequestFigures{
      .model = "net", .version = "1", .code = Code::kDeadlineExceeded, .queue_s = 5, .whole_s = 5});
  const Parsed parsed = Parse(metrics->Text({}));
  EXPECT_EQ(parsed.Of(R"(mete_request_seconds_count{model="net",version="1"})"), 2);
  EXPECT_NEAR(*parsed.Of(R"(mete_request_seconds_sum{model="net",version="1"})"), 101.004, 1e-9);
  EXPECT_EQ(parsed.Of(R"(mete_request_seconds_count{model="net",version="2"})"), 0);
  EXPECT_EQ(parsed.Of(R"(mete_step_seconds_count{model="net",step="queue",version="1"})"), 2);
  EXPECT_EQ(parsed.Of(R"(mete_step_seconds_count{model="net",step="decode",version="1"})"), 1);
  EXPECT_EQ(parsed.Of(R"(mete_step_seconds_count{model="net",step="scale",version="1"})"), 1);
  EXPECT_EQ(parsed.Of(R"(mete_step_seconds_bucket{le="0.0002",model="net",step="queue",version="1"})"), 0);
  EXPECT_EQ(parsed.Of(R"(mete_step_seconds_bucket{le="0.0005",model="net",step="queue",version="1"})"), 1);
  EXPECT_EQ(parsed.Of(R"(mete_step_seconds_bucket{le="0.001",model="net",step="queue",version="1"})"), 2);
  EXPECT_EQ(parsed.Of(R"(mete_step_seconds_bucket{le="10",model="net",step="compute",version="1"})"), 1);
  EXPECT_EQ(parsed.Of(R"(mete_step_seconds_bucket{le="+Inf",model="net",step="compute",version="1"})"), 2);
}

TEST(MetricsTest, StartsOccupySlotsOfProcessors) {
  const auto metrics = TwoSlots();
  metrics->Count(StartFigures{.model = "net", .requests = 3, .slot = 1, .busy_s = 0.5});
  metrics->Count(StartFigures{.model = "net", .requests = 1, .wide = true, .busy_s = 0.25});
  const Parsed parsed = Parse(metrics->Text({}));
  EXPECT_EQ(parsed.Of(R"(mete_slot_busy_seconds_total{processor="cpu0",slot="0"})"), 0.25);
  EXPECT_EQ(parsed.Of(R"(mete_slot_busy_seconds_total{processor="cpu1",slot="1"})"), 0.75);
  EXPECT_EQ(parsed.Of(R"(mete_batch_requests_bucket{le="1",model="net"})"), 1);
  EXPECT_EQ(parsed.Of(R"(mete_batch_requests_bucket{le="2",model="net"})"), 1);
  EXPECT_EQ(parsed.Of(R"(mete_batch_requests_bucket{le="4",model="net"})"), 2);
  EXPECT_EQ(parsed.Of(R"(mete_batch_requests_sum{model="net"})"), 4);
}

TEST(MetricsTest, CountsWhatProcessorsOfPoolsCompute) {
  const auto metrics = TwoSlots();
  metrics->CountProcessor("cpu:0", 0.5);
  metrics->CountProcessor("gpu:0", 0);
  metrics->CountProcessor("cpu:0", 0.25);
  const Parsed parsed = Parse(metrics->Text({}));
  EXPECT_EQ(parsed.Of(R"(mete_processor_busy_seconds_total{processor="cpu:0"})"), 0.75);
  EXPECT_EQ(parsed.Of(R"(mete_processor_busy_seconds_total{processor="gpu:0"})"), 0);
  EXPECT_EQ(parsed.Of(R"(mete_slot_busy_seconds_total{processor="cpu0",slot="0"})"), 0);
}

TEST(MetricsTest, TellsWhatIsNow) {
  const auto metrics = TwoSlots();
  const Parsed parsed = Parse(metrics->Text({.waiting = 3,
                                             .under_way = 2,
                                             .models = {{"READY", 4}, {"UNAVAILABLE", 1}},
                                             .process = {int64_t(5) << 30, int64_t(6) << 30, 1.5}}));
  EXPECT_EQ(parsed.Of("mete_requests_waiting"), 3);
  EXPECT_EQ(parsed.Of("mete_requests_under_way"), 2);
  EXPECT_EQ(parsed.Of(R"(mete_models{state="READY"})"), 4);
  EXPECT_EQ(parsed.Of(R"(mete_models{state="UNAVAILABLE"})"), 1);
  EXPECT_EQ(parsed.Of("process_resident_memory_bytes"), 5.0 * (1 << 30));
  EXPECT_EQ(parsed.Of("mete_process_peak_memory_bytes"), 6.0 * (1 << 30));
  EXPECT_EQ(parsed.Of("process_cpu_seconds_total"), 1.5);
  EXPECT_EQ(parsed.Of(R"(mete_build_info{version="1.2.3"})"), 1);
}

TEST(MetricsTest, TellsTheQueueOfEachVersionAndHowLongItIs) {
  const auto metrics = TwoSlots();
  ServerFigures now{.predicted_wait_s = 0.25, .uptime_s = 60};
  now.loaded = {{.model = "net", .version = "1", .waiting = 3}, {.model = "net", .version = "2"}};
  const Parsed parsed = Parse(metrics->Text(now));
  EXPECT_EQ(parsed.Of(R"(mete_model_requests_waiting{model="net",version="1"})"), 3);
  EXPECT_EQ(parsed.Of(R"(mete_model_requests_waiting{model="net",version="2"})"), 0);
  EXPECT_EQ(parsed.Of("mete_predicted_wait_seconds"), 0.25);
  EXPECT_EQ(parsed.Of("mete_uptime_seconds"), 60);
  EXPECT_EQ(parsed.types.count("mete_plans_total"), 0u) << "no version is on several processors";
}

TEST(MetricsTest, TellsPlansBesideWhatWasMeasured) {
  const auto metrics = TwoSlots();
  const PlanFigures plan{.predicted_s = 0.5,
                         .measured_s = 0.75,
                         .plans = 2,
                         .retries = 4,
                         .losses = 1,
                         .parts = {{"cpu:0", 0.25, 100, 200}, {"gpu:0", 0.125, 300, 400}}};
  ServerFigures now;
  now.loaded = {{.model = "net", .version = "1", .plan = plan}, {.model = "other", .version = "1"}};
  const Parsed parsed = Parse(metrics->Text(now));
  EXPECT_EQ(parsed.Of(R"(mete_plan_predicted_seconds{model="net",version="1"})"), 0.5);
  EXPECT_EQ(parsed.Of(R"(mete_plan_measured_seconds{model="net",version="1"})"), 0.75);
  EXPECT_EQ(parsed.Of(R"(mete_plans_total{model="net",version="1"})"), 2);
  EXPECT_EQ(parsed.Of(R"(mete_plan_retries_total{model="net",version="1"})"), 4);
  EXPECT_EQ(parsed.Of(R"(mete_processor_losses_total{model="net",version="1"})"), 1);
  EXPECT_EQ(parsed.Of(R"(mete_processor_predicted_seconds{model="net",processor="gpu:0",version="1"})"),
            0.125);
  EXPECT_EQ(
      parsed.Of(R"(mete_processor_memory_bytes{kind="weights",model="net",processor="cpu:0",version="1"})"),
      100);
  EXPECT_EQ(
      parsed.Of(R"(mete_processor_memory_bytes{kind="values",model="net",processor="gpu:0",version="1"})"),
      400);
  EXPECT_FALSE(parsed.Of(R"(mete_plans_total{model="other",version="1"})"));
}

TEST(MetricsTest, EveryFamilyHasHelpAndATypeAndCountersAreCalledTotal) {
  const auto metrics = TwoSlots();
  metrics->Count(RequestFigures{.model = "net", .version = "1", .queue_s = 1, .whole_s = 1});
  const Parsed parsed = Parse(metrics->Text({.models = {{"READY", 1}}}));
  EXPECT_EQ(parsed.types.size(), parsed.helps.size());
  for (const auto& [name, type] : parsed.types) {
    EXPECT_FALSE(parsed.helps.at(name).empty()) << name;
    EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
  }
  for (const auto& [sample, value] : parsed.samples) {
    std::string family = sample.substr(0, sample.find('{'));
    for (const char* part : {"_bucket", "_count", "_sum"})
      if (family.ends_with(part)) family.resize(family.size() - std::string(part).size());
    EXPECT_EQ(parsed.types.count(family), 1u) << sample;
  }
}

TEST(MetricsTest, ThreadsCountAtOnce) {
  const auto metrics = TwoSlots();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        metrics->Count(RequestFigures{.model = "net", .version = "1", .whole_s = 0.001});
        metrics->Count(StartFigures{.model = "net", .busy_s = 0.5});
        if (i % 100 == 0) {
          metrics->AddVersion("net", std::to_string(i));
          metrics->Text({});
        }
      }
    });
  threads.clear();
  const Parsed parsed = Parse(metrics->Text({}));
  EXPECT_EQ(parsed.Of(R"(mete_requests_total{model="net",outcome="OK",version="1"})"), 2000);
  EXPECT_EQ(parsed.Of(R"(mete_request_seconds_count{model="net",version="1"})"), 2000);
  EXPECT_EQ(parsed.Of(R"(mete_slot_busy_seconds_total{processor="cpu0",slot="0"})"), 1000);
}

}  // namespace
}  // namespace mete::serve
