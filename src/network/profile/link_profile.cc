// Links are measured by messages and their answers, as requests use them.
#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "engine/model.h"
#include "network/profile/pool_profile.h"
#include "run/devices/time_graph.h"

namespace mete {
namespace {

// bytes; guess: of activations that are worth sending
constexpr std::array<size_t, 3> kSizes{32 << 10, 128 << 10, 512 << 10};
constexpr int kEchoes = 30;  // of one byte; the least counts, as all else is others' doing
// of two messages of a size: a third is not needed. Guess: a fifth of what a prediction may be off
constexpr double kAlike = 0.02;
constexpr int kFollowing = 200;  // messages that follow each other
// of a product, in one call: an end is seen after it. Guess: half a second on a slow board
constexpr int kRunsThere = 50;
constexpr std::chrono::seconds kTimeOut{120};  // guess: a megabyte, forty times, at 10 Mb/s

class Echo {
 public:
  explicit Echo(RemoteDevice& remote) : remote_(remote) {
    context_.set_deadline(std::chrono::system_clock::now() + kTimeOut);
    AddToken(context_, remote.security());
    stream_ = remote.stub().Echo(&context_);
  }
  ~Echo() {
    stream_->WritesDone();
    (void)Finish();
  }

  void Send(size_t bytes, size_t answer) {
    pb::EchoRequest request;
    request.mutable_data()->resize(bytes);
    request.set_answer_bytes(int32_t(answer));
    if (!stream_->Write(request)) Broken();
  }
  void Receive() {
    pb::EchoReply reply;
    if (!stream_->Read(&reply)) Broken();
  }
  double Us(size_t bytes, size_t answer) {
    const int64_t start_ns = NowNs();
    Send(bytes, answer);
    Receive();
    return double(NowNs() - start_ns) * 1e-3;
  }

 private:
  [[noreturn]] void Broken() {
    const grpc::Status status = Finish();
    throw ErrorOf(status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "has ended the stream") : status,
                  remote_.name());
  }

  // Once, whoever finds first that the stream is broken: gRPC aborts at a second time.
  grpc::Status Finish() {
    std::call_once(finished_, [&] { status_ = stream_->Finish(); });
    return status_;
  }

  RemoteDevice& remote_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<pb::EchoRequest, pb::EchoReply>> stream_;
  std::once_flag finished_;
  grpc::Status status_;
};

double RoundTripUs(Echo& echo) {
  double least = echo.Us(1, 1);
  for (int i = 0; i < kEchoes; ++i) least = std::min(least, echo.Us(1, 1));
  return least;
}

// What each of many small messages takes that are sent without waiting for answers.
double MessageUs(Echo& echo) {
  const int64_t start_ns = NowNs();
  std::thread sender([&] {
    try {
      for (int i = 0; i < kFollowing; ++i) echo.Send(1, 1);
    } catch (const std::exception&) {
      // who receives finds out as well
    }
  });
  int received = 0;
  try {
    for (; received < kFollowing; ++received) echo.Receive();
  } catch (const Error&) {
    sender.join();
    throw;
  }
  sender.join();
  return double(NowNs() - start_ns) * 1e-3 / kFollowing;
}

// Of a message and its answer: of two that are alike the mean, else of three the median.
double SizeUs(Echo& echo, size_t bytes, size_t answer) {
  const double first = echo.Us(bytes, answer), second = echo.Us(bytes, answer);
  const auto [less, more] = std::minmax(first, second);
  if (more <= (1 + kAlike) * less) return (less + more) / 2;
  return std::clamp(echo.Us(bytes, answer), less, more);
}

// Of a message of each of kSizes and its answer of one byte, or the other way round.
std::array<double, kSizes.size()> SizesUs(Echo& echo, bool up) {
  std::array<double, kSizes.size()> us;
  for (size_t s = 0; s < kSizes.size(); ++s)
    us[s] = up ? SizeUs(echo, kSizes[s], 1) : SizeUs(echo, 1, kSizes[s]);
  return us;
}

// By the slope of a line through the sizes: what there is besides is the round trip's. Least squares. Where
// noise is all that is seen, by what the largest size takes.
double MbitPerS(const std::array<double, kSizes.size()>& us) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (size_t s = 0; s < kSizes.size(); ++s) {
    const double bits = double(kSizes[s]) * 8;
    n += 1, x += bits, y += us[s], xx += bits * bits, xy += bits * us[s];
  }
  const double us_per_bit = (n * xy - x * y) / (n * xx - x * x);
  return 1 / (us_per_bit > 0 ? us_per_bit : us.back() / (double(kSizes.back()) * 8));
}

// Keeps both ends at computing as long as it lives; both do when it is made.
class Computing {
 public:
  Computing(RemoteDevice& remote, const SessionOptions& options) : session_(ModelOf(graph_), options) {
    (void)remote.Time(graph_, 1, kTimeOut);
    (void)session_.Run(inputs_);
    there_ = std::jthread([this, &remote](std::stop_token stop) {
      Repeat(stop, [&] { (void)remote.Time(graph_, kRunsThere, kTimeOut); });
    });
    here_ =
        std::jthread([this](std::stop_token stop) { Repeat(stop, [&] { (void)session_.Run(inputs_); }); });
  }

  // Error where an end did not: what was measured meanwhile is worth nothing.
  void End() {
    for (std::jthread* end : {&there_, &here_}) end->request_stop(), end->join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // A product that keeps a core busy for a millisecond or more.
  static Graph Product() {
    Graph graph;
    graph.name = "product";
    const Shape shape{256, 256};
    const ValueId x = graph.AddValue("x", DType::kF32, shape),
                  w = graph.AddConstant("w", MadeUp(DType::kF32, shape));
    const ValueId y = graph.AddValue("y", DType::kF32, shape);
    graph.AddNode("MatMul", "product", {x, w}, {y});
    graph.inputs = {x};
    graph.outputs = {y};
    return graph;
  }

  template <class F>
  void Repeat(const std::stop_token& stop, F compute) {
    try {
      while (!stop.stop_requested()) compute();
    } catch (...) {
      std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
  }

  const Graph graph_ = Product();
  const std::vector<Tensor> inputs_ = MadeUpInputs(graph_, graph_.inputs);
  Session session_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::jthread there_, here_;  // last: they use all of the above
};

}  // namespace

LinkProfile ProfileLink(RemoteDevice& remote) {
  Echo echo(remote);
  LinkProfile link;
  link.round_trip_us = RoundTripUs(echo);
  link.message_us = MessageUs(echo);
  const auto up = SizesUs(echo, true), down = SizesUs(echo, false);
  link.up_mbit_per_s = MbitPerS(up), link.down_mbit_per_s = MbitPerS(down);
  for (size_t s = 0; s < kSizes.size(); ++s) link.sizes.push_back({int64_t(kSizes[s]), up[s], down[s], 0, 0});
  return link;
}

void ProfileBusyLink(RemoteDevice& remote, const SessionOptions& session, LinkProfile& link) {
  Echo echo(remote);
  Computing computing(remote, session);
  const auto up = SizesUs(echo, true), down = SizesUs(echo, false);
  computing.End();
  link.busy_up_mbit_per_s = MbitPerS(up), link.busy_down_mbit_per_s = MbitPerS(down);
  for (size_t s = 0; s < link.sizes.size(); ++s)
    link.sizes[s].busy_up_us = up[s], link.sizes[s].busy_down_us = down[s];
}

std::vector<LinkProfile> ProfileLinks(const std::vector<RemoteDevice*>& remotes,
                                      const PoolProfileOptions& options) {
  std::vector<LinkProfile> links(remotes.size());
  const auto check = [&] {
    if (options.cancel && options.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
  };
  for (size_t d = 0; d < remotes.size(); ++d) {
    if (!remotes[d]) continue;
    options.progress("the link to " + remotes[d]->name(), int(d), int(remotes.size()));
    links[d] = ProfileLink(*remotes[d]);
    check();
    ProfileBusyLink(*remotes[d], options.session, links[d]);
    check();
  }
  return links;
}

}  // namespace mete
