#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <set>

#include "base/clock.h"
#include "partition/layers.h"
#include "passes/graphs_testing.h"
#include "profile/pool/pool_profile.h"
#include "run/local_member.h"

namespace mete {
namespace {

constexpr int64_t kAloneNs = 300'000;  // of a share: more than a thread takes to begin the next one
constexpr double kSlowed = 4;

// Who computes in a memory now, and who ever did beside whom.
struct OneMemory {
  std::atomic<int> computing{0};
  std::atomic<bool> any_together{false};
  std::mutex mutex;
  std::multiset<std::string> now{};        // names of those that compute
  std::atomic<bool> one_gpu_twice{false};  // "gpu" beside "gpu:f16"
  int ready = 0;                           // graphs, with their weights
  std::vector<int> ready_before{};         // each that was prepared
  // The first shares of "cpu" and "gpu" wait for each other, which are timed at the same time. Nothing: they
  // are not.
  std::shared_ptr<std::latch> meeting{};
  std::set<std::string> met{};  // who has been there
};

// A processor whose shares take kAloneNs of time, and go on at a part of their speed while another processor
// of the memory computes.
class OnSharedMemory : public Processor {
 public:
  OnSharedMemory(std::string name, OneMemory& memory) : info_{std::move(name), "fake", ""}, memory_(memory) {}

  const ProcessorInfo& info() const override { return info_; }
  std::string WhyNot(const Graph&, const Node&) const override { return ""; }
  std::shared_ptr<Ready> Prepare(const Graph& share) override {
    return std::make_shared<Share>(share, memory_, info_.name);
  }

 private:
  class Share : public Ready {
   public:
    Share(const Graph& graph, OneMemory& memory, std::string name) : memory_(memory), name_(std::move(name)) {
      for (const Node& node : graph.nodes) names_.push_back(node.name);
      const std::lock_guard lock(memory_.mutex);
      memory_.ready_before.push_back(memory_.ready++);
    }
    ~Share() override {
      const std::lock_guard lock(memory_.mutex);
      --memory_.ready;
    }
    void Start(std::span<const ConstView>, std::span<const View>, const RunOptions& options) override {
      Enter();
      ++memory_.computing;
      if (IsToMeet()) memory_.meeting->arrive_and_wait();
      const int64_t start_ns = NowNs();
      int64_t last_ns = start_ns;
      for (double done_ns = 0; done_ns < double(kAloneNs);) {
        const bool together = memory_.computing > 1;
        if (together) memory_.any_together = true;
        const int64_t now_ns = NowNs();
        done_ns += double(now_ns - last_ns) / (together ? kSlowed : 1);
        last_ns = now_ns;
      }
      --memory_.computing;
      Leave();
      if (!options.trace) return;
      const int64_t each_ns = (last_ns - start_ns) / int64_t(std::max<size_t>(1, names_.size()));
      for (const std::string& name : names_) {
        TraceEvent event;
        event.name = name;
        event.end_ns = each_ns;
        options.trace->events.push_back(event);
      }
    }
    void Wait() override {}
    std::vector<Tensor> Run(std::span<const Tensor>, const RunOptions&) override { return {}; }
    int64_t memory_bytes() const override { return 0; }
    int threads() const override { return 1; }
    double prepare_ms() const override { return 0; }

   private:
    void Enter() {
      const std::lock_guard lock(memory_.mutex);
      memory_.now.insert(name_);
      if (memory_.now.contains("gpu") && memory_.now.contains("gpu:f16")) memory_.one_gpu_twice = true;
    }
    bool IsToMeet() {
      const std::lock_guard lock(memory_.mutex);
      return memory_.meeting && name_ != "gpu:f16" && memory_.met.insert(name_).second;
    }
    void Leave() {
      const std::lock_guard lock(memory_.mutex);
      memory_.now.erase(memory_.now.find(name_));
    }

    std::vector<std::string> names_;
    OneMemory& memory_;
    const std::string name_;
  };

  const ProcessorInfo info_;
  OneMemory& memory_;
};

Graph SmallNet() {
  Builder b;
  b.Output(b.Conv(b.Conv(b.Input({1, 8, 16, 16}), 8, 16, 3), 16, 16, 3));
  InferShapes(b.graph);
  return b.graph;
}

PoolProfile Profile(const std::string& memory_name, OneMemory& memory) {
  const auto home = std::make_shared<OnSharedMemory>("cpu", memory);
  LocalMember gpu(std::make_shared<OnSharedMemory>("gpu", memory));
  PoolProfileOptions options;
  options.progress = [](const std::string&, int, int) {};
  options.memory = memory_name;
  return ProfilePool(SmallNet(), {"cpu", "gpu"}, *home, {nullptr, &gpu}, options);
}

TEST(CoRunProfile, HasTimesAloneAndByHowMuchTheOthersSlow) {
  OneMemory memory;
  const PoolProfile profile = Profile("chip", memory);
  EXPECT_TRUE(memory.any_together);
  for (const ProcessorCosts& processor : profile.costs.processors) {
    ASSERT_TRUE(processor.co_run) << processor.name;
    EXPECT_EQ(processor.co_run->memory, "chip");
    EXPECT_GT(processor.co_run->slowed, (1 + kSlowed) / 2) << processor.name;
    EXPECT_EQ(processor.layers.size(), 2u);
  }
  const PoolProfile back = PoolProfileFromJson(ToJson(profile), "file");
  for (size_t p = 0; p < 2; ++p)
    EXPECT_EQ(back.costs.processors[p].co_run, profile.costs.processors[p].co_run);
}

// Of each processor the tiny graph, the model, which is timed beside that of the other one, and two of
// halves.
TEST(CoRunProfile, HasTheWeightsOfOneProcessorAtATimeWhereTheModelsAreNotTimedBesideEachOther) {
  OneMemory memory;
  (void)Profile("chip", memory);
  EXPECT_EQ(memory.ready_before, (std::vector<int>{0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(memory.ready, 0);
}

TEST(CoRunProfile, NeverHasTheSameHardwareComputeTwice) {
  for (const char* name : {"chip", ""}) {
    OneMemory memory;
    // However busy the machine is. With a memory in common they are timed one after the other first.
    if (std::string(name).empty()) memory.meeting = std::make_shared<std::latch>(2);
    const auto home = std::make_shared<OnSharedMemory>("cpu", memory);
    LocalMember gpu(std::make_shared<OnSharedMemory>("gpu", memory)),
        f16(std::make_shared<OnSharedMemory>("gpu:f16", memory));
    PoolProfileOptions options;
    options.progress = [](const std::string&, int, int) {};
    options.memory = name;
    options.units = {"", "here/gpu:0", "here/gpu:0"};
    const PoolProfile profile =
        ProfilePool(SmallNet(), {"cpu", "gpu", "gpu:f16"}, *home, {nullptr, &gpu, &f16}, options);
    EXPECT_TRUE(memory.any_together);
    EXPECT_FALSE(memory.one_gpu_twice);
    for (const ProcessorCosts& processor : profile.costs.processors)
      EXPECT_EQ(processor.co_run.has_value(), std::string(name) == "chip") << processor.name;
  }
}

TEST(CoRunProfile, IsNotMeasuredWhereTimesContainIt) {
  OneMemory memory;
  const PoolProfile profile = Profile("", memory);
  for (const ProcessorCosts& processor : profile.costs.processors) EXPECT_FALSE(processor.co_run);
}

}  // namespace
}  // namespace mete
