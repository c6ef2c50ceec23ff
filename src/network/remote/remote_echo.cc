// Messages to a worker and their answers, to measure the link.
#include <exception>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/unpinned.h"
#include "network/remote/remote_device.h"
#include "network/remote/remote_member.h"

namespace mete {
namespace {

constexpr std::chrono::seconds kTimeOut{120};  // guess: a megabyte, forty times, at 10 Mb/s

class RemoteEcho : public Echo {
 public:
  explicit RemoteEcho(RemoteDevice& remote) : remote_(remote) {
    context_.set_deadline(std::chrono::system_clock::now() + kTimeOut);
    AddToken(context_, remote.security());
    stream_ = remote.stub().Echo(&context_);
  }
  ~RemoteEcho() override {
    stream_->WritesDone();
    (void)Finish();
  }

  double Us(size_t bytes, size_t answer) override {
    const int64_t start_ns = NowNs();
    Send(bytes, answer);
    Receive();
    return double(NowNs() - start_ns) * 1e-3;
  }
  double MessageUs(int count) override {
    const int64_t start_ns = NowNs();
    std::thread sender(Unpinned([&] {
      try {
        for (int i = 0; i < count; ++i) Send(1, 1);
      } catch (const std::exception&) {
        // the receiver finds out as well
      }
    }));
    try {
      for (int received = 0; received < count; ++received) Receive();
    } catch (const Error&) {
      sender.join();
      throw;
    }
    sender.join();
    return double(NowNs() - start_ns) * 1e-3 / count;
  }

 private:
  void Send(size_t bytes, size_t answer) {
    pb::EchoRequest request;
    request.mutable_data()->resize(bytes);
    request.set_answer_bytes(int32_t(answer));
    if (!stream_->Write(request)) Broken();
  }
  void Receive() {
    pb::EchoReply reply;
    if (!stream_->Read(&reply)) Broken();
  }
  [[noreturn]] void Broken() {
    const grpc::Status status = Finish();
    throw ErrorOf(status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "has ended the stream") : status,
                  remote_.name());
  }

  // Ends the stream, once only, because gRPC aborts at a second Finish(). Two threads may find at the same
  // time that the stream is broken.
  grpc::Status Finish() {
    std::call_once(finished_, [&] { status_ = stream_->Finish(); });
    return status_;
  }

  RemoteDevice& remote_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<pb::EchoRequest, pb::EchoReply>> stream_;
  std::once_flag finished_;
  grpc::Status status_;
};

}  // namespace

std::unique_ptr<Echo> RemoteMember::OpenEcho() { return std::make_unique<RemoteEcho>(device_); }

}  // namespace mete
