// A network whose nodes are timed: on one core, with nothing but itself between its nodes, as in use.
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

// Numbers of the usual size that are not all alike; zeros of other types than f32.
Tensor InputFor(const Port& port);

struct TimedCore {
  int number = 0;
  double speed = 1;  // at which it is emulated
};

class Runner {
 public:
  // On that core; `conv`: how convolutions are computed where it fits.
  Runner(const Model& model, const Machine& machine, const TimedCore& core, ConvAlgorithm conv);

  // Some times, of which all but the first count: that one finds the caches as others left them.
  void Run();

  struct Timed {
    const Node* node;
    std::string kernel;   // "conv_1x1_f32 avx512"
    double least_ns = 0;  // of all runs; 0: it computes nothing
  };
  std::vector<Timed> Times() const;  // in the order in which they run
  double SumNs() const;              // of least times
  const Graph& graph() const { return GraphOf(model_); }

 private:
  const Model model_;
  const Plan plan_;
  CpuKernels cpu_;
  Executor executor_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<ConstView> in_;
  std::vector<View> out_;
  std::map<std::string, double> least_ns_;
};

}  // namespace mete
