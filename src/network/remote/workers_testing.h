// Workers of this process that come and go, and a model for them with a plan in which all have a part.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "partition/random_graphs_testing.h"
#include "plan/pool/dynamic.h"
#include "network/remote/remote_device.h"
#include "network/worker/worker.h"
#include "network/remote/remote_member.h"
#include "processor/cpu/cpu_testing.h"
#include "processor/gated_testing.h"

namespace mete {

inline std::shared_ptr<Processor> HomeOfTests() { return std::make_shared<Cpu>("own", ReferenceOptions()); }

// Prepares a graph with all passes, as workers do, so that both have the same bits.
inline std::shared_ptr<Ready> ReadyAtHome(const Graph& graph) { return ReferenceCpu().Prepare(graph); }

class Workers {
 public:
  // Devices "own", "worker-1", ...: a link takes no time beside a layer.
  Workers(int count, uint32_t seed) : random(seed, 8) {
    costs.processors.push_back({"own", {0, 0, 1e5, 1e5}, {}});
    for (int w = 0; w < count; ++w) {
      costs.processors.push_back(costs.processors[0]);
      costs.processors.back().name = "worker-" + std::to_string(w + 1);
      workers.push_back(nullptr);
      ports.push_back(0);
      Start(size_t(w));
    }
    Use(random.graph, seed);
  }

  void Use(Graph graph, uint32_t seed = 1) {
    random.graph = std::move(graph);
    for (ProcessorCosts& processor : costs.processors)
      processor.layers.assign(LayersOf(random.graph).size(), {1000, 0});
    plan = PlanPool(random.graph, costs);
    inputs = RandomInputs(random.graph, seed);
    whole = ReferenceCpu().Prepare(random.graph)->Run(inputs, {});
  }

  // Starts a worker on the port that it had before.
  void Start(size_t worker, WorkerOptions options = {}) {
    if (worker == gates.size())
      gates.push_back(std::make_shared<Gated>(std::make_shared<Cpu>("cpu", ReferenceOptions())));
    if (options.processors.empty()) options.processors = {gates[worker]};
    options.listen = "127.0.0.1:" + std::to_string(ports[worker]);
    workers[worker] = std::make_unique<Worker>(options);
    ports[worker] = workers[worker]->port();
  }
  void Stop(size_t worker) { workers[worker].reset(); }
  std::string AddressOf(size_t worker) const { return "127.0.0.1:" + std::to_string(ports[worker]); }

  void ExpectWhole(const std::vector<Tensor>& outputs) const {
    ASSERT_EQ(outputs.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i) {
      ASSERT_EQ(outputs[i].shape(), whole[i].shape());
      EXPECT_EQ(std::memcmp(outputs[i].data(), whole[i].data(), whole[i].bytes()), 0);
    }
  }

  bool Divided() const {
    size_t most = 0;
    for (const PlannedGroup& group : plan.groups) most = std::max(most, group.shares.size());
    return most > 1;
  }

  RandomGraph random;
  PoolCosts costs;
  std::vector<std::shared_ptr<Gated>> gates;  // what the workers compute on
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<int> ports;
  Plan plan;
  std::vector<Tensor> inputs, whole;
};

}  // namespace mete
