#include "network/worker/serving.h"

#include "base/error.h"

namespace mete {
namespace {

// A piece that is handed over by reference counts as unwritten until the receiver has let go of it: its lane
// has no more memory than the worker has counted.
Tensor WithMark(const Tensor& piece, Unwritten::Mark mark) {
  using Kept = std::pair<std::shared_ptr<const void>, Unwritten::Mark>;
  return {piece.type(), piece.shape(), piece.data(), std::make_shared<Kept>(piece.owner(), std::move(mark))};
}

}  // namespace

Feeder::Feeder(const pb::Peer& peer, const std::string& deployment, int from, Coding coding,
               const Security& security, std::function<void(const Error&)> broken)
    : name_(peer.name()),
      address_(peer.address()),
      deployment_(deployment),
      from_(from),
      to_(peer.processor()),
      coding_(coding),
      security_(security),
      broken_(std::move(broken)),
      queue_([this] { Broken(); }) {}

Feeder::~Feeder() { context_.TryCancel(); }  // a pending connect or write returns false

bool Feeder::Write(const Chunk& chunk) {
  pb::Fed fed;
  if (!writer_) {  // blocks until the connection is made
    AddToken(context_, security_);
    channel_ = ChannelTo(address_, name_, security_);
    writer_ = OpenFeed(*channel_, &context_, &reply_);
    fed.set_deployment(deployment_);
    fed.set_from(from_);
  }
  return writer_->Write(Pack(chunk, fed));
}

void Feeder::Broken() {
  writer_->WritesDone();
  const grpc::Status status = writer_->Finish();
  broken_(ErrorOf(status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "has ended the stream") : status,
                  name_));
}

void Feeder::Send(uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) {
  queue_.Push([this, request, id, piece = std::move(piece), mark = std::move(mark)] {
    return WritePiece(coding_, request, {from_, to_}, id, piece,
                      [&](const Chunk& chunk) { return Write(chunk); });
  });
}

Serving::Serving(ToCaller to_caller, const pb::Deploy& deploy, Coding coding, const Security& security,
                 std::function<std::shared_ptr<Deployment>(int)> here)
    : to_caller_(std::move(to_caller)),
      coding_(coding),
      processor_(deploy.index()),
      here_(std::move(here)),
      at_caller_(deploy.at_caller().begin(), deploy.at_caller().end()),
      most_answers_(2 * deploy.lanes()),
      queue_([] {}) {  // a caller that is gone ends the stream
  for (const pb::Peer& peer : deploy.peers()) {
    const int processor = peer.processor();
    feeders_.try_emplace(processor, peer, deploy.id(), deploy.index(), coding, security,
                         [this, processor](const Error& error) { on_broken(error, processor); });
  }
}

void Serving::Write(const pb::FromWorker& message, std::shared_ptr<const void> mark) {
  queue_.Push([this, bytes = Pack(message), mark = std::move(mark)] { return to_caller_(bytes); });
}

void Serving::SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece, Unwritten::Mark mark) {
  if (to != 0 && !at_caller_.contains(to)) {
    if (const auto deployment = here_(to)) {
      if (const auto inbox = deployment->InboxOf(request))
        inbox->Put(processor_, id, WithMark(piece, std::move(mark)));
      return;
    }
    const auto feeder = feeders_.find(to);
    if (feeder == feeders_.end()) Invalid("program", "sends to a processor without an address; got {}", to);
    return feeder->second.Send(request, id, std::move(piece), std::move(mark));
  }
  queue_.Push([this, to, request, id, piece = std::move(piece), mark = std::move(mark)] {
    return WritePiece(coding_, request, {processor_, to}, id, piece,
                      [&](const Chunk& chunk) { return to_caller_(Pack<pb::FromWorker>(chunk)); });
  });
}

void Serving::SendDone(uint64_t request, std::span<const StageTimes> times, Unwritten::Mark mark) {
  on_done(times);
  pb::FromWorker message;
  message.mutable_done()->set_request(request);
  for (const StageTimes& t : times) {
    pb::StageTime* to = message.mutable_done()->add_stages();
    to->set_wait_us(t.wait_us);
    to->set_compute_us(t.compute_us);
  }
  Write(message, std::make_shared<const Unwritten::Mark>(std::move(mark)));
}

void Serving::SendFailure(const Error& error, int processor) {
  on_failed();
  pb::FromWorker message;
  message.mutable_failure()->set_code(int(error.code()));
  message.mutable_failure()->set_message(error.what());
  message.mutable_failure()->set_processor(processor);
  Write(message);
}

void Serving::SendWaiting(uint64_t request, int processor) {
  const std::shared_ptr<const void> mark(nullptr, [this](const void*) { --answers_; });
  if (++answers_ > most_answers_) return;
  pb::FromWorker message;
  message.mutable_waiting()->set_request(request);
  message.mutable_waiting()->set_processor(processor);
  Write(message, mark);
}

}  // namespace mete
