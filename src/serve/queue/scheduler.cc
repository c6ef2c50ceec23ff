#include "serve/queue/scheduler.h"

#include <algorithm>

#include "base/error.h"

namespace mete::serve {
namespace {

// More places than a server can have use for, so that their number does not overflow. A guess.
constexpr int kMostPerSlot = 100'000;
constexpr int kMostSlots = 10'000;
// A request of a model of which none waits finds a place beyond the limit, up to this share of it more. A
// guess.
constexpr int64_t kShareOfOthers = 4;
// The server is overloaded while more than this share of what arrives finds no place, of the last 64 or so,
// or of 16 for each slot where these are more: an exponential average. Fewer would take the burst that many
// slots begin at once for the end of an overload. A load of 0.8 with one place for each slot is refused less
// often on any number of slots, so that an overload that has ended is seen to have ended
// (simulation_test.cc).
constexpr double kOverloaded = 1.0 / 3, kArrivals = 64, kArrivalsOfSlot = 16;
// After so many arrivals for each slot the server forgets that it is overloaded, and finds out anew: callers
// that at once send again what was refused keep the share of refusals up, although all of them would find a
// place. At twice the capacity at most some 40 accepted requests for each slot wait in the longer queue
// until the overload is found again: 0.5 % of the accepted ones between two looks.
constexpr int64_t kLooksAgain = 1 << 14;
// Predictions of the caller beyond this are not told apart, so that sums of times stay in range: 52 days.
constexpr Nanoseconds kLongest = Nanoseconds(1) << 52;

void SetTimesOf(QueuedModel& model, const ModelTimes& times, const QueueLimits& limits) {
  const Nanoseconds narrow = limits.slots == 1 && times.narrow == 0 ? times.wide : times.narrow;
  model.times = {narrow, limits.slots == 1 ? narrow : times.wide};
  model.most_in_batch = std::max(times.most_in_batch, 1);
  model.most_waiting =
      times.waiting_per_slot > 0 ? int64_t(times.waiting_per_slot) * limits.slots : INT64_MAX;
}

// Returns how many more places there are for others.
int64_t ForOthers(int64_t places) { return (places + kShareOfOthers - 1) / kShareOfOthers; }

void CheckLimit(const char* what, int value, int most) {
  if (value < 1 || value > most)
    Invalid("queue", "bad number of {}; got {}, expected 1 to {}", what, value, most);
}

}  // namespace

Scheduler::Scheduler(const QueueLimits& limits) : limits_(limits) {
  CheckLimit("slots", limits.slots, kMostSlots);
  CheckLimit("requests that may wait for each slot", limits.waiting_per_slot, kMostPerSlot);
  slots_.resize(size_t(limits.slots));
}

int Scheduler::AddModel(const ModelTimes& times) {
  SetTimesOf(models_[++last_model_], times, limits_);
  return last_model_;
}

void Scheduler::SetTimes(int model, const ModelTimes& times) {
  SetTimesOf(models_.at(model), times, limits_);
}

void Scheduler::RemoveModel(int model) {
  if (waiting(model) > 0)
    Fail(Code::kInternal, "queue", "a model is removed of which {} requests wait", waiting(model));
  models_.erase(model);
}

Admission Scheduler::Arrive(const Arrival& arrival, Nanoseconds now) {
  if (draining_) return {.refusal = Refusal::kDraining};
  const auto model = models_.find(arrival.model);
  if (model == models_.end() || arrival.rows < 1)
    Fail(Code::kInternal, "queue", "a request of {} rows for model {} cannot be queued", arrival.rows,
         arrival.model);
  Waiting waiting{arrival, &model->second};
  waiting.arrival.preparing = std::clamp(arrival.preparing, Nanoseconds(0), kLongest);
  const bool in_vain = arrival.deadline != 0 && now + LeastTime(waiting) > arrival.deadline;
  const Place place = PlaceFor(model->second);
  if (place == Place::kNone && !in_vain) CountArrival(false);
  if (place != Place::kFree) return Full(now);
  const Forecast forecast = ForecastOf(waiting, now);
  if (arrival.deadline != 0 && now + forecast.wait + forecast.time > arrival.deadline)
    return {.refusal = Refusal::kTooLate, .wait = forecast.wait};
  CountArrival(true);
  ++model->second.waiting;
  waiting_.push_back(waiting);
  return {.wait = forecast.wait};
}

Admission Scheduler::Refuse(int model, Nanoseconds now) {
  if (draining_) return {.refusal = Refusal::kDraining};
  const auto found = models_.find(model);
  if (found == models_.end()) return {};
  const Place place = PlaceFor(found->second);
  if (place == Place::kFree) return {};
  if (place == Place::kNone) CountArrival(false);
  return Full(now);
}

bool Scheduler::Enqueue(const OwnWork& work) {
  if (draining_) return false;
  if (work.slot < OwnWork::kAllSlots || work.slot >= limits_.slots)
    Fail(Code::kInternal, "queue", "own work has no slot; got {}, expected 0 to {} or all", work.slot,
         limits_.slots - 1);
  const Nanoseconds time = std::clamp(work.time, Nanoseconds(0), kLongest);
  waiting_.push_back({{.request = work.number, .preparing = time}, &no_model_, work.slot});
  ++own_waiting_;
  return true;
}

std::vector<uint64_t> Scheduler::Drain() {
  draining_ = true;
  std::vector<uint64_t> given_up;
  for (size_t i = waiting_.size(); i-- > 0;) {
    if (!waiting_[i].own_slot) continue;
    given_up.push_back(waiting_[i].arrival.request);
    Remove(i);
  }
  return given_up;
}

bool Scheduler::IsOverloaded() const { return refused_share_ > kOverloaded; }

// What would be too late in any queue, what finds a place too late, and what the limit of its own model
// refuses while the server has places, says nothing about these. Arrive() and Refuse() do not count it.
void Scheduler::CountArrival(bool has_place) {
  refused_share_ +=
      (double(!has_place) - refused_share_) / std::max(kArrivals, kArrivalsOfSlot * limits_.slots);
  if (!IsOverloaded()) {
    arrivals_in_overload_ = 0;
    return;
  }
  if (++arrivals_in_overload_ == 1)
    long_queue_ = waiting() + ForOthers(int64_t(limits_.slots) * limits_.waiting_per_slot);
  if (arrivals_in_overload_ == kLooksAgain * limits_.slots) refused_share_ = 0;
}

Admission Scheduler::Full(Nanoseconds now) const {
  const std::vector<Nanoseconds> ends = Ends();
  const Nanoseconds next = *std::min_element(ends.begin(), ends.end());
  return {.refusal = Refusal::kFull, .retry_after = std::max(next - now, Nanoseconds(0))};
}

// Returns how many requests of a model may wait for each slot.
int Scheduler::PlacesOfSlot(const QueuedModel& model) const {
  return IsOverloaded() ? std::min(model.most_in_batch, limits_.waiting_per_slot) : limits_.waiting_per_slot;
}

// Returns how many requests may wait when one of this model arrives. Where none of the model waits, what
// others have beyond it, their batches and the queue that the overload has found, takes none of its places.
int64_t Scheduler::PlacesFor(const QueuedModel& model) const {
  const int64_t slots = limits_.slots;
  if (model.waiting > 0) return slots * PlacesOfSlot(model);
  int of_slot = PlacesOfSlot(model);
  for (const auto& [number, other] : models_)
    if (other.waiting > 0) of_slot = std::max(of_slot, PlacesOfSlot(other));
  const int64_t places = slots * of_slot + ForOthers(slots * of_slot), all = slots * limits_.waiting_per_slot;
  return std::min(std::max(places, IsOverloaded() ? long_queue_ : 0), all + ForOthers(all));
}

Scheduler::Place Scheduler::PlaceFor(const QueuedModel& model) const {
  if (waiting() >= PlacesFor(model)) return Place::kNone;
  return model.waiting >= model.most_waiting ? Place::kNoneOfItsOwn : Place::kFree;
}

Forecast Scheduler::ForecastOf(const Waiting& waiting, Nanoseconds now) const {
  std::deque<Waiting> all = waiting_;
  all.push_back(waiting);
  return ForecastLast(std::move(all), Ends(), now);
}

std::vector<Nanoseconds> Scheduler::Ends() const {
  std::vector<Nanoseconds> ends;
  for (const Slot& slot : slots_) ends.push_back(slot.rows > 0 ? slot.ends : 0);
  return ends;
}

int Scheduler::FreeSlots() const {
  return int(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.rows == 0; }));
}

bool Scheduler::MayBegin(const Waiting& first) const {
  if (!first.own_slot) return FreeSlots() > 0;
  if (*first.own_slot == OwnWork::kAllSlots) return FreeSlots() == limits_.slots;
  return slots_[size_t(*first.own_slot)].rows == 0;
}

void Scheduler::Remove(size_t index) {
  if (waiting_[index].own_slot) {
    --own_waiting_;
  } else {
    --models_.at(waiting_[index].arrival.model).waiting;
    --long_queue_;
  }
  waiting_.erase(waiting_.begin() + std::ptrdiff_t(index));
}

bool Scheduler::Cancel(uint64_t request) {
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [&](const Waiting& waiting) { return waiting.arrival.request == request; });
  if (at == waiting_.end()) return false;
  Remove(size_t(at - waiting_.begin()));
  return true;
}

std::vector<uint64_t> Scheduler::TakeLate(Nanoseconds now) {
  std::vector<uint64_t> late;
  for (size_t i = 0; i < waiting_.size();) {
    const Arrival& arrival = waiting_[i].arrival;
    if (arrival.deadline == 0 || now + LeastTime(waiting_[i]) <= arrival.deadline) {
      ++i;
      continue;
    }
    late.push_back(arrival.request);
    Remove(i);
  }
  return late;
}

std::optional<Nanoseconds> Scheduler::NextLate() const {
  std::optional<Nanoseconds> next;
  for (const Waiting& waiting : waiting_) {
    if (waiting.arrival.deadline == 0) continue;
    const Nanoseconds late = waiting.arrival.deadline - LeastTime(waiting) + 1;
    next = std::min(next.value_or(late), late);
  }
  return next;
}

std::optional<Start> Scheduler::Next(Nanoseconds now) {
  if (waiting_.empty() || !MayBegin(waiting_.front())) return {};
  const NextStart chosen = ChooseStart(waiting_, FreeSlots(), limits_.slots);
  const auto free =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.rows == 0; });
  const int own_slot = waiting_.front().own_slot.value_or(OwnWork::kAllSlots);
  Start start{
      own_slot >= 0 ? own_slot : int(free - slots_.begin()), chosen.wide, waiting_.front().arrival.model, {}};
  for (const size_t member : chosen.members) start.requests.push_back(waiting_[member].arrival.request);
  for (size_t i = chosen.members.size(); i-- > 0;) Remove(chosen.members[i]);
  Occupy(start, chosen, now);
  return start;
}

void Scheduler::Occupy(const Start& start, const NextStart& chosen, Nanoseconds now) {
  const Slot occupied{0, chosen.rows, now + chosen.time};
  if (start.wide) std::fill(slots_.begin(), slots_.end(), occupied);
  else slots_[size_t(start.slot)] = occupied;
  slots_[size_t(start.slot)].requests = start.model == 0 ? 0 : int(start.requests.size());
}

void Scheduler::Done(const Start& start, Nanoseconds compute) {
  const int rows = slots_.at(size_t(start.slot)).rows;
  if (rows == 0) Fail(Code::kInternal, "queue", "slot {} has ended what it had not begun", start.slot);
  if (start.wide) std::fill(slots_.begin(), slots_.end(), Slot());
  else slots_[size_t(start.slot)] = {};
  const auto model = models_.find(start.model);
  if (compute > 0 && model != models_.end()) model->second.times.Observe(rows, start.wide, compute);
}

int Scheduler::waiting(int model) const {
  const auto found = models_.find(model);
  return found == models_.end() ? 0 : int(found->second.waiting);
}

int Scheduler::under_way() const {
  int requests = 0;
  for (const Slot& slot : slots_) requests += slot.requests;
  return requests;
}

Nanoseconds Scheduler::PredictedWait(Nanoseconds now) const {
  return ForecastOf({Arrival(), &no_model_}, now).wait;
}

}  // namespace mete::serve
