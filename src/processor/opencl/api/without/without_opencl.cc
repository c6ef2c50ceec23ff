// Replaces api/ where OpenCL's headers are missing or METE_OPENCL is off: there are no devices, so that no
// object of a context is ever made. What cannot be reached says so.
#include "base/error.h"
#include "processor/opencl/api/opencl.h"

namespace mete::opencl {

struct DeviceState {};
struct ContextState {};

namespace {

[[noreturn]] void None() {
  Fail(Code::kUnavailable, "OpenCL", "this build of Mete has no GPUs; try to build it with METE_OPENCL");
}

}  // namespace

DeviceList ListDevices(CpuDevices, const std::vector<std::string>&) {
  DeviceList list;
  list.left_out.emplace_back(
      "this build of Mete has no GPUs (METE_OPENCL was off, or OpenCL's headers missing)");
  return list;
}
Device OpenDevice(const std::string&, CpuDevices, const std::vector<std::string>&) { None(); }
Device Device::SubDevice(int64_t) const { None(); }

void Release::operator()(void*) const {}

Context::Context(const Device&) { None(); }
const DeviceFacts& Context::facts() const { None(); }
void Context::Abandon() { None(); }

Buffer::Buffer(const Context&, const BufferOptions&) { None(); }
SharedMemory::SharedMemory(const Context&, int64_t) { None(); }

Program::Program(const Context&, const std::string&, const std::string&) { None(); }
Program::Program(const Context&, std::span<const std::byte>, const std::string&) { None(); }
std::vector<std::byte> Program::binary() const { None(); }

Kernel::Kernel(const Program&, const std::string&) { None(); }
Kernel& Kernel::Set(uint32_t, const Buffer&) { None(); }
Kernel& Kernel::SetShared(uint32_t, const void*) { None(); }
Kernel& Kernel::SetPlace(uint32_t, const Buffer&, int64_t, int64_t) { None(); }
Kernel& Kernel::SetLocal(uint32_t, int64_t) { None(); }
Kernel& Kernel::SetBytes(uint32_t, const void*, size_t) { None(); }
int64_t Kernel::most_group_items() const { None(); }

Event Event::OfHost(const Context&) { None(); }
void Event::Complete() { None(); }
void Event::Cancel() { None(); }
bool Event::WaitUntil(Clock::Time, Clock::Duration, Clock&) const { return true; }
bool Event::done() const { return true; }
void Event::Wait() const {}
EventTimes Event::times() const { None(); }

Queue::Queue(const Context&, const QueueOptions&) { None(); }
Event Queue::Launch(const Kernel&, const Range&, After) { None(); }
void Queue::LaunchOnly(const Kernel&, const Range&, After) { None(); }
void Queue::Write(const Buffer&, int64_t, std::span<const std::byte>) { None(); }
void Queue::Read(const Buffer&, int64_t, std::span<std::byte>) { None(); }
Event Queue::StartWrite(const Buffer&, int64_t, std::span<const std::byte>, After) { None(); }
Event Queue::StartRead(const Buffer&, int64_t, std::span<std::byte>, After) { None(); }
Event Queue::Copy(const Buffer&, int64_t, const Buffer&, int64_t, int64_t, After) { None(); }
std::byte* Queue::Map(const Buffer&, MapFor, int64_t, int64_t) { None(); }
std::byte* Queue::StartMap(const Buffer&, MapFor, int64_t, int64_t, Event&, After) { None(); }
Event Queue::Unmap(const Buffer&, std::byte*) { None(); }
Event Queue::Marker() { None(); }
void Queue::Flush() { None(); }
void Queue::Finish() { None(); }

}  // namespace mete::opencl
