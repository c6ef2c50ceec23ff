// The local CPU as a processor: a pool of threads that run the fast kernels, or the reference where no fast
// kernel fits.
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
  std::vector<int> cores;  // the cores that threads are pinned to; empty: not pinned
  bool reference = false;  // use only the reference kernels
  // the algorithm for all convolutions that it fits, the others are direct; nullopt: the best one
  std::optional<ConvAlgorithm> conv;
  // where `conv` is nullopt: no algorithm with a larger error than the direct sums
  bool plain_sums = false;
  // measures what is fastest; null: choose by estimate. Must outlive the Cpu's Prepare calls
  Tuner* tuner = nullptr;
  // between two runs of a node its weights leave all caches: trials must measure with cold weights
  bool weights_from_memory = false;
  ColdWeights* cold_weights() const {
    return tuner && weights_from_memory ? &tuner->cold_weights() : nullptr;
  }
  std::string packed_cache;          // folder for the files of packed weights; empty: no files
  std::string policy = "adaptive";   // one of PolicyNames(): how blocks are dealt out to the threads
  std::vector<double> speeds;        // speeds of the threads to emulate; empty: the true speeds
  std::vector<WorkerSpeed> workers;  // what the policy shall assume of the threads; empty: all are alike
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

// Prepares a node on a fast kernel; returns null and sets `why` where none fits. Each family has one such
// function.
using PrepareFn = std::unique_ptr<Prepared> (*)(const Graph&, const Node&, Pool&, std::string* why);

}  // namespace mete
