#include "processor/opencl/api/opencl.h"

#include <fmt/format.h>

#include <cstdlib>
#include <latch>
#include <numeric>
#include <thread>
#include <vector>

#include "mete/error.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/api/loaded/state.h"

namespace mete::opencl {
namespace {

constexpr const char* kText = R"(
kernel void scale(global float* x, float by, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) x[i] *= by;
}
kernel void sum(global const int* x, local int* parts, global int* out) {
  int i = get_local_id(0);
  parts[i] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i == 0) {
    int all = 0;
    for (int k = 0; k < (int)get_local_size(0); ++k) all += parts[k];
    out[0] = all;
  }
})";

std::vector<float> Numbers(int n) {
  std::vector<float> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

template <class T>
auto Bytes(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

// Returns 2 * value as the program's kernel `scale` computes it on the context's device.
float Doubled(const Context& context, const Program& program, float value) {
  Queue queue(context, {});
  Kernel scale(program, "scale");
  std::vector<float> values{value};
  const Buffer x(context, {.bytes = sizeof(float)});
  queue.Write(x, 0, Bytes(values));
  scale.Set(0, x).Set(1, 2.0f).Set(2, int32_t{1});
  queue.LaunchOnly(scale, {.items = {1}});
  queue.Read(x, 0, Bytes(values));
  return values[0];
}

// The code and the text of the Error that f() throws; an empty text where it throws none.
template <class F>
std::pair<Code, std::string> ErrorOf(F f) {
  try {
    f();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  return {Code::kOk, ""};
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using OpenCl = WithDevice;

// Each test is a process of its own, so that these are the first calls that the driver gets.
TEST(Devices, AreListedBySeveralThreadsAtOnce) {
  KeepPoclInTemporaryFolder();
  std::latch together(4);
  std::vector<size_t> found(4);
  std::vector<std::jthread> threads;
  for (size_t& count : found)
    threads.emplace_back([&] {
      together.arrive_and_wait();
      count = ListDevices(CpuDevices::kCount).devices.size();
    });
  threads.clear();
  for (const size_t count : found) EXPECT_EQ(count, found[0]);
}

TEST_F(OpenCl, KernelsComputeOnWhatWasWritten) {
  const Context context(device());
  Queue queue(context, {.profiling = true});
  Kernel scale(Program(context, kText, ""), "scale");
  std::vector<float> values = Numbers(1000), twice = values;
  for (float& v : twice) v *= 2;
  const Buffer x(context, {.bytes = 4000});
  queue.Write(x, 0, Bytes(values));
  scale.Set(0, x).Set(1, 2.0f).Set(2, int32_t{1000});
  const Event done = queue.Launch(scale, {.items = {64}, .group = {8}});
  queue.Read(x, 0, Bytes(values));
  EXPECT_EQ(values, twice);
  EXPECT_TRUE(done.done());
  EXPECT_GT(done.times().run_ns(), 0);
  EXPECT_LE(done.times().queued_ns, done.times().start_ns);
}

TEST_F(OpenCl, GroupsHaveLocalMemory) {
  const Context context(device());
  Queue queue(context, {});
  Kernel sum(Program(context, kText, ""), "sum");
  std::vector<int32_t> values{1, 2, 3, 4, 5, 6, 7, 8}, all(1);
  const Buffer x(context, {.bytes = 32}), out(context, {.bytes = 4});
  queue.Write(x, 0, Bytes(values));
  EXPECT_GE(sum.most_group_items(), 8);
  sum.Set(0, x).SetLocal(1, 32).Set(2, out);
  queue.LaunchOnly(sum, {.items = {8}, .group = {8}});
  queue.Read(out, 0, Bytes(all));
  EXPECT_EQ(all[0], 36);
}

TEST_F(OpenCl, ABufferIsMappedCopiedAndReadInParts) {
  const Context context(device());
  Queue queue(context, {});
  constexpr int64_t part = 128;
  const Buffer from(context, {.bytes = 2 * part, .memory = Memory::kMapped}),
      to(context, {.bytes = 2 * part});
  std::byte* bytes = queue.Map(from, MapFor::kOverwrite, 0, 2 * part);
  for (int64_t i = 0; i < 2 * part; ++i) bytes[i] = std::byte(i);
  queue.Unmap(from, bytes);
  queue.Copy(from, 1, to, 2, 2 * part - 2);
  std::vector<std::byte> second(static_cast<size_t>(part));
  queue.Read(to, part, second);
  for (int64_t i = 0; i < part; ++i) EXPECT_EQ(second[size_t(i)], std::byte(part + i - 1));
}

TEST_F(OpenCl, AMapOfTheHostsOwnMemoryHasItsAddress) {
  const Context context(device());
  Queue queue(context, {});
  constexpr size_t kPage = 4096;
  std::unique_ptr<void, void (*)(void*)> page(std::aligned_alloc(kPage, kPage), std::free);
  const Buffer x(context, {.bytes = kPage, .memory = Memory::kHost, .host = page.get()});
  std::byte* address = queue.Map(x, MapFor::kRead, 64, 64);  // OpenCL 1.2, 5.2.3, asks for this address
  EXPECT_EQ(address, static_cast<std::byte*>(page.get()) + 64);
  queue.Unmap(x, address).Wait();
}

TEST_F(OpenCl, CommandsWaitForAnEventOfTheHost) {
  const Context context(device());
  Queue first(context, {}), second(context, {});
  std::vector<float> values = Numbers(4), got(4);
  const Buffer x(context, {.bytes = 16});
  Event host = Event::OfHost(context);
  const Event* after[] = {&host};
  const Event written = first.StartWrite(x, 0, Bytes(values), after);
  first.Flush();
  EXPECT_FALSE(written.done());
  const Event* then[] = {&written};
  const Event read = second.StartRead(x, 0, Bytes(got), then);
  second.Flush();
  EXPECT_FALSE(read.done());
  host.Complete();
  read.Wait();
  EXPECT_EQ(got, values);
  EXPECT_TRUE(Event().done());
}

TEST_F(OpenCl, BothSidesSeeSharedMemory) {
  const Context context(device());
  if (!device().facts().has_fine_svm) {
    EXPECT_EQ(ErrorOf([&] { SharedMemory(context, 16); }).first, Code::kUnimplemented);
    return;
  }
  Queue queue(context, {});
  Kernel scale(Program(context, kText, ""), "scale");
  const SharedMemory memory(context, 16);
  auto* values = static_cast<float*>(memory.get());
  std::fill(values, values + 4, 1.5f);
  scale.SetShared(0, memory.get()).Set(1, 2.0f).Set(2, int32_t{4});
  queue.LaunchOnly(scale, {.items = {4}});
  queue.Finish();
  EXPECT_EQ(values[3], 3.0f);
}

TEST_F(OpenCl, ABinaryMakesTheProgramAgainAndADamagedOneIsDataLoss) {
  const Context context(device());
  const std::vector<std::byte> binary = Program(context, kText, "").binary();
  ASSERT_FALSE(binary.empty());
  EXPECT_EQ(Doubled(context, Program(context, binary, ""), 3), 6);
  const std::vector<std::byte> damaged(100, std::byte{7});
  EXPECT_EQ(ErrorOf([&] { Program(context, damaged, ""); }).first, Code::kDataLoss);
  EXPECT_EQ(ErrorOf([&] { Program(context, std::vector<std::byte>(), ""); }).first, Code::kDataLoss);
}

TEST_F(OpenCl, ErrorsHaveDeviceCallAndWords) {
  const Context context(device());
  const auto [build, log] = ErrorOf([&] { Program(context, "kernel void f( {", ""); });
  EXPECT_EQ(build, Code::kInternal);
  EXPECT_TRUE(Has(log, "gpu:0") && Has(log, "error")) << log;
  const Program program(context, kText, "");
  EXPECT_TRUE(Has(ErrorOf([&] { Kernel(program, "other"); }).second, "no kernel of this name"));
  Kernel scale(program, "scale");
  EXPECT_TRUE(Has(ErrorOf([&] { scale.Set(7, 1.0f); }).second, "no such argument"));
  EXPECT_TRUE(Has(ErrorOf([&] { scale.Set(1, 1.0); }).second, "another size"));
  EXPECT_TRUE(Has(ErrorOf([&] { Buffer(context, {.bytes = 0}); }).second, "0 bytes"));
  EXPECT_EQ(ErrorOf([&] { Buffer(context, {.bytes = int64_t{1} << 50}); }).first, Code::kResourceExhausted);
  const Buffer x(context, {.bytes = 8});
  std::vector<float> values(2);
  Queue queue(context, {});
  EXPECT_EQ(ErrorOf([&] { queue.Read(x, 4, Bytes(values)); }).first, Code::kInvalidArgument);
}

TEST_F(OpenCl, NothingOfAnAbandonedContextIsFreed) {
  // The objects of this context are still there behind their owners' end, as a kernel that hangs needs them.
  Context context(device());
  cl_mem memory = nullptr;
  {
    const Buffer x(context, {.bytes = 16});
    memory = static_cast<cl_mem>(x.get());
    context.Abandon();
  }
  EXPECT_EQ(LoadedFunctions().clReleaseMemObject(memory), CL_SUCCESS);
  // The test itself frees what is left.
  EXPECT_EQ(LoadedFunctions().clReleaseContext(context.state()->context), CL_SUCCESS);
}

TEST_F(OpenCl, ADeviceIsFoundByItsNameAndByAUnitOfIt) {
  EXPECT_EQ(OpenDevice("gpu:0", CpuDevices::kCount).facts(), device().facts());
  const int64_t units = device().facts().most_sub_devices;
  const auto [code, text] = ErrorOf([&] { device().SubDevice(units); });
  EXPECT_EQ(code, Code::kInvalidArgument) << text;
  if (units == 0) return;
  const Device one = OpenDevice(fmt::format("gpu:0/{}", units - 1), CpuDevices::kCount);
  EXPECT_EQ(one.facts().compute_units, 1);
  EXPECT_EQ(one.facts().name, fmt::format("gpu:0/{}", units - 1));
  const Context context(one);
  EXPECT_EQ(Doubled(context, Program(context, kText, ""), 3), 6);
}

TEST_F(OpenCl, FactsAreThere) {
  const DeviceFacts& facts = device().facts();
  for (const std::string& text :
       {facts.type, facts.model, facts.vendor, facts.platform, facts.driver, facts.version})
    EXPECT_FALSE(text.empty());
  for (int64_t number :
       {facts.compute_units, facts.memory_bytes, facts.most_allocation_bytes, facts.local_bytes,
        facts.most_group_items, facts.most_group_sizes[0], facts.base_alignment})
    EXPECT_GT(number, 0);
}

TEST(OpenDeviceByName, OtherNamesAreRefused) {
  for (const char* name :
       {"", "gpu", "gpu:", "gpu:x", "gpu:0/", "gpu:0/x", "gpu:0/-1", "gpu:0/1x", "gpu:0 ", "cpu:0"})
    EXPECT_EQ(ErrorOf([&] { OpenDevice(name, CpuDevices::kCount); }).first, Code::kInvalidArgument) << name;
  EXPECT_EQ(ErrorOf([&] { OpenDevice("gpu:63", CpuDevices::kCount); }).first, Code::kUnavailable);
}

TEST(OpenDeviceByName, ACpuCountsOnlyOnRequest) {
  for (const Device& d : ListDevices(CpuDevices::kLeaveOut).devices) EXPECT_NE(d.facts().type, "cpu");
}

TEST(Loader, AMissingLibraryOrFunctionIsAReason) {
  const auto [missing, no_file] = ErrorOf([] { LoadFunctions("/nowhere/libOpenCL.so.1"); });
  EXPECT_EQ(missing, Code::kUnavailable);
  EXPECT_TRUE(Has(no_file, "/nowhere/libOpenCL.so.1")) << no_file;
  const auto [other, no_function] = ErrorOf([] { LoadFunctions("libm.so.6"); });
  EXPECT_EQ(other, Code::kUnavailable);
  EXPECT_TRUE(Has(no_function, "clGetPlatformIDs")) << no_function;
}

TEST(Words, UnknownErrorsHaveTheirNumber) { EXPECT_EQ(WordsFor(-9999), "OpenCL's error -9999"); }

}  // namespace
}  // namespace mete::opencl
