// What `mete serve` prints: where it is reached, and a line for each request.
#pragma once

#include <functional>
#include <string>

#include "commands.h"
#include "serve/grpc/grpc_server.h"
#include "serve/http/http_server.h"
#include "serve/server/server.h"

namespace mete::cli {

// `form` of the lines: "text" for people, "json", or "none", for which there is no function.
std::function<void(const serve::HttpLogLine&)> LogOf(const std::string& form);
std::function<void(const serve::GrpcLogLine&)> GrpcLogOf(const std::string& form);

// Where callers reach the server. Empty: not in this way.
struct Listening {
  std::string http, grpc, worker;
};

void PrintListening(const Listening& at, const serve::Server& server, const Context& context);

}  // namespace mete::cli
