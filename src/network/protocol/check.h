// Checksums of the messages that decide over answers. TCP's sixteen bits let one damaged segment in 65,536
// pass, and damage that happens where TCP does not look, in a board's memory or in a middle box, always
// passes; no later check notices a flipped bit in a float. TLS would notice it, but not every connection has
// TLS. The checksums protect against damage only, not against an attacker: a device that may use the
// connection may send any bytes.
#pragma once

#include "network/protocol/chunk.h"

namespace mete {

void AddCheck(Chunk& chunk);
void CheckChunk(const Chunk& chunk);  // Error DATA_LOSS

pb::Sealed Seal(const pb::Deploy& deploy);
pb::Deploy Unseal(const pb::Sealed& sealed);  // Error DATA_LOSS

}  // namespace mete
