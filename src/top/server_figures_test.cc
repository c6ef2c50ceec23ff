#include "top/server_figures.h"

#include "base/errors_testing.h"

namespace mete::top {
namespace {

constexpr const char* kText = R"(mete_build_info{version="0.1.0"} 1
mete_requests_total{model="net",version="1",outcome="OK"} 7
mete_requests_total{model="net",version="1",outcome="RESOURCE_EXHAUSTED"} 2
mete_requests_total{model="net",version="1",outcome="DEADLINE_EXCEEDED"} 1
mete_requests_total{model="unknown",version="unknown",outcome="NOT_FOUND"} 5
mete_request_seconds_count{model="net",version="1"} 7
mete_request_seconds_sum{model="net",version="1"} 0.5
mete_request_seconds_bucket{model="net",version="1",le="0.1"} 6
mete_request_seconds_bucket{model="net",version="1",le="+Inf"} 7
mete_request_seconds_bucket{model="new",version="2",le="0.1"} 0
mete_request_seconds_bucket{model="new",version="2",le="+Inf"} 0
mete_step_seconds_sum{model="net",version="1",step="queue"} 0.25
mete_step_seconds_bucket{model="net",version="1",step="queue",le="0.1"} 5
mete_step_seconds_bucket{model="net",version="1",step="queue",le="+Inf"} 5
mete_step_seconds_sum{model="net",version="1",step="compute"} 9
mete_slot_busy_seconds_total{slot="0",processor="cpu:2"} 3.5
mete_processor_busy_seconds_total{processor="gpu:0"} 1.5
mete_processor_memory_bytes{model="net",version="1",processor="gpu:0",kind="weights"} 100
mete_processor_memory_bytes{model="net",version="1",processor="gpu:0",kind="values"} 20
mete_model_requests_waiting{model="net",version="1"} 4
mete_requests_waiting 4
mete_requests_under_way 2
mete_predicted_wait_seconds 0.125
mete_uptime_seconds 60
mete_plan_predicted_seconds{model="net",version="1"} 0.5
mete_plan_measured_seconds{model="net",version="1"} 0.75
mete_plans_total{model="net",version="1"} 3
mete_plan_retries_total{model="net",version="1"} 2
mete_processor_losses_total{model="net",version="1"} 1
process_resident_memory_bytes 1000
mete_process_peak_memory_bytes 2000
process_cpu_seconds_total 12
other_metric 5
)";

Figures Of(const std::string& text) { return ServerFiguresOf(ReadMetrics(text, "server"), "server", 9); }

TEST(ServerFiguresTest, HaveWhatTheMetricsTell) {
  const Figures figures = Of(kText);
  EXPECT_EQ(figures.about, "mete 0.1.0");
  EXPECT_EQ(figures.at_s, 9);
  ASSERT_EQ(figures.models.size(), 3u);
  const ModelFigures& net = figures.models[0];
  EXPECT_EQ(net.name, "net");
  EXPECT_EQ(net.version, "1");
  EXPECT_EQ(net.answered, 7);
  EXPECT_EQ(net.failed, 3);
  EXPECT_EQ(net.latencies->count(), 7);
  EXPECT_EQ(net.latencies->sum_s, 0.5);
  EXPECT_EQ(net.queued->sum_s, 0.25);
  EXPECT_EQ(net.queued->count(), 5);
  EXPECT_EQ(net.waiting, 4);
  EXPECT_EQ(net.predicted_s, 0.5);
  EXPECT_EQ(net.measured_s, 0.75);
  EXPECT_EQ(net.plans, 3);
  EXPECT_EQ(net.retries, 2);
  EXPECT_EQ(net.losses, 1);
  EXPECT_EQ(figures.models[2].name, "(no such model)");
  EXPECT_EQ(figures.models[2].failed, 5);
  EXPECT_EQ(figures.models[1].answered, 0) << "a version without a request has no counter";
  ASSERT_EQ(figures.processors.size(), 2u);
  EXPECT_EQ(figures.processors[0].name, "slot 0, cpu:2");
  EXPECT_EQ(figures.processors[0].busy_s, 3.5);
  EXPECT_EQ(figures.processors[1].busy_s, 1.5);
  EXPECT_EQ(figures.processors[1].memory_bytes, 120);
  EXPECT_EQ(figures.waiting, 4);
  EXPECT_EQ(figures.under_way, 2);
  EXPECT_EQ(figures.predicted_wait_s, 0.125);
  EXPECT_EQ(figures.uptime_s, 60);
  EXPECT_EQ(figures.resident_bytes, 1000);
  EXPECT_EQ(figures.peak_bytes, 2000);
  EXPECT_EQ(figures.cpu_s, 12);
}

TEST(ServerFiguresTest, AreInAnOrderThatStays) {
  const Figures figures =
      Of("mete_build_info 1\n"
         "mete_processor_busy_seconds_total{processor=\"a\"} 1\n"
         "mete_slot_busy_seconds_total{slot=\"10\",processor=\"cpu\"} 1\n"
         "mete_slot_busy_seconds_total{slot=\"9\",processor=\"cpu\"} 1\n"
         "mete_requests_total{model=\"net\",version=\"unknown\",outcome=\"NOT_FOUND\"} 1\n"
         "mete_request_seconds_bucket{model=\"net\",version=\"10\",le=\"+Inf\"} 0\n"
         "mete_request_seconds_bucket{model=\"net\",version=\"9\",le=\"+Inf\"} 0\n");
  ASSERT_EQ(figures.processors.size(), 3u);
  EXPECT_EQ(figures.processors[0].name, "slot 9, cpu");
  EXPECT_EQ(figures.processors[1].name, "slot 10, cpu");
  EXPECT_EQ(figures.processors[2].name, "a");
  ASSERT_EQ(figures.models.size(), 3u);
  EXPECT_EQ(figures.models[0].version, "9");
  EXPECT_EQ(figures.models[1].version, "10");
  EXPECT_EQ(figures.models[2].version, "(refused)");
}

TEST(ServerFiguresTest, LeaveOutWhatIsNoFigure) {
  const Figures figures =
      Of("mete_build_info 1\n"
         "mete_requests_total{model=\"net\",outcome=\"OK\"} NaN\n"
         "mete_requests_waiting -3\n"
         "process_resident_memory_bytes +Inf\n"
         "mete_request_seconds_bucket{model=\"net\",le=\"0.1\"} 9\n"
         "mete_request_seconds_bucket{model=\"net\",le=\"+Inf\"} 7\n");
  EXPECT_FALSE(figures.waiting);
  EXPECT_FALSE(figures.resident_bytes);
  ASSERT_EQ(figures.models.size(), 1u);
  EXPECT_FALSE(figures.models[0].answered);
  EXPECT_FALSE(figures.models[0].latencies) << "counts descend";
}

TEST(ServerFiguresTest, AreOnlyThoseOfMete) {
  EXPECT_TELLS(Of("go_goroutines 7\n"), "[server] tells no figures of mete serve");
}

}  // namespace
}  // namespace mete::top
