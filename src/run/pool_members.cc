#include "run/pool_members.h"

#include <algorithm>
#include <future>
#include <utility>

#include "base/error.h"
#include "base/unpinned.h"

namespace mete {
namespace {

// A worker may offer other cores under the name of those that were measured.
void CheckIsMeasured(const ProcessorCosts& costs, const std::string& hardware) {
  if (costs.hardware.empty() || costs.hardware == hardware) return;
  Fail(Code::kFailedPrecondition, costs.name,
       "has changed since the model was measured on it; got {}, expected {}; try mete profile MODEL "
       "--processors FILE",
       hardware.empty() ? "unknown hardware" : hardware, costs.hardware);
}

}  // namespace

PoolMembers::PoolMembers(PoolCosts costs, std::vector<std::unique_ptr<Member>> members,
                         const PoolMembersOptions& options, Teller& teller, const CancelToken& ending)
    : costs_(std::move(costs)),
      members_(std::move(members)),
      options_(options),
      teller_(teller),
      ending_(ending),
      states_(members_.size()) {
  if (members_.size() != costs_.processors.size() || members_.empty() || members_[0])
    Invalid("processors", "are others than the costs are of; got {}, expected {}", members_.size(),
            costs_.processors.size());
  for (State& state : states_) state.measured = options.measured;
}

std::vector<size_t> PoolMembers::There() const {
  std::lock_guard lock(mutex_);
  std::vector<size_t> there{0};
  for (size_t d = 1; d < states_.size(); ++d)
    if (states_[d].there && states_[d].measured) there.push_back(d);
  return there;
}

std::vector<size_t> PoolMembers::Answering() const {
  std::lock_guard lock(mutex_);
  std::vector<size_t> answering;
  for (size_t d = 0; d < states_.size(); ++d)
    if (states_[d].there) answering.push_back(d);
  return answering;
}

bool PoolMembers::AreMeasured(const std::vector<size_t>& processors) const {
  std::lock_guard lock(mutex_);
  return std::all_of(processors.begin(), processors.end(), [this](size_t d) { return states_[d].measured; });
}

PoolPart PoolMembers::PartOf(std::vector<size_t> processors) const {
  PoolPart part{std::move(processors), {}, {}};
  std::lock_guard lock(mutex_);
  for (const size_t d : part.indices) {
    part.members.push_back(members_[d].get());
    part.costs.processors.push_back(costs_.processors[d]);
    for (LayerCost& layer : part.costs.processors.back().layers) layer = Scaled(layer, states_[d].scale);
  }
  return part;
}

int64_t PoolMembers::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

std::vector<std::string> PoolMembers::LateOnes(const std::vector<size_t>& processors) const {
  std::vector<std::string> names;
  for (const size_t d : processors)
    if (members_[d] && members_[d]->PreparesLate()) names.push_back(members_[d]->name());
  return names;
}

void PoolMembers::SetCosts(const std::vector<size_t>& processors, PoolCosts costs) {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < processors.size(); ++i) {
    costs_.processors[processors[i]] = std::move(costs.processors.at(i));
    states_[processors[i]].measured = true;
    states_[processors[i]].scale = 1;
  }
}

void PoolMembers::Lose(size_t processor, const Error& error, BackOff::Loss loss) {
  const bool refuses = loss == BackOff::Loss::kRefusal;
  {
    std::lock_guard lock(mutex_);
    if (ending_.cancelled()) return;  // the session has cancelled its members
    State& state = states_[processor];
    const bool was_there = std::exchange(state.there, false);
    state.back_off.Lost(options_.clock.Now(), loss);
    if (refuses ? state.refusal == error.code() : !was_there) return;
    if (refuses) state.refusal = error.code();
    else state.refusal.reset();
    lost_ += was_there;
    teller_.Add(fmt::format("{} {}, the others go on without it: {}", costs_.processors[processor].name,
                            refuses ? "cannot serve" : "is lost", error.what()));
  }
  teller_.TellAll();
}

void PoolMembers::Serves(size_t processor) {
  {
    std::lock_guard lock(mutex_);
    State& state = states_[processor];
    state.back_off.Serves(options_.clock.Now());
    if (!std::exchange(state.refusal, std::nullopt)) return;
    teller_.Add(fmt::format("{} serves now", costs_.processors[processor].name));
  }
  teller_.TellAll();
}

void PoolMembers::Correct(size_t processor, double ratio) {
  std::lock_guard lock(mutex_);
  states_[processor].scale *= ratio;
}

bool PoolMembers::SaysHello(size_t processor) {
  try {
    CheckIsMeasured(costs_.processors[processor], members_[processor]->CheckThere(options_.hello_timeout));
    return true;
  } catch (const Error& error) {
    Lose(processor, error, LossOf(error.code()));
    return false;
  }
}

// Asks all processors at the same time, because each one that is gone takes as long as an attempt to
// connect.
std::vector<size_t> PoolMembers::WhoAnswers(const std::vector<size_t>& processors) {
  std::vector<std::future<bool>> asked;
  for (const size_t d : processors)
    asked.push_back(std::async(std::launch::async, Unpinned([this, d] { return SaysHello(d); })));
  std::vector<size_t> answer;
  for (size_t i = 0; i < processors.size(); ++i)
    if (asked[i].get()) answer.push_back(processors[i]);
  return answer;
}

bool PoolMembers::TryAgain() {
  std::vector<size_t> due;
  {
    std::lock_guard lock(mutex_);
    for (size_t d = 1; d < states_.size(); ++d)
      if (!states_[d].there && states_[d].back_off.Due(options_.clock.Now())) due.push_back(d);
  }
  const std::vector<size_t> back = WhoAnswers(due);
  {
    std::lock_guard lock(mutex_);
    for (const size_t d : back) {
      states_[d].there = true;
      if (!states_[d].refusal) teller_.Add(fmt::format("{} is there again", costs_.processors[d].name));
    }
  }
  teller_.TellAll();
  return !back.empty();
}

void PoolMembers::DropSilent() {
  std::vector<size_t> answering = Answering();
  std::erase(answering, size_t{0});  // the home
  (void)WhoAnswers(answering);
}

void PoolMembers::ForgetShares() {
  for (const auto& member : members_)
    if (member) member->ForgetShares();
}

void PoolMembers::Cancel() {
  for (const auto& member : members_)
    if (member) member->Cancel();
}

}  // namespace mete
