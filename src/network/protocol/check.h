// Checksums of what decides over answers. TCP's sixteen bits let one damaged segment in 65,536 pass, and what
// damages segments behind them, in a board's memory or in a middle box, passes always; nothing above notices
// a bit that is turned over in a float. TLS would, but it is not always there. Against damage only: who is
// allowed on a connection may send anything.
#pragma once

#include "network/protocol/chunk.h"

namespace mete {

void AddCheck(Chunk& chunk);
void CheckChunk(const Chunk& chunk);  // Error DATA_LOSS

pb::Sealed Seal(const pb::Deploy& deploy);
pb::Deploy Unseal(const pb::Sealed& sealed);  // Error DATA_LOSS

}  // namespace mete
