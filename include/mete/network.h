// Reaches workers, the processors of other devices (`mete worker`), over the network. This header belongs to
// the library libmete_network, which needs gRPC and OpenSSL; libmete does not.
//
//   #include "mete/network.h"
//
//   mete::Pool pool = mete::Pool::FromFile("home.toml", mete::OpenNetwork());
#pragma once

#include <memory>

#include "mete/pool.h"

namespace [[gnu::visibility("default")]] mete {

// Returns the way to all workers. Nothing is connected before a pool's session, Measure() or MeasureLinks()
// needs a worker. Keys and tokens are those that the pool's file names.
std::shared_ptr<const Network> OpenNetwork();

}  // namespace mete
