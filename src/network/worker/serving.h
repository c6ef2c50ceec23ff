// A deployment's messages to its caller, through the stream that it came by, and to other workers, through
// streams that are opened when there is something to send.
#pragma once

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

// A stream of pieces to another worker. Its queue's thread connects, writes and learns how it ended; nobody
// else touches the stream, but to cancel it in the end.
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
  const int from_;
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
  // Makes a feeder for each peer; each connects when it has something to send. Keeps references to all but
  // `deploy`.
  Serving(ServeStream& stream, const pb::Deploy& deploy, Coding coding, const Security& security);

  void SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) override;
  void SendDone(uint64_t request, std::vector<StageTimes> times, Unwritten::Mark mark) override;
  void SendFailure(const Error& error, int device) override;
  // Nothing where the last such answer is not written yet: who asks reads. One thread at a time.
  void SendWaiting(uint64_t request, int device);

  // Who is told when a feeder breaks, by that one's thread: set before the first piece is sent.
  std::function<void(const Error&, int device)> on_broken;

 private:
  void Write(const pb::FromWorker& message, std::shared_ptr<const void> mark = {});

  ServeStream& stream_;
  const Coding coding_;
  const int device_;
  const std::set<int> at_caller_;  // devices that are processors of the caller
  std::weak_ptr<const void> answer_;
  // In the end first all feeders go, as on_broken may write to the queue, and then this.
  WriteQueue queue_;
  std::map<int, Feeder> feeders_;  // by device; the same ones from the beginning
};

}  // namespace mete
