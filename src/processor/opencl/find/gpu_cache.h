// The answer of `mete-gpus` as it is kept in the cache folder.
#pragma once

#include <optional>
#include <string>

#include "processor/opencl/find/ask_child.h"

namespace mete::opencl {

// Returns what an answer depends on and what is known before the child is asked, as lines: the program, the
// loader's list of libraries, the drivers that are registered, the device files and whether this user may
// open them, the kernel's version, and the environment variables of loaders and drivers.
std::string GpuKey(const std::string& program);

// Returns the answer that was kept under the key, unless a file that the child had loaded has changed since.
std::optional<GpuAnswer> KeptAnswer(const std::string& folder, const std::string& key);

// Keeps the answer. Does nothing if the file cannot be written: the next program asks again.
void KeepAnswer(const std::string& folder, const std::string& key, const GpuAnswer& answer);

}  // namespace mete::opencl
