// The figures of a worker, over gRPC.
#include <utility>

#include "network/listen.h"
#include "network/workers.h"
#include "top/source.h"

namespace mete::cli {
namespace {

std::optional<top::Latencies> LatenciesOf(const RemoteStatus& status) {
  top::Latencies latencies{.upper_s = status.upper_s, .sum_s = status.sum_s};
  double all = 0;
  for (const uint64_t count : status.counts) latencies.at_most.push_back(all += double(count));
  return top::IsWhole(latencies) ? std::optional(std::move(latencies)) : std::nullopt;
}

top::Figures FiguresOf(const RemoteStatus& status, const std::string& source) {
  top::Figures figures{.at_s = SteadySeconds(), .source = source, .about = "mete " + status.version};
  if (!status.machine.empty()) figures.about += ", " + status.machine;
  figures.uptime_s = top::Usable(status.uptime_s);
  figures.models.push_back({.name = "all callers",
                            .version = {},
                            .answered = double(status.requests),
                            .failed = double(status.failures),
                            .latencies = LatenciesOf(status),
                            .waiting = top::Usable(status.waiting)});
  for (const RemoteStatus::Processor& p : status.processors)
    figures.processors.push_back({.name = p.name,
                                  .busy_s = top::Usable(p.busy_s),
                                  .waiting = top::Usable(p.waiting),
                                  .memory_bytes = top::Usable(double(p.memory_bytes))});
  figures.callers = top::OfMost{double(status.deployments), double(status.most_deployments)};
  figures.resident_bytes = top::Usable(double(status.resident_bytes));
  figures.peak_bytes = top::Usable(double(status.peak_bytes));
  figures.cpu_s = top::Usable(status.cpu_s);
  for (const auto& [name, bytes, most] :
       {std::tuple{"for shares", status.taken_bytes, status.most_taken_bytes},
        {"weights on disk", status.weights_bytes, status.most_weights_bytes}})
    if (bytes >= 0) figures.memory.push_back({name, double(bytes), top::Usable(double(most))});
  return figures;
}

class WorkerSource : public TopSource {
 public:
  WorkerSource(RemoteAddress address, const Security& security)
      : name_("worker " + address.address), device_(std::move(address), security) {}

  top::Figures Poll() override { return FiguresOf(device_.Status(kPatience), name_); }

 private:
  const std::string name_;
  RemoteDevice device_;
};

}  // namespace

std::unique_ptr<TopSource> MakeWorkerSource(const TopFlags& flags, const Context& context) {
  CheckListen("--worker", flags.worker);
  const std::string host = flags.worker.substr(0, flags.worker.rfind(':'));
  return std::make_unique<WorkerSource>(RemoteAddress{flags.name.empty() ? host : flags.name, flags.worker},
                                        ReadSecurity(flags.keys, flags.token, context));
}

}  // namespace mete::cli
