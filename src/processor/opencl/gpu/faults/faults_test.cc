// What a GPU does whose driver fails: each failure is an Error, and what can go on does.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/clock_testing.h"
#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "passes/graphs_testing.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/api/loaded/faults_testing.h"
#include "processor/opencl/gpu/gpu_processor.h"

namespace mete::opencl {
namespace {

Graph Sigmoids() {
  Builder b;
  b.Output(b.Op("Softmax", {b.Op("Sigmoid", {b.Input({3, 40})})}));
  InferShapes(b.graph);
  return b.graph;
}

class FaultyGpu : public WithDevice {
 protected:
  void SetUp() override {
    Faults::Clear();
    WithDevice::SetUp();
    if (IsSkipped()) return;
    gpu = Make();
    inputs = RandomInputs(graph, 1);
    expected = gpu->Prepare(graph)->Run(inputs, {});
  }
  void TearDown() override { Faults::Clear(); }

  std::unique_ptr<GpuProcessor> Make() {
    return std::make_unique<GpuProcessor>(
        "gpu", WithFaults(device()), ProbeFacts(),
        GpuProcessorOptions{.kernels_folder = folder.str(), .clock = clock});
  }

  Code CodeOf(const std::function<void()>& f) const {
    try {
      f();
    } catch (const Error& e) {
      return e.code();
    }
    return Code::kOk;
  }

  void ExpectAnswers(Ready& ready) const {
    const std::vector<Tensor> got = ready.Run(inputs, {});
    ASSERT_EQ(got.size(), expected.size());
    EXPECT_EQ(std::memcmp(got[0].data(), expected[0].data(), expected[0].bytes()), 0);
  }

  // Runs while time passes.
  Code CodeOfWaiting(const std::function<void()>& f) {
    Code code = Code::kOk;
    std::atomic<bool> done = false;
    std::thread waiter([&] {
      code = CodeOf(f);
      done = true;
    });
    while (!done) {
      clock.Advance(std::chrono::milliseconds(100));
      std::this_thread::yield();
    }
    waiter.join();
    return code;
  }

  const Graph graph = Sigmoids();
  std::vector<Tensor> inputs, expected;
  const TempPath folder;
  FakeClock clock;
  std::unique_ptr<GpuProcessor> gpu;
};

TEST_F(FaultyGpu, WithoutMemoryPreparesNothingAndServesLater) {
  Faults::Now().buffers = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  EXPECT_EQ(CodeOf([&] { (void)gpu->Prepare(graph); }), Code::kResourceExhausted);
  Faults::Clear();
  ExpectAnswers(*gpu->Prepare(graph));
}

TEST_F(FaultyGpu, WhoseCompilerFailsSaysSo) {
  gpu = Make();
  Faults::Now().builds = CL_BUILD_PROGRAM_FAILURE;
  EXPECT_TELLS((void)gpu->Prepare(graph), "does not compile");
  Faults::Clear();
  ExpectAnswers(*gpu->Prepare(graph));
}

TEST_F(FaultyGpu, CompilesWhatItsDriverDoesNotTakeAsABinary) {
  gpu = Make();
  Faults::Now().binaries = CL_INVALID_BINARY;
  ExpectAnswers(*gpu->Prepare(graph));
}

TEST_F(FaultyGpu, ThatFailsInTheMiddleOfARequestServesTheNext) {
  const auto ready = gpu->Prepare(graph);
  Faults::Now().launches = CL_OUT_OF_RESOURCES;
  EXPECT_EQ(CodeOf([&] { (void)ready->Run(inputs, {}); }), Code::kResourceExhausted);
  Faults::Clear();
  ExpectAnswers(*ready);
  Faults::Now().commands = CL_DEVICE_NOT_AVAILABLE;
  EXPECT_EQ(CodeOf([&] { (void)ready->Run(inputs, {}); }), Code::kUnavailable);
  Faults::Clear();
  ExpectAnswers(*ready);
}

TEST_F(FaultyGpu, ThatHangsIsLostAndComesBackByANewContext) {
  const auto ready = gpu->Prepare(graph);
  Faults::Now().events_hang = true;
  EXPECT_EQ(CodeOfWaiting([&] { (void)ready->Run(inputs, {}); }), Code::kUnavailable);
  EXPECT_TELLS((void)ready->Run(inputs, {}), "was abandoned");
  EXPECT_EQ(CodeOfWaiting([&] { gpu->CheckThere(); }), Code::kUnavailable);  // it still hangs
  Faults::Clear();
  gpu->CheckThere();
  EXPECT_TELLS((void)ready->Run(inputs, {}), "must be prepared again");
  ExpectAnswers(*gpu->Prepare(graph));
}

// A GPU in f32 and in f16.
TEST_F(FaultyGpu, ThatIsLostIsLostForAllProcessorsThatUseIt) {
  GpuProcessor other(
      "gpu:f16", WithFaults(device()), ProbeFacts(),
      GpuProcessorOptions{.storage = DType::kF16, .kernels_folder = folder.str(), .clock = clock},
      gpu->in_use());
  const auto ready = gpu->Prepare(graph), of_other = other.Prepare(graph);
  Faults::Now().events_hang = true;
  EXPECT_EQ(CodeOfWaiting([&] { (void)ready->Run(inputs, {}); }), Code::kUnavailable);
  Faults::Clear();
  EXPECT_TELLS((void)of_other->Run(inputs, {}), "must be prepared again");
  other.CheckThere();
  const auto live = gpu->in_use()->live;
  gpu->CheckThere();
  EXPECT_EQ(gpu->in_use()->live, live) << "one new context serves both";
  (void)other.Prepare(graph)->Run(inputs, {});
  ExpectAnswers(*gpu->Prepare(graph));
}

TEST_F(FaultyGpu, ThatHangsWhileItPreparesIsLostToo) {
  gpu->CheckThere();
  Faults::Now().events_hang = true;
  EXPECT_EQ(CodeOfWaiting([&] { (void)gpu->Prepare(graph); }), Code::kUnavailable);
  Faults::Clear();
  ExpectAnswers(*gpu->Prepare(graph));
}

// A request takes its tensors when it runs, and is not to fail for them.
TEST_F(FaultyGpu, WithoutMemoryToShareLendsThatOfTheProcess) {
  if (!device().facts().has_fine_svm)
    GTEST_SKIP() << "the device has no memory that both sides see without a map";
  GpuProcessor shares("gpu", WithFaults(device()), ProbeFacts{.shares_memory = true},
                      GpuProcessorOptions{.kernels_folder = folder.str(), .clock = clock});
  const auto ready = shares.Prepare(graph);
  const MakeTensor make = shares.SharedMemory();
  ASSERT_TRUE(make);
  Faults::Now().no_shared_memory = true;
  Tensor output = make(DType::kF32, expected[0].shape());
  Faults::Clear();
  ready->Ready::Run(std::array{inputs[0].view()}, std::array{output.mutable_view()}, {});
  EXPECT_EQ(std::memcmp(output.data(), expected[0].data(), expected[0].bytes()), 0);
}

TEST_F(FaultyGpu, ThatHangsIsLeftAloneByARunThatIsCancelled) {
  const auto ready = gpu->Prepare(graph);
  Faults::Now().events_hang = true;
  CancelToken cancel;
  Code code = Code::kOk;
  std::thread waiter([&] { code = CodeOf([&] { (void)ready->Run(inputs, {.cancel = &cancel}); }); });
  const auto soon = std::chrono::milliseconds(50);
  clock.AdvanceToSleeper(std::chrono::microseconds(10), Clock::Duration::zero(), soon);
  cancel.Cancel();
  clock.Advance(soon);
  waiter.join();
  EXPECT_EQ(code, Code::kCancelled);
  Faults::Clear();
  ExpectAnswers(*ready);
}

}  // namespace
}  // namespace mete::opencl
