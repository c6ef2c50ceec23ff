// A device's program as a message, and back. Bytes come from whoever may reach a port: what comes out is
// verified.
#pragma once

#include <map>

#include "network/wire/wire.h"
#include "plan/devices/program.h"
#include "src/network/protocol/worker.pb.h"

namespace mete {

namespace pb = worker::v1;

inline constexpr uint32_t kProtocol = 5;          // of worker.proto
inline constexpr int kMostDevicesOfPlan = 1000;   // guess, as in machine/devices_file.h
inline constexpr size_t kDeploymentIdBytes = 16;  // random: nobody guesses it

struct PackedProgram {
  std::vector<pb::Stage> stages;
  std::map<Digest, Tensor> weights;  // that they name
};

// `digests`: those of tensors that are known already, as in PackGraph.
PackedProgram PackProgram(const DeviceProgram& program, DigestMemo* digests = nullptr);

// Of a device that holds nothing at first, a worker. Error as UnpackGraph and Verify.
DeviceProgram UnpackProgram(const google::protobuf::RepeatedPtrField<pb::Stage>& stages, int device,
                            const FindWeight& find, const WireLimits& limits = {});

// The digests that the stages name, each once. Error as UnpackGraph.
std::vector<Digest> WeightsIn(const google::protobuf::RepeatedPtrField<pb::Stage>& stages);

}  // namespace mete
