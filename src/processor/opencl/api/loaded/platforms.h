// The platforms of OpenCL, each with the functions that reach it: those of the loader, which loads every
// driver that is registered, or those of one driver alone, because another one crashes.
#pragma once

#include <string>
#include <vector>

#include "processor/opencl/api/loaded/functions.h"

namespace mete::opencl {

struct Platform {
  const Functions& cl;  // live as long as the program
  cl_platform_id id;
};

// Return Errors UNAVAILABLE where there is no loader or driver, or it says no.
std::vector<Platform> PlatformsOfLoader();
// `file` names the driver's library in its first line, as those of /etc/OpenCL/vendors do. The library is
// called as loaders call it, and never unloaded (source: Khronos, extension cl_khr_icd).
std::vector<Platform> PlatformsOfDriver(const std::string& file);

}  // namespace mete::opencl
