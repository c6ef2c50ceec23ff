#include <thread>

#include "base/clock_testing.h"
#include "mete/error.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/api/loaded/faults_testing.h"

namespace mete::opencl {
namespace {

using std::chrono::seconds;

constexpr const char* kText =
    "kernel void set(global int* out, int value) { out[get_global_id(0)] = value; }";

template <class F>
Code CodeOf(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kOk;
}

class DriverFaults : public WithDevice {
 protected:
  void SetUp() override {
    Faults::Clear();
    WithDevice::SetUp();
  }
  void TearDown() override { Faults::Clear(); }

  // A queue with one command that waits for `host`.
  Event Waiting(Queue& queue, const Event& host) {
    const Event* after[] = {&host};
    Event done = queue.StartWrite(buffer_, 0, std::as_bytes(std::span(&value_, 1)), after);
    queue.Flush();
    return done;
  }
  void MakeBuffer(const Context& context) { buffer_ = Buffer(context, {.bytes = 4}); }

  Buffer buffer_;
  int32_t value_ = 3;
};

TEST_F(DriverFaults, EachIsAnErrorOfItsKind) {
  const Context context(WithFaults(device()));
  Queue queue(context, {});
  Faults::Now().buffers = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  EXPECT_EQ(CodeOf([&] { Buffer(context, {.bytes = 4}); }), Code::kResourceExhausted);
  Faults::Clear();
  Faults::Now().builds = CL_BUILD_PROGRAM_FAILURE;
  EXPECT_EQ(CodeOf([&] { Program(context, kText, ""); }), Code::kInternal);
  Faults::Clear();
  const Program program(context, kText, "");
  Faults::Now().binaries = CL_INVALID_BINARY;
  EXPECT_EQ(CodeOf([&] { Program(context, program.binary(), ""); }), Code::kDataLoss);
  Faults::Clear();
  Kernel set(program, "set");
  const Buffer out(context, {.bytes = 4});
  set.Set(0, out).Set(1, 7);
  Faults::Now().launches = CL_OUT_OF_RESOURCES;
  EXPECT_EQ(CodeOf([&] { queue.LaunchOnly(set, {.items = {1}}); }), Code::kResourceExhausted);
  Faults::Clear();
  Faults::Now().commands = CL_DEVICE_NOT_AVAILABLE;
  const Event done = queue.Launch(set, {.items = {1}});
  queue.Finish();
  EXPECT_EQ(CodeOf([&] { (void)done.done(); }), Code::kUnavailable);
}

TEST_F(DriverFaults, AWaitEndsWithItsCommand) {
  const Context context(device());
  Queue queue(context, {});
  MakeBuffer(context);
  FakeClock clock;  // never moves: only the command's end ends the waits
  for (const bool spins : {false, true}) {
    Event host = Event::OfHost(context);
    const Event done = Waiting(queue, host);
    std::thread other([&] { host.Complete(); });
    EXPECT_TRUE(done.WaitUntil(clock.Now() + seconds(1), seconds(spins ? 1 : 0), clock));
    other.join();
    EXPECT_TRUE(done.done());
    EXPECT_TRUE(done.WaitUntil(clock.Now(), seconds(0), clock));
  }
  EXPECT_TRUE(Event().WaitUntil(clock.Now(), seconds(0), clock));
}

TEST_F(DriverFaults, AWaitEndsAtItsDeadline) {
  const Context context(device());
  Queue queue(context, {});
  MakeBuffer(context);
  FakeClock clock;
  Event host = Event::OfHost(context);
  const Event done = Waiting(queue, host);
  EXPECT_FALSE(done.WaitUntil(clock.Now(), seconds(1), clock));
  std::thread other([&] {
    clock.AwaitSleeper(seconds(1), seconds(1));
    clock.Advance(seconds(1));
  });
  EXPECT_FALSE(done.WaitUntil(clock.Now() + seconds(1), seconds(0), clock));
  other.join();
  host.Complete();
  done.Wait();
}

TEST_F(DriverFaults, ACommandBehindACancelledOneFails) {
  const Context context(device());
  Queue queue(context, {});
  MakeBuffer(context);
  FakeClock clock;
  Event host = Event::OfHost(context);
  const Event done = Waiting(queue, host);
  host.Cancel();
  EXPECT_NE(CodeOf([&] { done.WaitUntil(clock.Now() + seconds(1), seconds(0), clock); }), Code::kOk);
  EXPECT_NE(CodeOf([&] { (void)done.done(); }), Code::kOk);
}

TEST_F(DriverFaults, ACommandThatHangsIsSeenAtTheDeadline) {
  FakeClock clock;
  const Context context(WithFaults(device()));
  Queue queue(context, {});
  Kernel set(Program(context, kText, ""), "set");
  const Buffer out(context, {.bytes = 4});
  set.Set(0, out).Set(1, 7);
  Faults::Now().events_hang = true;
  const Event done = queue.Launch(set, {.items = {1}});
  queue.Finish();
  EXPECT_FALSE(done.done());
  EXPECT_FALSE(done.WaitUntil(clock.Now(), seconds(0), clock));
  Faults::Clear();
  EXPECT_TRUE(done.done());
}

}  // namespace
}  // namespace mete::opencl
