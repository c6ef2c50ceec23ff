// The files of programs and drivers, and how to see that one has changed.
#pragma once

#include <string>
#include <vector>

namespace mete::opencl {

// Returns a line of the file's path, size and time of change, or "PATH missing".
std::string FileFacts(const std::string& path);

// Returns the paths of all files in a folder, in order; none where there is no such folder.
std::vector<std::string> EntriesOf(const std::string& folder);

// Returns the files that register OpenCL's drivers on this machine: the .icd files of the folder that the
// environment variables OCL_ICD_VENDORS or OPENCL_VENDOR_PATH name, else of /etc/OpenCL/vendors.
std::vector<std::string> RegisteredDrivers();

// Returns the paths of the files whose code this process has loaded: the program, libraries, drivers.
std::vector<std::string> LoadedFiles();

}  // namespace mete::opencl
