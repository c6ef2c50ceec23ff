#include "run/deployment.h"

#include "base/error.h"
#include "base/unpinned.h"
#include "run/errors.h"
#include "run/spin.h"

namespace mete {
namespace {

// Sends the pieces of a run with the number of the run's request.
class RequestOutbox : public Outbox {
 public:
  RequestOutbox(DeploymentEnds& ends, uint64_t request, Unwritten& unwritten)
      : ends_(ends), request_(request), unwritten_(unwritten) {}
  void Send(int to, const PieceId& id, Tensor piece) override {
    ends_.SendPiece(to, request_, id, std::move(piece), unwritten_.Add());
  }

 private:
  DeploymentEnds& ends_;
  const uint64_t request_;
  Unwritten& unwritten_;
};

}  // namespace

Deployment::Deployment(std::string name, std::shared_ptr<const PreparedProgram> program, Coding coding,
                       int lanes, Turn& turn, DeploymentEnds& ends)
    : name_(std::move(name)),
      program_(std::move(program)),
      coding_(coding),
      turn_(turn),
      ends_(ends),
      lanes_(size_t(lanes)) {
  for (size_t lane = 0; lane < lanes_.size(); ++lane) lanes_[lane].next = lane;
  try {
    for (Lane& lane : lanes_)
      lane.thread = std::thread(Unpinned([this, &lane] {
        const AdoptedThread adopted(program_->processor());
        Compute(lane);
      }));
  } catch (...) {
    Stop();
    throw;
  }
}

void Deployment::Stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    const auto gone = std::make_exception_ptr(
        Error(Code::kCancelled, fmt::format("[{}] the caller has ended the deployment", name_)));
    for (auto& [id, request] : requests_) request->inbox.Fail(gone);
    Changed();
  }
  for (Lane& lane : lanes_) lane.unwritten->Stop();
  for (Lane& lane : lanes_)
    if (lane.thread.joinable()) lane.thread.join();
}

std::shared_ptr<Deployment::Request> Deployment::RequestAt(uint64_t id) {
  if (error_ || stop_) return nullptr;
  const uint64_t lanes = lanes_.size(), next = lanes_[id % lanes].next;
  if (id != next && id != next + lanes)
    Invalid("request", "is not one of the next; got {}, expected {} or {}", id, next, next + lanes);
  std::shared_ptr<Request>& request = requests_[id];
  if (!request) request = std::make_shared<Request>(program_->program(), program_->index(), coding_);
  return request;
}

void Deployment::Changed() {
  changes_.fetch_add(1, std::memory_order_release);
  changed_.notify_all();
}

void Deployment::Begin(uint64_t id) {
  std::lock_guard lock(mutex_);
  if (const auto request = RequestAt(id)) request->begun = true;
  Changed();
}

std::shared_ptr<Inbox> Deployment::InboxOf(uint64_t id) {
  std::lock_guard lock(mutex_);
  const std::shared_ptr<Request> request = RequestAt(id);
  return request ? std::shared_ptr<Inbox>(request, &request->inbox) : nullptr;
}

void Deployment::Fail(const Error& error, int processor) {
  {
    std::lock_guard lock(mutex_);
    if (error_ || stop_) return;
    error_ = std::make_exception_ptr(error);
    for (auto& [id, request] : requests_) request->inbox.Fail(error_);
  }
  ends_.SendFailure(error, processor);
}

int Deployment::WaitsFor(uint64_t id) {
  std::lock_guard lock(mutex_);
  const auto request = requests_.find(id);
  return request == requests_.end() ? -1 : request->second->inbox.waits_for();
}

std::shared_ptr<Deployment::Request> Deployment::WaitFor(uint64_t id) {
  std::unique_lock lock(mutex_);
  const auto begun = [&] {
    const auto at = requests_.find(id);
    return at != requests_.end() && at->second->begun;
  };
  SpinUntil(lock, changes_, [&] { return stop_ || begun(); });
  changed_.wait(lock, [&] { return stop_ || begun(); });
  return stop_ ? nullptr : requests_[id];
}

void Deployment::Compute(Lane& lane) {
  for (uint64_t id = lane.next;; id += lanes_.size()) {
    const std::shared_ptr<Request> request = WaitFor(id);
    if (!request) return;
    lane.unwritten->Wait();
    Compute(id, *request, *lane.unwritten);
    std::lock_guard lock(mutex_);
    requests_.erase(id);
    lane.next = id + lanes_.size();
  }
}

void Deployment::Compute(uint64_t id, Request& request, Unwritten& unwritten) {
  RequestOutbox outbox(ends_, id, unwritten);
  std::vector<StageTimes> times(program_->program().stages.size());
  try {
    (void)program_->Run({}, request.inbox, outbox, turn_, times);
    ends_.SendDone(id, std::move(times), unwritten.Add());
  } catch (const std::exception& error) {
    Fail(AsError(error, name_, "fewer lanes or a smaller model"), index());
  }
}

}  // namespace mete
