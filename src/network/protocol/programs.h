// Converts a processor's program to a message and back. Any process that reaches a port may send the
// message, so the resulting program is verified.
#pragma once

#include <map>

#include "network/wire/wire.h"
#include "plan/pool/program.h"
#include "src/network/protocol/worker.pb.h"

namespace mete {

namespace pb = worker::v1;

inline constexpr uint32_t kProtocol = 7;            // of worker.proto
inline constexpr int kMostProcessorsOfPlan = 1000;  // guess, as in machine/pool_file.h

struct PackedProgram {
  std::vector<pb::Stage> stages;
  std::map<Digest, Tensor> weights;  // the weights that the stages name
};

// Packs a program. `digests` caches the digests of tensors, as in PackGraph.
PackedProgram PackProgram(const Program& program, DigestMemo* digests = nullptr);

// Returns the program of `processor`, one of a worker's, which holds no values at first. Errors as of
// UnpackGraph and Verify.
Program UnpackProgram(const google::protobuf::RepeatedPtrField<pb::Stage>& stages, int processor,
                      const FindWeight& find, const WireLimits& limits = {});

// Returns the digests that the stages name, each once. Errors as of UnpackGraph.
std::vector<Digest> WeightsIn(const google::protobuf::RepeatedPtrField<pb::Stage>& stages);

}  // namespace mete
