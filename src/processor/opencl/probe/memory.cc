// Whether host and device share memory: by addresses, by values, and by the time of a map, because a driver
// may copy behind an equal address.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "processor/opencl/probe/probes.h"

namespace mete::opencl {
namespace {

constexpr int64_t kBytes = 4 << 20;       // more than a launch costs, on devices of 10 GB/s and above
constexpr int64_t kFewBytes = 4 << 10;    // whose own time is next to nothing
constexpr int kRounds = 40;               // maps; guess: the 95th percentile is then the third longest
constexpr int64_t kMostNs = 100'000'000;  // and how long they may take
constexpr size_t kPage = 4096;

constexpr const char* kFill = R"(
kernel void fill(global int* out, int value) { out[get_global_id(0)] = value + (int)get_global_id(0); })";

constexpr int64_t kCount = kBytes / 4;

using HostMemory = std::unique_ptr<void, void (*)(void*)>;
HostMemory MakeHostMemory() {
  HostMemory memory(std::aligned_alloc(kPage, kBytes), std::free);
  if (!memory) Fail(Code::kResourceExhausted, "probe", "no memory of {} bytes on the host", kBytes);
  std::memset(memory.get(), 1, kBytes);  // pages exist from the first touch on
  return memory;
}

struct Maps {
  bool have_one_address = true;
  Times times;
};

// Lets a kernel fill `bytes` of the buffer and maps these, several times.
Maps TimeMaps(const Device& device, Queue& queue, Kernel& fill, const Buffer& buffer, int64_t bytes) {
  const int64_t count = bytes / 4;
  Maps maps;
  std::byte* first = nullptr;
  int32_t value = 0;
  maps.times = Repeat(kRounds, kMostNs, [&] {
    fill.Set(0, buffer).Set(1, ++value);
    queue.LaunchOnly(fill, {.items = {size_t(count)}});
    queue.Finish();
    const int64_t before = NowNs();
    std::byte* address = queue.Map(buffer, MapFor::kWrite, 0, bytes);
    const int64_t mapped = NowNs();
    int32_t last = 0;
    std::memcpy(&last, address + bytes - 4, 4);
    const int64_t read = NowNs();
    queue.Unmap(buffer, address).Wait();
    const int64_t unmapped = NowNs();
    if (last != value + int32_t(count) - 1)
      Fail(Code::kInternal, device.facts().name, "a map does not show what a kernel wrote");
    if (!first) first = address;
    maps.have_one_address &= address == first;
    return unmapped - read + mapped - before;
  });
  return maps;
}

Times HostCopy(const void* from) {
  const HostMemory to = MakeHostMemory();
  return TimesOfCalls(kRounds, kMostNs, [&] { std::memcpy(to.get(), from, kBytes); });
}

}  // namespace

void ProbeMaps(const Device& device, ProbeFacts& facts) {
  const Context context(device);
  Queue queue(context, {});
  Kernel fill(Program(context, kFill, ""), "fill");
  const HostMemory host = MakeHostMemory();
  facts.host_copy = HostCopy(host.get());
  const Buffer own(context, {.bytes = kBytes});
  fill.Set(0, own).Set(1, 1);
  queue.LaunchOnly(fill, {.items = {size_t(kCount)}});
  const auto bytes = std::span(static_cast<std::byte*>(host.get()), size_t(kBytes));
  facts.read = TimesOfCalls(kRounds, kMostNs, [&] { queue.Read(own, 0, bytes); });

  const Buffer mapped(context, {.bytes = kBytes, .memory = Memory::kMapped});
  const Buffer given(context, {.bytes = kBytes, .memory = Memory::kHost, .host = host.get()});
  const Maps few = TimeMaps(device, queue, fill, mapped, kFewBytes);
  // What a map takes for its bytes: a copy moves them there and back, and at least as slowly as the host
  // does.
  const auto is_no_copy = [&](const Maps& maps) {
    return maps.have_one_address &&
           maps.times.median_us - few.times.median_us < facts.host_copy.median_us / 2;
  };
  const Maps of_driver = TimeMaps(device, queue, fill, mapped, kBytes);
  const Maps of_host = TimeMaps(device, queue, fill, given, kBytes);
  facts.small_map = few.times;
  facts.map = of_driver.times;
  facts.host_map = of_host.times;
  facts.maps_in_place = is_no_copy(of_driver);
  facts.uses_host_memory = is_no_copy(of_host);
}

void ProbeSharedMemory(const Device& device, ProbeFacts& facts) {
  if (!device.facts().has_fine_svm) return;
  const Context context(device);
  Queue queue(context, {});
  Kernel fill(Program(context, kFill, ""), "fill");
  const SharedMemory memory(context, kBytes);
  auto* values = static_cast<volatile int32_t*>(memory.get());
  for (int32_t value : {3, 5}) {
    values[kCount - 1] = 0;
    fill.SetShared(0, memory.get()).Set(1, value);
    queue.LaunchOnly(fill, {.items = {size_t(kCount)}});
    queue.Finish();
    if (values[kCount - 1] != value + int32_t(kCount) - 1)
      Fail(Code::kInternal, device.facts().name, "the host does not see what a kernel wrote");
  }
  facts.shares_memory = true;
}

}  // namespace mete::opencl
