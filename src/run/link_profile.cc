#include "run/link_profile.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "processor/processor.h"
#include "run/member.h"
#include "run/time_graph.h"

namespace mete {
namespace {

constexpr std::array<size_t, 3> kSizes{32 << 10, 128 << 10,
                                       512 << 10};  // bytes; a guess at activations worth sending
constexpr int kEchoes = 30;  // of one byte; the shortest counts, because other work makes the rest longer
constexpr double kAlike =
    0.02;  // two times that differ by less need no third one. Guess: a fifth of a prediction's error
constexpr int kFollowing = 200;  // messages that follow each other
constexpr int kRunsThere =
    50;  // of a product in one call, after which the end is noticed. Guess: half a second on a slow board
constexpr std::chrono::seconds kTimeOut{120};  // guess: a megabyte, forty times, at 10 Mb/s

double RoundTripUs(Echo& echo) {
  double least = echo.Us(1, 1);
  for (int i = 0; i < kEchoes; ++i) least = std::min(least, echo.Us(1, 1));
  return least;
}

// Returns the time of a message and its answer: the mean of two that are nearly equal, otherwise the median
// of three.
double SizeUs(Echo& echo, size_t bytes, size_t answer) {
  const double first = echo.Us(bytes, answer), second = echo.Us(bytes, answer);
  const auto [less, more] = std::minmax(first, second);
  if (more <= (1 + kAlike) * less) return (less + more) / 2;
  return std::clamp(echo.Us(bytes, answer), less, more);
}

enum class Direction { kUp, kDown };  // from the home to the member, and back

// Returns the time of a message of each of kSizes with an answer of one byte, or the other way round.
std::array<double, kSizes.size()> SizesUs(Echo& echo, Direction direction) {
  std::array<double, kSizes.size()> us;
  for (size_t s = 0; s < kSizes.size(); ++s)
    us[s] = direction == Direction::kUp ? SizeUs(echo, kSizes[s], 1) : SizeUs(echo, 1, kSizes[s]);
  return us;
}

// Returns the rate by the slope of a line through the sizes (least squares), because the rest of each time is
// that of the round trip. If noise hides the slope, the time of the largest size gives the rate.
double MbitPerS(const std::array<double, kSizes.size()>& us) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (size_t s = 0; s < kSizes.size(); ++s) {
    const double bits = double(kSizes[s]) * 8;
    n += 1;
    x += bits;
    y += us[s];
    xx += bits * bits;
    xy += bits * us[s];
  }
  const double us_per_bit = (n * xy - x * y) / (n * xx - x * x);
  return 1 / (us_per_bit > 0 ? us_per_bit : us.back() / (double(kSizes.back()) * 8));
}

// Keeps both ends computing as long as the object lives. Both compute when the constructor returns.
class Computing {
 public:
  Computing(Member& member, Processor& home) : ready_(home.Prepare(graph_)) {
    (void)member.Time(graph_, 1, kTimeOut);
    (void)ready_->Run(inputs_, {});
    there_ = std::jthread(Unpinned([this, &member](std::stop_token stop) {
      Repeat(stop, [&] { (void)member.Time(graph_, kRunsThere, kTimeOut); });
    }));
    here_ = std::jthread(Unpinned([this, &home](std::stop_token stop) {
      const AdoptedThread adopted(home);
      Repeat(stop, [&] { (void)ready_->Run(inputs_, {}); });
    }));
  }

  // Throws the Error of an end that did not compute, because figures measured meanwhile would be wrong.
  void End() {
    for (std::jthread* end : {&there_, &here_}) {
      end->request_stop();
      end->join();
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Returns a product that keeps a core busy for a millisecond or more.
  static Graph Product() {
    Graph graph;
    graph.name = "product";
    const Shape shape{256, 256};
    const ValueId x = graph.AddValue("x", DType::kF32, shape),
                  w = graph.AddConstant("w", MadeUp(DType::kF32, shape));
    const ValueId y = graph.AddValue("y", DType::kF32, shape);
    graph.AddNode("MatMul", "product", {x, w}, {y});
    graph.inputs = {x};
    graph.outputs = {y};
    return graph;
  }

  template <class F>
  void Repeat(const std::stop_token& stop, F compute) {
    try {
      while (!stop.stop_requested()) compute();
    } catch (...) {
      std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
  }

  const Graph graph_ = Product();
  const std::vector<Tensor> inputs_ = MadeUpInputs(graph_, graph_.inputs);
  const std::shared_ptr<Ready> ready_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::jthread there_, here_;  // last: they use all of the above
};

// Copies the figures at rest. Processors of one process compute on the threads that hand pieces over, so no
// hand-over waits for a core that computes.
void TakeAtRest(LinkProfile& link) {
  link.busy_up_mbit_per_s = link.up_mbit_per_s;
  link.busy_down_mbit_per_s = link.down_mbit_per_s;
  for (MessageTimes& times : link.sizes) {
    times.busy_up_us = times.up_us;
    times.busy_down_us = times.down_us;
  }
}

}  // namespace

LinkProfile MeasureLink(Echo& echo) {
  LinkProfile link;
  link.round_trip_us = RoundTripUs(echo);
  link.message_us = echo.MessageUs(kFollowing);
  const auto up = SizesUs(echo, Direction::kUp), down = SizesUs(echo, Direction::kDown);
  link.up_mbit_per_s = MbitPerS(up);
  link.down_mbit_per_s = MbitPerS(down);
  for (size_t s = 0; s < kSizes.size(); ++s) link.sizes.push_back({int64_t(kSizes[s]), up[s], down[s], 0, 0});
  return link;
}

void MeasureBusyLink(Member& member, Processor& home, LinkProfile& link) {
  if (member.address().empty()) return TakeAtRest(link);
  const std::unique_ptr<Echo> echo = member.OpenEcho();
  Computing computing(member, home);
  const auto up = SizesUs(*echo, Direction::kUp), down = SizesUs(*echo, Direction::kDown);
  computing.End();
  link.busy_up_mbit_per_s = MbitPerS(up);
  link.busy_down_mbit_per_s = MbitPerS(down);
  for (size_t s = 0; s < link.sizes.size(); ++s) {
    link.sizes[s].busy_up_us = up[s];
    link.sizes[s].busy_down_us = down[s];
  }
}

}  // namespace mete
