#include "serve/http/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "serve/protocol/rest_answer.h"

namespace mete::serve {
namespace {

// The steps of a request, as browsers and other tools show them (W3C, Server Timing).
std::string TimingText(const StepTimes& steps) {
  return fmt::format("queue;dur={:.3f}, decode;dur={:.3f}, scale;dur={:.3f}, compute;dur={:.3f}",
                     steps.queue_us * 1e-3, steps.decode_us * 1e-3, steps.scale_us * 1e-3,
                     steps.compute_us * 1e-3);
}

HttpAnswer Successful(const Outcome& outcome) {
  RestAnswer rest = AnswerBody(outcome.answer);
  HttpAnswer answer = JsonAnswer(std::move(rest.body));
  answer.headers.emplace_back("Server-Timing", TimingText(outcome.steps));
  if (!rest.json_bytes) return answer;
  answer.type = "application/octet-stream";
  answer.headers.emplace_back("Inference-Header-Content-Length", std::to_string(*rest.json_bytes));
  return answer;
}

HttpAnswer Failed(const Outcome& outcome) {
  const bool full = outcome.code == Code::kResourceExhausted && outcome.retry_after_s > 0;
  return ErrorAnswer(full ? 429 : StatusOf(outcome.code), outcome.error, outcome.retry_after_s);
}

}  // namespace

HttpAnswer JsonAnswer(std::string body, int status, double retry_after_s) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(body);
  if (status == 503) retry_after_s = std::max(retry_after_s, kLaterS);
  if (retry_after_s > 0)  // in whole seconds, as HTTP has it
    answer.headers.emplace_back("Retry-After", fmt::format("{:.0f}", std::ceil(retry_after_s)));
  return answer;
}

int StatusOf(Code code) {
  switch (code) {
    case Code::kOk: return 200;
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
    case Code::kDataLoss: return 400;
    case Code::kNotFound: return 404;
    case Code::kCancelled: return 499;  // as nginx logs it; the caller has gone
    case Code::kResourceExhausted: return 413;
    case Code::kUnimplemented: return 501;
    case Code::kUnavailable: return 503;
    case Code::kDeadlineExceeded: return 504;
    default: return 500;
  }
}

HttpAnswer ErrorAnswer(int status, const std::string& error, double retry_after_s) {
  return JsonAnswer(ErrorBody(error), status, retry_after_s);
}
HttpAnswer ErrorAnswer(const Error& error) { return ErrorAnswer(StatusOf(error.code()), error.what()); }

void AddWait(HttpAnswer& answer, double wait_us) {
  answer.headers.emplace_back("Mete-Wait-Ms", fmt::format("{:.3f}", wait_us * 1e-3));
}

HttpAnswer AnswerOf(const Outcome& outcome, double wait_us) {
  HttpAnswer answer = outcome.error.empty() ? Successful(outcome) : Failed(outcome);
  AddWait(answer, wait_us);
  return answer;
}

HttpAnswer TooManyBytes(int64_t most) {
  return ErrorAnswer(
      503, fmt::format("[server] too many bytes of requests and answers are under way; got more than {0}, "
                       "expected {0} at most; try again later, or a smaller request",
                       most));
}

HttpAnswer NoMemory() {
  return ErrorAnswer(503, "[server] there is no memory for a request or its answer; try again later");
}

HttpAnswer Made(const std::function<HttpAnswer()>& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return NoMemory();
  } catch (const std::exception& error) {
    return ErrorAnswer(500, error.what());
  }
}

}  // namespace mete::serve
