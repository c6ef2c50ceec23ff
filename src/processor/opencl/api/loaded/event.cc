#include "base/error.h"
#include "processor/opencl/api/loaded/state.h"

namespace mete::opencl {

void ReleaseEvent(const ContextState& of, void* object) {
  of.cl.clReleaseEvent(static_cast<cl_event>(object));
}

Event Event::OfHost(const Context& context) {
  const ContextState& of = *context.state();
  cl_int problem = CL_SUCCESS;
  cl_event event = of.cl.clCreateUserEvent(of.context, &problem);
  of.Check(problem, "clCreateUserEvent");
  return Event(Own(context.state(), event, ReleaseEvent));
}

void Event::Complete() {
  const ContextState& of = Of(object_);
  of.Check(of.cl.clSetUserEventStatus(static_cast<cl_event>(get()), CL_COMPLETE), "clSetUserEventStatus");
}

void Event::Cancel() {
  const ContextState& of = Of(object_);
  constexpr cl_int kCancelled = -1;  // any negative number
  of.Check(of.cl.clSetUserEventStatus(static_cast<cl_event>(get()), kCancelled), "clSetUserEventStatus");
}

bool Event::done() const {
  if (!object_) return true;
  const ContextState& of = Of(object_);
  cl_int status = CL_QUEUED;
  of.Check(of.cl.clGetEventInfo(static_cast<cl_event>(get()), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                sizeof status, &status, nullptr),
           "clGetEventInfo");
  if (status < 0) of.Check(status, "a command");
  return status == CL_COMPLETE;
}

void Event::Wait() const {
  if (!object_) return;
  const ContextState& of = Of(object_);
  auto* event = static_cast<cl_event>(get());
  const cl_int problem = of.cl.clWaitForEvents(1, &event);
  if (problem == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    done();  // which throws the command's own error
  of.Check(problem, "clWaitForEvents");
}

EventTimes Event::times() const {
  const ContextState& of = Of(object_);
  const auto get_ns = [&](cl_profiling_info which) {
    cl_ulong ns = 0;
    of.Check(of.cl.clGetEventProfilingInfo(static_cast<cl_event>(get()), which, sizeof ns, &ns, nullptr),
             "clGetEventProfilingInfo");
    return int64_t(ns);
  };
  return {get_ns(CL_PROFILING_COMMAND_QUEUED), get_ns(CL_PROFILING_COMMAND_SUBMIT),
          get_ns(CL_PROFILING_COMMAND_START), get_ns(CL_PROFILING_COMMAND_END)};
}

}  // namespace mete::opencl
