// Notices the end of a call.
#pragma once

#include <grpcpp/grpcpp.h>

#include "base/watch.h"
#include "mete/engine.h"

namespace mete {

// Cancels a token when a call has ended: gRPC tells this only to code that asks repeatedly.
class CallWatch {
 public:
  explicit CallWatch(const grpc::ServerContext& context)
      : watch_([&context] { return context.IsCancelled(); }, [this] { ended_.Cancel(); }) {}
  const CancelToken& ended() const { return ended_; }

 private:
  CancelToken ended_;
  Watch watch_;
};

}  // namespace mete
