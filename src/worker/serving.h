// A deployment's messages to its caller, through the stream that it came by, and to other workers, through streams that are opened when
// there is something to send.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "protocol/channel.h"
#include "src/protocol/worker.grpc.pb.h"
#include "worker/deployment.h"

namespace mete {

using ServeStream = grpc::ServerReaderWriter<pb::FromWorker, pb::ToWorker>;

// A stream of pieces to another worker.
class Feeder {
 public:
  Feeder(const pb::Peer& peer, const std::string& deployment, int from, Coding coding, const Security& security,
         std::function<void(const Error&)> broken);
  ~Feeder();

  void Send(uint64_t request, const PieceId& id, Tensor piece);

 private:
  void Broken();

  const std::string name_, deployment_;
  const int from_;
  const Coding coding_;
  const std::function<void(const Error&)> broken_;
  grpc::ClientContext context_;
  pb::FeedReply reply_;
  std::unique_ptr<pb::Worker::Stub> stub_;
  std::unique_ptr<grpc::ClientWriter<pb::Fed>> writer_;
  bool first_ = true;
  WriteQueue queue_;
};

class Serving : public DeploymentEnds {
 public:
  Serving(ServeStream& stream, const pb::Deploy& deploy, Coding coding, const Security& security);

  void SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece) override;
  void SendDone(uint64_t request, std::vector<StageTimes> times) override;
  void SendFailure(const Error& error, int device) override;

  // Who is told when a feeder breaks: set before the first piece is sent.
  std::function<void(const Error&, int device)> on_broken;

 private:
  void Write(pb::FromWorker message);
  Feeder& FeederTo(int device);

  ServeStream& stream_;
  const pb::Deploy& deploy_;
  const Coding coding_;
  const Security& security_;
  std::mutex mutex_;
  WriteQueue queue_;
  std::map<int, std::unique_ptr<Feeder>> feeders_;  // end before the queue, to which their threads may write
};

}  // namespace mete
