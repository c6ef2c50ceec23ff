#include "serve/grpc/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "network/keys/keys.h"
#include "serve/grpc_values/grpc_values.h"
#include "serve/protocol/timeout.h"
#include "serve/server/server.h"

namespace mete::serve {
namespace {

constexpr const char* kTrace = "traceparent";  // W3C, Trace Context
constexpr size_t kMostTraceBytes = 128;        // guess: version 00 has 55, and later ones may have more

// Returns the value of the call's metadata; "" if there is none.
std::string MetadataOf(const grpc::CallbackServerContext& context, const char* name) {
  const auto at = context.client_metadata().find(name);
  return at == context.client_metadata().end() ? "" : std::string(at->second.data(), at->second.size());
}

// Whether it is hexadecimal digits and hyphens. gRPC ends the program at a value that is no printable ASCII.
bool IsTrace(const std::string& text) {
  return !text.empty() && text.size() <= kMostTraceBytes &&
         text.find_first_not_of("0123456789abcdef-") == text.npos;
}

std::string NameOf(grpc::StatusCode code) {
  if (code == grpc::StatusCode::UNAUTHENTICATED) return "UNAUTHENTICATED";  // which is no error of a model's
  return CodeName(Code(int(code)));
}

}  // namespace

grpc::Status StatusOf(Code code, const std::string& error) {
  return mete::StatusOf(Error(code, Utf8(error)));
}

grpc::Status StatusOfException() {
  try {
    throw;
  } catch (const Error& error) {
    return StatusOf(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return StatusOf(Code::kUnavailable, "[server] there is no memory for this request");
  } catch (const std::exception& error) {
    return StatusOf(Code::kInternal, error.what());
  }
}

bool ShowsToken(const grpc::CallbackServerContext& context, const std::string& token) {
  constexpr std::string_view kBearer = "Bearer ";
  if (token.empty()) return true;
  const std::string shown = MetadataOf(context, "authorization");
  return shown.starts_with(kBearer) && SameToken(shown.substr(kBearer.size()), token);
}

std::optional<std::chrono::steady_clock::time_point> DeadlineOf(const grpc::CallbackServerContext& context,
                                                                const Parameters& parameters) {
  const auto now = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> deadline;
  if (const auto timeout = TimeoutOf(parameters)) deadline = now + *timeout;
  const auto of_call = context.deadline();
  if (of_call == std::chrono::system_clock::time_point::max()) return deadline;
  const auto left =
      std::min<std::chrono::system_clock::duration>(of_call - std::chrono::system_clock::now(), kMostTimeout);
  return std::min(deadline.value_or(now + left), now + left);
}

void CallLog::Write(const GrpcLogLine& line) {
  if (!log_) return;
  const std::lock_guard lock(mutex_);
  try {
    log_(line);
  } catch (const std::exception&) {
    // a full disk ends the log, not the server
  }
}

void Leaving::Then(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) {
      work_ = std::move(work);
      return;
    }
  }
  work();
}

void Leaving::HasGone() {
  std::function<void()> work;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    work = std::move(work_);
  }
  if (work) work();
}

Call::Call(grpc::CallbackServerContext* context, const char* method, CallLog& log)
    : context_(context), reactor_(new Reactor(leaving_)), method_(method), log_(log) {
  if (const std::string trace = MetadataOf(*context, kTrace); IsTrace(trace))
    context->AddInitialMetadata(kTrace, trace);
}

void Call::Finish(const grpc::Status& status) {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began_;
  log_.Write(
      {context_->peer(), method_, MetadataOf(*context_, kTrace), NameOf(status.error_code()), took.count()});
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE)
    retry_after_s_ = std::max(retry_after_s_, kLaterS);
  if (retry_after_s_ > 0)
    AddTrailer("retry-after-ms", fmt::format("{:.0f}", std::ceil(retry_after_s_ * 1e3)));
  reactor_->Finish(status);
}

}  // namespace mete::serve
