// Measures what threads and processors need to hand work to each other. EmptyRegion: a region without work,
// whose time is that of the hand-off to the other threads, the calls of the policy and the barrier. HandOver:
// a small tensor from one processor to another one of this process, half of the time until the answer is
// there.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <memory>
#include <string>
#include <vector>

#include "processor/cpu/cpu.h"
#include "processor/cpu/threads/thread_pool.h"
#include "run/local_member.h"

namespace mete {
namespace {

std::vector<int> AllowedCores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

void EmptyRegion(benchmark::State& state, const std::string& policy, const std::vector<int>& cores) {
  ThreadPool pool(int(cores.size()), cores, policy);
  const ThreadPool::CallerPin pin(pool);
  const int64_t blocks = kBlocksPerThread * int64_t(cores.size()), step = pool.NewStep();
  for (auto _ : state) {
    pool.BeginStep(step);
    pool.For(blocks, [](int, int64_t begin, int64_t) { benchmark::DoNotOptimize(begin); });
  }
}

std::shared_ptr<Processor> OneCore(int core) {
  SessionOptions options = SessionOptions::Estimated();
  options.cores = {core};
  return std::make_shared<Cpu>("cpu:" + std::to_string(core), options);
}

void HandOver(benchmark::State& state, int from, int to) {
  const std::shared_ptr<Processor> home = OneCore(from);
  LocalMember member(OneCore(to));
  const AdoptedThread adopted(*home);
  const std::unique_ptr<Echo> echo = member.OpenEcho();
  for (auto _ : state) state.SetIterationTime(echo->Us(1, 1) * 1e-6 / 2);
}

}  // namespace
}  // namespace mete

int main(int argc, char** argv) {
  const std::vector<int> cores = mete::AllowedCores();
  for (const std::string& policy : mete::PolicyNames())
    for (size_t threads = 2; threads <= cores.size(); threads *= 2) {
      const std::string name = "EmptyRegion/" + policy + "/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), mete::EmptyRegion, policy,
                                   std::vector<int>(cores.begin(), cores.begin() + long(threads)))
          ->UseRealTime()
          ->Repetitions(9)
          ->ReportAggregatesOnly();
    }
  if (cores.size() >= 2)
    benchmark::RegisterBenchmark("HandOver", mete::HandOver, cores[0], cores[1])
        ->UseManualTime()
        ->Iterations(20'000)
        ->Repetitions(9)
        ->ReportAggregatesOnly();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
