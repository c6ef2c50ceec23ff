// One caller's plan on this worker: the program made ready, the requests under way, and who gets what they
// send. It lives as long as the caller's stream.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mete/error.h"
#include "network/protocol/chunk.h"
#include "network/protocol/programs.h"
#include "run/devices/program_run.h"
#include "network/worker/unwritten.h"

namespace mete {

// Where a deployment's messages go. Called by any thread; nobody is kept waiting. `mark` goes when the
// message has been written.
class DeploymentEnds {
 public:
  virtual ~DeploymentEnds() = default;
  virtual void SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) = 0;
  virtual void SendDone(uint64_t request, std::vector<StageTimes> times, Unwritten::Mark mark) = 0;
  virtual void SendFailure(const Error& error, int device) = 0;  // of that device
};

class Deployment {
 public:
  // `turn` is of whoever computes on this worker. Requests are computed by as many threads as lanes, the n-th
  // by thread n modulo lanes, each from when it begins and all of the one before is written.
  Deployment(std::shared_ptr<const PreparedProgram> program, Coding coding, int lanes, Turn& turn,
             DeploymentEnds& ends);
  ~Deployment() { Stop(); }

  // Nothing comes of these once it has failed: what its peers sent before they knew is nobody's fault.
  void Begin(uint64_t request);            // Error where it is not one of the next
  void Put(int from, const Chunk& chunk);  // Error where it is not expected
  // Gives up all requests and tells the caller. The first counts.
  void Fail(const Error& error, int device);

  // Gives up what is under way; no message is sent any more when it returns. Whoever feeds it may still hold
  // it.
  void Stop();

  // The device for whose piece a request waits; -1: none.
  int WaitsFor(uint64_t request);

  int device() const { return program_->device(); }

 private:
  struct Request {
    Request(const DeviceProgram& program, int device, Coding coding) : inbox(program, device, coding) {}
    Inbox inbox;
    bool begun = false;
  };

  struct Lane {
    uint64_t next = 0;  // the request that it computes or waits for
    std::shared_ptr<Unwritten> unwritten = std::make_shared<Unwritten>();
    std::thread thread;
  };

  std::shared_ptr<Request> RequestAt(uint64_t request);  // mutex_ is locked; null: it has failed
  std::shared_ptr<Request> WaitFor(uint64_t request);    // until it has begun; null: give up
  void Compute(Lane& lane);
  void Compute(uint64_t request, Request& state, Unwritten& unwritten);

  const std::shared_ptr<const PreparedProgram> program_;
  const Coding coding_;
  Turn& turn_;
  DeploymentEnds& ends_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::shared_ptr<Request>> requests_;
  bool stop_ = false;
  std::exception_ptr error_;
  std::vector<Lane> lanes_;
};

}  // namespace mete
