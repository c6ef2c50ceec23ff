// mete-gpus: loads the drivers of this machine's GPUs, tries what each can do, and prints that as one line of
// JSON, the last line of its output. It is a program of its own because drivers crash and hang: FindGpus()
// (processor/opencl/find) runs it with a deadline.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "mete/error.h"
#include "processor/opencl/find/ask_child.h"
#include "processor/opencl/find/mapped_files.h"
#include "processor/opencl/info/gpu_choice.h"
#include "processor/opencl/probe/probe.h"

namespace mete::opencl {
namespace {

constexpr const char* kHelp =
    "Usage: mete-gpus [--driver FILE]\n\n"
    "Loads the OpenCL drivers of this machine, tries what each GPU can do, and prints it as a line of JSON.\n"
    "'mete machine' runs this program and shows its answer. The environment variable METE_GPU=off asks no\n"
    "driver, METE_GPU=cpu counts OpenCL devices on the CPU as GPUs, METE_OPENCL_LIBRARY names the loader.\n"
    "With --driver it loads the driver alone that FILE registers, such as /etc/OpenCL/vendors/pocl.icd.\n";

// `drivers`: the files of those that are loaded alone; empty: all.
GpuAnswer Answer(const std::vector<std::string>& drivers) {
  const GpuChoice choice = GpuChoiceFromEnvironment();
  if (choice.off) return {.list = {.left_out = {"METE_GPU=off: no driver was asked"}}};
  GpuAnswer answer;
  DeviceList devices = ListDevices(choice.cpu_devices, drivers);
  answer.list.left_out = std::move(devices.left_out);
  for (const std::string& file : LoadedFiles()) answer.files.push_back(FileFacts(file));
  for (const Device& device : devices.devices) {
    const auto started = [&](const std::string& probe) {
      fmt::print(stderr, "{}: probe of {}\n", device.facts().name, probe);
    };
    answer.list.gpus.push_back({device.facts(), Probe(device, {.started = started})});
  }
  return answer;
}

int Main(int count, char** arguments) {
  std::vector<std::string> drivers;
  if (count == 3 && std::string_view(arguments[1]) == "--driver") {
    drivers.emplace_back(arguments[2]);
  } else if (count > 1) {
    const bool asked = std::string_view(arguments[1]) == "--help";
    fmt::print(asked ? stdout : stderr, "{}", kHelp);
    return asked ? 0 : 2;
  }
  // What drivers write on the standard output goes to the errors, so that the answer stands alone.
  const int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  std::string text;
  try {
    text = JsonText(ToJson(Answer(drivers)), -1) + "\n";
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  std::fflush(nullptr);
  // Caller and drivers may share a pipe, in which a driver has left half a line.
  if (FILE* file = fdopen(out, "w")) {
    if (!isatty(out)) text.insert(0, "\n");
    std::fputs(text.c_str(), file);
    std::fflush(file);
  }
  // Without the drivers' own last steps: they crash, too.
  _exit(0);
}

}  // namespace
}  // namespace mete::opencl

int main(int count, char** arguments) { return mete::opencl::Main(count, arguments); }
