// What a server answers to each request over HTTP. It opens no connection: a request and its answer are
// values.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "serve/http/message.h"
#include "serve/protocol/request_bounds.h"
#include "serve/server/server.h"

namespace mete::serve {

struct RouteOptions {
  RequestBounds bounds;
  int64_t most_picture_bytes = int64_t(32) << 20;  // guess: a photo of 50 megapixels takes half of it
  std::string token;    // that every caller but one for health has to show; empty: none
  bool local = true;    // this host alone reaches the server (WhyForeign)
  std::string version;  // of this program
};

class Routes {
 public:
  // The server must outlive this object and all requests.
  Routes(Server& server, RouteOptions options);

  // Answers a request by `respond`, once, on this thread or later on another one. Throws nothing. Returns
  // what gives the request up if its caller goes and it still waits; empty: nothing does.
  std::function<void()> Answer(const HttpRequest& request, const Respond& respond) const;

  // Whether the request may be made with these headers, before its body is read; otherwise the answer, 401 or
  // 403.
  std::optional<HttpAnswer> Refusal(const HttpRequest& request) const;

  // Returns the refusal of a request that the queue has no place for, before its body is read: 429, or 503 in
  // a drain. Nothing: the body is to be read. Each refusal is counted, so that a request asks once.
  std::optional<HttpAnswer> RefusalByLoad(const HttpRequest& request) const;

  // The most bytes of the body of this request, and of any.
  int64_t MostBytes(const HttpRequest& request) const;
  int64_t MostBytes() const;

 private:
  class Call;

  Server& server_;
  const RouteOptions options_;
};

// Returns when the answer has to be there: by the header Timeout-Ms, in milliseconds, else by the request's
// parameter "timeout", in microseconds, which Triton's clients send; nothing: neither is there, or "timeout"
// is 0. Error INVALID_ARGUMENT.
std::optional<std::chrono::steady_clock::time_point> DeadlineOf(const HttpRequest& request,
                                                                const Parameters& parameters,
                                                                std::chrono::steady_clock::time_point now);

}  // namespace mete::serve
