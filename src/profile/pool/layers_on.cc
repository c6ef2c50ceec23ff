#include "profile/pool/layers_on.h"

#include <algorithm>
#include <exception>
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

// Two medians of times that are equal differ by less. Guess: a median is within a percent or two.
constexpr double kNoise = 0.03;
// What computes beside another processor looks this often whether it is done; a longer time leaves fewer
// pauses between the calls. Guess.
constexpr double kLookUs = 1e5;

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

double Sum(const std::vector<double>& us) { return std::accumulate(us.begin(), us.end(), 0.0); }

}  // namespace

double MedianUs(std::vector<double> us) {
  std::nth_element(us.begin(), us.begin() + ptrdiff_t(us.size() / 2), us.end());
  return us[us.size() / 2];
}

GraphTimes TimedProcessor::Time(const Graph& graph, int runs) {
  if (options_.cancel && options_.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
  GraphTimes times = member_ ? member_->Time(graph, runs, kTimeOut)
                             : TimeOn(home_, graph, runs, turn_, options_.cancel, timed_);
  prepare_s_ += times.prepare_ms * 1e-3;
  return times;
}

void LayersOn::TimeModel() {
  const GraphTimes times = processor_.Time(graph_, kWholeRuns);
  if (whole_.us.empty() || MedianUs(times.us) < MedianUs(whole_.us)) whole_ = times;
}

void LayersOn::TimeModelBeside(std::span<LayersOn* const> others) {
  std::latch computing(ptrdiff_t(others.size()));
  std::mutex mutex;
  std::exception_ptr error;
  double us = 0;
  {
    std::vector<std::jthread> threads;
    for (LayersOn* other : others)
      threads.emplace_back(Unpinned([&, other](std::stop_token stop) {
        try {
          (void)other->processor_.Time(other->graph_, 1);  // it may have to be made ready again
          computing.count_down();
          other->ComputeUntil(stop);
        } catch (...) {
          computing.count_down();
          std::lock_guard lock(mutex);
          error = std::current_exception();
        }
      }));
    computing.wait();
    us = MedianUs(processor_.Time(graph_, kWholeRuns).us);
  }
  if (error) std::rethrow_exception(error);
  if (beside_us_ == 0 || us < beside_us_) beside_us_ = us;
}

void LayersOn::ComputeUntil(const std::stop_token& stop) {
  const int runs = int(std::clamp(kLookUs / MedianUs(whole_.us), 1.0, 1e4));
  while (!stop.stop_requested()) (void)processor_.Time(graph_, runs);
}

void LayersOn::TimeHalves() {
  TimeHalves(LayerGraphs(graph_).HalvesOf(LayersToHalve(layers_, ModelUs())), by_rows_);
}
void LayersOn::TimeHalvesByChannels() {
  TimeHalves(LayerGraphs(graph_).HalvesByChannelsOf(LayersToHalve(layers_, ModelUs())), by_channels_);
}

void LayersOn::TimeShare() { share_us_ = MedianUs(processor_.Time(kTiny, kWholeRuns).us); }

std::vector<LayerCost> LayersOn::Costs() const {
  const std::vector<double> us = ModelUs();
  const double all_us = Sum(us),
               slower = all_us > 0 ? std::max(0.0, MedianUs(whole_.us) - share_us_) / all_us : 1;
  std::vector<LayerCost> costs;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const double whole_us = slower * us[l];
    costs.push_back(CostThrough(whole_us, slower * by_rows_.us[l], by_rows_.parts[l]));
    if (by_channels_.parts[l] < 1)
      costs.back().least_by_channels_us =
          CostThrough(whole_us, slower * by_channels_.us[l], by_channels_.parts[l]).least_us;
  }
  return costs;
}

double LayersOn::Slowed() const {
  const double slowed = beside_us_ / MedianUs(whole_.us);
  return slowed > 1 + kNoise ? slowed : 1;
}

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
