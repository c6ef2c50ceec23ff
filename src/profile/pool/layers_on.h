// What the layers of a model take on one processor of a pool.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "partition/layers.h"
#include "plan/pool/layer_costs.h"
#include "profile/pool/pool_profile.h"
#include "run/local_member.h"
#include "run/time_graph.h"

namespace mete {

// A processor of the pool as something that times graphs.
class TimedProcessor {
 public:
  // `member` null: the home itself.
  TimedProcessor(Processor& home, Member* member, const PoolProfileOptions& options)
      : home_(home), member_(member), options_(options) {}

  GraphTimes Time(const Graph& graph, int runs);
  void Forget();  // lets go of the graph that was timed last, which is kept to be timed again
  std::string WhyNot(const Graph& graph, const Node& node) const {
    return member_ ? member_->WhyNot(graph, node) : home_.WhyNot(graph, node);
  }
  double prepare_s() const { return prepare_s_; }

 private:
  Processor& home_;
  Member* const member_;
  const PoolProfileOptions& options_;
  Turn turn_;
  double prepare_s_ = 0;
  TimedGraph timed_;
};

// Three graphs, as preparing takes longer than running: the model, in which each layer is seen by itself, and
// halves of its layers by rows and by channels. What a request takes as a rule counts, not the least: that is
// what plans are to predict. Layers that the processor cannot compute are in none of these graphs. One thread
// at a time.
class LayersOn {
 public:
  LayersOn(Processor& home, Member* member, const PoolProfileOptions& options, const Graph& graph,
           const std::vector<Layer>& layers);

  void TimeModel();
  // After the model, which the others compute meanwhile, over and over again.
  void TimeModelBeside(std::span<LayersOn* const> others);
  // After the model.
  void TimeHalves();
  void TimeHalvesByChannels();
  // A graph that computes next to nothing: what is left is the share's own time.
  void TimeShare();
  // Lets go of the graph that was timed last, with its weights.
  void Forget() { processor_.Forget(); }

  double prepare_s() const { return processor_.prepare_s(); }
  double share_us() const { return share_us_; }
  std::vector<LayerCost> Costs() const;
  // How many times as long the model takes while the others compute; 1 if the noise hides it, or if it was
  // not measured.
  double Slowed() const;

 private:
  // What about half of each layer takes.
  struct HalfTimes {
    std::vector<double> us, parts;  // by layer; part 1: not measured
  };

  std::string WhyNot(const Layer& layer) const;
  const Graph& computed() const { return part_ ? *part_ : graph_; }
  int RunsBeside(double least) const;  // that fill the time in which processors compute together
  void TimeHalves(const LayerHalves& halves, HalfTimes& times);
  std::vector<double> ModelUs() const;

  TimedProcessor processor_;
  const Graph& graph_;
  const std::vector<Layer>& layers_;
  std::vector<std::string> why_not_;  // by layer; empty: the processor computes it
  std::optional<Graph> part_;         // the layers that it computes; nothing: all
  double share_us_ = 0;
  // Of the model, the shorter of those that were taken, some seconds apart: what others do on a processor
  // lasts for seconds.
  GraphTimes whole_;
  std::optional<double> slowed_;  // the least that was measured
  HalfTimes by_rows_, by_channels_;
};

// Returns the time in the middle.
double MedianUs(std::vector<double> us);

}  // namespace mete
