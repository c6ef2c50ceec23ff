// One caller's plan on this worker: the prepared program, the requests under way, and the receivers of the
// messages. A deployment lives as long as the caller's stream.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "mete/error.h"
#include "run/program_run.h"
#include "run/unwritten.h"

namespace mete {

// Sends the messages of a deployment. Any thread may call these functions, and none of them blocks. `mark`
// must be destroyed when the message has been written.
class DeploymentEnds {
 public:
  virtual ~DeploymentEnds() = default;
  virtual void SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) = 0;
  virtual void SendDone(uint64_t request, std::span<const StageTimes> times, Unwritten::Mark mark) = 0;
  virtual void SendFailure(const Error& error, int processor) = 0;  // `processor` has caused the error
};

class Deployment {
 public:
  // `name` is that of the worker or processor, for errors. A thread takes `turn` while it computes on the
  // processor. As many threads as lanes compute requests, request n by thread n modulo lanes. A request is
  // computed when it has begun and everything that the last request of its lane sent has been written.
  Deployment(std::string name, std::shared_ptr<const PreparedProgram> program, Coding coding, int lanes,
             Turn& turn, DeploymentEnds& ends);
  ~Deployment() { Stop(); }

  // Does nothing once the deployment has failed, because peers send until they know of it. Error if the
  // request is not one of the next.
  void Begin(uint64_t request);
  // Returns the inbox for the request's pieces; null once the deployment has failed. Errors as those of
  // Begin().
  std::shared_ptr<Inbox> InboxOf(uint64_t request);
  // Gives up all requests and tells the caller. The first failure counts.
  void Fail(const Error& error, int processor);

  // Gives up the requests under way. The deployment sends no message after the return. Peers may hold the
  // object longer.
  void Stop();

  // Returns the processor whose piece a request is waiting for; -1: none.
  int WaitsFor(uint64_t request);
  // Returns the number of requests that wait for pieces of other processors. Thread-safe.
  int waiting();

  int index() const { return program_->index(); }
  const PreparedProgram& program() const { return *program_; }

 private:
  // A request that is computed or comes next, or a place for one.
  struct Request {
    std::shared_ptr<Inbox> inbox;  // null: no message of the request has come, or the request is done
    uint64_t id = 0;
    bool begun = false;
  };

  struct Lane {
    uint64_t next = 0;  // the number of the request that the lane computes or waits for
    std::array<Request, 2> requests;
    std::shared_ptr<Unwritten> unwritten = std::make_shared<Unwritten>();
    ProgramMemory memory;
    std::thread thread;
  };

  // The callers of this function and of the next three have locked mutex_.
  Request& PlaceOf(uint64_t request);
  Request* RequestAt(uint64_t request);  // null: the deployment has failed
  void FailAll(const std::exception_ptr& error);
  void Changed();

  // Waits until the request has begun; null: the deployment was stopped.
  Request* WaitFor(uint64_t request);
  void Compute(Lane& lane);
  void Compute(Lane& lane, Request& request);

  const std::string name_;
  const std::shared_ptr<const PreparedProgram> program_;
  Turn& turn_;
  DeploymentEnds& ends_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint32_t> changes_{0};  // of requests and stop_, for threads that look without the lock
  bool stop_ = false;
  std::exception_ptr error_;
  Inboxes inboxes_;
  std::vector<Lane> lanes_;
};

}  // namespace mete
