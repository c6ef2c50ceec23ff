// What is known about a GPU as JSON, and back with bounds: it comes from a process that may be broken.
#pragma once

#include <string>

#include "base/json.h"
#include "processor/opencl/info/gpu_info.h"

namespace mete::opencl {

nlohmann::ordered_json ToJson(const GpuList& list);

// Throws an Error that names `where` if a key is missing, has another type, a text has more than 4000
// characters, a number is negative, or a list has more than 100 entries.
GpuList GpuListFromJson(const nlohmann::ordered_json& j, const std::string& where);

}  // namespace mete::opencl
