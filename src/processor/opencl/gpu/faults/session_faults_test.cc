// A session of a CPU and a GPU whose driver fails: every answer comes and is right, the notes say why the CPU
// gave it, and the GPU serves again when its driver does.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/clock_testing.h"
#include "base/temp_path_testing.h"
#include "passes/graphs_testing.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/api/loaded/faults_testing.h"
#include "processor/opencl/gpu/gpu_processor.h"
#include "processor/opencl/share/compare_testing.h"
#include "run/local_member.h"
#include "run/pool_session.h"

namespace mete::opencl {
namespace {

using std::chrono::milliseconds;

Graph TwoConvolutions() {
  Builder b;
  const ValueId x = b.Op("Relu", {b.Conv(b.Input({1, 4, 10, 10}), 4, 32, 3, {1, 1, 1, 1})});
  b.Output(b.Conv(x, 32, 32, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  return b.graph;
}

class SessionWithGpu : public WithDevice {
 protected:
  void SetUp() override {
    Faults::Clear();
    WithDevice::SetUp();
    if (IsSkipped()) return;
    inputs = RandomInputs(graph, 1);
    const std::vector<Tensor> values = EvaluateAll(graph, inputs);
    expected = {values[size_t(graph.outputs[0])]};
    for (const Node& node : graph.nodes)
      tolerance += ToleranceOfNode(TermsOf(graph, node), LargestOf(values)).f32;
  }
  void TearDown() override {
    session.reset();
    Faults::Clear();
  }

  // Costs are made up: both are alike, and pieces cost next to nothing, so that both have a part.
  void Open() {
    PoolCosts costs;
    std::vector<std::unique_ptr<Member>> members(2);
    for (const char* name : {"cpu", "gpu"}) {
      costs.processors.push_back({name, {1, 1, 1e5, 1e5}, {}});
      costs.processors.back().layers.assign(LayersOf(graph).size(), {1000, 0});
    }
    members[1] = std::make_unique<LocalMember>(std::make_shared<GpuProcessor>(
        "gpu", WithFaults(device()), ProbeFacts(),
        GpuProcessorOptions{.kernels_folder = folder.str(), .clock = gpu_clock}));
    PoolSessionOptions options;
    options.trial = options.remake = false;
    options.deploy.clock = &clock;
    options.deadline_ms = 300;
    options.tell = [this](const std::string& note) {
      const std::lock_guard lock(mutex);
      notes += note + "\n";
    };
    session = std::make_unique<PoolSession>(graph, costs, std::make_shared<Cpu>("cpu", ReferenceOptions()),
                                            std::move(members), options);
  }
  void OpenAndServe() {
    Open();
    session->AwaitFirstPlan();
    ASSERT_FALSE(Answer().alone) << Notes();
  }

  // The GPU cannot prepare its share: the notes say so, and why.
  void ExpectAnswersUnprepared(const std::string& what, const std::string& why) {
    Open();
    session->AwaitFirstPlan();
    EXPECT_TRUE(Answer().alone);
    ExpectNote(what);
    ExpectNote(why);
    EXPECT_EQ(Notes().find("kernels of gpu are built"), std::string::npos) << Notes();
  }

  // Computes a request, and expects the answer.
  RequestReport Answer() {
    RequestReport report;
    ExpectNear(expected, session->Run(inputs, &report), tolerance);
    ++requests;
    return report;
  }
  // The same while a command of the GPU hangs, and time passes.
  RequestReport AnswerWhileItHangs() {
    Faults::Now().events_hang = true;
    std::atomic<bool> done = false;
    std::jthread time([&] {
      while (!done) {
        clock.Advance(milliseconds(10));
        gpu_clock.Advance(milliseconds(10));
        std::this_thread::yield();
      }
    });
    const RequestReport report = Answer();
    done = true;
    return report;
  }
  // Goes on with requests until the GPU has a part in one. Time passes slowly, as kernels may be compiled.
  void AwaitGpu(milliseconds request = milliseconds(1)) {
    while (Answer().alone) {
      clock.Advance(request);
      std::this_thread::yield();
    }
  }

  void ExpectNote(const std::string& part) { EXPECT_NE(Notes().find(part), std::string::npos) << Notes(); }
  std::string Notes() {
    const std::lock_guard lock(mutex);
    return notes;
  }

  const Graph graph = TwoConvolutions();
  std::vector<Tensor> inputs, expected;
  double tolerance = 0;
  int64_t requests = 0;
  const TempPath folder;
  FakeClock clock, gpu_clock;
  std::mutex mutex;
  std::string notes;
  std::unique_ptr<PoolSession> session;
};

TEST_F(SessionWithGpu, AnswersWithoutMemoryOfTheGpu) {
  Faults::Now().buffers = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  ExpectAnswersUnprepared("gpu cannot serve", "no memory for a buffer");
  Faults::Clear();
  AwaitGpu(milliseconds(20));  // who refuses is asked again after ten seconds
}

TEST_F(SessionWithGpu, AnswersWhereKernelsDoNotCompile) {
  Faults::Now().builds = CL_BUILD_PROGRAM_FAILURE;
  ExpectAnswersUnprepared("gpu is lost, the others go on without it", "does not compile");
  Faults::Clear();
  AwaitGpu();
}

TEST_F(SessionWithGpu, UsesTheGpuWhoseDriverDoesNotTakeKeptPrograms) {
  OpenAndServe();
  session.reset();
  Faults::Now().binaries = CL_INVALID_BINARY;
  OpenAndServe();
}

TEST_F(SessionWithGpu, AnswersARequestInTheMiddleOfWhichTheQueueFails) {
  OpenAndServe();
  for (std::atomic<cl_int>* fault : {&Faults::Now().launches, &Faults::Now().commands}) {
    *fault = CL_DEVICE_NOT_AVAILABLE;
    EXPECT_TRUE(Answer().retried);
    ExpectNote("gpu is lost, the others go on without it");
    Faults::Clear();
    AwaitGpu();
  }
  EXPECT_EQ(session->stats().retries, 2);
}

TEST_F(SessionWithGpu, AnswersARequestWhoseKernelHangs) {
  OpenAndServe();
  EXPECT_TRUE(AnswerWhileItHangs().retried);
  ExpectNote("gpu is lost, the others go on without it");
  Faults::Clear();
  AwaitGpu();
  ExpectNote("gpu is there again");
}

TEST_F(SessionWithGpu, LosesNoRequestOfManyWhereItIsLostEveryFewSeconds) {
  constexpr int kLosses = 10;
  const char* asked = std::getenv("METE_TEST_REQUESTS");
  const int all_requests = asked ? std::atoi(asked) : 1000;
  OpenAndServe();
  int64_t with_gpu = 0, retried = 0;
  for (int loss = 0; loss < kLosses; ++loss) {
    for (int i = 0; i < all_requests / kLosses; ++i) with_gpu += !Answer().alone;
    if (loss % 3 == 0) Faults::Now().launches = CL_OUT_OF_RESOURCES;
    if (loss % 3 == 1) Faults::Now().commands = CL_DEVICE_NOT_AVAILABLE;
    retried += loss % 3 == 2 ? AnswerWhileItHangs().retried : Answer().retried;
    Faults::Clear();
    AwaitGpu(milliseconds(20));
    if (HasFailure()) return;
  }
  EXPECT_EQ(retried, kLosses);
  const PoolSessionStats stats = session->stats();
  EXPECT_EQ(stats.requests, requests);
  EXPECT_EQ(stats.retries, kLosses) << "each loss costs one request one retry";
  EXPECT_EQ(with_gpu, all_requests) << "the GPU serves between two losses";
}

}  // namespace
}  // namespace mete::opencl
