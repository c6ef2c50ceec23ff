#include "base/error.h"
#include "processor/opencl/api/loaded/state.h"

namespace mete::opencl {

ContextState::ContextState(const Device& of) : device(of), cl(of.state().cl) {
  cl_int problem = CL_SUCCESS;
  context = cl.clCreateContext(nullptr, 1, &device.state().id, nullptr, nullptr, &problem);
  Check(problem, "clCreateContext");
}

ContextState::~ContextState() {
  if (!is_abandoned) cl.clReleaseContext(context);
}

void Release::operator()(void* object) const {
  if (!of->is_abandoned) release(*of, object);
}

Context::Context(const Device& device) : state_(std::make_shared<ContextState>(device)) {}

const DeviceFacts& Context::facts() const { return state_->device.facts(); }

void Context::Abandon() { state_->is_abandoned = true; }

}  // namespace mete::opencl
