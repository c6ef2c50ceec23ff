#include "mete/network.h"

#include "engine/pool/network.h"
#include "network/pool/security.h"
#include "network/remote/remote_member.h"

namespace mete {
namespace {

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
};

}  // namespace

std::shared_ptr<const Network> OpenNetwork() { return std::make_shared<WorkerNetwork>(); }

}  // namespace mete
