// Measures how soon a network's kernels are ready on an OpenCL device when their binaries were kept, as at
// each start but the first one:
//   METE_GPU=cpu POCL_AFFINITY=1 build/release/opencl_ready_bench resnet50.onnx gpu:0/1 5
// Model, device ("gpu:0" if none is given) and starts. A first start, which is not counted, tries the drivers
// if nobody has (METE_CACHE), compiles all kernels and keeps them in a folder of its own; each further one is
// a process of its own. Of each step the median of the starts is printed, in milliseconds of the clock and of
// the process's processor time, which other programs' work changes less. Tiles are those of the estimate: as
// many kernels as measured.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/model.h"
#include "passes/pass.h"
#include "machine/gpu_entry.h"
#include "processor/opencl/gpu/gpu_processor.h"
#include "processor/opencl/gpu/loaded_share.h"
#include "processor/opencl/gpu/ready_on_gpu.h"
#include "processor/opencl/share/share_on_gpu.h"

namespace mete::opencl {
namespace {

namespace fs = std::filesystem;

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

// The most memory that the process has had until now (VmHWM of proc(5)).
double PeakMib() {
  std::ifstream status("/proc/self/status");
  double kib = 0;
  for (std::string word; status >> word && word != "VmHWM:";) {}
  status >> kib;
  return kib / 1024;
}

struct Ms {
  double wall = 0, cpu = 0;
};

// Writes what each step of a start took as a line: "wall cpu peak name".
class Steps {
 public:
  explicit Steps(std::FILE* to) : to_(to) {}
  // A step has ended that began with the object, or when the last step ended.
  void End(const std::string& name) {
    const Ms now = Now();
    fmt::print(to_, "{} {} {} {}\n", now.wall - begin_.wall, now.cpu - begin_.cpu, PeakMib(), name);
    begin_ = Now();
  }

 private:
  static Ms Now() { return {double(NowNs()) * 1e-6, CpuMs()}; }

  std::FILE* const to_;
  Ms begin_ = Now();
};

double Median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Returns each kernel of the launches once.
std::vector<KernelText> Distinct(const std::vector<Launch>& launches) {
  std::vector<KernelText> texts;
  std::set<std::string> seen;
  for (const Launch& launch : launches)
    if (seen.insert(DigestOfProgram(launch.text)).second) texts.push_back(launch.text);
  return texts;
}

void Start(const Model& model, const std::string& name, const std::string& folder, std::FILE* to) {
  Graph graph = DivisibleOf(model);
  (void)RunPasses(graph);
  Steps steps(to);
  ProcessorEntry entry{.name = name};
  SetGpu(entry, {.device = name});
  const TriedDevice tried = FindDeviceOf(entry, GpuProcessor::Look::kFirst, CancelToken());
  auto live =
      std::make_shared<LiveGpu>(name, tried.device, StagingFor(tried.proved), folder, Clock::Steady());
  steps.End("the driver, a context and its queues");
  const ShareOnGpu share = Lower(graph, TargetOf(tried.device.facts(), {}), {});
  steps.End("texts");
  std::vector<std::shared_ptr<LiveGpu::Compiled>> programs;
  const auto make_programs = [&](const std::vector<Launch>& launches, const char* what) {
    const std::vector<KernelText> texts = Distinct(launches);
    for (const KernelText& text : texts) {
      programs.push_back(live->ProgramOf(text));
      (void)Kernel(programs.back()->program, text.name);
    }
    steps.End(fmt::format("programs of {} {}", texts.size(), what));
  };
  make_programs(share.launches, "kernels");
  make_programs(share.packing, "kernels that pack weights");
  const LoadedShare loaded(live, share, BytesOf(graph, graph.inputs), BytesOf(graph, graph.outputs));
  steps.End("packed weights, and the first launch of each kernel");
}

// The same in a process of its own, which no driver has been loaded into. Returns the lines of Steps.
std::string StartApart(const std::function<void(std::FILE*)>& start) {
  std::FILE* const lines = std::tmpfile();
  if (!lines) throw Error(Code::kUnavailable, "no temporary file");
  const pid_t child = fork();
  if (child == 0) {
    try {
      start(lines);
      std::fflush(lines);
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "opencl_ready_bench: %s\n", error.what());
      _exit(1);
    }
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    throw Error(Code::kUnavailable, "a start has failed");
  std::rewind(lines);
  std::string text;
  for (int c = std::fgetc(lines); c != EOF; c = std::fgetc(lines)) text += char(c);
  std::fclose(lines);
  return text;
}

void Measure(const std::string& path, const std::string& name, int starts) {
  const Model model = Model::Load(path);
  std::string folder = (fs::temp_directory_path() / "mete-ready-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw Error(Code::kUnavailable, "no temporary folder");
  const auto start = [&](std::FILE* to) { Start(model, name, folder, to); };
  (void)StartApart(start);
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> wall, cpu, peak;
  for (int i = 0; i < starts; ++i) {
    std::istringstream lines(StartApart(start));
    Ms ms;
    double mib = 0;
    for (std::string step; lines >> ms.wall >> ms.cpu >> mib && std::getline(lines, step);) {
      if (!wall.contains(step)) names.push_back(step);
      wall[step].push_back(ms.wall);
      cpu[step].push_back(ms.cpu);
      peak[step].push_back(mib);
    }
  }
  fs::remove_all(folder);
  for (const std::string& step : names)
    fmt::print("{:8.1f} ms {:8.1f} ms of processor time, peak {:6.1f} MiB {}\n", Median(wall[step]),
               Median(cpu[step]), Median(peak[step]), step);
}

}  // namespace
}  // namespace mete::opencl

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "opencl_ready_bench MODEL [DEVICE [STARTS]]\n");
    return 2;
  }
  try {
    mete::opencl::Measure(words[1], count > 2 ? words[2] : "gpu:0", count > 3 ? std::atoi(words[3]) : 5);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "opencl_ready_bench: %s\n", error.what());
    return 1;
  }
}
