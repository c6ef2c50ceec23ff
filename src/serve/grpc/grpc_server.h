// Listens for gRPC and answers the calls of the Open Inference Protocol by a Server, beside the standard
// services for health and reflection.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "network/protocol/channel.h"
#include "serve/protocol/request_bounds.h"
#include "serve/server/server.h"

namespace mete::serve {

// What a line of the log says of a call.
struct GrpcLogLine {
  std::string peer;    // "ipv4:127.0.0.1:40000"
  std::string method;  // "ModelInfer"
  std::string traceparent;
  std::string code;  // of the status: "OK", "NOT_FOUND"
  double ms = 0;     // until the answer is handed to gRPC
};

struct GrpcOptions {
  std::string listen = "127.0.0.1:8081";  // HOST:PORT; port 0: any free one
  // With keys the server answers by TLS, and demands a certificate of callers if `ca` is there. With a token
  // callers show "authorization: Bearer TOKEN", but for ServerLive, ServerReady and the health service.
  Security security = {};
  RequestBounds bounds = {};                         // also of a message's size
  std::string version = {};                          // of this program
  std::function<void(const GrpcLogLine&)> log = {};  // one thread at a time
};

class GrpcServer {
 public:
  // Begins to listen. The server must outlive this object. Error UNAVAILABLE where the port cannot be
  // listened on. Protobuf's log is switched off for the process: a caller whose text is no UTF-8 would fill
  // it.
  GrpcServer(Server& server, GrpcOptions options);
  ~GrpcServer();  // as Close(), without a wait for those under way

  int port() const;

  // The health service says from now on that no calls are served; calls are answered as before. For the
  // beginning of a drain (Server::Drain), in which the server itself refuses what comes.
  void BeginDrain();
  // Takes no more calls, and returns when those under way have been answered. After `limit` they are
  // cancelled, but what a Server has accepted is computed to its end.
  void Close(std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete::serve
