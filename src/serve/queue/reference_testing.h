// The rules of the queue again, written to be read: a list of requests, and a forecast that goes through time
// nanosecond by nanosecond. A test compares the Scheduler with it. Model times are what they are told to be.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "serve/queue/scheduler.h"

namespace mete::serve {

class ReferenceQueue {
 public:
  explicit ReferenceQueue(const QueueLimits& limits) : limits_(limits), slots_(size_t(limits.slots)) {}

  void SetModel(int model, const ModelTimes& times) { models_[model] = times; }
  void RemoveModel(int model) { models_.erase(model); }
  std::vector<uint64_t> Drain() {
    draining_ = true;
    std::vector<uint64_t> given_up;
    for (const auto& [number, slot] : own_) given_up.push_back(number);
    for (const uint64_t number : given_up) Cancel(number);
    return given_up;
  }

  bool Enqueue(const OwnWork& work) {
    if (draining_) return false;
    waiting.push_back({.request = work.number, .preparing = work.time});
    own_[work.number] = work.slot;
    return true;
  }

  Admission Arrive(const Arrival& arrival, Nanoseconds now) {
    if (draining_) return {Refusal::kDraining};
    const bool has_place = HasPlace(arrival.model);
    if (!has_place || IsAtItsOwnLimit(arrival.model)) {
      if (!has_place && !IsInVain(arrival, now)) Count(1);
      ++(in_overload_ > 0 ? refused_in_overload : refused);
      Nanoseconds next = INT64_MAX;
      for (const Slot& slot : slots_)
        next = std::min(next, slot.busy ? std::max(slot.ends - now, int64_t(0)) : 0);
      return {Refusal::kFull, next};
    }
    ReferenceQueue future = *this;
    future.waiting.push_back(arrival);
    const auto [begins, ends] = future.PlayUntilBegun(arrival.request, now);
    if (arrival.deadline != 0 && ends > arrival.deadline) return {Refusal::kTooLate, 0, begins - now};
    Count(0);
    waiting.push_back(arrival);
    return {Refusal::kNone, 0, begins - now};
  }

  bool Cancel(uint64_t request) {
    const bool is_own = own_.erase(request) > 0;
    const bool waited =
        std::erase_if(waiting, [&](const Arrival& one) { return one.request == request; }) > 0;
    left_since_ += waited && !is_own;
    return waited;
  }

  std::vector<uint64_t> TakeLate(Nanoseconds now) {
    std::vector<uint64_t> late;
    std::erase_if(waiting, [&](const Arrival& one) {
      const bool is_late = IsInVain(one, now);
      if (is_late) late.push_back(one.request);
      return is_late;
    });
    left_since_ += int64_t(late.size());
    return late;
  }

  std::optional<Start> Next(Nanoseconds now) { return Next(now, Free::kSeen); }

  // kForeseen: whether slots become free together is not certain, which matters to own work that waits.
  enum class Free { kSeen, kForeseen };
  std::optional<Start> Next(Nanoseconds now, Free seen) {
    size_t free = size_t(std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return !s.busy; }));
    if (free == 0 || waiting.empty()) return {};
    const Arrival first = waiting.front();
    if (own_.contains(first.request)) return NextOwn(first, free, now);
    if (seen == Free::kForeseen && !own_.empty() && free == slots_.size() && free > 1) --free;
    size_t ahead = 0;  // requests before the first own work
    while (ahead < waiting.size() && !own_.contains(waiting[ahead].request)) ++ahead;
    const bool wide = free == slots_.size() && slots_.size() > 1 && IsWide(first, ahead);
    size_t most = ahead;  // of requests
    if (!wide)
      while (most * free >= ahead + free) --most;  // each free slot takes its share
    std::vector<Arrival> members = {first};
    int rows = first.rows;
    bool passed = false;  // a request of the model that cannot join
    for (size_t i = 1; i < ahead; ++i) {
      const Arrival& other = waiting[i];
      if (passed || first.batch_key == 0 || other.model != first.model || members.size() == most) continue;
      passed = other.batch_key != first.batch_key || rows + other.rows > models_[first.model].most_in_batch;
      if (passed) continue;
      members.push_back(other);
      rows += other.rows;
    }
    return Begin(members, rows, wide, /*slot=*/-1, now);
  }

  void Done(const Start& start) {
    for (size_t s = 0; s < slots_.size(); ++s)
      if (start.wide || int(s) == start.slot) slots_[s] = {};
  }

  // Of a request that no model's time belongs to.
  Nanoseconds PredictedWait(Nanoseconds now) const {
    ReferenceQueue future = *this;
    future.waiting.push_back({.request = UINT64_MAX});
    return future.PlayUntilBegun(UINT64_MAX, now).first - now;
  }

  Nanoseconds Time(const Arrival& of, int rows, bool wide) const {
    if (of.model == 0) return 0;  // own work, or of no model
    const ModelTimes& times = models_.at(of.model);
    if (slots_.size() == 1) return rows * (times.narrow > 0 ? times.narrow : times.wide);
    return rows * (wide ? times.wide : times.narrow);
  }

  int requests() const { return int(waiting.size() - own_.size()); }  // that wait

  std::vector<Arrival> waiting;              // requests and own work
  int refused = 0, refused_in_overload = 0;  // since they found no place
  int looks = 0;                             // after which the queue was the longer one again

 private:
  struct Slot {
    bool busy = false;
    Nanoseconds ends = 0;
  };

  int64_t Own(int model) const {
    return std::count_if(waiting.begin(), waiting.end(),
                         [&](const Arrival& one) { return one.model == model; });
  }

  bool IsAtItsOwnLimit(int model) const {
    const int most_own = models_.at(model).waiting_per_slot * limits_.slots;
    return most_own > 0 && Own(model) >= most_own;
  }

  // Of the server's places: 1 where there was none for an arrival. An overload lasts for 16384 arrivals for
  // each slot at most, and shorter where the share of refusals falls.
  void Count(double refused_one) {
    const bool was = refused_share_ > 1.0 / 3;
    refused_share_ += (refused_one - refused_share_) / (limits_.slots > 4 ? 16 * limits_.slots : 64);
    const bool is = refused_share_ > 1.0 / 3;
    if (is && !was) began_with_ = int64_t(waiting.size() - own_.size());
    if (is && !was) in_overload_ = left_since_ = 0;
    in_overload_ = is ? in_overload_ + 1 : 0;
    if (in_overload_ < 16384 * limits_.slots) return;
    refused_share_ = in_overload_ = 0;
    ++looks;
  }

  int PlacesOfSlot(int model) const {
    const bool overloaded = refused_share_ > 1.0 / 3;
    return overloaded ? std::min(models_.at(model).most_in_batch, limits_.waiting_per_slot)
                      : limits_.waiting_per_slot;
  }

  bool HasPlace(int model) const {
    if (Own(model) > 0) return requests() < limits_.slots * PlacesOfSlot(model);
    double places = 1.25 * limits_.slots * PlacesOfSlot(model);
    for (const Arrival& other : waiting)
      if (!own_.contains(other.request))
        places = std::max(places, 1.25 * limits_.slots * PlacesOfSlot(other.model));
    if (requests() < std::ceil(places)) return true;
    // A full queue from before the overload lets others in beside it, and is not filled again.
    const double all = limits_.slots * limits_.waiting_per_slot, beside = std::ceil(all * 0.25);
    return refused_share_ > 1.0 / 3 && requests() < std::min(double(began_with_ - left_since_), all) + beside;
  }

  // No queue would be short enough.
  bool IsInVain(const Arrival& one, Nanoseconds now) const {
    const Nanoseconds least = std::min(Time(one, one.rows, false), Time(one, one.rows, true));
    return one.deadline != 0 && now + one.preparing + least > one.deadline;
  }

  bool IsWide(const Arrival& first, size_t ahead) const {
    const Nanoseconds wide = Time(first, first.rows, true), narrow = Time(first, first.rows, false);
    const auto count = Nanoseconds(std::min(ahead, slots_.size()));
    if (wide == 0 || narrow == 0) return count == 1;
    return 100 * count * (first.preparing + wide) < 95 * (first.preparing + narrow);
  }

  std::optional<Start> NextOwn(const Arrival& work, size_t free, Nanoseconds now) {
    const int slot = own_.at(work.request);
    const bool all = slot == OwnWork::kAllSlots;
    if (all || playing_ ? free < slots_.size() : slots_[size_t(slot)].busy) return {};
    return Begin({work}, 1, all && slots_.size() > 1, std::max(slot, 0), now);
  }

  // `slot` -1: the first one that is free.
  Start Begin(const std::vector<Arrival>& members, int rows, bool wide, int slot, Nanoseconds now) {
    Nanoseconds time = Time(members[0], rows, wide);
    Start start{.wide = wide, .model = members[0].model};
    for (const Arrival& member : members) {
      time += member.preparing;
      start.requests.push_back(member.request);
      Cancel(member.request);
    }
    started_ = {members[0], rows};
    while (!wide && slot < 0 && slots_[size_t(start.slot)].busy) ++start.slot;
    if (slot >= 0) start.slot = slot;
    for (size_t s = 0; s < slots_.size(); ++s)
      if (wide || int(s) == start.slot) slots_[s] = {true, now + time};
    return start;
  }

  // By how much a start would take longer if it were narrow and not wide.
  Nanoseconds NarrowLonger(const std::pair<Arrival, int>& start) const {
    return Time(start.first, start.second, false) - Time(start.first, start.second, true);
  }

  // Returns when the request begins, if each start takes its time and nothing arrives, and when it ends then
  // at the latest.
  std::pair<Nanoseconds, Nanoseconds> PlayUntilBegun(uint64_t request, Nanoseconds now) {
    playing_ = true;
    for (Nanoseconds time = now;; ++time)
      for (;;) {
        for (Slot& slot : slots_)
          if (slot.busy && slot.ends <= time) slot = {};
        const std::optional<Start> start = Next(time, time > now ? Free::kForeseen : Free::kSeen);
        if (!start) break;
        if (start->requests.back() != request) continue;
        Nanoseconds end = slots_[size_t(start->slot)].ends;
        if (start->wide && time > now) end += std::max(NarrowLonger(started_), Nanoseconds(0));
        return {time, end};
      }
  }

  QueueLimits limits_;
  std::map<int, ModelTimes> models_;
  std::map<uint64_t, int> own_;  // the slots of own work that waits
  std::vector<Slot> slots_;
  std::pair<Arrival, int> started_;  // the last start: its first request, and its rows
  double refused_share_ = 0;
  int64_t in_overload_ = 0;                  // arrivals
  int64_t began_with_ = 0, left_since_ = 0;  // requests, of an overload
  bool draining_ = false;
  bool playing_ = false;  // which slots requests take is not certain: own work waits for all
};

}  // namespace mete::serve
