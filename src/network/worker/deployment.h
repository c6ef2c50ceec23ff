// One caller's plan on this worker: the prepared program, the requests under way, and the receivers of the
// messages. A deployment lives as long as the caller's stream.
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

// Sends the messages of a deployment. Any thread may call these functions, and none of them blocks. `mark`
// must be destroyed when the message has been written.
class DeploymentEnds {
 public:
  virtual ~DeploymentEnds() = default;
  virtual void SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) = 0;
  virtual void SendDone(uint64_t request, std::vector<StageTimes> times, Unwritten::Mark mark) = 0;
  virtual void SendFailure(const Error& error, int device) = 0;  // `device` has caused the error
};

class Deployment {
 public:
  // `turn` is shared by all computations on this worker. There are as many threads as lanes: thread n modulo
  // lanes computes request n, when Begin(n) was called and all messages of the thread's request before are
  // written.
  Deployment(std::shared_ptr<const PreparedProgram> program, Coding coding, int lanes, Turn& turn,
             DeploymentEnds& ends);
  ~Deployment() { Stop(); }

  // Both functions have no effect after the deployment has failed: peers that do not know it yet still send.
  void Begin(uint64_t request);            // Error where `request` is not one of the next
  void Put(int from, const Chunk& chunk);  // Error where the piece is not expected
  // Gives up all requests and tells the caller. Only the first call has an effect.
  void Fail(const Error& error, int device);

  // Gives up all requests. No message is sent after the return. Other threads may still hold the deployment.
  void Stop();

  // The device whose piece a request is waiting for; -1: none.
  int WaitsFor(uint64_t request);

  int device() const { return program_->device(); }

 private:
  struct Request {
    Request(const DeviceProgram& program, int device, Coding coding) : inbox(program, device, coding) {}
    Inbox inbox;
    bool begun = false;
  };

  struct Lane {
    uint64_t next = 0;  // the number of the request that the lane computes or waits for
    std::shared_ptr<Unwritten> unwritten = std::make_shared<Unwritten>();
    std::thread thread;
  };

  std::shared_ptr<Request> RequestAt(uint64_t request);  // mutex_ is locked; null: the deployment has failed
  // waits until the request has begun; null: the deployment was stopped
  std::shared_ptr<Request> WaitFor(uint64_t request);
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
