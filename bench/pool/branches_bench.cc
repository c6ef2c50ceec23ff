// Measures what branches side by side gain where hand-overs are dear: on a core and an emulated processor on
// another core, which takes a given time for each piece that enters or leaves its memory, the plan with
// branches on processors of their own runs in turns with the plan without them.
//
//     branches_bench googlenet.onnx inception_v3.onnx --map-us 300
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/model.h"
#include "machine/machine.h"
#include "plan/pool/dynamic.h"
#include "processor/cpu/cpu.h"
#include "processor/emulated/emulated.h"
#include "profile/pool/pool_profile.h"
#include "run/compare_sessions.h"
#include "run/local_member.h"
#include "run/plan_runner.h"

namespace mete {
namespace {

struct TwoProcessors {
  explicit TwoProcessors(double map_us) {
    const std::vector<int> cores = ReadMachine().affinity.allowed;
    if (cores.size() < 2) throw std::runtime_error("this process may use one core alone; expected two");
    home = std::make_shared<Cpu>("home", OnCore(cores[0]));
    Emulation emulation;
    emulation.map_us = map_us;
    other = std::make_shared<Emulated>("other", OnCore(cores[1]), 1, emulation);
  }
  static SessionOptions OnCore(int core) {
    SessionOptions options;
    options.threads = 1;
    options.cores = {core};
    return options;
  }
  std::vector<std::unique_ptr<Member>> Members() const {
    std::vector<std::unique_ptr<Member>> members;
    members.push_back(nullptr);
    members.push_back(std::make_unique<LocalMember>(other));
    return members;
  }
  std::unique_ptr<PoolSession> Run(const Graph& graph, const PoolCosts& costs, const Plan& plan) const {
    PoolSessionOptions options;
    options.plan = plan;
    options.trial = options.remake = false;
    return std::make_unique<PoolSession>(graph, costs, home, Members(), options);
  }

  std::shared_ptr<Processor> home, other;
};

PoolCosts Measure(const Graph& graph, const TwoProcessors& pool) {
  const std::vector<std::unique_ptr<Member>> members = pool.Members();
  PoolProfileOptions options;
  options.progress = [](const std::string&, int, int) {};
  return ProfilePool(graph, {"home", "other"}, *pool.home, {nullptr, members[1].get()}, options).costs;
}

int GroupsOfBranches(const Plan& plan) {
  return int(std::count_if(plan.groups.begin(), plan.groups.end(), [](const PlannedGroup& group) {
    return group.placement.split == SplitAxis::kBranches;
  }));
}

void Compare(const std::string& path, const TwoProcessors& pool, int rounds) {
  const Model model = Model::Load(path);
  const Graph& graph = DivisibleOf(model);
  const PoolCosts costs = Measure(graph, pool);
  const Plan with = PlanPool(graph, costs, DynamicOptions{}),
             without = PlanPool(graph, costs, DynamicOptions{.branches = Branches::kNone});
  const auto first = pool.Run(graph, costs, with), second = pool.Run(graph, costs, without);
  std::vector<double> with_us, without_us;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> us = TimeSessions({first.get(), second.get()}, nullptr);
    with_us.push_back(us[0]);
    without_us.push_back(us[1]);
  }
  fmt::print(
      "{}: with branches {:.2f} ms (predicted {:.2f}, {} of {} groups), without {:.2f} ms (predicted "
      "{:.2f})\n",
      path, MedianOf(with_us) * 1e-3, with.predicted_us * 1e-3, GroupsOfBranches(with), with.groups.size(),
      MedianOf(without_us) * 1e-3, without.predicted_us * 1e-3);
}

}  // namespace
}  // namespace mete

int main(int argc, char** argv) {
  CLI::App app("measures what branches side by side gain where hand-overs are dear");
  std::vector<std::string> models;
  double map_us = 300;
  int rounds = 9;
  app.add_option("MODEL", models, "ONNX models")->required();
  app.add_option("--map-us", map_us,
                 "microseconds for each piece that enters or leaves the other processor's memory")
      ->capture_default_str();
  app.add_option("--rounds", rounds, "an odd number of rounds, of 7 runs each; medians count")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    const mete::TwoProcessors pool(map_us);
    for (const std::string& model : models) mete::Compare(model, pool, rounds);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
