#include "network/remote/remote_member.h"

#include <algorithm>

#include "network/protocol/programs.h"

namespace mete {

std::string RemoteMember::CheckThere(std::chrono::milliseconds timeout) {
  const RemoteHello hello = device_.Hello(timeout);
  const auto named = std::find(hello.processors.begin(), hello.processors.end(), processor_);
  const size_t index = processor_.empty() ? 0 : size_t(named - hello.processors.begin());
  return index < hello.hardware.size() ? hello.hardware[index] : "";
}

std::unique_ptr<MemberProgram> RemoteMember::Host(const ProgramToHost& program, PlanEvents& events,
                                                  const WeightsProgress& progress,
                                                  std::vector<std::string>* notes) {
  const PackedProgram packed = PackProgram(program.program, digests_.get());
  std::string note;
  device_.SendWeights(
      packed.weights, [&](int64_t sent, int64_t all) { progress(name(), sent, all); }, &note);
  if (!note.empty()) notes->push_back(name() + ": " + note);
  pb::Deploy deploy;
  deploy.set_protocol(kProtocol);
  deploy.set_id(program.plan_id);
  deploy.set_index(program.processor);
  deploy.set_processor(processor_);
  deploy.set_lanes(program.lanes);
  deploy.set_coding(Name(program.coding));
  for (const pb::Stage& stage : packed.stages) *deploy.add_stages() = stage;
  for (const PeerAddress& address : program.peers) {
    if (address.address.empty()) {
      deploy.add_at_caller(address.processor);
      continue;
    }
    pb::Peer* peer = deploy.add_peers();
    peer->set_processor(address.processor);
    peer->set_name(address.name);
    peer->set_address(address.address);
  }
  return std::make_unique<RemoteDeployment>(device_, program.processor, deploy, program.coding, events);
}

}  // namespace mete
