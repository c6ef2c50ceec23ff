// Emulates, on some cores of a CPU, a processor that is not there. It computes as the CPU does, and takes the
// times that a device of another kind would take in addition: for the launch of a share, for each piece that
// enters or leaves its memory, and for waking up. It can build kernels slowly, lack element types and
// operators, and fail on demand. It is for experiments and tests: every figure that comes from it is an
// emulation. Its keys in a pool file (machine/pool_file.h):
//
//     kind = "emulated"                # computes on its cores as another processor would
//     speed = 0.5                      # of the cores, emulated by stretching time
//     launch_us = 50                   # until a share begins to be computed
//     map_us = 200                     # for each piece that enters or leaves its memory
//     map_us_per_mib = 40              # and for each MiB of it
//     wake_us = 100                    # if it has not computed for a millisecond
//     prepare_ms = 3000                # for each share, until its kernels are built
//     lacks = ["i8", "u8"]             # element types that it cannot compute
//     lacks_operators = ["Softmax"]    # operators that it has no kernels for
//     fails = "run 3"                  # or "prepare", "hang 3", "lost 3": in the third run. For tests
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "machine/pool_file.h"
#include "processor/cpu/cpu.h"

namespace mete {

// The times that an emulated processor adds to those of its cores, in microseconds, and its faults.
struct Emulation {
  double launch_us = 0;
  double map_us = 0, map_us_per_mib = 0;
  double wake_us = 0;
  std::vector<std::string> lacks;  // names of element types
  std::string fails;               // "prepare", "run 3", "hang 3", "lost 3"; empty: never
  double prepare_ms = 0;           // above 0: PreparesLate()
  std::vector<std::string> lacks_operators = {};
};

class Emulated : public Processor {
 public:
  // `options` are those of the CPU that computes the shares. `speed` is above 0 and at most 1; a share takes
  // 1 / speed times as long as on the cores.
  Emulated(std::string name, SessionOptions options, double speed, Emulation emulation);

  const ProcessorInfo& info() const override { return info_; }
  void CheckThere() const override;
  std::string WhyNot(const Graph& graph, const Node& node) const override;
  std::shared_ptr<Ready> Prepare(const Graph& share) override;
  std::shared_ptr<Ready> PrepareAsPlanned(const Graph& share, const ThreadPlan& threads) override;
  bool PreparesLate() const override { return emulation_.prepare_ms > 0; }
  void CancelPreparing() override;
  int CallerCore() const override { return cpu_.CallerCore(); }
  ProcessorMemory memory() const override { return cpu_.memory(); }
  Tensor Import(Tensor tensor) override;
  Tensor Export(Tensor tensor) override;

 private:
  friend class ReadyEmulated;
  enum class Stage { kNever, kPrepare, kRun, kHang, kLost };

  // Returns the fault of the run that begins now, and counts the run.
  Stage FaultOfRun();
  void CheckShare(const Graph& share) const;
  void BuildKernels();  // takes prepare_ms; Error CANCELLED
  // Returns the microseconds until a share that starts now begins to compute.
  double LaunchUs() const;

  Cpu cpu_;
  const ProcessorInfo info_;
  const double speed_;
  const Emulation emulation_;
  Stage fault_ = Stage::kNever;
  int64_t faulty_run_ = 0;
  std::atomic<int64_t> runs_{0};
  std::atomic<bool> lost_{false};
  std::atomic<int64_t> last_end_ns_{0};  // of the last share that it computed
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;  // guarded by mutex_
};

// Reads the keys of this kind into the entry's settings, which are then an Emulation.
void ReadEmulation(TomlKeys& keys, ProcessorEntry& entry);
// Makes the processor of an entry. `options` are those of the CPU that computes the shares. An entry without
// settings adds no times.
std::shared_ptr<Processor> MakeEmulated(const ProcessorEntry& entry, SessionOptions options);

}  // namespace mete
