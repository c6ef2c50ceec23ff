// Makes sessions over processors of this process, for models in whose plans most of them have a part.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock_testing.h"
#include "partition/random_graphs_testing.h"
#include "processor/cpu/cpu_testing.h"
#include "run/local_member.h"
#include "run/pool_session.h"

namespace mete {

// Processors "own", "p1", ... of equal costs, between which pieces cost next to nothing.
class LocalPool {
 public:
  explicit LocalPool(uint32_t seed) : random(seed, 8) {
    home = std::make_shared<Cpu>("own", ReferenceOptions());
    Add(nullptr);
    options.trial = options.remake = false;  // the costs are made up, and one processor would do better
    options.deploy.clock = &clock;
    options.tell = [this](const std::string& note) {
      std::lock_guard lock(mutex);
      notes += note + "\n";
    };
    inputs = RandomInputs(random.graph, seed);
    whole = home->Prepare(random.graph)->Run(inputs, {});
  }

  void Add(std::shared_ptr<Processor> processor) {
    ProcessorCosts its{processor ? processor->info().name : "own", {1, 1, 1e5, 1e5}, {}};
    its.layers.assign(LayersOf(random.graph).size(), {1000, 0});
    costs.processors.push_back(std::move(its));
    members.push_back(processor ? std::make_unique<LocalMember>(std::move(processor)) : nullptr);
  }
  std::unique_ptr<PoolSession> Open() {
    return std::make_unique<PoolSession>(random.graph, costs, home, std::move(members), options);
  }
  void ExpectWhole(const std::vector<Tensor>& outputs) const {
    ASSERT_EQ(outputs.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i) {
      ASSERT_EQ(outputs[i].shape(), whole[i].shape());
      EXPECT_EQ(std::memcmp(outputs[i].data(), whole[i].data(), whole[i].bytes()), 0);
    }
  }
  std::string Notes() {
    std::lock_guard lock(mutex);
    return notes;
  }

  FakeClock clock;  // no processor is late unless a test says so
  RandomGraph random;
  std::shared_ptr<Processor> home;
  PoolCosts costs;
  std::vector<std::unique_ptr<Member>> members;
  PoolSessionOptions options;
  std::vector<Tensor> inputs, whole;
  std::mutex mutex;
  std::string notes;
};

}  // namespace mete
