#include "run/trial.h"

#include <gtest/gtest.h>

#include <atomic>

#include "processor/wrapped_testing.h"
#include "run/local_pool_testing.h"

namespace mete {
namespace {

Plan Predicted(double us) {
  Plan plan;
  plan.predicted_us = us;
  return plan;
}

TEST(PlanTrial, IsNotWorthItForAProcessorThatIsPredictedToTakeHalfAsLongAgain) {
  const ReadyPlan best{Predicted(100), nullptr, 100};
  EXPECT_TRUE(IsWorthATrial(Predicted(140), best));
  EXPECT_FALSE(IsWorthATrial(Predicted(160), best));
}

TEST(PlanTrial, IsWorthItWhereAllTimesMayHaveBecomeShorter) {
  EXPECT_TRUE(IsWorthATrial(Predicted(140), {Predicted(100), nullptr, 50}));
  EXPECT_FALSE(IsWorthATrial(Predicted(160), {Predicted(100), nullptr, 50}));
  EXPECT_TRUE(IsWorthATrial(Predicted(160), {Predicted(100), nullptr, 120})) << "the plan takes longer";
}

TEST(PlanTrial, IsWorthItBesideAPlanThatWasNotRun) {
  EXPECT_TRUE(IsWorthATrial(Predicted(1000), {Predicted(100), nullptr, 0}));
}

// Tells whether it has prepared a graph with all nodes of the model.
class CountsModels : public Wrapped {
 public:
  CountsModels(std::shared_ptr<Processor> inner, size_t nodes) : Wrapped(std::move(inner)), nodes_(nodes) {}
  std::shared_ptr<Ready> Prepare(const Graph& share) override {
    ++(share.nodes.size() == nodes_ ? models : shares);
    return Wrapped::Prepare(share);
  }

  std::atomic<int> models{0}, shares{0};

 private:
  const size_t nodes_;
};

TEST(PlanTrial, PreparesNoModelOnAProcessorThatTakesFarLongerAlone) {
  LocalPool pool(3);
  const auto slow = std::make_shared<CountsModels>(std::make_shared<Cpu>("p1", ReferenceOptions()),
                                                   pool.random.graph.nodes.size());
  pool.Add(slow);
  std::vector<LayerCost>& layers = pool.costs.processors[1].layers;
  for (size_t l = layers.size() / 2; l < layers.size(); ++l) layers[l] = {1e7, 1e7};
  pool.options.trial = true;
  const auto session = pool.Open();
  EXPECT_GT(slow->shares, 0) << "the plan was not divided";
  EXPECT_EQ(slow->models, 0);
  EXPECT_GE(session->stats().measured, 2);
  pool.ExpectWhole(session->Run(pool.inputs));
}

}  // namespace
}  // namespace mete
