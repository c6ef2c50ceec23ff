// One call of gRPC on its way: who makes it, when its answer has to be there, and how it ends.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "serve/grpc/grpc_server.h"

namespace mete::serve {

// Returns the status of an error, whose text is made UTF-8 and short enough for a trailer.
grpc::Status StatusOf(Code code, const std::string& error);
// The same of the exception that is being handled.
grpc::Status StatusOfException();

// Whether the call shows the token, in metadata "authorization: Bearer TOKEN". An empty token: all do.
bool ShowsToken(const grpc::CallbackServerContext& context, const std::string& token);

// Returns the earlier one of the call's deadline and the request's parameter "timeout"; nothing: neither is
// there. Error INVALID_ARGUMENT for a parameter that is no time.
std::optional<std::chrono::steady_clock::time_point> DeadlineOf(const grpc::CallbackServerContext& context,
                                                                const Parameters& parameters);

class CallLog {
 public:
  explicit CallLog(std::function<void(const GrpcLogLine&)> log) : log_(std::move(log)) {}
  void Write(const GrpcLogLine& line);

 private:
  const std::function<void(const GrpcLogLine&)> log_;
  std::mutex mutex_;
};

// What is done when a call's caller goes: known after the call has begun, and perhaps after the caller has
// gone.
class Leaving {
 public:
  // Calls `work` when the caller goes, or now if it has gone. A call that is over calls nothing.
  void Then(std::function<void()> work);
  void HasGone();

 private:
  std::mutex mutex_;
  bool gone_ = false;
  std::function<void()> work_;
};

// gRPC keeps the context and both messages until Finish().
class Call {
 public:
  Call(grpc::CallbackServerContext* context, const char* method, CallLog& log);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  grpc::ServerUnaryReactor* reactor() const { return reactor_; }
  const grpc::CallbackServerContext& context() const { return *context_; }

  const std::shared_ptr<Leaving>& leaving() const { return leaving_; }

  void AddTrailer(const char* name, const std::string& value) { context_->AddTrailingMetadata(name, value); }
  // How long a caller should wait before another try.
  void RetryAfter(double seconds) { retry_after_s_ = seconds; }
  // Once, on any thread. Nothing of the call may be used afterwards.
  void Finish(const grpc::Status& status = grpc::Status::OK);

 private:
  // gRPC's own; deletes itself.
  class Reactor : public grpc::ServerUnaryReactor {
   public:
    explicit Reactor(std::shared_ptr<Leaving> leaving) : leaving_(std::move(leaving)) {}
    void OnCancel() override { leaving_->HasGone(); }
    void OnDone() override { delete this; }

   private:
    const std::shared_ptr<Leaving> leaving_;
  };

  grpc::CallbackServerContext* context_;
  const std::shared_ptr<Leaving> leaving_ = std::make_shared<Leaving>();
  grpc::ServerUnaryReactor* reactor_;
  const char* method_;
  CallLog& log_;
  double retry_after_s_ = 0;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace mete::serve
