// A caller of a server of models (`mete serve`) over HTTP/1.1, by Boost.Beast. One connection is kept between
// calls. Each answer comes with the parts of its time, which add up to the whole.
//
//   Client client({.address = "192.168.1.20:8080"});
//   const Reply reply = client.Infer("digits", request, std::chrono::steady_clock::now() + 200ms);
//   if (reply.code != Code::kOk) ... reply.error ...
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mete/error.h"
#include "serve/protocol/inference.h"

namespace mete::serve {

using Deadline = std::chrono::steady_clock::time_point;

// PEM texts (network/keys): the server's certificate is checked with `ca`, and the own one is shown.
struct ClientKeys {
  std::string ca, certificate, key;
};

struct ClientOptions {
  std::string address;             // HOST:PORT; an IPv6 address stands in brackets
  std::optional<ClientKeys> keys;  // nothing: no TLS
  std::string token;               // empty: none
  // Guess: the outputs of a network that gives a class for each of 1024 x 1024 pixels take a third of it.
  int64_t most_answer_bytes = int64_t(256) << 20;
};

// The parts of a call's time, one after the other.
struct CallTimes {
  double connect_ms = 0;  // finding the address, TCP and TLS; 0: the kept connection was used
  double send_ms = 0;     // until the system has taken the request's last byte
  double wait_ms = 0;     // until the answer's header is there; the server's own steps are in it
  double receive_ms = 0;  // until its body is there

  double ms() const { return connect_ms + send_ms + wait_ms + receive_ms; }
};

// The server's own steps, as its header Server-Timing tells them.
struct ServerSteps {
  double queue_ms = 0, decode_ms = 0, scale_ms = 0, compute_ms = 0;

  double ms() const { return queue_ms + decode_ms + scale_ms + compute_ms; }
};

// What became of a call. Codes of failures:
//   UNAVAILABLE          nobody listens, the connection was closed before the answer was there, or the server
//                        is ending (503)
//   RESOURCE_EXHAUSTED   its queue is full (429, with retry_after_s), or the request is too large (413)
//   DEADLINE_EXCEEDED    no answer at the deadline, or the server says that there would be none (504)
//   DATA_LOSS            what came is no answer, or is larger than the bound
//   others               the server's: INVALID_ARGUMENT (400), NOT_FOUND (404), FAILED_PRECONDITION (401, 403)
struct Reply {
  Code code = Code::kOk;
  std::string error = {};  // "[HOST:PORT] ..."; empty if the code is kOk
  double retry_after_s = 0;
  std::string body = {};
  std::optional<size_t> json_bytes = {};  // of the body; nothing: all of it
  InferAnswer answer = {};                // of Classify() and Infer()
  CallTimes times = {};
  int64_t sent_bytes = 0, received_bytes = 0;  // of bodies
  std::optional<ServerSteps> steps = {};       // nothing: it did not tell them
  std::optional<double> load_ms = {};          // the wait that it foresees for the next request; as steps

  bool ok() const { return code == Code::kOk; }
};

struct Request {
  std::string method = "GET", target = "/";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

class Client {
 public:
  explicit Client(ClientOptions options);  // Error INVALID_ARGUMENT for an address or keys that are none
  ~Client();

  // All calls return at the deadline at the latest, and throw nothing that a server or network may cause. A
  // kept connection that the server has closed meanwhile is opened once more. One thread at a time.
  Reply Call(Request request, Deadline deadline);
  Reply Health(Deadline deadline);  // a round trip: /v2/health/live

  // The best classes of a picture, a JPEG, PNG, BMP or PPM: outputs "class", "index" and "score".
  // `classes` 0: as many as the server's settings say.
  Reply Classify(const std::string& model, std::string picture, int classes, Deadline deadline);
  // The outputs for these inputs, elements in bytes both ways.
  Reply Infer(const std::string& model, const InferRequest& request, Deadline deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns whether the text is HOST:PORT.
bool IsAddress(const std::string& text);

}  // namespace mete::serve
