// Finds this machine's GPUs without loading a driver into this process: a child process, the program
// `mete-gpus`, does it. If a driver crashes, hangs or makes nonsense, a child for each driver alone finds the
// GPUs of the others, and the list says of which drivers they are.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "processor/opencl/info/gpu_info.h"

namespace mete {
class CancelToken;
}

namespace mete::opencl {

enum class Failures { kRemember, kTryAgain };

struct FindGpusOptions {
  std::string program;  // "": the one that GpusProgram() finds
  // The folder that keeps the answer; "": nothing is kept. It is valid while the loader, the drivers, their
  // settings and the program stay the same.
  std::string cache_folder;
  // Whether an answer that was kept of a child that failed counts: a driver that crashes would otherwise
  // make every start of a program slow.
  Failures failures = Failures::kRemember;
  // This value is a guess: PoCL takes 4 s on a core at 2.6 GHz when it compiles for the first time, and
  // boards are slower. Each child has it: with two drivers of which one hangs, twice the time passes.
  Clock::Duration deadline = std::chrono::seconds(30);
  Clock& clock = Clock::Steady();
  const CancelToken* cancel = nullptr;  // ends the child; null: nothing does
};

// Returns the GPUs by METE_GPU (info/gpu_choice.h). An answer whose probes ran out of time is kept for this
// process alone: the next one asks again. Throws FAILED_PRECONDITION if that has a wrong value, CANCELLED
// as `cancel` asks, within 100 ms and the time that the child takes to end, and no other Error. Thread-safe.
GpuList FindGpus(const FindGpusOptions& options);

// Returns what FindGpus() would, if it needed no child process for that; else nothing.
std::optional<GpuList> KnownGpus(const FindGpusOptions& options);

// Returns whether the reason why the known answer lacks a GPU can pass by itself, so that FindGpus() with
// kTryAgain may find it: a driver did not answer in time, or probes ran out of time.
bool MayFindMore(const FindGpusOptions& options);

// Returns the path of the program: that of the environment variable METE_GPUS_PROGRAM; else `mete-gpus`
// beside the file that has this code, a program or libmete.so; else in the folder for such programs of the
// installation that the file belongs to. Returns "" where there is none.
std::string GpusProgram();

}  // namespace mete::opencl
