// The worker beside a server: it computes the server's part of models that other devices cut.
#pragma once

#include <memory>
#include <string>

#include "network/worker/worker.h"
#include "serve/server/server.h"

namespace mete::cli {

// Starts a worker that computes in the server's slots. `session` has the cores of all of them; `security` is
// the server's. `server` outlives the result.
std::unique_ptr<Worker> StartWorker(const std::string& listen, const Security& security,
                                    const SessionOptions& session, int slots, serve::Server& server);

}  // namespace mete::cli
