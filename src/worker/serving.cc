#include "worker/serving.h"

#include <algorithm>

#include "base/error.h"

namespace mete {

Feeder::Feeder(const pb::Peer& peer, const std::string& deployment, int from, Coding coding, const Security& security,
               std::function<void(const Error&)> broken)
    : name_(peer.name()),
      deployment_(deployment),
      from_(from),
      coding_(coding),
      broken_(std::move(broken)),
      stub_(pb::Worker::NewStub(ChannelTo(peer.address(), peer.name(), security))),
      queue_([this] { Broken(); }) {
  AddToken(context_, security);
  writer_ = stub_->Feed(&context_, &reply_);
}

Feeder::~Feeder() { context_.TryCancel(); }  // whoever writes gets false

void Feeder::Broken() {
  writer_->WritesDone();
  const grpc::Status status = writer_->Finish();
  broken_(ErrorOf(status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "has ended the stream") : status, name_));
}

void Feeder::Send(uint64_t request, const PieceId& id, Tensor piece) {
  queue_.Push([this, request, id, piece = std::move(piece)] {
    return WritePiece(coding_, request, id, piece, [&](pb::Frame&& frame) {
      pb::Fed fed;
      if (first_) fed.set_deployment(deployment_), fed.set_from(from_);
      first_ = false;
      *fed.mutable_frame() = std::move(frame);
      return writer_->Write(fed);
    });
  });
}

Serving::Serving(ServeStream& stream, const pb::Deploy& deploy, Coding coding, const Security& security)
    : stream_(stream), deploy_(deploy), coding_(coding), security_(security), queue_([] {}) {}  // a caller that is gone ends the stream

void Serving::Write(pb::FromWorker message) {
  queue_.Push([this, message = std::move(message)] { return stream_.Write(message); });
}

void Serving::SendPiece(int to, uint64_t request, const PieceId& id, Tensor piece) {
  if (to != 0) return FeederTo(to).Send(request, id, std::move(piece));
  queue_.Push([this, request, id, piece = std::move(piece)] {
    return WritePiece(coding_, request, id, piece, [&](pb::Frame&& frame) {
      pb::FromWorker message;
      *message.mutable_frame() = std::move(frame);
      return stream_.Write(message);
    });
  });
}

void Serving::SendDone(uint64_t request, std::vector<StageTimes> times) {
  pb::FromWorker message;
  message.mutable_done()->set_request(request);
  for (const StageTimes& t : times) {
    pb::StageTime* to = message.mutable_done()->add_stages();
    to->set_wait_us(t.wait_us), to->set_compute_us(t.compute_us);
  }
  Write(std::move(message));
}

void Serving::SendFailure(const Error& error, int device) {
  pb::FromWorker message;
  message.mutable_failure()->set_code(int(error.code()));
  message.mutable_failure()->set_message(error.what());
  message.mutable_failure()->set_device(device);
  Write(std::move(message));
}

Feeder& Serving::FeederTo(int device) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Feeder>& feeder = feeders_[device];
  if (feeder) return *feeder;
  const auto peer = std::find_if(deploy_.peers().begin(), deploy_.peers().end(), [&](const pb::Peer& p) { return p.device() == device; });
  if (peer == deploy_.peers().end()) Invalid("program", "sends to a device without an address; got {}", device);
  feeder = std::make_unique<Feeder>(*peer, deploy_.id(), deploy_.device(), coding_, security_,
                                    [this, device](const Error& error) { on_broken(error, device); });
  return *feeder;
}

}  // namespace mete
