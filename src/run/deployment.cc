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
      turn_(turn),
      ends_(ends),
      inboxes_(program_->program(), program_->index(), coding),
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
    FailAll(gone);
    Changed();
  }
  for (Lane& lane : lanes_) lane.unwritten->Stop();
  for (Lane& lane : lanes_)
    if (lane.thread.joinable()) lane.thread.join();
}

Deployment::Request& Deployment::PlaceOf(uint64_t id) {
  const uint64_t lanes = lanes_.size();
  Lane& lane = lanes_[id % lanes];
  return lane.requests[id / lanes % lane.requests.size()];
}

Deployment::Request* Deployment::RequestAt(uint64_t id) {
  if (error_ || stop_) return nullptr;
  const uint64_t lanes = lanes_.size(), next = lanes_[id % lanes].next;
  if (id != next && id != next + lanes)
    Invalid("request", "is not one of the next; got {}, expected {} or {}", id, next, next + lanes);
  Request& request = PlaceOf(id);
  if (!request.inbox) request = {inboxes_.Take(), id, false};
  return &request;
}

void Deployment::FailAll(const std::exception_ptr& error) {
  for (Lane& lane : lanes_)
    for (Request& request : lane.requests)
      if (request.inbox) request.inbox->Fail(error);
}

void Deployment::Changed() {
  changes_.fetch_add(1, std::memory_order_release);
  changed_.notify_all();
}

void Deployment::Begin(uint64_t id) {
  std::lock_guard lock(mutex_);
  if (Request* request = RequestAt(id)) request->begun = true;
  Changed();
}

std::shared_ptr<Inbox> Deployment::InboxOf(uint64_t id) {
  std::lock_guard lock(mutex_);
  Request* request = RequestAt(id);
  return request ? request->inbox : nullptr;
}

void Deployment::Fail(const Error& error, int processor) {
  {
    std::lock_guard lock(mutex_);
    if (error_ || stop_) return;
    error_ = std::make_exception_ptr(error);
    FailAll(error_);
  }
  ends_.SendFailure(error, processor);
}

int Deployment::WaitsFor(uint64_t id) {
  std::lock_guard lock(mutex_);
  const Request& request = PlaceOf(id);
  return request.inbox && request.id == id ? request.inbox->waits_for() : -1;
}

int Deployment::waiting() {
  std::lock_guard lock(mutex_);
  int waiting = 0;
  for (const Lane& lane : lanes_)
    for (const Request& request : lane.requests) waiting += request.inbox && request.inbox->waits_for() >= 0;
  return waiting;
}

Deployment::Request* Deployment::WaitFor(uint64_t id) {
  std::unique_lock lock(mutex_);
  Request& request = PlaceOf(id);  // the lane is at this one, so that the place has no other
  const auto begun = [&] { return stop_ || request.begun; };
  SpinUntil(lock, changes_, begun);
  changed_.wait(lock, begun);
  return stop_ ? nullptr : &request;
}

void Deployment::Compute(Lane& lane) {
  for (uint64_t id = lane.next;; id += lanes_.size()) {
    Request* const request = WaitFor(id);
    if (!request) return;
    lane.unwritten->Wait();
    Compute(lane, *request);
    std::lock_guard lock(mutex_);
    *request = {};
    if (error_) inboxes_.Clear();
    if (error_ || stop_) return;  // nothing begins any more
    lane.next = id + lanes_.size();
  }
}

void Deployment::Compute(Lane& lane, Request& request) {
  RequestOutbox outbox(ends_, request.id, *lane.unwritten);
  try {
    program_->Run({}, *request.inbox, outbox, turn_, lane.memory);
    lane.memory.Clear();
    ends_.SendDone(request.id, lane.memory.times, lane.unwritten->Add());
  } catch (const std::exception& error) {
    Fail(AsError(error, name_, "fewer lanes or a smaller model"), index());
  }
}

}  // namespace mete
