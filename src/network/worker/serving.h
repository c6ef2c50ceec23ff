// Sends a deployment's messages: those to the caller through the stream that the caller opened, those to
// other workers through streams that are opened at the first message.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "network/protocol/channel.h"
#include "network/protocol/streams.h"
#include "network/protocol/write_queue.h"
#include "network/protocol/chunk.h"
#include "run/deployment.h"

namespace mete {

// A stream of pieces to another worker. Only the queue's thread uses the stream: it connects, writes, and
// gets the final status. The destructor alone cancels the stream from another thread.
class Feeder {
 public:
  Feeder(const pb::Peer& peer, const std::string& deployment, int from, Coding coding,
         const Security& security, std::function<void(const Error&)> broken);
  ~Feeder();

  void Send(uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark);

 private:
  bool Write(const Chunk& chunk);
  void Broken();

  const std::string name_, address_, deployment_;
  const int from_, to_;
  const Coding coding_;
  const Security& security_;
  const std::function<void(const Error&)> broken_;
  grpc::ClientContext context_;
  pb::FeedReply reply_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<FeedCall> writer_;  // null: not connected yet
  WriteQueue queue_;                  // last: its thread uses all of the above
};

class Serving : public DeploymentEnds {
 public:
  // Writes a message to the caller; false where the stream is broken.
  using ToCaller = std::function<bool(const grpc::ByteBuffer&)>;

  // Makes a feeder for each peer; a feeder connects at its first piece. Keeps a reference to `security`.
  // `here` finds a deployment of the same plan on this worker, to which pieces are handed over without the
  // network; null: there is none.
  Serving(ToCaller to_caller, const pb::Deploy& deploy, Coding coding, const Security& security,
          std::function<std::shared_ptr<Deployment>(int)> here);

  void SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) override;
  void SendDone(uint64_t request, std::span<const StageTimes> times, Unwritten::Mark mark) override;
  void SendFailure(const Error& error, int processor) override;
  // Sends nothing while two such answers for each lane are in the queue, because a caller that does not read
  // must not fill the memory. A caller asks once at a time in each lane, but may ask again when it has read
  // an answer, which the queue's thread then still holds: one answer for each lane would be too few.
  // Thread-safe.
  void SendWaiting(uint64_t request, int processor);

  // The thread of a feeder calls this function when the feeder breaks. It must be set before the first piece
  // is sent.
  std::function<void(const Error&, int processor)> on_broken;
  // Threads of the deployment call these for SendDone() and SendFailure(). They must be set before the
  // deployment is made.
  std::function<void(std::span<const StageTimes>)> on_done = [](std::span<const StageTimes>) {};
  std::function<void()> on_failed = [] {};

 private:
  void Write(const pb::FromWorker& message, std::shared_ptr<const void> mark = {});

  const ToCaller to_caller_;
  const Coding coding_;
  const int processor_;
  const std::function<std::shared_ptr<Deployment>(int)> here_;
  const std::set<int> at_caller_;  // devices that are processors of the caller
  const int most_answers_;
  std::atomic<int> answers_{0};  // of SendWaiting() that the queue holds
  // The destructor ends the feeders before the queue, because on_broken may write to the queue.
  WriteQueue queue_;
  std::map<int, Feeder> feeders_;  // by processor; the set of feeders never changes
};

}  // namespace mete
