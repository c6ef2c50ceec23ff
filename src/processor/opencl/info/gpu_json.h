// What is known about a GPU as JSON, and back with bounds: it comes from a process that may be broken.
#pragma once

#include <string>

#include "base/json.h"
#include "processor/opencl/info/gpu_info.h"

namespace mete::opencl {

nlohmann::ordered_json ToJson(const DeviceFacts& facts);

// Throws an Error that names `where` if a key is missing, has another type, a text has more than 1000
// characters, or a number is negative.
DeviceFacts DeviceFactsFromJson(const nlohmann::ordered_json& j, const std::string& where);

}  // namespace mete::opencl
