// What the objects of the api have in common. Only this folder includes this header.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "processor/opencl/api/loaded/functions.h"
#include "processor/opencl/api/opencl.h"

namespace mete::opencl {

struct DeviceState {
  const Functions& cl;
  cl_device_id id;
  bool is_sub_device;

  DeviceState(const Functions& functions, cl_device_id device, bool sub)
      : cl(functions), id(device), is_sub_device(sub) {}
  ~DeviceState() {
    if (is_sub_device) cl.clReleaseDevice(id);
  }
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
};

struct ContextState {
  const Device device;
  const Functions& cl;
  cl_context context = nullptr;
  std::atomic<bool> is_abandoned = false;

  explicit ContextState(const Device& of);
  ~ContextState();
  ContextState(const ContextState&) = delete;
  ContextState& operator=(const ContextState&) = delete;
  const std::string& name() const { return device.facts().name; }
  void Check(cl_int code, const char* call) const { opencl::Check(code, name(), call); }
};

// Returns the object with the release of its type.
inline Owned Own(std::shared_ptr<const ContextState> of, void* object,
                 void (*release)(const ContextState& of, void* object)) {
  return Owned(object, Release{std::move(of), release});
}
void ReleaseEvent(const ContextState& of, void* object);

inline const ContextState& Of(const Owned& object) { return *object.get_deleter().of; }

}  // namespace mete::opencl
