// Workers as members: the kinds of the suite that need the network.
#include <utility>

#include "kinds.h"
#include "network/remote/remote_member.h"
#include "network/worker/worker.h"

namespace mete {
namespace {

// A worker of this process, on loopback, as its caller has it.
struct WorkerAndCaller {
  explicit WorkerAndCaller(std::shared_ptr<Processor> processor)
      : worker({.processors = {std::move(processor)}}),
        member({"worker", "127.0.0.1:" + std::to_string(worker.port())}, {}) {}

  Worker worker;
  RemoteMember member;
};

}  // namespace

std::vector<Kind> KindsOverNetwork() {
  return {KindOfMembers("remote_member", [](std::shared_ptr<Processor> processor) {
    const auto both = std::make_shared<WorkerAndCaller>(std::move(processor));
    return std::shared_ptr<Member>(both, &both->member);
  })};
}

}  // namespace mete
