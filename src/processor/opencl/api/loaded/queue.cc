#include <vector>

#include "base/error.h"
#include "processor/opencl/api/loaded/state.h"

namespace mete::opencl {
namespace {

void ReleaseQueue(const ContextState& of, void* object) {
  of.cl.clReleaseCommandQueue(static_cast<cl_command_queue>(object));
}

// The events of a wait list as OpenCL takes them, without the empty ones. A list of a few needs no memory.
class WaitList {
 public:
  explicit WaitList(After after) {
    for (const Event* event : after)
      if (event->get()) Add(static_cast<cl_event>(event->get()));
  }
  cl_uint size() const { return size_; }
  const cl_event* data() const { return size_ == 0 ? nullptr : more_.empty() ? few_ : more_.data(); }

 private:
  static constexpr cl_uint kFew = 8;
  void Add(cl_event event) {
    if (size_ == kFew) more_.assign(few_, few_ + kFew);
    if (size_ < kFew) few_[size_] = event;
    else more_.push_back(event);
    ++size_;
  }
  cl_event few_[kFew] = {};
  std::vector<cl_event> more_;
  cl_uint size_ = 0;
};

struct QueueCalls {
  const ContextState& of;
  cl_command_queue queue;

  explicit QueueCalls(const Owned& object)
      : of(Of(object)), queue(static_cast<cl_command_queue>(object.get())) {}

  void Launch(const Kernel& kernel, const Range& range, After after, cl_event* done) const {
    const WaitList before(after);
    const size_t* group = range.group[0] ? range.group.data() : nullptr;
    cl_uint dimensions = 0;
    while (dimensions < 3 && range.items[dimensions] > 0) ++dimensions;
    const cl_int problem =
        of.cl.clEnqueueNDRangeKernel(queue, static_cast<cl_kernel>(kernel.get()), dimensions, nullptr,
                                     range.items.data(), group, before.size(), before.data(), done);
    if (problem != CL_SUCCESS) of.Check(problem, fmt::format("the launch of '{}'", kernel.name()).c_str());
  }

  void Write(const Buffer& to, int64_t offset, std::span<const std::byte> bytes, cl_bool wait, After after,
             cl_event* done) const {
    const WaitList before(after);
    CheckRange(to, offset, int64_t(bytes.size()));
    of.Check(of.cl.clEnqueueWriteBuffer(queue, static_cast<cl_mem>(to.get()), wait, size_t(offset),
                                        bytes.size(), bytes.data(), before.size(), before.data(), done),
             "clEnqueueWriteBuffer");
  }

  void Read(const Buffer& from, int64_t offset, std::span<std::byte> bytes, cl_bool wait, After after,
            cl_event* done) const {
    const WaitList before(after);
    CheckRange(from, offset, int64_t(bytes.size()));
    of.Check(of.cl.clEnqueueReadBuffer(queue, static_cast<cl_mem>(from.get()), wait, size_t(offset),
                                       bytes.size(), bytes.data(), before.size(), before.data(), done),
             "clEnqueueReadBuffer");
  }

  std::byte* Map(const Buffer& buffer, MapFor purpose, int64_t offset, int64_t bytes, cl_bool wait,
                 After after, cl_event* done) const {
    const WaitList before(after);
    CheckRange(buffer, offset, bytes);
    const cl_map_flags flags = purpose == MapFor::kRead    ? CL_MAP_READ
                               : purpose == MapFor::kWrite ? CL_MAP_READ | CL_MAP_WRITE
                                                           : CL_MAP_WRITE_INVALIDATE_REGION;
    cl_int problem = CL_SUCCESS;
    void* address =
        of.cl.clEnqueueMapBuffer(queue, static_cast<cl_mem>(buffer.get()), wait, flags, size_t(offset),
                                 size_t(bytes), before.size(), before.data(), done, &problem);
    of.Check(problem, "clEnqueueMapBuffer");
    return static_cast<std::byte*>(address);
  }

  void CheckRange(const Buffer& buffer, int64_t offset, int64_t bytes) const {
    if (offset < 0 || bytes <= 0 || offset > buffer.bytes() - bytes)
      Invalid(of.name(), "bytes outside of a buffer; got {} from {} on, expected at most {}", bytes, offset,
              buffer.bytes());
  }
};

Owned EventOf(const Owned& queue, cl_event event) { return Own(queue.get_deleter().of, event, ReleaseEvent); }

}  // namespace

Queue::Queue(const Context& context, const QueueOptions& options) {
  const ContextState& of = *context.state();
  cl_int problem = CL_SUCCESS;
  cl_command_queue queue = of.cl.clCreateCommandQueue(
      of.context, of.device.state().id, options.profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &problem);
  of.Check(problem, "clCreateCommandQueue");
  object_ = Own(context.state(), queue, ReleaseQueue);
}

Event Queue::Launch(const Kernel& kernel, const Range& range, After after) {
  cl_event done = nullptr;
  QueueCalls(object_).Launch(kernel, range, after, &done);
  return Event(EventOf(object_, done));
}

void Queue::LaunchOnly(const Kernel& kernel, const Range& range, After after) {
  QueueCalls(object_).Launch(kernel, range, after, nullptr);
}

void Queue::Write(const Buffer& to, int64_t offset, std::span<const std::byte> bytes) {
  QueueCalls(object_).Write(to, offset, bytes, CL_TRUE, {}, nullptr);
}

void Queue::Read(const Buffer& from, int64_t offset, std::span<std::byte> bytes) {
  QueueCalls(object_).Read(from, offset, bytes, CL_TRUE, {}, nullptr);
}

Event Queue::StartWrite(const Buffer& to, int64_t offset, std::span<const std::byte> bytes, After after) {
  cl_event done = nullptr;
  QueueCalls(object_).Write(to, offset, bytes, CL_FALSE, after, &done);
  return Event(EventOf(object_, done));
}

Event Queue::StartRead(const Buffer& from, int64_t offset, std::span<std::byte> bytes, After after) {
  cl_event done = nullptr;
  QueueCalls(object_).Read(from, offset, bytes, CL_FALSE, after, &done);
  return Event(EventOf(object_, done));
}

Event Queue::Copy(const Buffer& from, int64_t from_offset, const Buffer& to, int64_t to_offset, int64_t bytes,
                  After after) {
  const QueueCalls calls(object_);
  const WaitList before(after);
  calls.CheckRange(from, from_offset, bytes);
  calls.CheckRange(to, to_offset, bytes);
  cl_event done = nullptr;
  calls.of.Check(
      calls.of.cl.clEnqueueCopyBuffer(calls.queue, static_cast<cl_mem>(from.get()),
                                      static_cast<cl_mem>(to.get()), size_t(from_offset), size_t(to_offset),
                                      size_t(bytes), before.size(), before.data(), &done),
      "clEnqueueCopyBuffer");
  return Event(EventOf(object_, done));
}

std::byte* Queue::Map(const Buffer& buffer, MapFor purpose, int64_t offset, int64_t bytes) {
  return QueueCalls(object_).Map(buffer, purpose, offset, bytes, CL_TRUE, {}, nullptr);
}

std::byte* Queue::StartMap(const Buffer& buffer, MapFor purpose, int64_t offset, int64_t bytes, Event& done,
                           After after) {
  cl_event event = nullptr;
  std::byte* address = QueueCalls(object_).Map(buffer, purpose, offset, bytes, CL_FALSE, after, &event);
  done = Event(EventOf(object_, event));
  return address;
}

Event Queue::Unmap(const Buffer& buffer, std::byte* address) {
  const QueueCalls calls(object_);
  cl_event done = nullptr;
  calls.of.Check(calls.of.cl.clEnqueueUnmapMemObject(calls.queue, static_cast<cl_mem>(buffer.get()), address,
                                                     0, nullptr, &done),
                 "clEnqueueUnmapMemObject");
  return Event(EventOf(object_, done));
}

Event Queue::Marker() {
  const QueueCalls calls(object_);
  cl_event done = nullptr;
  calls.of.Check(calls.of.cl.clEnqueueMarkerWithWaitList(calls.queue, 0, nullptr, &done),
                 "clEnqueueMarkerWithWaitList");
  return Event(EventOf(object_, done));
}

void Queue::Flush() {
  const QueueCalls calls(object_);
  calls.of.Check(calls.of.cl.clFlush(calls.queue), "clFlush");
}

void Queue::Finish() {
  const QueueCalls calls(object_);
  calls.of.Check(calls.of.cl.clFinish(calls.queue), "clFinish");
}

}  // namespace mete::opencl
