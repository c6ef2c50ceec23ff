#include "simulate/pool/simulate_pool.h"

#include <algorithm>

#include "plan/pool/plan_exchanges.h"
#include "simulate/pool/tasks.h"

namespace mete {
namespace {

constexpr int kNobody = -1;

// A processor, and each of its links in each direction, does one thing at a time. Processors that are the
// same hardware compute in turn.
constexpr int kResources = 1 + 2 * int(kLinkKinds);
int ComputeOf(const PoolCosts& pool, int processor) { return kResources * FirstOfUnit(pool, processor); }
int SendOf(int processor, LinkKind link) { return kResources * processor + 1 + 2 * int(link); }
int ReceiveOf(int processor, LinkKind link) { return SendOf(processor, link) + 1; }

// The work for one request as tasks. Each task has a span, except the last one, after which the caller has
// the outputs.
class RequestTasks {
 public:
  RequestTasks(const Graph& graph, const Plan& plan, const PoolCosts& pool)
      : pool_(pool), last_(pool.processors.size(), kNobody) {
    PlanExchanges exchanges(graph, plan, pool);
    for (size_t at = 0; at < exchanges.count(); ++at) {
      const Exchange& exchange = exchanges.At(at);
      std::vector<std::vector<int>> arrivals;
      const std::vector<int> receivers = exchanges.Receivers(at);
      for (int to : receivers) {
        arrivals.emplace_back();
        for (const Transfer& transfer : exchange.To(to)) arrivals.back().push_back(AddMessage(transfer, at));
      }
      for (size_t i = 0; i < receivers.size(); ++i) {
        const double us = at < plan.groups.size() ? plan.groups[at].shares[i].compute_us : 0;
        AddCompute(receivers[i], at, us, arrivals[i]);
      }
    }
  }

  const std::vector<Task>& tasks() const { return tasks_; }
  const std::vector<SimulatedSpan>& spans() const { return spans_; }

 private:
  int Add(Task task, const SimulatedSpan& span) {
    task.rank = int(span.group);
    tasks_.push_back(std::move(task));
    spans_.push_back(span);
    return int(tasks_.size()) - 1;
  }
  void Wait(int task, int before) {
    if (before != kNobody) tasks_[size_t(before)].next.push_back(task);
  }

  // Adds the sending and the receiving of a message. The first bit is sent when the sender has computed the
  // data and its link is free. The receiver's link is occupied for the time that the message takes on it, and
  // so late that this time does not end before the last bit has arrived. Returns the task that ends when the
  // message has arrived.
  int AddMessage(const Transfer& t, size_t group) {
    const auto [kind, out, in] =
        LinkBetween(pool_.processors[size_t(t.from)], pool_.processors[size_t(t.to)]);
    const double up_us = TransferUs(t.bytes, out.up_mbit_per_s),
                 down_us = TransferUs(t.bytes, in.down_mbit_per_s);
    const double taken_us = down_us + std::max(out.message_us, in.message_us);
    const double arrives_us = out.latency_us + in.latency_us + std::max(0.0, up_us - down_us);
    const int sent = Add({SendOf(t.from, kind), up_us, 0, arrives_us, {}},
                         {SimulatedSpan::kSend, t.from, t.to, 0, group, t.bytes, 0, 0, kind});
    Wait(sent, last_[size_t(t.from)]);
    const int received = Add({ReceiveOf(t.to, kind), taken_us, 0, taken_us, {}},
                             {SimulatedSpan::kReceive, t.to, t.from, 0, group, t.bytes, 0, 0, kind});
    Wait(received, sent);
    return received;
  }

  // Adds the computing of a group. If nothing is computed, the task waits for the arrivals and takes no
  // resource.
  void AddCompute(int processor, size_t group, double us, const std::vector<int>& arrivals) {
    const int resource = us > 0 ? ComputeOf(pool_, processor) : -1;
    const int task =
        Add({resource, us, 0, us, {}}, {SimulatedSpan::kCompute, processor, processor, 0, group, 0, 0, 0});
    for (int arrival : arrivals) Wait(task, arrival);
    Wait(task, last_[size_t(processor)]);
    last_[size_t(processor)] = task;
  }

  const PoolCosts& pool_;
  std::vector<int> last_;  // by processor: its last task
  std::vector<Task> tasks_;
  std::vector<SimulatedSpan> spans_;
};

// Returns the plan that computes each request.
std::vector<size_t> TurnsOf(std::span<const Plan> plans, int requests) {
  std::vector<size_t> turns;
  std::vector<double> done_us(plans.size(), 0);
  for (int r = 0; r < requests; ++r) {
    size_t first = 0;
    for (size_t p = 1; p < plans.size(); ++p)
      if (done_us[p] + plans[p].predicted_us < done_us[first] + plans[first].predicted_us) first = p;
    done_us[first] += plans[first].predicted_us;
    turns.push_back(first);
  }
  return turns;
}

// The tasks of requests in a row, of which older ones have lower ranks.
struct Row {
  std::vector<Task> tasks;
  std::vector<size_t> begins;  // by request: its first task; and the number of all tasks
};

Row InARow(const std::vector<RequestTasks>& of_plan, const std::vector<size_t>& turns, size_t most_groups) {
  Row row{{}, {0}};
  for (size_t r = 0; r < turns.size(); ++r) {
    for (Task task : of_plan[turns[r]].tasks()) {
      for (int& next : task.next) next += int(row.begins.back());
      task.rank += int(r * (most_groups + 1));
      row.tasks.push_back(std::move(task));
    }
    row.begins.push_back(row.tasks.size());
  }
  return row;
}

void Count(const SimulatedSpan& span, SimulatedProcessor& processor) {
  if (span.kind == SimulatedSpan::kCompute) processor.busy_us += span.end_us - span.begin_us;
  if (span.kind == SimulatedSpan::kSend) processor.sent_bytes += span.bytes;
  if (span.kind == SimulatedSpan::kReceive) {
    processor.received_bytes += span.bytes;
    ++processor.messages;
  }
}

// Returns for each resource which others slow it: computing is slowed, sending and receiving are not.
std::vector<SlowedResource> SlowedResources(const PoolCosts& pool) {
  std::vector<SlowedResource> slowed(size_t(kResources) * pool.processors.size());
  std::vector<std::string> memories;
  for (size_t d = 0; d < pool.processors.size(); ++d) {
    const auto& co_run = pool.processors[d].co_run;
    if (!co_run) continue;
    const auto known = std::find(memories.begin(), memories.end(), co_run->memory) - memories.begin();
    if (known == ptrdiff_t(memories.size())) memories.push_back(co_run->memory);
    SlowedResource& resource = slowed[size_t(ComputeOf(pool, int(d)))];
    resource = {int(known), std::max(resource.factor, co_run->slowed)};
  }
  return memories.empty() ? std::vector<SlowedResource>() : slowed;
}

}  // namespace

PoolSimulation SimulatePool(const Graph& graph, const Plan& plan, const PoolCosts& pool, int requests) {
  return SimulatePool(graph, std::span(&plan, 1), pool, requests);
}

PoolSimulation SimulatePool(const Graph& graph, std::span<const Plan> in_turn, const PoolCosts& pool,
                            int requests) {
  std::vector<RequestTasks> of_plan;
  size_t most_groups = 0;
  for (const Plan& plan : in_turn) {
    of_plan.emplace_back(graph, plan, pool);
    most_groups = std::max(most_groups, plan.groups.size());
  }
  const std::vector<size_t> turns = TurnsOf(in_turn, requests);
  const Row row = InARow(of_plan, turns, most_groups);
  const std::vector<TaskTimes> times =
      RunTasks(row.tasks, kResources * int(pool.processors.size()), SlowedResources(pool));
  PoolSimulation result;
  result.requests = requests;
  for (const ProcessorCosts& processor : pool.processors) result.processors.push_back({processor.name});
  for (size_t r = 0; r < turns.size(); ++r) {
    const std::vector<SimulatedSpan>& spans = of_plan[turns[r]].spans();
    for (size_t t = 0; t < spans.size(); ++t) {
      SimulatedSpan span = spans[t];
      const TaskTimes& time = times[row.begins[r] + t];
      span.request = int(r);
      span.begin_us = time.begin_us;
      span.end_us = time.end_us;
      Count(span, result.processors[size_t(span.processor)]);
      if (span.kind != SimulatedSpan::kCompute || span.begin_us < span.end_us) result.spans.push_back(span);
    }
    result.us = std::max(result.us, times[row.begins[r + 1] - 1].end_us);
  }
  return result;
}

}  // namespace mete
