// Texts that drivers state.
#pragma once

#include <cstddef>
#include <string>

#include "processor/opencl/api/loaded/functions.h"

namespace mete::opencl {

inline constexpr size_t kLongestText = 64 << 10;  // guess: PoCL's list of extensions has 700 characters

// Calls get(bytes, text, &bytes) as OpenCL's functions for texts are called. What a driver does not state is
// "".
template <class Get>
std::string TextOf(Get get) {
  size_t bytes = 0;
  if (get(0, nullptr, &bytes) != CL_SUCCESS || bytes > kLongestText) return "";
  std::string text(bytes, '\0');
  if (get(bytes, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.substr(0, text.find('\0'));
}

}  // namespace mete::opencl
