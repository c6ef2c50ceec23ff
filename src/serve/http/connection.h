// A connection of HTTP/1.1: reads requests one after the other, and writes their answers.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "serve/http/http_server.h"

namespace mete::serve {

class ConnectionOwner;

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void CloseIfIdle() = 0;  // any thread
  // Since when nothing has come, or when it began to end; nothing: a request is under way.
  std::optional<std::chrono::steady_clock::time_point> idle_since() const {
    const int64_t ns = idle_since_;
    if (ns == 0) return std::nullopt;
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
  }

  // Whether the last answer is written and the caller may still read it.
  bool ending() const { return ending_; }

 protected:
  void SetIdle(bool idle) { idle_since_ = idle ? NowNs() : 0; }
  void SetEnding() {
    ending_ = true;
    SetIdle(true);
  }

 private:
  std::atomic<int64_t> idle_since_{0};
  std::atomic<bool> ending_{false};
};

// What connections have in common.
class ConnectionOwner {
 public:
  ConnectionOwner(const Routes& routes, const HttpLimits& limits, std::function<void(const HttpLogLine&)> log)
      : routes(routes),
        limits(limits),
        most_bytes(std::max(limits.bytes_together, routes.MostBytes())),
        log_(std::move(log)) {}

  void Add(const std::shared_ptr<Connection>& connection);
  void Remove(Connection* connection);
  int Count() const;
  void CloseIdle();  // but not those that end by themselves
  // Makes room for another connection. False: a request is under way on each.
  bool CloseLongestIdle();
  void WaitUntilNone(std::chrono::milliseconds limit);

  // While the token is kept, a thread of the server may call a connection: WaitForCalls() waits until none
  // is.
  std::shared_ptr<void> BeginCall();
  void WaitForCalls();

  // Reserves bytes of bodies. False: there are too many at a time.
  bool Reserve(int64_t bytes);
  void Release(int64_t bytes) { reserved_ -= bytes; }

  void Log(const HttpLogLine& line);

  const Routes& routes;
  const HttpLimits limits;
  const int64_t most_bytes;  // of bodies at a time; of requests and answers
  std::atomic<bool> closing{false};

 private:
  const std::function<void(const HttpLogLine&)> log_;
  std::mutex log_mutex_;
  std::atomic<int64_t> reserved_{0};
  mutable std::mutex mutex_;
  std::condition_variable removed_;
  std::map<Connection*, std::weak_ptr<Connection>> connections_;
  std::condition_variable called_;
  int calls_ = 0;
};

// Begins to read. `tls` null: plain text. The connection keeps itself until it is closed.
void BeginConnection(ConnectionOwner& owner, boost::asio::ip::tcp::socket socket,
                     boost::asio::ssl::context* tls);

}  // namespace mete::serve
