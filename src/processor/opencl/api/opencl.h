// OpenCL without its headers and without linking to it: devices, and the objects by which kernels run on one.
//
//   Device device = OpenDevice("gpu:0", CpuDevices::kLeaveOut);
//   Context context(device);
//   Queue queue(context, {.profiling = true});
//   Program program(context, text, "-cl-mad-enable");  // compiles for the device
//   Kernel scale(program, "scale");                     // kernel void scale(global float* x, float by, int n)
//   Buffer x(context, {.bytes = 4 * n});
//   queue.Write(x, 0, std::as_bytes(std::span(values)));
//   scale.Set(0, x).Set(1, 0.5f).Set(2, int32_t(n));
//   Event done = queue.Launch(scale, {.items = {1024}, .group = {64}});
//   queue.Read(x, 0, std::as_writable_bytes(std::span(values)));  // waits
//   int64_t ns = done.times().run_ns();
//
// Each object keeps its context alive, can be moved, and frees its OpenCL object at its end. Every function
// throws an Error that has the device, the call and OpenCL's error in words: RESOURCE_EXHAUSTED where memory
// or another resource is missing, UNAVAILABLE where there is no such device, DATA_LOSS for a binary that
// does not fit, else INTERNAL. Objects of one context may be used by several threads, but Kernel: its
// arguments belong to one thread at a time.
//
// `loaded/` implements it; in builds without OpenCL's headers `without/` does, and there are no devices.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/clock.h"
#include "processor/opencl/info/gpu_choice.h"
#include "processor/opencl/info/gpu_info.h"

namespace mete::opencl {

struct ContextState;  // the context itself, and what its objects need of it
struct DeviceState;   // OpenCL's identifier of a device; of a sub-device a reference

// A device of a driver. Copies are the same device.
class Device {
 public:
  Device(std::shared_ptr<const DeviceState> state, DeviceFacts facts)
      : state_(std::move(state)), facts_(std::move(facts)) {}
  const DeviceFacts& facts() const { return facts_; }
  const DeviceState& state() const { return *state_; }

  Device Named(DeviceFacts facts) const { return Device(state_, std::move(facts)); }

  // Returns the compute unit `unit` alone as a device, "gpu:0/1" of "gpu:0". Error INVALID_ARGUMENT if the
  // device cannot be divided or has no such unit.
  Device SubDevice(int64_t unit) const;

 private:
  std::shared_ptr<const DeviceState> state_;
  DeviceFacts facts_;
};

struct DeviceList {
  std::vector<Device> devices;        // GPUs first, then accelerators, then CPUs; named "gpu:0", "gpu:1", ...
  std::vector<std::string> left_out;  // why others are none, or why there are none
};

// Loads the drivers, each into this process: one that crashes takes the program with it. A program that
// must not crash asks the child process first (processor/opencl/find/find_gpus.h). `drivers` are the files
// that register drivers (GpuList::drivers) of which the devices are alone; others, and OpenCL's loader, which
// loads all drivers, are not loaded then. Empty: the loader's.
DeviceList ListDevices(CpuDevices cpu_devices, const std::vector<std::string>& drivers = {});

// Returns the device of that name, "gpu:0", or one compute unit of it, "gpu:0/1". Error UNAVAILABLE with the
// reasons if there is none.
Device OpenDevice(const std::string& name, CpuDevices cpu_devices,
                  const std::vector<std::string>& drivers = {});

// Frees an OpenCL object, unless its context has been abandoned.
struct Release {
  std::shared_ptr<const ContextState> of;
  void (*release)(const ContextState& of, void* object) = nullptr;
  void operator()(void* object) const;
};
using Owned = std::unique_ptr<void, Release>;

class Context {
 public:
  explicit Context(const Device& device);
  const DeviceFacts& facts() const;
  // From now on nothing of this context is freed, neither by this object nor by others of the context: a
  // queue hangs, and freeing what a kernel uses may crash or wait for ever. The memory is lost. Memory of
  // the caller's that a buffer uses must stay as well.
  void Abandon();
  const std::shared_ptr<ContextState>& state() const { return state_; }

 private:
  std::shared_ptr<ContextState> state_;
};

// Where the bytes of a buffer lie.
enum class Memory {
  kDevice,  // where the driver likes it best
  kMapped,  // where the driver can map it for the host (CL_MEM_ALLOC_HOST_PTR)
  kHost,    // in memory of the caller's, which stays until the buffer's end (CL_MEM_USE_HOST_PTR)
};

struct BufferOptions {
  int64_t bytes = 0;  // 1 to most_allocation_bytes
  Memory memory = Memory::kDevice;
  void* host = nullptr;  // for kHost; pages as a whole, for drivers that copy others
};

class Buffer {
 public:
  Buffer() = default;  // no buffer
  Buffer(const Context& context, const BufferOptions& options);
  int64_t bytes() const { return bytes_; }
  void* get() const { return object_.get(); }

 private:
  Owned object_;
  int64_t bytes_ = 0;
};

// Memory that has the same address on the host and on the device, and needs no map (fine-grained SVM).
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(const Context& context, int64_t bytes);  // Error UNIMPLEMENTED if the device has none
  void* get() const { return object_.get(); }

 private:
  Owned object_;
};

class Program {
 public:
  // Compiles the text. An Error has the compiler's words.
  Program(const Context& context, const std::string& text, const std::string& options);
  // Makes it of what binary() has returned for the same device, driver, text and options. Error DATA_LOSS if
  // the driver does not take it: the text must then be compiled again.
  Program(const Context& context, std::span<const std::byte> binary, const std::string& options);
  std::vector<std::byte> binary() const;
  void* get() const { return object_.get(); }

 private:
  friend class Kernel;
  void Build(const std::string& options);
  Owned object_;
};

class Kernel {
 public:
  Kernel(const Program& program, const std::string& name);
  // Set argument `index`. The buffer stays alive until the kernel's last launch has ended.
  Kernel& Set(uint32_t index, const Buffer& buffer);
  // The address lies in shared memory of the context, which the caller keeps until the last launch has ended.
  Kernel& SetShared(uint32_t index, const void* address);
  template <class T>
  requires std::is_arithmetic_v<T>  // of the argument's own size: int32_t for int, float for float
      Kernel& Set(uint32_t index, T value) {
    return SetBytes(index, &value, sizeof value);
  }
  Kernel& SetLocal(uint32_t index, int64_t bytes);  // local memory of the work-group
  // Set the buffer `place` of a kernel whose arguments are buffers, each with the byte at which the kernel's
  // part of it begins (Arguments in kernels/kernel_text.h). Error INTERNAL if `bytes` bytes from `offset` on
  // do not lie within the buffer.
  Kernel& SetPlace(uint32_t place, const Buffer& buffer, int64_t offset, int64_t bytes);
  Kernel& SetPlace(uint32_t place, const Buffer& buffer) {
    return SetPlace(place, buffer, 0, buffer.bytes());
  }
  Kernel& SetSharedPlace(uint32_t place, const void* address) {
    return SetShared(2 * place, address).Set(2 * place + 1, uint64_t{0});
  }
  // Returns the most work-items of this kernel in a work-group, by its use of registers.
  int64_t most_group_items() const;
  const std::string& name() const { return name_; }
  void* get() const { return object_.get(); }

 private:
  Kernel& SetBytes(uint32_t index, const void* value, size_t bytes);
  Owned object_;
  std::string name_;
};

// Times of the device's clock.
struct EventTimes {
  int64_t queued_ns = 0, submitted_ns = 0, start_ns = 0, end_ns = 0;
  int64_t run_ns() const { return end_ns - start_ns; }
};

// The end of a command.
class Event {
 public:
  Event() = default;  // no event: done
  // Returns an event that the host ends, by Complete(): commands that wait for it stand still until then.
  static Event OfHost(const Context& context);
  void Complete();  // of an event of the host's
  // Ends an event of the host's as one that failed: so do the commands that wait for it.
  void Cancel();

  // Returns whether the command has ended; an Error if it failed. Does not wait, and does not flush the
  // queue.
  bool done() const;
  void Wait() const;  // without a deadline: OpenCL has none
  // Looks at the command for the time `spin`, and then sleeps until the driver tells of its end. Returns
  // false if the deadline has passed before: the context should then be abandoned. The queue has been
  // flushed.
  bool WaitUntil(Clock::Time deadline, Clock::Duration spin, Clock& clock) const;
  EventTimes times() const;  // of a queue with profiling; the command has ended
  void* get() const { return object_.get(); }

 private:
  friend class Queue;
  explicit Event(Owned object) : object_(std::move(object)) {}
  Owned object_;
};

// The events that a command waits for. Each may be empty.
using After = std::span<const Event* const>;

// The work-items of a launch, in up to three dimensions, of which unused ones are 0.
struct Range {
  std::array<size_t, 3> items = {};  // each a multiple of the group's, unless the group is left to the driver
  std::array<size_t, 3> group = {};  // all 0: the driver chooses
};

// Returns the launch of a kernel's text (kernels/kernel_text.h), which has the numbers of its work-items.
template <class Text>
Range RangeOf(const Text& text) {
  Range range;
  std::copy(text.items.begin(), text.items.end(), range.items.begin());
  std::copy(text.group.begin(), text.group.end(), range.group.begin());
  return range;
}

enum class MapFor { kRead, kWrite, kOverwrite };  // kOverwrite: the bytes before are of no interest

struct QueueOptions {
  bool profiling = false;  // events have times, which some drivers make slower
};

// A queue in order. Commands begin when the queue is flushed, which everything that waits does.
class Queue {
 public:
  Queue(const Context& context, const QueueOptions& options);

  Event Launch(const Kernel& kernel, const Range& range, After after = {});
  // The same without an event, which costs a little.
  void LaunchOnly(const Kernel& kernel, const Range& range, After after = {});

  // Wait until the bytes are there.
  void Write(const Buffer& to, int64_t offset, std::span<const std::byte> bytes);
  void Read(const Buffer& from, int64_t offset, std::span<std::byte> bytes);
  // Begin to copy; the host's bytes stay until the event is done.
  Event StartWrite(const Buffer& to, int64_t offset, std::span<const std::byte> bytes, After after = {});
  Event StartRead(const Buffer& from, int64_t offset, std::span<std::byte> bytes, After after = {});
  Event Copy(const Buffer& from, int64_t from_offset, const Buffer& to, int64_t to_offset, int64_t bytes,
             After after = {});

  // Returns the address of bytes of the buffer for the host, until Unmap(). Waits.
  std::byte* Map(const Buffer& buffer, MapFor purpose, int64_t offset, int64_t bytes);
  // The same without waiting: the bytes may be used when `done` is done.
  std::byte* StartMap(const Buffer& buffer, MapFor purpose, int64_t offset, int64_t bytes, Event& done,
                      After after = {});
  Event Unmap(const Buffer& buffer, std::byte* address);

  Event Marker();  // is done when all commands before it are
  void Flush();    // returns when the commands are on their way to the device
  void Finish();   // returns when all commands have ended; without a deadline

 private:
  Owned object_;
};

}  // namespace mete::opencl
