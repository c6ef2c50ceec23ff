// Random operations on the Scheduler and on a reference of its rules, which must answer the same.
#include "serve/queue/reference_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace mete::serve {
namespace {

class Pair {
 public:
  explicit Pair(uint64_t seed)
      : random_(seed),
        limits_{.slots = Number(1, 4), .waiting_per_slot = Number(1, 4)},
        scheduler_(limits_),
        reference_(limits_) {
    AddModel();
  }

  void Step() {
    const int dice = Number(0, 99);
    if (dice < 35) Arrive();
    else if (dice < 60) BeginAll();
    else if (dice < 80) End();
    else if (dice < 85) Cancel();
    else if (dice < 90) GiveUp();
    else if (dice < 91) now_ += Number(0, 8);
    else if (dice < 92) Flood();
    else if (dice < 93) Enqueue();
    else if (dice < 96) ChangeTimes();
    else if (dice < 98) AddModel();
    else RemoveModel();
    ASSERT_EQ(scheduler_.waiting(), reference_.requests());
    ASSERT_LE(scheduler_.waiting(), std::ceil(1.25 * limits_.slots * limits_.waiting_per_slot));
    ASSERT_EQ(scheduler_.under_way(), UnderWay());
    ASSERT_EQ(scheduler_.PredictedWait(now_), reference_.PredictedWait(now_));
  }

  void Drain() {
    std::vector<uint64_t> got = scheduler_.Drain(), expected = reference_.Drain();
    std::sort(got.begin(), got.end());
    ASSERT_EQ(got, expected);
    given_up += int(got.size());
  }

  int refused_in_overload() const { return reference_.refused_in_overload; }
  int refused() const { return reference_.refused; }
  int looks() const { return reference_.looks; }

  int accepted = 0, late = 0, wide = 0, batches = 0, own = 0, given_up = 0;

 private:
  int Number(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  size_t Any(size_t count) { return size_t(Number(0, int(count) - 1)); }

  ModelTimes AnyTimes() {
    ModelTimes times{.wide = Number(1, 6), .most_in_batch = Number(1, 4)};
    times.narrow = times.wide * Number(1, 4);
    if (Number(0, 5) == 0) times.narrow = 0;
    if (Number(0, 5) == 0) times.wide = 0;
    if (Number(0, 3) == 0) times.waiting_per_slot = Number(1, 4);
    return times;
  }

  void AddModel() {
    if (models_.size() >= 3) return;
    const ModelTimes times = AnyTimes();
    models_.push_back(scheduler_.AddModel(times));
    reference_.SetModel(models_.back(), times);
  }

  void ChangeTimes() {
    const int model = models_[Any(models_.size())];
    const ModelTimes times = AnyTimes();
    scheduler_.SetTimes(model, times);
    reference_.SetModel(model, times);
  }

  void RemoveModel() {
    const size_t at = Any(models_.size());
    if (models_.size() < 2 || scheduler_.waiting(models_[at]) > 0) return;
    scheduler_.RemoveModel(models_[at]);
    reference_.RemoveModel(models_[at]);
    models_.erase(models_.begin() + std::ptrdiff_t(at));
  }

  void Arrive() {
    Arrival arrival{
        .request = ++last_, .model = models_[Any(models_.size())], .batch_key = uint64_t(Number(0, 2))};
    if (Number(0, 2) == 0) arrival.deadline = now_ + Number(1, 40);
    if (Number(0, 3) == 0) arrival.rows = Number(2, 3);
    if (Number(0, 3) == 0) arrival.preparing = Number(1, 5);
    const Admission got = scheduler_.Arrive(arrival, now_), expected = reference_.Arrive(arrival, now_);
    ASSERT_EQ(got.refusal, expected.refusal);
    ASSERT_EQ(got.retry_after, expected.retry_after);
    ASSERT_EQ(got.wait, expected.wait);
    accepted += got.refusal == Refusal::kNone;
    late += got.refusal == Refusal::kTooLate;
  }

  // More arrivals than those after which the server looks anew, where one finds no place.
  void Flood() {
    const Arrival arrival{.request = ++last_, .model = models_[Any(models_.size())]};
    const int count = Number(0, 9) > 0 ? 30 : 16384 * limits_.slots + Number(-40, 40);
    for (int i = 0; i < count; ++i) {
      const Admission early = scheduler_.Refuse(arrival.model, now_);
      if (early.refusal == Refusal::kNone) return;
      const Admission expected = reference_.Arrive(arrival, now_);
      ASSERT_EQ(early.refusal, expected.refusal) << "arrival " << i;
      ASSERT_EQ(early.retry_after, expected.retry_after);
    }
  }

  void Enqueue() {
    const OwnWork work{.number = ++last_, .slot = Number(-1, limits_.slots - 1), .time = Number(0, 8)};
    ASSERT_EQ(scheduler_.Enqueue(work), reference_.Enqueue(work));
  }

  int UnderWay() const {
    int requests = 0;
    for (const Start& start : begun_) requests += start.model == 0 ? 0 : int(start.requests.size());
    return requests;
  }

  void BeginAll() {
    for (;;) {
      const std::optional<Start> got = scheduler_.Next(now_), expected = reference_.Next(now_);
      ASSERT_EQ(got.has_value(), expected.has_value());
      if (!got) return;
      ASSERT_EQ(got->requests, expected->requests);
      ASSERT_EQ(got->slot, expected->slot);
      ASSERT_EQ(got->wide, expected->wide);
      ASSERT_EQ(got->model, expected->model);
      begun_.push_back(*got);
      own += got->model == 0;
      wide += got->wide;
      batches += got->requests.size() > 1;
    }
  }

  void End() {
    if (begun_.empty()) return;
    const size_t at = Any(begun_.size());
    scheduler_.Done(begun_[at], 0);  // times that follow the runs have tests of their own
    reference_.Done(begun_[at]);
    begun_.erase(begun_.begin() + std::ptrdiff_t(at));
  }

  void Cancel() {
    const uint64_t request = last_ - uint64_t(Number(0, 9));
    ASSERT_EQ(scheduler_.Cancel(request), reference_.Cancel(request));
  }

  void GiveUp() {
    const std::optional<Nanoseconds> next = scheduler_.NextLate();
    if (next && *next > now_) {
      ASSERT_EQ(scheduler_.TakeLate(*next - 1), std::vector<uint64_t>());
      now_ = *next;
    }
    const std::vector<uint64_t> got = scheduler_.TakeLate(now_);
    ASSERT_EQ(got, reference_.TakeLate(now_));
    ASSERT_TRUE(!next || !got.empty());
  }

  std::mt19937_64 random_;
  QueueLimits limits_;
  Scheduler scheduler_;
  ReferenceQueue reference_;
  std::vector<int> models_;
  std::vector<Start> begun_;
  uint64_t last_ = 10;
  Nanoseconds now_ = 1000;
};

TEST(SchedulerAndReference, AnswerTheSame) {
  int accepted = 0, refused = 0, in_overload = 0, late = 0, wide = 0, batches = 0, own = 0, given_up = 0,
      looks = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Pair pair(seed);
    for (int step = 0; step < 1000; ++step) {
      if (step == 950) pair.Drain();
      pair.Step();
      if (HasFatalFailure()) FAIL() << "step " << step;
    }
    accepted += pair.accepted;
    refused += pair.refused();
    in_overload += pair.refused_in_overload();
    late += pair.late;
    wide += pair.wide;
    batches += pair.batches;
    own += pair.own;
    given_up += pair.given_up;
    looks += pair.looks();
  }
  // Every rule was met often.
  for (const int count : {accepted, refused, in_overload, late, wide, batches, own}) EXPECT_GT(count, 500);
  EXPECT_GT(given_up, 5);  // there is one drain for each seed
  EXPECT_GT(looks, 20);
}

}  // namespace
}  // namespace mete::serve
