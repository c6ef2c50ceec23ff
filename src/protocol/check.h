// Checksums of what decides over answers. TCP's sixteen bits let one damaged segment in 65,536 pass, and what damages segments behind them,
// in a board's memory or in a middle box, passes always; nothing above notices a bit that is turned over in a float. TLS would, but it is
// not always there. Against damage only: who is allowed on a connection may send anything.
#pragma once

#include "src/protocol/worker.pb.h"

namespace mete {

void AddCheck(worker::v1::Frame& frame);
void CheckFrame(const worker::v1::Frame& frame);  // Error DATA_LOSS

worker::v1::Sealed Seal(const worker::v1::Deploy& deploy);
worker::v1::Deploy Unseal(const worker::v1::Sealed& sealed);  // Error DATA_LOSS

}  // namespace mete
