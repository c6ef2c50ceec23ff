// The kernels of a CPU: makes each node of a graph ready on a pool of threads, by a fast kernel or, where
// none fits the node, by the reference.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/options.h"
#include "graph/graph.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/prepare/packer.h"
#include "processor/cpu/threads/thread_pool.h"
#include "processor/tuning/tuner.h"
#include "processor/cpu/prepare/prepared_node.h"

namespace mete {

struct KernelOptions {
  int threads = 1;
  std::vector<int> cores;  // the cores that threads are pinned to; empty: not pinned
  bool reference = false;  // use only the reference kernels
  DispatchOptions dispatch;
  // measures what is fastest; null: choose by estimate. Must outlive the calls of Prepare()
  Tuner* tuner = nullptr;
  // between two runs of a node its weights leave all caches: trials must measure with cold weights
  bool weights_from_memory = false;
  ColdWeights* cold_weights() const {
    return tuner && weights_from_memory ? &tuner->cold_weights() : nullptr;
  }
  // The node is prepared again, for other shapes: nothing is measured. `like` is the node as it was prepared
  // before, or null; a kernel of the same kind computes in the same way where that fits.
  bool again = false;
  const PreparedNode* like = nullptr;
  std::string packed_cache;                       // folder of the files of packed weights; empty: none
  std::shared_ptr<PackedInUse> packed = nullptr;  // of all shares of a processor; null: of this object alone
  std::string policy = "adaptive";                // of PolicyNames(): how blocks reach the threads
  std::vector<double> speeds;                     // of the threads, to emulate; empty: as they are
  std::vector<WorkerSpeed> workers;               // the threads as the policy shall expect them; empty: alike
  // Plans the threads of a body of control flow; null: it has those of the graph that it is in.
  std::function<ThreadPlan(const Graph&)> plan_body;
};

class CpuKernels {
 public:
  explicit CpuKernels(const KernelOptions& options);

  // Chooses the node's kernel and packs its weights. Error UNIMPLEMENTED where no kernel computes the node.
  std::unique_ptr<PreparedNode> Prepare(const Graph& graph, const Node& node, const Step& step);

  // The same for a node that was prepared as `like` for other shapes, or null; nothing is measured.
  std::unique_ptr<PreparedNode> PrepareAgain(const Graph& graph, const Node& node, const Step& step,
                                             const PreparedNode* like);

  // What has to be measured for the node that Prepare() has prepared by estimate; nothing: no more.
  std::optional<Tuner::Waiting> TakeWaiting() {
    return options_.tuner ? options_.tuner->TakeWaiting() : std::nullopt;
  }

  // The threads of a body's steps; `plan` is that of the graph that has the body.
  ThreadPlan PlanBody(const Graph& body, const ThreadPlan& plan) const {
    return options_.plan_body ? options_.plan_body(body) : WithThreadsOf(plan, body);
  }
  bool reference() const { return options_.reference; }

  ThreadPool& pool() { return pool_; }
  const ThreadPool& pool() const { return pool_; }
  const Packer& packer() const { return packer_; }

 private:
  std::unique_ptr<PreparedNode> PrepareWith(const KernelOptions& options, const Graph& graph,
                                            const Node& node, const Step& step);

  const KernelOptions options_;
  KernelOptions again_;  // without a tuner; `like` is that of the node that is prepared
  ThreadPool pool_;
  Packer packer_;
};

}  // namespace mete
