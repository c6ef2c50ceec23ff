// Times the nodes of a network on one core. The nodes run one after another without other work between them,
// as in normal use.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model.h"
#include "machine/machine.h"
#include "processor/cpu/prepare/kernels.h"
#include "processor/cpu/executor.h"

namespace mete {

// Returns an input with different numbers between 0 and 1; zeros for types other than f32.
Tensor InputFor(const Port& port);

struct TimedCore {
  int number = 0;
  double speed = 1;  // emulated speed as a share of the core's own
};

class Runner {
 public:
  // Prepares `model` on `core`. `conv` is the algorithm of all convolutions for which it is possible.
  Runner(const Model& model, const Machine& machine, const TimedCore& core, ConvAlgorithm conv);

  // Runs the network several times. The first run does not count, because it finds the caches as other
  // programs left them.
  void Run();

  struct Timed {
    const Node* node;
    std::string kernel;   // "conv_1x1_f32 avx512"
    double least_ns = 0;  // the shortest time of all runs; 0: the node computes nothing
  };
  std::vector<Timed> Times() const;  // in the order in which they run
  double SumNs() const;              // the sum of the shortest times
  const Graph& graph() const { return GraphOf(model_); }

 private:
  const Model model_;
  const ThreadPlan plan_;
  CpuKernels cpu_;
  Executor executor_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<ConstView> in_;
  std::vector<View> out_;
  std::map<std::string, double> least_ns_;
};

}  // namespace mete
