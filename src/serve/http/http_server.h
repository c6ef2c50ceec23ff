// Listens for HTTP/1.1, by Boost.Beast, and answers by routes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http/routes.h"

namespace mete::serve {

// PEM texts. With `ca` every caller needs a certificate that this authority has signed.
struct HttpKeys {
  std::string ca, certificate, key;
};

// What a line of the log says of a request.
struct HttpLogLine {
  std::string peer, method, target, traceparent;
  int status = 0;
  int64_t request_bytes = 0, answer_bytes = 0;
  double ms = 0;  // from the request's header to the answer's end
};

struct HttpLimits {
  // Guess. For one more, that which has been idle the longest is closed; if none is idle, the new one.
  int connections = 1024;
  // Of all bodies at a time, of requests as far as they have come, and of answers; guess. Where one request
  // may have more, as many as that.
  int64_t bytes_together = int64_t(512) << 20;
  // Answers up to this size are not counted, because the number of connections bounds them: health is
  // answered also while bodies fill the memory. Guess.
  int64_t small_answer = 64 << 10;
  int64_t header_bytes = 16 << 10;                      // guess: twice what common servers take
  std::chrono::seconds header{10}, body{60}, idle{75};  // guesses: how long a caller may take
  // A body may take longer than `body` if it comes at this rate at least. Guess: half of 0.13 Mbit/s, the
  // slowest of the links for which a site is planned.
  int64_t slowest_bytes_per_s = 8 << 10;

  // Returns the time after which a body is given up, of which `come` bytes have come.
  std::chrono::seconds BodyTime(int64_t come) const {
    return body + std::chrono::seconds(come / slowest_bytes_per_s);
  }
};

struct HttpOptions {
  std::string listen = "127.0.0.1:8080";  // HOST:PORT; port 0: any free one
  std::optional<HttpKeys> keys;           // nothing: no TLS
  HttpLimits limits;
  int threads = 1;                                   // that read and write; they compute nothing
  std::function<void(const HttpLogLine&)> log = {};  // one thread at a time
};

class HttpServer {
 public:
  // Begins to listen. `routes` must outlive this object. Error UNAVAILABLE where the port cannot be listened
  // on, INVALID_ARGUMENT for keys that do not fit.
  HttpServer(const Routes& routes, HttpOptions options);
  ~HttpServer();  // closes all connections at once, after what is being computed for them

  int port() const;  // before Close()
  int connections() const;

  // Takes no more connections, lets requests under way have their answers, and closes what is idle. Returns
  // when no connection is left, or after `limit`.
  void Close(std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete::serve
