// A plan that is ready on all its processors. The calling thread computes the home's share of a request, and
// members compute the others. A plan with a failed processor stays failed; its owner deploys another one.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "run/member.h"
#include "run/program_run.h"

namespace mete {

// The error of a plan's processor that is gone or late.
class ProcessorError : public Error {
 public:
  ProcessorError(const Error& error, int processor) : Error(error), processor_(processor) {}
  int processor() const { return processor_; }

 private:
  int processor_;
};

struct DeployOptions {
  Coding coding = Coding::kF32;
  int lanes = 1;  // requests at a time
  // for the slowest processor to prepare its share. Guess: VGG-16 on a slow board
  std::chrono::milliseconds ready_timeout{120'000};
  Clock* clock = &Clock::Steady();  // tells when processors are late; outlives the plan
};

struct RequestTimes {
  double us = 0;
  // By processor, the sum of its stages in the last request that it has reported: a report mostly comes
  // after the outputs. 0: no report yet.
  std::vector<double> compute_us;
};

// The home of plans: the calling threads compute on this processor, which has the inputs and gets the
// outputs.
struct HomeProcessor {
  Processor& processor;
  MakeReady make;  // prepares a share on it
};

class DeployedPlan : private PlanEvents {
 public:
  // `members` has one for each processor of the plan; the first, the home's, is null. Sends the programs,
  // and waits until all are ready. Keeps pointers to the members, and the reference in `home`. `notes` gets
  // problems that do not stop the deployment. Throws ProcessorError.
  DeployedPlan(const Graph& graph, const Plan& plan, const HomeProcessor& home,
               const std::vector<Member*>& members, const DeployOptions& options,
               const WeightsProgress& progress, std::vector<std::string>* notes);
  ~DeployedPlan() override;

  // Inputs are in the order of InputsOf() (plan/pool/program.h), outputs in the graph's order, and of a plan
  // of some layers in that of OutputsOf(). Waits for a free lane. Throws ProcessorError if a processor fails
  // or is later than `patience`, and the other Errors that the data cause. Thread-safe.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, std::chrono::microseconds patience,
                          RequestTimes* times = nullptr);
  // The same; writes to `outputs`. A steady run allocates nothing if `outputs` and `times` are those of the
  // run before.
  void Run(std::span<const Tensor> inputs, std::chrono::microseconds patience, std::vector<Tensor>& outputs,
           RequestTimes& times);

  // Returns a tensor for an input, in the memory of the plan's values. Thread-safe.
  Tensor NewInput(DType type, const Shape& shape) { return inputs_.Take(type, shape); }

  // Ends the requests under way with CANCELLED: the plan has failed then. Thread-safe.
  void Cancel();

  // Returns by processor the times of its stages in the last request that it has reported: a report mostly
  // comes after the outputs. Empty: no report yet.
  std::vector<std::vector<StageTimes>> LastStages() const;
  // Waits until a processor has reported `requests` requests, or until `until`, and returns the processor's
  // entry of LastStages().
  std::vector<StageTimes> AwaitStages(int processor, uint64_t requests, Clock::Time until);

  bool failed() const;
  const Plan& plan() const { return plan_; }
  // Fills in the threads of the steps of all shares of this process. `plan` has the groups of plan().
  void PutThreads(Plan& plan) const;

 private:
  struct Lane {
    uint64_t next = 0;
    bool busy = false;
    std::shared_ptr<Inbox> inbox;  // of the request under way
    ProgramMemory memory;
  };
  class Post;

  void DeployAll(const HomeProcessor& home, const WeightsProgress& progress, std::vector<std::string>* notes);
  void StopAll();
  void DeployTo(int processor, const Program& program, const WeightsProgress& progress,
                std::vector<std::string>* notes);
  Lane& TakeLane();
  void LeaveLane(Lane& lane);
  void RunOn(Lane& lane, std::span<const Tensor> inputs, std::chrono::microseconds patience,
             std::vector<Tensor>& outputs);
  // Returns the error of the processor that delays the request: `processor`, or the one for whose piece it
  // waits, and so on, as far as the processors answer before `until`.
  ProcessorError TooLate(uint64_t request, int processor, Clock::Time until) const;
  void PutInOrder(const std::vector<Tensor>& held, std::vector<Tensor>& outputs) const;

  void Deliver(int from, int to, uint64_t request, const PieceId& id, Tensor piece,
               Unwritten::Mark mark) override;
  std::shared_ptr<Inbox> InboxOf(int processor, uint64_t request) override;
  void OnDone(int from, uint64_t request, std::span<const StageTimes> times) override;
  void OnFailure(int processor, const Error& error) override;

  const Graph& graph_;
  const Plan plan_;
  const std::vector<Member*> members_;
  const DeployOptions options_;
  const std::string id_;
  const MakeTensor shared_;  // allocates values of processors of this process; null: in any memory
  Buffers inputs_;
  const std::vector<ValueId> outputs_;  // of the values that the home holds at last
  std::unique_ptr<PreparedProgram> own_;
  std::optional<Inboxes> inboxes_;  // of own_
  Turn turn_;                       // of the threads that compute on the home
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<StageTimes>> stages_;  // as LastStages() returns them
  std::vector<uint64_t> reported_;               // by processor: requests
  std::optional<ProcessorError> error_;
  std::atomic<bool> ready_{false};  // all of programs_ are there and ready: no piece comes or goes before
  std::map<int, std::unique_ptr<MemberProgram>> programs_;  // last: their threads use all of the above
};

}  // namespace mete
