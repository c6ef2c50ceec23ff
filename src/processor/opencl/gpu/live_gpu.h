// A device while it answers: its context, its queues and what the shares on it have in common. One whose
// queue hangs is lost for good and abandoned; the processor then makes another one.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "processor/opencl/api/opencl.h"
#include "processor/opencl/gpu/device_constants.h"
#include "processor/opencl/gpu/kept_programs.h"
#include "processor/opencl/gpu/shared_tensors.h"
#include "processor/opencl/gpu/staging.h"
#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

class LiveGpu {
 public:
  // `name`: of the device, in Errors.
  // `kernels_folder`: keeps compiled programs; "": none are kept.
  LiveGpu(std::string name, const Device& device, StagingKind staging, const std::string& kernels_folder,
          Clock& clock);

  const std::string& name() const { return name_; }
  const Context& context() const { return context_; }
  StagingKind staging() const { return staging_; }
  Clock& clock() const { return clock_; }
  SharedTensors* shared() { return shared_ ? &*shared_ : nullptr; }  // null: there is no such memory

  bool is_lost() const { return lost_; }
  void CheckThere() const;  // Error UNAVAILABLE if it is lost

  // Waits for a command. If it has not ended after the time `patience`, the context is abandoned and this
  // device lost: Error UNAVAILABLE. An Error of a command that has failed passes through.
  void Await(const Event& event, Clock::Duration patience);
  // Returns false if `until` has come before the command's end.
  bool AwaitUntil(const Event& event, Clock::Time until) const;
  // Abandons the context, and throws UNAVAILABLE with the reason.
  [[noreturn]] void Lose(const std::string& why);

  // Ends the compiling and the first launches of kernels, now and later, with CANCELLED. Thread-safe.
  void CancelPreparing() { cancelled_ = true; }
  void CheckPreparing() const;  // Error CANCELLED

  // Lets a kernel run once, and waits for it: drivers compile for good at the first launch.
  void RunOnce(const Kernel& kernel, const Range& range);
  // Waits as Await() does, for a command of the preparing.
  void AwaitPreparing(const Event& event);

  // Commands behind all that was enqueued before, with nothing in between: one arena serves all requests.
  // Only one batch is made at a time.
  class Batch {
   public:
    Batch(LiveGpu& live, bool timed);  // timed: its events have times
    Queue& queue() { return queue_; }
    // Returns what its first command waits for; null: nothing.
    const Event* before() const { return before_.get(); }
    // Begins to run the commands, and returns their end. To be called once.
    std::shared_ptr<const Event> Flush();

   private:
    LiveGpu& live_;
    const std::lock_guard<std::mutex> lock_;
    const bool timed_;
    Queue& queue_;
    const std::shared_ptr<const Event> before_;
  };
  Queue& transfers() { return transfers_; }  // a second queue, for maps of inputs

  // A share that needs so many bytes of the arena, for the object's life.
  class Need {
   public:
    Need(std::shared_ptr<LiveGpu> live, int64_t bytes);
    ~Need();
    Need(const Need&) = delete;
    Need& operator=(const Need&) = delete;

   private:
    const std::shared_ptr<LiveGpu> live_;
    const int64_t bytes_;
  };
  // Returns the arena, as large as the largest need; null: nobody needs one. It is another one than before
  // where needs have changed.
  std::shared_ptr<const Buffer> Arena();
  int64_t values_bytes();  // of the arena, and of the tensors in memory that both sides see

  // The constants and the packed weights of all shares.
  DeviceConstants& constants() { return constants_; }

  // A program, and whether it must be kept: it was compiled here.
  struct Compiled {
    Program program;
    std::string digest;
    std::atomic<bool> is_new;

    Compiled(Program made, std::string text_digest, bool compiled)
        : program(std::move(made)), digest(std::move(text_digest)), is_new(compiled) {}
  };
  // Returns the program of a text: the one of another share, the one that was kept, or a new one.
  std::shared_ptr<Compiled> ProgramOf(const KernelText& text);
  // Keeps the program for the next start, if it is new. After its first launch: drivers that compile for good
  // then have their code in the binary.
  void Keep(Compiled& compiled) const;

 private:
  std::shared_ptr<Compiled> Compile(const KernelText& text, const std::string& digest) const;

  const std::string name_;
  Context context_;
  const StagingKind staging_;
  const Clock::Duration spin_;
  Clock& clock_;
  std::optional<SharedTensors> shared_;
  std::atomic<bool> lost_ = false, cancelled_ = false;

  std::mutex batch_mutex_;
  Queue compute_, transfers_;
  std::optional<Queue> timed_;  // made for the first trace
  bool last_was_timed_ = false;
  std::shared_ptr<const Event> last_;  // the end of the last batch

  std::mutex needs_mutex_;
  std::multiset<int64_t> needs_;
  std::shared_ptr<const Buffer> arena_;

  DeviceConstants constants_;

  const KeptPrograms kept_;
  std::mutex programs_mutex_;
  std::map<std::string, std::weak_ptr<Compiled>> programs_;  // by the text's digest
};

}  // namespace mete::opencl
