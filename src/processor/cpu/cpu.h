// The CPU beside us: a pool of threads over the fast kernels, the reference where none of them fits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "processor/cpu/conv_algorithm.h"
#include "processor/cpu/packer.h"
#include "processor/cpu/pool.h"
#include "processor/cpu/tuner.h"
#include "processor/processor.h"

namespace mete {

struct CpuOptions {
  int threads = 1;
  std::vector<int> cores;  // to pin to; empty: not pinned
  bool reference = false;  // never a fast kernel
  // for all convolutions that it fits, direct for the others; nothing: the best
  std::optional<ConvAlgorithm> conv;
  // where `conv` is nothing: no algorithm whose error is larger than that of the sums as they stand
  bool plain_sums = false;
  // measures what is best; null: by estimate. Outlives the Cpu's Prepare calls
  Tuner* tuner = nullptr;
  // between two runs of a node its weights leave all caches: measure with them cold
  bool weights_from_memory = false;
  ColdWeights* cold_weights() const {
    return tuner && weights_from_memory ? &tuner->cold_weights() : nullptr;
  }
  std::string packed_cache;          // folder of the files of packed weights; empty: none
  std::string policy = "adaptive";   // of PolicyNames(): how blocks reach the threads
  std::vector<double> speeds;        // of the threads, to emulate; empty: as they are
  std::vector<WorkerSpeed> workers;  // the threads as the policy shall expect them; empty: alike
};

class Cpu : public Processor {
 public:
  explicit Cpu(const CpuOptions& options);

  const char* name() const override { return "cpu"; }
  std::string WhyNot(const Graph& graph, const Node& node) const override;
  std::unique_ptr<Prepared> Prepare(const Graph& graph, const Node& node, const Step& step) override;

  Pool& pool() { return pool_; }
  const Packer& packer() const { return packer_; }

 private:
  CpuOptions options_;
  Pool pool_;
  Packer packer_;
};

// Prepares a node on a fast kernel; null, and `why` filled, where none fits. One function a family.
using PrepareFn = std::unique_ptr<Prepared> (*)(const Graph&, const Node&, Pool&, std::string* why);

}  // namespace mete
