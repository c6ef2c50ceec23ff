#include "profile/pool/layers_on.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <latch>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/unpinned.h"

namespace mete {
namespace {

constexpr int kWholeRuns = 11;               // of the model, twice; guess: a median within a percent or two
constexpr int kHalfRuns = 5;                 // of halves of its layers; guess: the least of each counts
constexpr std::chrono::minutes kTimeOut{5};  // of one graph; guess: VGG-16 prepared and run on a slow board

// Of the model alone and beside others, in turns. The least ratio of all pairs counts: a factor that is too
// small makes a plan that the trial measures, one that is too large makes none.
constexpr int kPairs = 2;
constexpr double kLeastPairRuns = 5;  // guess: a median within some percent
// Two medians of times that are equal differ by less. Guess.
constexpr double kNoise = 0.03;
// Of runs beside others. Guess: the scheduler of a busy machine lets each thread wait for some 10 ms.
constexpr double kBesideUs = 1e5;
constexpr double kMostRuns = 1e4;  // bounds the runs of a model that takes next to nothing

Graph TinyGraph() {
  Graph graph;
  graph.name = "tiny";
  const ValueId x = graph.AddValue("x", DType::kF32, {1, 16}), y = graph.AddValue("y", DType::kF32, {1, 16});
  graph.AddNode("Relu", "relu", {x}, {y});
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}
const Graph kTiny = TinyGraph();

// Calls functions over and over, each on a thread, as long as the object lives. Each has been called when the
// constructor returns.
class Repeated {
 public:
  explicit Repeated(const std::vector<std::function<void()>>& functions)
      : called_(ptrdiff_t(functions.size())) {
    for (const auto& function : functions)
      threads_.emplace_back(
          Unpinned([this, &function](std::stop_token stop) { RepeatUntil(stop, function); }));
    called_.wait();
  }
  // Throws the Error of a function that failed, because what was measured meanwhile is wrong.
  void End() {
    for (std::jthread& thread : threads_) thread.request_stop();
    for (std::jthread& thread : threads_) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void RepeatUntil(const std::stop_token& stop, const std::function<void()>& function) {
    bool was_called = false;
    try {
      do {
        function();
        if (!was_called) called_.count_down();
        was_called = true;
      } while (!stop.stop_requested());
    } catch (...) {
      {
        std::lock_guard lock(mutex_);
        error_ = std::current_exception();
      }
      if (!was_called) called_.count_down();
    }
  }

  std::latch called_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

double Sum(const std::vector<double>& us) { return std::accumulate(us.begin(), us.end(), 0.0); }

}  // namespace

double MedianUs(std::vector<double> us) {
  std::nth_element(us.begin(), us.begin() + ptrdiff_t(us.size() / 2), us.end());
  return us[us.size() / 2];
}

GraphTimes TimedProcessor::Time(const Graph& graph, int runs) {
  if (options_.cancel && options_.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
  GraphTimes times = member_ ? member_->Time(graph, runs, kTimeOut)
                             : TimeOn(home_, graph, runs, options_.home_turn ? *options_.home_turn : turn_,
                                      options_.cancel, timed_);
  prepare_s_ += times.prepare_ms * 1e-3;
  return times;
}

void TimedProcessor::Forget() {
  timed_ = {};
  // A worker keeps none; it would compute the digests of its weights again.
  if (member_ && member_->address().empty()) member_->ForgetShares();
}

LayersOn::LayersOn(Processor& home, Member* member, const PoolProfileOptions& options, const Graph& graph,
                   const std::vector<Layer>& layers)
    : processor_(home, member, options), graph_(graph), layers_(layers) {
  std::vector<bool> can;
  for (const Layer& layer : layers) {
    why_not_.push_back(WhyNot(layer));
    can.push_back(why_not_.back().empty());
  }
  if (std::find(can.begin(), can.end(), false) != can.end()) part_ = LayerGraphs(graph).Only(layers, can);
}

std::string LayersOn::WhyNot(const Layer& layer) const {
  for (int n = layer.begin; n < layer.end; ++n)
    if (std::string why = processor_.WhyNot(graph_, graph_.nodes[size_t(n)]); !why.empty()) return why;
  return "";
}

void LayersOn::TimeModel() {
  if (computed().nodes.empty()) return;
  const GraphTimes times = processor_.Time(computed(), kWholeRuns);
  if (whole_.us.empty() || MedianUs(times.us) < MedianUs(whole_.us)) whole_ = times;
}

void LayersOn::TimeModelBeside(std::span<LayersOn* const> others) {
  if (computed().nodes.empty()) return;
  std::vector<std::function<void()>> computing;
  for (LayersOn* other : others)
    if (!other->computed().nodes.empty())
      computing.push_back([other] { (void)other->processor_.Time(other->computed(), other->RunsBeside(1)); });
  if (computing.empty()) return;
  const int runs = RunsBeside(kLeastPairRuns);
  for (int pair = 0; pair < kPairs; ++pair) {
    const double alone_us = MedianUs(processor_.Time(computed(), runs).us);
    Repeated repeated(computing);
    const double slowed = MedianUs(processor_.Time(computed(), runs).us) / alone_us;
    repeated.End();
    slowed_ = slowed_ ? std::min(*slowed_, slowed) : slowed;
  }
}

int LayersOn::RunsBeside(double least) const {
  return int(std::clamp(kBesideUs / MedianUs(whole_.us), least, kMostRuns));
}

void LayersOn::TimeHalves() {
  TimeHalves(LayerGraphs(graph_).HalvesOf(LayersToHalve(layers_, ModelUs())), by_rows_);
}
void LayersOn::TimeHalvesByChannels() {
  TimeHalves(LayerGraphs(graph_).HalvesByChannelsOf(LayersToHalve(layers_, ModelUs())), by_channels_);
}

void LayersOn::TimeShare() {
  if (processor_.WhyNot(kTiny, kTiny.nodes[0]).empty())
    share_us_ = MedianUs(processor_.Time(kTiny, kWholeRuns).us);
}

std::vector<LayerCost> LayersOn::Costs() const {
  const std::vector<double> us = ModelUs();
  const double all_us = Sum(us),
               slower = all_us > 0 ? std::max(0.0, MedianUs(whole_.us) - share_us_) / all_us : 1;
  std::vector<LayerCost> costs;
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (!why_not_[l].empty()) {
      costs.push_back({.why_not = why_not_[l]});
      continue;
    }
    const double whole_us = slower * us[l];
    costs.push_back(CostThrough(whole_us, slower * by_rows_.us[l], by_rows_.parts[l]));
    if (by_channels_.parts[l] < 1)
      costs.back().least_by_channels_us =
          CostThrough(whole_us, slower * by_channels_.us[l], by_channels_.parts[l]).least_us;
  }
  return costs;
}

double LayersOn::Slowed() const { return slowed_ && *slowed_ > 1 + kNoise ? *slowed_ : 1; }

// Without what puts each half's input and output into another layout: within a group of layers there is
// nothing of it.
void LayersOn::TimeHalves(const LayerHalves& halves, HalfTimes& times) {
  GraphTimes measured;
  if (!halves.graph.nodes.empty()) measured = processor_.Time(halves.graph, kHalfRuns);
  times = {LayersUs(graph_, layers_, measured.nodes, NodesOfPasses::kDoNotCount), halves.parts};
}

std::vector<double> LayersOn::ModelUs() const {
  return LayersUs(graph_, layers_, whole_.nodes, NodesOfPasses::kCount);
}

}  // namespace mete
