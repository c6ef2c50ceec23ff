#include "mete/network.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/pool/network.h"
#include "network/pool/security.h"
#include "network/remote/remote_member.h"

namespace mete {
namespace {

constexpr std::chrono::seconds kHello{5};  // guess: more than a worker that is there takes to answer

class WorkerNetwork : public Network {
 public:
  std::vector<std::unique_ptr<Member>> Open(
      const PoolFile& file, const std::function<void(const std::string&)>& note) const override {
    const Security security = ReadSecurity(file.keys, file.token, note);
    const auto digests = std::make_shared<DigestMemo>();
    std::vector<std::unique_ptr<Member>> workers;
    const auto add = [&](const DeviceInPool& host, const std::string& processor) {
      workers.push_back(std::make_unique<RemoteMember>(RemoteAddress{host.name, host.address}, security,
                                                       digests, processor));
    };
    for (const DeviceInPool& host : file.devices) {
      if (host.address.empty()) continue;
      if (host.processors.empty()) add(host, "");
      for (const ProcessorEntry& processor : host.processors) add(host, processor.name);
    }
    return workers;
  }

  std::vector<std::string> OfferedBy(const PoolFile& file, const DeviceInPool& device,
                                     const std::function<void(const std::string&)>& note) const override {
    RemoteDevice worker({device.name, device.address}, ReadSecurity(file.keys, file.token, note));
    std::vector<std::string> names = worker.Hello(kHello).processors;
    const bool has_empty = std::any_of(names.begin(), names.end(), [](const auto& n) { return n.empty(); });
    if (names.empty() || names.size() > size_t(kMostProcessorsOfPlan) || has_empty)
      Fail(Code::kFailedPrecondition, device.name,
           "offers processors that cannot be; got {}{}, expected 1 to {} with names", names.size(),
           has_empty ? ", one without a name" : "", kMostProcessorsOfPlan);
    return names;
  }
};

}  // namespace

std::shared_ptr<const Network> OpenNetwork() { return std::make_shared<WorkerNetwork>(); }

}  // namespace mete
