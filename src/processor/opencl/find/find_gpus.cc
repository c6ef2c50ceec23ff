#include "processor/opencl/find/find_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/error.h"
#include "mete/engine.h"
#include "processor/opencl/find/ask_child.h"
#include "processor/opencl/find/gpu_cache.h"
#include "processor/opencl/find/mapped_files.h"
#include "processor/opencl/info/gpu_choice.h"

namespace mete::opencl {
namespace {

void Append(const GpuAnswer& answer, const std::string& driver, GpuAnswer& all) {
  const std::string name = std::filesystem::path(driver).filename().string();
  for (const std::string& reason : answer.list.left_out)
    all.list.left_out.push_back(fmt::format("{}: {}", name, reason));
  all.hung = all.hung || answer.hung;
  if (answer.failed) return;
  all.list.drivers.push_back(driver);
  all.list.gpus.insert(all.list.gpus.end(), answer.list.gpus.begin(), answer.list.gpus.end());
  all.files.insert(all.files.end(), answer.files.begin(), answer.files.end());
}

// Gives devices of several answers the names that ListDevices() gives the same devices in one process.
void NameInOrder(std::vector<Gpu>& gpus) {
  std::stable_sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) {
    return OrderOfType(a.facts.type) < OrderOfType(b.facts.type);
  });
  for (size_t i = 0; i < gpus.size(); ++i) gpus[i].facts.name = fmt::format("gpu:{}", i);
}

// Returns the GPUs of the drivers that answer alone, after a child with all of them has failed.
GpuAnswer AskEach(const std::vector<std::string>& drivers, const GpuAnswer& together,
                  const std::string& program, const FindGpusOptions& options) {
  GpuAnswer all{.list = {.left_out = together.list.left_out}, .failed = true, .hung = together.hung};
  for (const std::string& driver : drivers) Append(AskChild(program, driver, options), driver, all);
  NameInOrder(all.list.gpus);
  std::sort(all.files.begin(), all.files.end());
  all.files.erase(std::unique(all.files.begin(), all.files.end()), all.files.end());
  return all;
}

GpuAnswer AskAll(const std::string& program, const FindGpusOptions& options) {
  const GpuAnswer together = AskChild(program, "", options);
  const std::vector<std::string> drivers = RegisteredDrivers();
  const char* own_loader = std::getenv("METE_OPENCL_LIBRARY");   // which need not load what is registered
  const char* other_drivers = std::getenv("OCL_ICD_FILENAMES");  // which are not registered
  const bool others = (own_loader && *own_loader) || (other_drivers && *other_drivers);
  if (!together.failed || drivers.size() < 2 || others) return together;
  return AskEach(drivers, together, program, options);
}

bool IsComplete(const GpuAnswer& answer) {
  return std::none_of(answer.list.gpus.begin(), answer.list.gpus.end(),
                      [](const Gpu& gpu) { return gpu.proved.out_of_time; });
}

std::string ProgramOf(const FindGpusOptions& options) {
  return options.program.empty() ? GpusProgram() : options.program;
}

// The answers of this process that are not complete, by their keys.
class Incomplete {
 public:
  static Incomplete& OfThisProcess() {
    static Incomplete all;
    return all;
  }
  void Keep(const std::string& key, const GpuAnswer& answer) {
    const std::lock_guard lock(mutex_);
    answers_[key] = answer;
  }
  std::optional<GpuAnswer> Find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = answers_.find(key);
    return found == answers_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, GpuAnswer> answers_;
};

// The turn of the one thread that asks: those that have waited for theirs take the answer of its child.
class AskingTurn {
 public:
  // Waits for the turn. Error CANCELLED.
  explicit AskingTurn(const CancelToken* cancel) {
    Clock& steady = Clock::Steady();
    std::unique_lock lock(mutex_);
    for (bool free = false; !free;) {
      waited_ = waited_ || asks_;
      free = steady.WaitUntil(ended_, lock, steady.Now() + kLook, [] { return !asks_; });
      if (cancel && cancel->cancelled())
        Fail(Code::kCancelled, "mete-gpus", "drivers are asked no longer: the session ends");
    }
    asks_ = true;
  }
  ~AskingTurn() {
    {
      const std::lock_guard lock(mutex_);
      asks_ = false;
    }
    ended_.notify_all();
  }
  AskingTurn(const AskingTurn&) = delete;
  AskingTurn& operator=(const AskingTurn&) = delete;

  bool waited() const { return waited_; }

 private:
  static constexpr std::chrono::milliseconds kLook{100};  // at `cancel`, as a child's wait has it
  static inline std::mutex mutex_;
  static inline std::condition_variable ended_;
  static inline bool asks_ = false;  // guarded by mutex_
  bool waited_ = false;
};

// Returns the last answer; nothing if a child has to be asked.
std::optional<GpuAnswer> LastAnswer(const FindGpusOptions& options) {
  const auto nobody = [](const char* why) { return GpuAnswer{.list = {.left_out = {why}}}; };
  if (GpuChoiceFromEnvironment().off) return nobody("METE_GPU=off: no driver was asked");
  const std::string program = ProgramOf(options);
  if (program.empty())
    return nobody("the program mete-gpus, which loads the drivers, is missing; METE_GPUS_PROGRAM names it");
  const std::string key = GpuKey(program);
  auto kept = KeptAnswer(options.cache_folder, key);
  return kept ? kept : Incomplete::OfThisProcess().Find(key);
}

}  // namespace

std::optional<GpuList> KnownGpus(const FindGpusOptions& options) {
  const std::optional<GpuAnswer> last = LastAnswer(options);
  const bool again = last && options.failures == Failures::kTryAgain && (last->failed || !IsComplete(*last));
  return last && !again ? std::optional(last->list) : std::nullopt;
}

bool MayFindMore(const FindGpusOptions& options) {
  const std::optional<GpuAnswer> last = LastAnswer(options);
  return last && (last->hung || !IsComplete(*last));
}

GpuList FindGpus(const FindGpusOptions& options) {
  const AskingTurn turn(options.cancel);
  if (turn.waited())
    if (const std::optional<GpuAnswer> new_one = LastAnswer(options)) return new_one->list;
  if (const std::optional<GpuList> known = KnownGpus(options)) return *known;
  const std::string program = ProgramOf(options), key = GpuKey(program);
  const GpuAnswer answer = AskAll(program, options);
  if (IsComplete(answer)) KeepAnswer(options.cache_folder, key, answer);
  else Incomplete::OfThisProcess().Keep(key, answer);
  return answer.list;
}

}  // namespace mete::opencl
