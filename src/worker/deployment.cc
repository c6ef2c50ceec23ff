#include "worker/deployment.h"

#include "base/error.h"
#include "protocol/check.h"

namespace mete {
namespace {

// What a run sends, with the request that it belongs to.
class RequestOutbox : public Outbox {
 public:
  RequestOutbox(DeploymentEnds& ends, uint64_t request) : ends_(ends), request_(request) {}
  void Send(int to, const PieceId& id, Tensor piece) override { ends_.SendPiece(to, request_, id, std::move(piece)); }

 private:
  DeploymentEnds& ends_;
  const uint64_t request_;
};

}  // namespace

Deployment::Deployment(std::shared_ptr<const PreparedProgram> program, Coding coding, int lanes, Turn& turn, DeploymentEnds& ends)
    : program_(std::move(program)), coding_(coding), turn_(turn), ends_(ends) {
  for (int lane = 0; lane < lanes; ++lane) next_.push_back(uint64_t(lane));
  for (int lane = 0; lane < lanes; ++lane) lanes_.emplace_back([this, lane] { Compute(lane); });
}

void Deployment::Stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    const auto gone = std::make_exception_ptr(Error(Code::kCancelled, "[worker] the caller has ended the deployment"));
    for (auto& [id, request] : requests_) request->inbox.Fail(gone);
  }
  changed_.notify_all();
  for (std::thread& lane : lanes_)
    if (lane.joinable()) lane.join();
}

std::shared_ptr<Deployment::Request> Deployment::RequestAt(uint64_t id) {
  const uint64_t lanes = next_.size(), next = next_[id % lanes];
  if (id != next && id != next + lanes)
    Invalid("request", "is not one of the next; got {}, expected {} or {}", id, next, next + lanes);
  std::shared_ptr<Request>& request = requests_[id];
  if (!request) {
    request = std::make_shared<Request>(program_->program(), program_->device(), coding_);
    if (error_) request->inbox.Fail(error_);
  }
  return request;
}

void Deployment::Begin(uint64_t id) {
  {
    std::lock_guard lock(mutex_);
    RequestAt(id)->begun = true;
  }
  changed_.notify_all();
}

void Deployment::Put(int from, const pb::Frame& frame) {
  CheckFrame(frame);
  std::shared_ptr<Request> request;
  {
    std::lock_guard lock(mutex_);
    request = RequestAt(frame.request());
  }
  request->inbox.Put(from, IdOf(frame), frame.offset(), frame.data());
}

void Deployment::Fail(const Error& error, int device) {
  {
    std::lock_guard lock(mutex_);
    if (error_ || stop_) return;
    error_ = std::make_exception_ptr(error);
    for (auto& [id, request] : requests_) request->inbox.Fail(error_);
  }
  ends_.SendFailure(error, device);
}

std::shared_ptr<Deployment::Request> Deployment::WaitFor(uint64_t id) {
  std::unique_lock lock(mutex_);
  const auto begun = [&] {
    const auto at = requests_.find(id);
    return at != requests_.end() && at->second->begun;
  };
  changed_.wait(lock, [&] { return stop_ || begun(); });
  return stop_ ? nullptr : requests_[id];
}

void Deployment::Compute(int lane) {
  for (uint64_t id = uint64_t(lane);; id += next_.size()) {
    const std::shared_ptr<Request> request = WaitFor(id);
    if (!request) return;
    Compute(id, *request);
    std::lock_guard lock(mutex_);
    requests_.erase(id);
    next_[size_t(lane)] = id + next_.size();
  }
}

void Deployment::Compute(uint64_t id, Request& request) {
  RequestOutbox outbox(ends_, id);
  std::vector<StageTimes> times(program_->program().stages.size());
  try {
    (void)program_->Run({}, request.inbox, outbox, turn_, times);
    ends_.SendDone(id, std::move(times));
  } catch (const Error& error) {
    Fail(error, device());
  } catch (const std::exception& error) {
    Fail(Error(Code::kInternal, fmt::format("[worker] {}", error.what())), device());
  }
}

}  // namespace mete
