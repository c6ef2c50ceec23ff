#include "plan/cores/makespan.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace mete {
namespace {

double StartOf(const Taker& w) { return w.there_ns + w.take_ns; }

// Returns the time at which all blocks would be done if blocks were divisible: a lower bound of the makespan.
double DoneAtWill(double blocks, std::vector<Taker> workers) {
  std::sort(workers.begin(), workers.end(),
            [](const Taker& a, const Taker& b) { return StartOf(a) < StartOf(b); });
  // blocks = sum of (done - start) * rate over the workers that start before `done`
  double rate = 0, sum = 0, done = 0;
  for (const Taker& w : workers) {
    if (rate > 0 && StartOf(w) >= done) break;
    rate += 1 / w.block_ns;
    sum += StartOf(w) / w.block_ns;
    done = (blocks + sum) / rate;
  }
  return done;
}

}  // namespace

Dealt DealOut(int64_t blocks, const std::vector<Taker>& workers) {
  const double at_will = DoneAtWill(double(blocks), workers);
  using Next = std::pair<double, size_t>;  // the time at which a worker would finish another block
  std::priority_queue<Next, std::vector<Next>, std::greater<Next>> next;
  int64_t left = blocks;
  Dealt dealt;
  for (size_t i = 0; i < workers.size(); ++i) {
    const Taker& w = workers[i];
    const int64_t count = std::clamp<int64_t>(int64_t((at_will - StartOf(w)) / w.block_ns), 0, left);
    left -= count;
    dealt.blocks.push_back(count);
    next.emplace(StartOf(w) + double(count + 1) * w.block_ns, i);
    dealt.done_ns = std::max(dealt.done_ns, count > 0 ? StartOf(w) + double(count) * w.block_ns : w.there_ns);
  }
  for (; left > 0; --left) {  // fewer blocks are left than there are workers
    const auto [end_ns, first] = next.top();
    dealt.done_ns = std::max(dealt.done_ns, end_ns);
    ++dealt.blocks[first];
    next.pop();
    next.emplace(end_ns + workers[first].block_ns, first);
  }
  return dealt;
}

}  // namespace mete
