#include "processor/simulated/devices/simulate_devices.h"

#include <algorithm>
#include <map>

#include "plan/devices/exchange.h"

namespace mete {
namespace {

class Simulator {
 public:
  Simulator(const Graph& graph, const PoolCosts& pool)
      : graph_(graph), pool_(pool), exchange_(pool), done_us_(pool.devices.size()), up_us_(done_us_), down_us_(done_us_) {
    for (const DeviceCosts& device : pool.devices) result_.devices.push_back({device.name});
  }

  DevicesSimulation Do(const DevicesPlan& plan) {
    Placement from = WholeOn(0);
    for (const PlannedGroup& group : plan.groups) {
      Run(group, from);
      from = group.placement;
    }
    exchange_.Clear();
    const std::vector<ValueId> outputs = LiveValues(graph_, LayersOf(graph_)).back();
    for (ValueId id : outputs) Need(0, {id, Part::All()}, from);
    Deliver({0});
    result_.us = std::max(done_us_[0], arrived_us_[0]);
    return std::move(result_);
  }

 private:
  void Need(int device, const ValuePart& need, const Placement& from) {
    const Value& value = graph_.value(need.value);
    exchange_.Need(device, value, need.part, PartsOn(from, value.shape));
  }

  void Run(const PlannedGroup& group, const Placement& from) {
    exchange_.Clear();
    std::vector<int> devices;
    for (const DeviceShare& share : group.shares) {
      devices.push_back(share.device);
      for (const ValuePart& input : share.inputs) Need(share.device, input, from);
    }
    Deliver(devices);
    for (const DeviceShare& share : group.shares) {
      double& done_us = done_us_[size_t(share.device)];
      done_us = std::max(done_us, arrived_us_[share.device]) + share.compute_us;
      result_.devices[size_t(share.device)].busy_us += share.compute_us;
    }
  }

  struct Message {
    Transfer transfer;
    double begin_us, end_us;  // at the receiver's link, if that were free
  };

  // Sends what the exchange says to these devices, one message a pair; fills arrived_us_. Messages come in in the order in which they end.
  void Deliver(const std::vector<int>& devices) {
    arrived_us_.clear();
    std::vector<Message> messages;
    for (const int to : devices)
      for (const Transfer& transfer : exchange_.To(to)) messages.push_back(Send(transfer));
    std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) { return a.end_us < b.end_us; });
    for (const Message& message : messages) Receive(message);
  }

  // The first bit goes out when the sender has computed it and its link is free.
  Message Send(const Transfer& t) {
    const LinkCosts &out = pool_.devices[size_t(t.from)].link, &in = pool_.devices[size_t(t.to)].link;
    double& up = up_us_[size_t(t.from)];
    const double start_us = std::max(done_us_[size_t(t.from)], up), latency_us = out.latency_us + in.latency_us;
    up = start_us + TransferUs(t.bytes, out.up_mbit_per_s);
    result_.devices[size_t(t.from)].sent_bytes += t.bytes;
    return {t, start_us + latency_us, up + latency_us};
  }

  void Receive(const Message& m) {
    const auto& [from, to, bytes] = m.transfer;
    const LinkCosts &out = pool_.devices[size_t(from)].link, &in = pool_.devices[size_t(to)].link;
    double& down = down_us_[size_t(to)];
    const double received_us = std::max(m.end_us, std::max(down, m.begin_us) + TransferUs(bytes, in.down_mbit_per_s));
    down = received_us + std::max(out.message_us, in.message_us);
    arrived_us_[to] = std::max(arrived_us_[to], down);
    result_.devices[size_t(to)].received_bytes += bytes;
    ++result_.devices[size_t(to)].messages;
  }

  const Graph& graph_;
  const PoolCosts& pool_;
  Exchange exchange_;
  std::vector<double> done_us_;          // by device, when it has computed what it has
  std::vector<double> up_us_, down_us_;  // by device, when its link is free
  std::map<int, double> arrived_us_;     // by device, when it has the inputs of the group at hand
  DevicesSimulation result_;
};

}  // namespace

DevicesSimulation SimulateDevices(const Graph& graph, const DevicesPlan& plan, const PoolCosts& pool) {
  return Simulator(graph, pool).Do(plan);
}

}  // namespace mete
