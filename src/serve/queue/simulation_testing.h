// A server in virtual time for tests: callers that send requests, a Scheduler, and slots that compute as long
// as they are said to. Checks in each step what must hold of every start.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "mete/statistics.h"
#include "serve/queue/scheduler.h"

namespace mete::serve {

constexpr Nanoseconds kMs = 1'000'000;

// The requests of one model.
struct Stream {
  ModelTimes known;                  // what the scheduler is told
  Nanoseconds wide = 0, narrow = 0;  // what a start of one row really takes
  double each_further_row = 1;       // a further row of a batch takes this share of the first one
  double per_s = 0;                  // requests
  bool periodic = false;             // at equal distances; false: at random, a Poisson process
  Nanoseconds timeout = 0;           // 0: no deadline
  uint64_t batch_key = 0;
  Nanoseconds until = 0;  // 0: the whole time

  // Of a model whose times are known and true.
  static Stream Of(Nanoseconds wide, Nanoseconds narrow, double per_s) {
    return {.known = {.wide = wide, .narrow = narrow}, .wide = wide, .narrow = narrow, .per_s = per_s};
  }
};

// A load beside the requests: so many turns, each of which begins to wait when the one before it ends, and of
// which one in all slots follows on one in each slot.
struct Load {
  Nanoseconds begins = 0, turn = 0;
  int turns = 0;
};

struct Record {
  int stream = 0;
  Nanoseconds arrived = 0, began = -1, ended = -1;
  Nanoseconds predicted_wait = 0;
  Refusal refusal = Refusal::kNone;
  int outcomes = 0;  // must be 1 at the end
  bool wide = false;
  int batch = 0;  // requests that were computed together

  bool answered() const { return ended >= 0; }
  Nanoseconds latency() const { return ended - arrived; }
};

class Simulation {
 public:
  Simulation(const QueueLimits& limits, std::vector<Stream> streams, uint64_t seed)
      : scheduler_(limits), streams_(std::move(streams)), occupied_(size_t(limits.slots)), random_(seed) {
    for (const Stream& stream : streams_) models_.push_back(scheduler_.AddModel(stream.known));
  }

  // Lets requests arrive for `duration` and computes the accepted ones to their end. Each start takes its
  // stream's time, spread by a normal distribution of `spread` as a share of it.
  void Run(Nanoseconds duration, double spread = 0) {
    spread_ = spread;
    load_turns_left = load.turns;
    for (size_t s = 0; s < streams_.size(); ++s) Send(s, duration);
    std::stable_sort(records.begin(), records.end(),
                     [](const Record& a, const Record& b) { return a.arrived < b.arrived; });
    for (size_t next = 0; next < records.size() || !ends_.empty();) {
      if (ends_.empty() || (next < records.size() && records[next].arrived < ends_.top().time))
        Arrive(next++);
      else End();
      if (load_turns_left == load.turns && load.turns > 0 && now_ >= load.begins) WaitForTurn();
      Begin();
    }
  }

  // Latencies of what was answered, in milliseconds; of all streams, or of one.
  Spread Latency(int stream = -1) const {
    std::vector<double> ms;
    for (const Record& record : records)
      if (record.answered() && (stream < 0 || record.stream == stream))
        ms.push_back(double(record.latency()) / double(kMs));
    return Summarize(std::move(ms));
  }
  double AnsweredShare(int stream = -1) const {
    int all = 0, answered = 0;
    for (const Record& record : records)
      if (stream < 0 || record.stream == stream) ++all, answered += record.answered();
    return double(answered) / double(all);
  }
  double BusyShare() const { return double(busy_) / double(now_) / double(occupied_.size()); }

  Load load;
  int load_turns_left = 0;
  Nanoseconds load_ended = 0;
  std::vector<Record> records;          // in the order of their arrival
  std::vector<std::string> violations;  // of what must hold

 private:
  struct Ending {
    Nanoseconds time, compute;
    Start start;
    bool operator<(const Ending& other) const { return time > other.time; }  // the first end is the top
  };

  void Send(size_t s, Nanoseconds duration) {
    const Stream& stream = streams_[s];
    std::exponential_distribution<double> gap(stream.per_s);
    const double end_s = double(stream.until > 0 ? stream.until : duration) / 1e9;
    for (double at = 0;;) {
      at += stream.periodic ? 1 / stream.per_s : gap(random_);
      if (at >= end_s) return;
      records.push_back({.stream = int(s), .arrived = Nanoseconds(at * 1e9)});
    }
  }

  void Arrive(size_t index) {
    Record& record = records[index];
    const Stream& stream = streams_[size_t(record.stream)];
    now_ = record.arrived;
    const Admission admission = scheduler_.Arrive({.request = index,
                                                   .model = models_[size_t(record.stream)],
                                                   .deadline = stream.timeout > 0 ? now_ + stream.timeout : 0,
                                                   .batch_key = stream.batch_key},
                                                  now_);
    record.predicted_wait = admission.wait;
    record.refusal = admission.refusal;
    if (admission.refusal != Refusal::kNone) ++record.outcomes;
  }

  void WaitForTurn() {
    const int slots = int(occupied_.size());
    const int slot = load_turns_left % (slots + 1) - 1;
    --load_turns_left;
    Check(scheduler_.Enqueue({.number = kTurn, .slot = slot, .time = load.turn}), "a turn is refused");
    own_waits_ = true;
  }

  void End() {
    const Ending ending = ends_.top();
    ends_.pop();
    now_ = ending.time;
    if (ending.start.model == 0) {
      ForSlots(ending.start, [](int& occupied) { --occupied; });
      scheduler_.Done(ending.start, ending.compute);
      if (load_turns_left > 0) WaitForTurn();
      else load_ended = now_;
      return;
    }
    for (const uint64_t request : ending.start.requests) {
      records[request].ended = now_;
      ++records[request].outcomes;
    }
    ForSlots(ending.start, [](int& occupied) { --occupied; });
    scheduler_.Done(ending.start, ending.compute);
  }

  void Begin() {
    for (const uint64_t request : scheduler_.TakeLate(now_)) {
      records[request].refusal = Refusal::kTooLate;
      ++records[request].outcomes;
    }
    while (const std::optional<Start> start = scheduler_.Next(now_)) Begin(*start);
    const bool idle = std::count(occupied_.begin(), occupied_.end(), 0) > 0;
    Check(!(idle && scheduler_.waiting() > 0 && !own_waits_), "a slot idles while a request waits");
    Check(!(own_waits_ && std::count(occupied_.begin(), occupied_.end(), 0) == std::ssize(occupied_)),
          "all slots idle while a load waits");
  }

  void Begin(const Start& start) {
    Check(!start.requests.empty(), "a start has no request");
    ForSlots(start, [&](int& occupied) { Check(++occupied == 1, "two starts are in one slot"); });
    if (start.model == 0) {
      own_waits_ = false;
      ends_.push({now_ + load.turn, load.turn, start});
      return;
    }
    const int stream = records[start.requests.front()].stream;
    for (const uint64_t request : start.requests) {
      Record& record = records[request];
      Check(record.stream == stream, "a batch has requests of two models");
      Check(last_begun_.count(stream) == 0 || last_begun_[stream] < request, "a request was overtaken");
      last_begun_[stream] = request;
      record.began = now_;
      record.wide = start.wide;
      record.batch = int(start.requests.size());
    }
    const Nanoseconds time = TimeOf(streams_[size_t(stream)], start);
    busy_ += time * (start.wide ? Nanoseconds(occupied_.size()) : 1);
    ends_.push({now_ + time, time, start});
  }

  Nanoseconds TimeOf(const Stream& stream, const Start& start) {
    const double further = double(start.requests.size() - 1) * stream.each_further_row;
    const double time = double(start.wide ? stream.wide : stream.narrow) * (1 + further);
    return std::max(Nanoseconds(time * (1 + spread_ * normal_(random_))), Nanoseconds(time / 2));
  }

  template <class F>
  void ForSlots(const Start& start, F f) {
    if (start.wide) std::for_each(occupied_.begin(), occupied_.end(), f);
    else f(occupied_.at(size_t(start.slot)));
  }

  void Check(bool holds, const char* what) {
    if (!holds) violations.push_back("at " + std::to_string(now_) + " ns: " + what);
  }

  Scheduler scheduler_;
  std::vector<Stream> streams_;
  static constexpr uint64_t kTurn = UINT64_MAX;  // the number of the load's turn

  std::vector<int> models_;    // of the streams
  std::vector<int> occupied_;  // starts in each slot
  std::priority_queue<Ending> ends_;
  std::map<int, uint64_t> last_begun_;  // by stream
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double spread_ = 0;
  bool own_waits_ = false;  // a turn of the load
  Nanoseconds now_ = 0, busy_ = 0;
};

}  // namespace mete::serve
