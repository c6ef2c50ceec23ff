// What the server costs beside the computation, for a tensor in binary over loopback, one request after the
// other: from the request's header received to the answer's last byte written (as the server's log has it),
// and as the caller sees it, each less the time of Session::Run in that request; and beside that what the
// transfer alone takes, by a thread that reads as many bytes and answers with as many.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "load_tally.h"
#include "serve/http/http_server.h"
#include "serve/http/routes.h"
#include "serve/server/server.h"

namespace mete::serve {
namespace {

double MsSince(int64_t start) { return double(NowNs() - start) * 1e-6; }

// Blocking, on loopback.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;

  static int ConnectTo(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      Fail(Code::kUnavailable, "overhead", "cannot connect to port {}", port);
    return fd;
  }

  void Send(const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) Fail(Code::kUnavailable, "overhead", "the connection is lost");
      sent += size_t(count);
    }
  }
  // Appends what is there; false: the other side has closed.
  bool Receive(std::string& bytes) {
    static thread_local std::string buffer(256 << 10, '\0');
    const ssize_t count = recv(fd_, buffer.data(), buffer.size(), 0);
    if (count > 0) bytes.append(buffer.data(), size_t(count));
    return count > 0;
  }

 private:
  const int fd_;
};

// Reads as many bytes as a request has and sends as many as an answer has.
class Transfer {
 public:
  Transfer(size_t request, size_t answer) : listening_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (bind(listening_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listening_, 1) != 0 ||
        getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      Fail(Code::kUnavailable, "overhead", "cannot listen on loopback");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, request, answer] {
      Socket socket(accept(listening_, nullptr, nullptr));
      const std::string back(answer, 'x');
      std::string bytes;
      bytes.reserve(2 * request);
      while (socket.Receive(bytes)) {
        if (bytes.size() < request) continue;
        bytes.clear();
        socket.Send(back);
      }
    });
  }
  ~Transfer() {
    thread_.join();
    close(listening_);
  }
  int port() const { return port_; }

 private:
  const int listening_;
  int port_ = 0;
  std::thread thread_;
};

// The last line of the server's log: it is written after the answer.
class LastLine {
 public:
  void Set(const HttpLogLine& line) {
    const std::lock_guard lock(mutex_);
    line_ = line;
    changed_.notify_all();
  }
  HttpLogLine Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return line_.has_value(); });
    const HttpLogLine line = *line_;
    line_.reset();
    return line;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<HttpLogLine> line_;
};

std::string RequestFor(const ModelMetadata& model) {
  std::string shape;
  size_t elements = 1;
  for (const int64_t dim : model.inputs.at(0).shape) {
    shape += fmt::format("{}{}", shape.empty() ? "" : ",", std::abs(dim));
    elements *= size_t(std::abs(dim));
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-2.2f, 2.7f);
  std::vector<float> values(elements);
  for (float& v : values) v = value(random);
  const std::string json = fmt::format(
      R"({{"inputs":[{{"name":"{}","datatype":"FP32","shape":[{}],"parameters":{{"binary_data_size":{}}}}}],"parameters":{{"binary_data_output":true}}}})",
      model.inputs[0].name, shape, elements * sizeof(float));
  std::string request = fmt::format(
      "POST /v2/models/{}/infer HTTP/1.1\r\nHost: x\r\nInference-Header-Content-Length: "
      "{}\r\nContent-Length: {}\r\n\r\n{}",
      model.name, json.size(), json.size() + elements * sizeof(float), json);
  request.append(reinterpret_cast<const char*>(values.data()), elements * sizeof(float));
  return request;
}

struct Answer {
  load::AnswerHead head;
  size_t bytes = 0;
};

Answer Ask(Socket& socket, const std::string& request) {
  socket.Send(request);
  std::string bytes;
  while (socket.Receive(bytes)) {
    const size_t end = bytes.find("\r\n\r\n");
    if (end == bytes.npos) continue;
    Answer answer;
    if (!load::ReadHead(bytes.substr(0, end + 4), answer.head) || answer.head.status != 200)
      Fail(Code::kInternal, "overhead", "no answer; got {}", bytes.substr(0, 300));
    answer.bytes = end + 4 + answer.head.body_bytes;
    if (bytes.size() >= answer.bytes) return answer;
  }
  Fail(Code::kUnavailable, "overhead", "the connection is lost");
}

void Print(const char* what, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  fmt::print("{:<44} {:>8.1f} {:>8.1f} {:>8.1f} us\n", what, ms[ms.size() / 20] * 1e3,
             ms[ms.size() / 2] * 1e3, ms[ms.size() * 95 / 100] * 1e3);
}

void Measure(const std::string& repository, const std::string& model, int threads, int requests) {
  ServerOptions options{.repository = repository};
  options.session.threads = options.queue.slots = threads;
  Server server(std::move(options));
  const Routes routes(server, {});
  LastLine last;
  HttpOptions listening;
  listening.listen = "127.0.0.1:0";
  listening.log = [&last](const HttpLogLine& line) { last.Set(line); };
  HttpServer http(routes, listening);
  const std::string request = RequestFor(server.Metadata(model, ""));
  Socket socket(Socket::ConnectTo(http.port()));
  const size_t answer_bytes = Ask(socket, request).bytes;
  last.Take();
  Transfer transfer(request.size(), answer_bytes);
  std::vector<double> seen, own, compute, alone;
  {
    Socket plain(Socket::ConnectTo(transfer.port()));
    for (int i = 0; i < requests; ++i) {  // in turns
      int64_t start = NowNs();
      const Answer answer = Ask(socket, request);
      seen.push_back(MsSince(start) - answer.head.compute_ms);
      own.push_back(last.Take().ms - answer.head.compute_ms);
      compute.push_back(answer.head.compute_ms);
      start = NowNs();
      plain.Send(request);
      for (std::string bytes; bytes.size() < answer_bytes;)
        if (!plain.Receive(bytes)) Fail(Code::kUnavailable, "overhead", "the connection is lost");
      alone.push_back(MsSince(start));
    }
  }
  fmt::print("{} requests of {} bytes, answers of {} bytes\n{:<44} {:>8} {:>8} {:>8}\n", requests,
             request.size(), answer_bytes, "", "p5", "p50", "p95");
  Print("Session::Run", compute);
  Print("the server beside it, header to last byte", own);
  Print("the caller's time beside it", seen);
  Print("the transfer alone, as the caller sees it", alone);
}

}  // namespace
}  // namespace mete::serve

int main(int argc, char** argv) {
  const int threads = argc > 3 ? std::atoi(argv[3]) : 2, requests = argc > 4 ? std::atoi(argv[4]) : 2000;
  if (argc < 3 || argc > 5 || threads < 1 || requests < 20) {
    fmt::print(stderr, "usage: serve_overhead REPOSITORY MODEL [THREADS [REQUESTS]]; the model takes FP32\n");
    return 2;
  }
  try {
    mete::serve::Measure(argv[1], argv[2], threads, requests);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
