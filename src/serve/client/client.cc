#include "serve/client/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "serve/client/connection.h"
#include "serve/client/messages.h"
#include "serve/protocol/timeout.h"

namespace mete::serve {

struct Client::Impl {
  explicit Impl(ClientOptions given) : options(std::move(given)), connection(options) {}

  Reply Failed(Reply reply, Code code, const std::string& what) const {
    reply.code = code;
    reply.error = fmt::format("[{}] {}", Printable(options.address), what);
    return reply;
  }

  const ClientOptions options;
  ClientConnection connection;
};

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;

Reply Client::Call(Request request, Deadline deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() < 1) return impl_->Failed({}, Code::kDeadlineExceeded, "no time was left to ask");
  // so that the server refuses at once what it would answer too late
  request.headers.emplace_back(
      "Timeout-Ms",
      std::to_string(std::min<int64_t>(left.count(), std::chrono::milliseconds(kMostTimeout).count())));
  if (!impl_->options.token.empty())
    request.headers.emplace_back("Authorization", "Bearer " + impl_->options.token);
  Received received = impl_->connection.Exchange(request, deadline);
  Reply reply;
  reply.times = received.times;
  reply.sent_bytes = int64_t(request.body.size());
  reply.received_bytes = int64_t(received.body.size());
  if (received.code != Code::kOk) return impl_->Failed(std::move(reply), received.code, received.problem);
  reply.steps = StepsOf(received.headers["server-timing"]);
  reply.load_ms = NumberOf(received.headers["mete-wait-ms"]);
  reply.retry_after_s = NumberOf(received.headers["retry-after"]).value_or(0);
  if (const Code code = CodeOfStatus(received.status); code != Code::kOk)
    return impl_->Failed(std::move(reply), code,
                         fmt::format("answers {}: {}", received.status, ErrorTextOf(received.body)));
  if (const std::string& length = received.headers["inference-header-content-length"]; !length.empty()) {
    const std::optional<double> bytes = NumberOf(length);
    if (!bytes || *bytes > double(received.body.size()) || *bytes != std::floor(*bytes))
      return impl_->Failed(std::move(reply), Code::kDataLoss, "its answer's JSON has no such length");
    reply.json_bytes = size_t(*bytes);
  }
  reply.body = std::move(received.body);
  return reply;
}

Reply Client::Health(Deadline deadline) { return Call({.target = "/v2/health/live"}, deadline); }

namespace {

// Makes the answer of the body, which is not kept.
void ReadAnswer(Reply& reply, const std::string& address, int64_t most_bytes) {
  if (!reply.ok()) return;
  try {
    const auto body = std::make_shared<const std::string>(std::move(reply.body));
    reply.body.clear();
    reply.answer = ParseAnswer(body, reply.json_bytes, most_bytes);
  } catch (const Error& error) {
    reply.code = Code::kDataLoss;
    reply.error = fmt::format("[{}] its answer is damaged: {}", Printable(address), error.what());
  }
}

}  // namespace

Reply Client::Classify(const std::string& model, std::string picture, int classes, Deadline deadline) {
  Reply reply = Call({"POST",
                      ClassifyTarget(model, classes),
                      {{"Content-Type", "application/octet-stream"}},
                      std::move(picture)},
                     deadline);
  ReadAnswer(reply, impl_->options.address, impl_->options.most_answer_bytes);
  return reply;
}

Reply Client::Infer(const std::string& model, const InferRequest& request, Deadline deadline) {
  InferBody body = BodyOf(request);
  Reply reply = Call({"POST",
                      InferTarget(model),
                      {{"Content-Type", "application/octet-stream"},
                       {"Inference-Header-Content-Length", std::to_string(body.json_bytes)}},
                      std::move(body.bytes)},
                     deadline);
  ReadAnswer(reply, impl_->options.address, impl_->options.most_answer_bytes);
  return reply;
}

bool IsAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) return false;
  const std::string host = text.substr(0, colon);
  if (host.find(':') != host.npos && !(host.starts_with('[') && host.ends_with(']'))) return false;
  const std::string port = text.substr(colon + 1);
  if (port.find_first_not_of("0123456789") != port.npos) return false;
  const std::optional<double> number = NumberOf(port);
  return number && *number >= 1 && *number <= 65535;
}

}  // namespace mete::serve
