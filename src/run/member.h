// A processor of a pool as a session's home processor reaches it: on a thread of this process, or on a worker
// over the network. The home, on which the caller's thread computes, is no member.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "mete/error.h"
#include "plan/pool/program.h"
#include "run/coding.h"
#include "run/inbox.h"
#include "run/link_profile.h"
#include "run/program_run.h"
#include "run/time_graph.h"
#include "run/unwritten.h"

namespace mete {

// The messages between the parts of a deployed plan, which pass through the session. Threads of the
// deployments call these functions.
class PlanEvents {
 public:
  virtual ~PlanEvents() = default;
  // Brings a piece from a processor of this process to any processor of the plan. `mark` goes when the piece
  // has been handed over or written.
  virtual void Deliver(int from, int to, uint64_t request, const PieceId& id, Tensor piece,
                       Unwritten::Mark mark) = 0;
  // Returns the inbox of a processor of this process, for a piece from elsewhere. Error if no such request
  // is under way; null if its deployment has failed.
  virtual std::shared_ptr<Inbox> InboxOf(int processor, uint64_t request) = 0;
  virtual void OnDone(int processor, uint64_t request, std::span<const StageTimes> times) = 0;
  virtual void OnFailure(int processor, const Error& error) = 0;
};

// A program that is made ready on a member and stays ready as long as the object lives.
class MemberProgram {
 public:
  virtual ~MemberProgram() = default;
  // Waits until the program is ready; throws an Error if it is not ready in time.
  virtual void WaitReady(std::chrono::milliseconds timeout, Clock& clock) = 0;
  virtual void Begin(uint64_t request) = 0;
  // Hands a piece from a processor of this process to the member.
  virtual void Send(int from, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) = 0;
  // Returns the inbox of a member of this process; null for other members, and if the program has failed.
  virtual std::shared_ptr<Inbox> InboxOf(uint64_t request) = 0;
  // Returns the program of a member of this process once it is ready; null for other members.
  virtual const PreparedProgram* prepared() const { return nullptr; }
  // Returns the processor for whose piece the member waits in this request, or -1 for none; nothing if the
  // member has not said so by `until`. One thread for each request.
  virtual std::optional<int> WaitsFor(uint64_t request, Clock::Time until, Clock& clock) = 0;
  // Gives up the requests under way. After the return the program reports and delivers nothing. All programs
  // of a plan are stopped before the first of them is destroyed.
  virtual void Stop() = 0;
};

// The address of another member to which this one sends pieces.
struct PeerAddress {
  int processor = 0;
  std::string name, address;  // an empty address: a processor of the caller's process
};

// The length of a plan's id. The id is random: a process that does not know it cannot feed the plan's
// deployments.
inline constexpr size_t kPlanIdBytes = 16;

struct ProgramToHost {
  const Program& program;
  int processor = 0;
  const std::string& plan_id;      // unique, and known to the plan's members alone
  std::vector<PeerAddress> peers;  // the processors that the program sends to, but for the home
  Coding coding = Coding::kF32;
  int lanes = 1;
  MakeTensor shared = nullptr;  // of the plan's processors in this process (Processor::SharedMemory())
};

// Gets the name of a member, the bytes of weights that have been sent to it so far, and the bytes of all
// weights to be sent.
using WeightsProgress = std::function<void(const std::string&, int64_t, int64_t)>;

class Member {
 public:
  virtual ~Member() = default;
  virtual const std::string& name() const = 0;
  virtual std::string address() const = 0;      // empty: a processor of this process
  virtual const std::string& host() const = 0;  // the name in its certificate
  // its name on its device; empty: the first processor that the worker offers
  virtual const std::string& processor() const = 0;

  // Returns the member's hardware as ProcessorCosts has it; empty for a processor of this process. Error
  // UNAVAILABLE or DEADLINE_EXCEEDED if the member does not answer, FAILED_PRECONDITION if it answers but
  // cannot serve. One thread at a time.
  virtual std::string CheckThere(std::chrono::milliseconds timeout) = 0;
  // Begins to make a program ready on the member. `events` outlives the result. `notes` gets problems that do
  // not stop the deployment.
  virtual std::unique_ptr<MemberProgram> Host(const ProgramToHost& program, PlanEvents& events,
                                              const WeightsProgress& progress,
                                              std::vector<std::string>* notes) = 0;
  // Forgets the shares that were kept for the plan before, so that shares are cut anew.
  virtual void ForgetShares() = 0;
  // Returns why the member cannot compute this node, as Processor::WhyNot(); empty if it can, or if that is
  // not known before a program is made ready on it.
  virtual std::string WhyNot(const Graph&, const Node&) const { return ""; }
  // Returns whether a program takes seconds to be ready, as in Processor::PreparesLate().
  virtual bool PreparesLate() const { return false; }
  // Returns the memory of a processor of this process, as Processor::SharedMemory() does.
  virtual MakeTensor SharedMemory() { return nullptr; }
  // Returns what its shares have in this process's memory, as Processor::memory() does.
  virtual ProcessorMemory memory() const { return {}; }
  // Ends everything that is under way, or begins later, with CANCELLED. Thread-safe.
  virtual void Cancel() = 0;

  // Returns the microseconds of each run of a graph on the member, while it computes no request, on made-up
  // values.
  virtual GraphTimes Time(const Graph& graph, int runs, std::chrono::milliseconds timeout) = 0;
  virtual std::unique_ptr<Echo> OpenEcho() = 0;
  // Measures on the member's device, at rest, how its process hands pieces over to another processor of it.
  virtual LinkProfile MeasureHandOver(Member& to) = 0;
};

}  // namespace mete
