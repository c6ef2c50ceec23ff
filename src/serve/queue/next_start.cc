#include "serve/queue/next_start.h"

#include <algorithm>

namespace mete::serve {
namespace {

// Wide starts have to be sooner than narrow ones by more than the times vary between runs. A guess.
constexpr double kSooner = 0.95;

// Whether the first `waiting` requests, if each is like the first one, have all ended sooner if they are
// computed one after the other by all slots than if each slot computes one. For one request: whether all
// slots end it sooner than one. For as many as there are slots: whether wide starts are more work in the same
// time.
bool WideIsSooner(const Waiting& first, size_t waiting) {
  const Nanoseconds wide = first.model->times.Wide(first.arrival.rows);
  const Nanoseconds narrow = first.model->times.Narrow(first.arrival.rows);
  if (wide == 0 || narrow == 0) return waiting == 1;
  const double preparing = double(first.arrival.preparing);
  return (preparing + double(wide)) * double(waiting) < kSooner * (preparing + double(narrow));
}

bool JoinsBatch(const NextStart& start, const Waiting& first, const Waiting& other) {
  return other.arrival.batch_key == first.arrival.batch_key &&
         int64_t(start.rows) + other.arrival.rows <= first.model->most_in_batch;
}

// Adds requests of the first one's model and key, of the first `ahead`. None overtakes a request of its own
// model.
void FormBatch(const std::deque<Waiting>& waiting, size_t ahead, size_t most, NextStart& start) {
  const Waiting& first = waiting.front();
  if (first.arrival.batch_key == 0) return;
  for (size_t i = 1; i < ahead && start.members.size() < most; ++i) {
    if (waiting[i].model != first.model) continue;
    if (!JoinsBatch(start, first, waiting[i])) return;
    start.members.push_back(i);
    start.rows += waiting[i].arrival.rows;
  }
}

Nanoseconds TimeOf(const std::deque<Waiting>& waiting, const NextStart& start, bool wide) {
  Nanoseconds time = waiting.front().model->times.Of(start.rows, wide);
  for (const size_t member : start.members) time += waiting[member].arrival.preparing;
  return time;
}

// Returns when the slots that the first of the waiting needs are free. Own work of one slot is taken to need
// all, because which of the slots that become free together the requests before it take is not certain.
Nanoseconds FreeFor(const Waiting& first, const std::vector<Nanoseconds>& ends) {
  return first.own_slot ? *std::max_element(ends.begin(), ends.end())
                        : *std::min_element(ends.begin(), ends.end());
}

}  // namespace

Nanoseconds LeastTime(const Waiting& waiting) {
  const RowTimes& times = waiting.model->times;
  const int rows = waiting.arrival.rows;
  return waiting.arrival.preparing + std::min(times.Narrow(rows), times.Wide(rows));
}

NextStart ChooseStart(const std::deque<Waiting>& waiting, int free, int slots) {
  const Waiting& first = waiting.front();
  NextStart start{.members = {0}, .rows = first.arrival.rows};
  if (first.own_slot) {
    start.wide = slots > 1 && *first.own_slot == OwnWork::kAllSlots;
    start.time = first.arrival.preparing;
    return start;
  }
  const auto own = std::find_if(waiting.begin(), waiting.end(), [](const Waiting& w) { return w.own_slot; });
  const auto ahead = size_t(own - waiting.begin());
  start.wide = slots > 1 && free == slots && WideIsSooner(first, std::min(ahead, size_t(slots)));
  // A batch leaves the other free slots their share, since two slots compute two requests sooner than one
  // slot.
  const size_t share = start.wide ? ahead : (ahead + size_t(free) - 1) / size_t(free);
  FormBatch(waiting, ahead, share, start);
  start.time = TimeOf(waiting, start, start.wide);
  return start;
}

Forecast ForecastLast(std::deque<Waiting> waiting, std::vector<Nanoseconds> ends, Nanoseconds now) {
  const auto own_waits = [](const std::deque<Waiting>& all) {
    return std::any_of(all.begin(), all.end(), [](const Waiting& one) { return one.own_slot; });
  };
  for (Nanoseconds time = now;;) {
    const std::optional<int> own_slot = waiting.front().own_slot;
    time = std::max(time, FreeFor(waiting.front(), ends));
    const auto is_free = [&](Nanoseconds end) { return end <= time; };
    auto free = std::count_if(ends.begin(), ends.end(), is_free);
    // Slots that become free together in a forecast do so one after the other, and then the start is a narrow
    // one. Only own work has to wait for its end.
    if (time > now && own_waits(waiting))
      free = std::max<std::ptrdiff_t>(std::min(free, std::ssize(ends) - 1), 1);
    const NextStart start = ChooseStart(waiting, int(free), int(ends.size()));
    if (start.members.back() == waiting.size() - 1) {
      // A wide start that is not now is a narrow one if another request arrives before.
      const bool may_be_narrow = start.wide && time > now;
      return {time - now,
              may_be_narrow ? std::max(start.time, TimeOf(waiting, start, /*wide=*/false)) : start.time};
    }
    if (start.wide) std::fill(ends.begin(), ends.end(), time + start.time);
    else if (own_slot.value_or(OwnWork::kAllSlots) >= 0) ends[size_t(*own_slot)] = time + start.time;
    else *std::find_if(ends.begin(), ends.end(), is_free) = time + start.time;
    for (size_t i = start.members.size(); i-- > 0;)
      waiting.erase(waiting.begin() + std::ptrdiff_t(start.members[i]));
  }
}

}  // namespace mete::serve
