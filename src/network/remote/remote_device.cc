#include "network/remote/remote_device.h"

#include <algorithm>

#include "base/error.h"
#include "base/unpinned.h"
#include "network/protocol/check.h"

namespace mete {
namespace {

constexpr std::chrono::minutes kWeightsTimeout{30};  // guess: VGG-19 over 10 Mb/s takes eight
constexpr std::chrono::seconds kAskTimeout{30};      // guess: a slow card is read for VGG-19's digests

std::vector<std::string> PrintableTexts(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  std::vector<std::string> printable;
  for (const std::string& text : texts) printable.push_back(Printable(text));
  return printable;
}

// Returns the sum of two sizes that a stranger tells; -1 if one of them is none.
int64_t Together(int64_t a, int64_t b) { return a < 0 || b < 0 || a > INT64_MAX - b ? -1 : a + b; }

constexpr int kMostBuckets = 1000;  // guess: five times as many as this version's workers have

RemoteStatus StatusIn(const pb::StatusReply& reply) {
  RemoteStatus status;
  status.version = Printable(reply.version());
  status.machine = Printable(reply.machine());
  status.uptime_s = reply.uptime_s();
  status.deployments = reply.deployments();
  status.most_deployments = reply.most_deployments();
  status.waiting = reply.waiting();
  status.requests = reply.requests();
  status.failures = reply.failures();
  status.upper_s = {reply.upper_s().begin(), reply.upper_s().end()};
  status.counts = {reply.count().begin(), reply.count().end()};
  status.sum_s = reply.sum_s();
  for (const pb::ProcessorStatus& p : reply.processors())
    status.processors.push_back(
        {Printable(p.name()), p.busy_s(), p.waiting(), Together(p.weights_bytes(), p.values_bytes())});
  status.resident_bytes = reply.resident_bytes();
  status.peak_bytes = reply.peak_bytes();
  status.cpu_s = reply.cpu_s();
  status.taken_bytes = reply.taken_bytes();
  status.most_taken_bytes = reply.most_taken_bytes();
  status.weights_bytes = reply.weights_bytes();
  status.most_weights_bytes = reply.most_weights_bytes();
  return status;
}

}  // namespace

struct RemoteDevice::Call {
  Call(const RemoteDevice& device, std::chrono::milliseconds timeout) : cancel(device.cancelled(), context) {
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    AddToken(context, device.security());
  }
  grpc::ClientContext context;
  CancelOn cancel;
};

RemoteDevice::RemoteDevice(RemoteAddress address, Security security)
    : address_(std::move(address)), security_(std::move(security)) {
  Connect();
}

void RemoteDevice::Connect() {
  channel_ = ChannelTo(address_.address, address_.name, security_);
  stub_ = pb::Worker::NewStub(channel_);
}

void RemoteDevice::Check(const grpc::Status& status) const {
  if (!status.ok()) throw ErrorOf(status, address_.name);
}

RemoteHello RemoteDevice::Hello(std::chrono::milliseconds timeout) {
  Call call(*this, timeout);
  pb::HelloRequest request;
  request.set_protocol(kProtocol);
  request.set_version(METE_VERSION);
  pb::HelloReply reply;
  const grpc::Status status = stub_->Hello(&call.context, request, &reply);
  if (!status.ok()) Connect();
  Check(status);
  if (reply.protocol() != kProtocol)
    Fail(Code::kFailedPrecondition, address_.name,
         "speaks another version of the protocol; got {} (mete {}), expected {} (mete {}); try the same "
         "version of mete on all devices",
         reply.protocol(), Printable(reply.version()), kProtocol, METE_VERSION);
  return {Printable(reply.version()), Printable(reply.machine()),         reply.threads(),
          reply.deployments(),        PrintableTexts(reply.processors()), PrintableTexts(reply.hardware())};
}

RemoteStatus RemoteDevice::Status(std::chrono::milliseconds timeout) {
  Call call(*this, timeout);
  pb::StatusReply reply;
  const grpc::Status status = stub_->Status(&call.context, {}, &reply);
  if (!status.ok()) Connect();
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED)
    Fail(Code::kFailedPrecondition, address_.name,
         "does not tell what it does; got a worker of another version, expected one of mete {}; try the same "
         "version of mete on all devices",
         METE_VERSION);
  Check(status);
  const bool is_whole = reply.upper_s_size() == reply.count_size() && reply.count_size() <= kMostBuckets &&
                        reply.processors_size() <= kMostProcessorsOfPlan;
  if (!is_whole)
    Fail(Code::kDataLoss, address_.name,
         "tells what no worker does; got {} processors and {} counts for {} buckets", reply.processors_size(),
         reply.count_size(), reply.upper_s_size());
  return StatusIn(reply);
}

void RemoteDevice::SendWeights(const std::map<Digest, Tensor>& weights,
                               const std::function<void(int64_t, int64_t)>& sent, std::string* note) {
  pb::Digests asked, missing;
  for (const auto& [digest, tensor] : weights) asked.add_digest(digest.data(), digest.size());
  Call ask(*this, kAskTimeout);
  Check(stub_->Missing(&ask.context, asked, &missing));
  std::vector<const Tensor*> tensors;
  std::vector<std::string> digests;
  int64_t all = 0, done = 0;
  for (const auto& [digest, tensor] : weights) {
    const std::string name(reinterpret_cast<const char*>(digest.data()), digest.size());
    if (std::count(missing.digest().begin(), missing.digest().end(), name) == 0) continue;
    tensors.push_back(&tensor);
    digests.push_back(name);
    all += int64_t(tensor.bytes());
  }
  if (tensors.empty()) return;
  Call call(*this, kWeightsTimeout);
  pb::Stored stored;
  const auto writer = stub_->Store(&call.context, &stored);
  const auto send = [&](const Tensor& tensor, const std::string& digest) {
    for (size_t at = 0; at < tensor.bytes(); at += kChunkBytes) {
      pb::WeightChunk chunk;
      if (at == 0) {
        chunk.set_digest(digest);
        chunk.set_type(uint32_t(tensor.type()));
        for (const int64_t d : tensor.shape()) chunk.add_dims(d);
      }
      const size_t n = std::min(kChunkBytes, tensor.bytes() - at);
      chunk.set_data(static_cast<const char*>(tensor.data()) + at, n);
      if (!writer->Write(chunk)) return false;
      sent(done += int64_t(n), all);
    }
    return true;
  };
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!send(*tensors[i], digests[i])) break;
  writer->WritesDone();
  Check(writer->Finish());
  *note = Printable(stored.note());
}

GraphTimes RemoteDevice::Time(const Graph& graph, int runs, std::chrono::milliseconds timeout,
                              const std::string& processor) {
  Call call(*this, timeout);
  pb::TimeRequest request;
  request.set_protocol(kProtocol);
  request.set_graph(PackWithoutWeights(graph));
  request.set_runs(runs);
  request.set_processor(processor);
  pb::TimeReply reply;
  Check(stub_->Time(&call.context, request, &reply));
  if (reply.us().empty()) Fail(Code::kInternal, address_.name, "has not timed what it was asked to");
  GraphTimes timing{{reply.us().begin(), reply.us().end()}, {}, reply.prepare_ms()};
  for (const pb::NodeTime& node : reply.nodes()) timing.nodes.emplace_back(node.name(), node.us());
  return timing;
}

LinkProfile RemoteDevice::HandOver(const std::string& from, const std::string& to) {
  Call call(*this, kAskTimeout);
  pb::HandOverRequest request;
  request.set_protocol(kProtocol);
  request.set_from(from);
  request.set_to(to);
  pb::HandOverReply reply;
  Check(stub_->HandOver(&call.context, request, &reply));
  LinkProfile link;
  link.round_trip_us = reply.round_trip_us();
  link.message_us = reply.message_us();
  link.up_mbit_per_s = reply.up_mbit_per_s();
  link.down_mbit_per_s = reply.down_mbit_per_s();
  return link;
}

RemoteDeployment::RemoteDeployment(RemoteDevice& remote, int device, const pb::Deploy& deploy, Coding coding,
                                   PlanEvents& events)
    : remote_(remote),
      device_(device),
      coding_(coding),
      events_(events),
      cancel_(remote.cancelled(), context_) {
  AddToken(context_, remote.security());
  stream_ = OpenServe(remote.channel(), &context_);
  queue_ = std::make_unique<WriteQueue>([] {});  // a broken stream ends the reader, which knows why
  pb::ToWorker first;
  *first.mutable_deploy() = Seal(deploy);
  Write(first);
  reader_ = std::thread(Unpinned([this] { Read(); }));
}

RemoteDeployment::~RemoteDeployment() { Stop(); }

void RemoteDeployment::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  context_.TryCancel();
  queue_.reset();
  if (reader_.joinable()) reader_.join();
}

void RemoteDeployment::WaitReady(std::chrono::milliseconds timeout, Clock& clock) {
  std::unique_lock lock(mutex_);
  if (!clock.WaitUntil(changed_, lock, clock.Now() + timeout, [&] { return ready_ || error_; }))
    Fail(Code::kDeadlineExceeded, remote_.name(), "has not made its share ready in {} s",
         timeout.count() / 1000);
  if (error_) std::rethrow_exception(error_);
}

void RemoteDeployment::Begin(uint64_t request) {
  pb::ToWorker message;
  message.mutable_begin()->set_request(request);
  Write(message);
}

void RemoteDeployment::Write(const pb::ToWorker& message) {
  queue_->Push([this, bytes = Pack(message)] { return stream_->Write(bytes); });
}

void RemoteDeployment::Send(int from, uint64_t request, const PieceId& id, Tensor piece,
                            Unwritten::Mark mark) {
  queue_->Push([this, from, request, id, piece = std::move(piece), mark = std::move(mark)] {
    return WritePiece(coding_, request, {from, device_}, id, piece,
                      [&](const Chunk& chunk) { return stream_->Write(Pack<pb::ToWorker>(chunk)); });
  });
}

std::optional<int> RemoteDeployment::WaitsFor(uint64_t request, Clock::Time until, Clock& clock) {
  std::unique_lock lock(mutex_);
  const auto asked = waits_for_.emplace(request, std::nullopt).first;
  pb::ToWorker message;
  message.mutable_ask()->set_request(request);
  Write(message);
  clock.WaitUntil(changed_, lock, until, [&] { return error_ || asked->second; });
  const std::optional<int> said = asked->second;
  waits_for_.erase(asked);
  return said;
}

Error RemoteDeployment::ReadAll() {
  try {
    for (grpc::ByteBuffer bytes; stream_->Read(&bytes);) Tell(Unpack<pb::FromWorker>(bytes));
  } catch (const Error& error) {
    context_.TryCancel();
    (void)stream_->Finish();
    return error;
  }
  const grpc::Status status = stream_->Finish();
  const grpc::Status ended(grpc::StatusCode::UNAVAILABLE, "has ended the deployment");
  return ErrorOf(status.ok() ? ended : status, remote_.name());
}

void RemoteDeployment::Read() {
  const Error error = ReadAll();
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    error_ = std::make_exception_ptr(error);
  }
  changed_.notify_all();
  events_.OnFailure(device_, error);
}

// Bad pieces are the worker's failure.
void RemoteDeployment::Put(const Chunk& chunk) {
  try {
    CheckChunk(chunk);
    if (const auto inbox = events_.InboxOf(chunk.frame.to(), chunk.frame.request()))
      PutChunk(*inbox, device_, chunk);
  } catch (const Error& error) {
    events_.OnFailure(device_, error);
  }
}

void RemoteDeployment::Tell(const Unpacked<pb::FromWorker>& got) {
  if (got.chunk) return Put(*got.chunk);
  const pb::FromWorker& message = got.message;
  if (message.has_failure()) {
    const pb::Failure& f = message.failure();
    return events_.OnFailure(f.processor(),
                             ErrorOf({grpc::StatusCode(f.code()), f.message()}, remote_.name()));
  }
  if (message.has_done()) {
    std::vector<StageTimes> times;
    for (const pb::StageTime& t : message.done().stages()) times.push_back({t.wait_us(), t.compute_us()});
    return events_.OnDone(device_, message.done().request(), times);
  }
  std::lock_guard lock(mutex_);
  const auto asked = waits_for_.find(message.waiting().request());
  if (!message.has_waiting()) ready_ = true;
  else if (asked != waits_for_.end()) asked->second = message.waiting().processor();
  changed_.notify_all();
}

}  // namespace mete
