// Sends requests over HTTP/1.1 and counts what becomes of them: a load generator that costs little beside the
// server that it measures. One thread, connections that stay.
//
// With --rate, requests arrive by themselves, whatever becomes of those before, and their time begins when
// they arrive, even where the generator or all connections are late: a server that is slow cannot slow its
// callers down. Without it, each connection sends when it has its answer.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <random>

#include "load_options.h"
#include "load_tally.h"

namespace mete::load {
namespace {

constexpr Nanoseconds kSecond = 1000000000;
constexpr Nanoseconds kPatience = 30 * kSecond;  // for the last answers; a server that works takes less

Nanoseconds Now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

struct Connection {
  int fd = -1;
  bool busy = false;
  size_t sent = 0;  // of head and body
  std::string in;
  AnswerHead head;
  size_t head_bytes = 0;  // 0: not all is there
  Nanoseconds due = 0, begun = 0;
};

class Generator {
 public:
  explicit Generator(const Options& options)
      : options_(options),
        random_(options.seed),
        epoll_(epoll_create1(0)),
        timer_(timerfd_create(CLOCK_MONOTONIC, 0)) {
    head_ = fmt::format("POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Length: {}\r\n", options.path,
                        options.host, options.port, options.body.size());
    for (const std::string& line : options.headers) head_ += line + "\r\n";
    head_ += "\r\n";
    Watch(timer_, nullptr, EPOLLIN);
  }

  // False: the server cannot be reached.
  bool Run() {
    for (int i = 0; i < options_.connections; ++i) {
      connections_.push_back(std::make_unique<Connection>());
      if (!Open(*connections_.back())) return false;
      free_.push_back(connections_.back().get());
    }
    start_ = next_ = Now();
    end_ = start_ + Nanoseconds(options_.seconds * double(kSecond));
    while (Step()) {}
    for (const auto& connection : connections_) tally_.unanswered += connection->busy;
    fmt::print("{}", tally_.Json(options_.seconds, options_.rate));
    return true;
  }

 private:
  void Watch(int fd, Connection* connection, uint32_t events) {
    epoll_event event{.events = events, .data = {.ptr = connection}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  bool Open(Connection& connection) {
    if (connection.fd >= 0) close(connection.fd);
    connection.fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(uint16_t(options_.port));
    if (inet_pton(AF_INET, options_.host.c_str(), &address.sin_addr) != 1 ||
        connect(connection.fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      return false;
    const int on = 1;
    setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    fcntl(connection.fd, F_SETFL, O_NONBLOCK);
    Watch(connection.fd, &connection, EPOLLIN | EPOLLOUT | EPOLLET);
    return true;
  }

  // Sends what is due and takes what has come. False: the end.
  bool Step() {
    const Nanoseconds now = Now();
    TakeArrivals(now);
    while (!due_.empty() && !free_.empty()) {
      Connection* connection = free_.back();
      free_.pop_back();
      Begin(*connection, due_.front());
      due_.pop_front();
    }
    const bool all = free_.size() == connections_.size();
    if (now >= end_ && ((all && due_.empty()) || now >= end_ + kPatience)) return false;
    SetTimer(now >= end_ ? end_ + kPatience : options_.rate > 0 ? std::min(next_, end_) : end_);
    epoll_event events[64];
    const int count = epoll_wait(epoll_, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      auto* connection = static_cast<Connection*>(events[i].data.ptr);
      if (!connection) ClearTimer();
      else if (!Go(*connection)) Lost(*connection);
    }
    return true;
  }

  void TakeArrivals(Nanoseconds now) {
    if (options_.rate <= 0) {
      if (now < end_) due_.resize(free_.size(), now);
      return;
    }
    std::exponential_distribution<double> distance(options_.rate);
    while (next_ <= now && next_ < end_) {
      due_.push_back(next_);
      next_ += Nanoseconds((options_.even ? 1 / options_.rate : distance(random_)) * double(kSecond));
    }
  }

  void SetTimer(Nanoseconds time) const {
    const itimerspec at{.it_interval = {}, .it_value = {time / kSecond, time % kSecond}};
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
  }
  void ClearTimer() const {
    uint64_t times = 0;
    (void)!read(timer_, &times, sizeof(times));
  }

  void Begin(Connection& connection, Nanoseconds due) {
    connection.busy = true;
    connection.sent = 0;
    connection.in.clear();
    connection.head_bytes = 0;
    connection.due = due;
    connection.begun = Now();
    ++tally_.sent;
    if (!Go(connection)) Lost(connection);
  }

  // Sends and receives as much as is possible. False: the connection is lost.
  bool Go(Connection& connection) { return (!connection.busy || Send(connection)) && Receive(connection); }

  bool Send(Connection& connection) {
    const size_t all = head_.size() + options_.body.size();
    while (connection.sent < all) {
      const size_t of_head = std::min(connection.sent, head_.size()), of_body = connection.sent - of_head;
      iovec parts[2] = {{head_.data() + of_head, head_.size() - of_head},
                        {const_cast<char*>(options_.body.data()) + of_body, options_.body.size() - of_body}};
      const ssize_t count = writev(connection.fd, parts, 2);
      if (count < 0)
        return errno == EAGAIN || errno == EPIPE || errno == ECONNRESET;  // an answer may be there
      connection.sent += size_t(count);
    }
    return true;
  }

  bool Receive(Connection& connection) {
    char bytes[64 << 10];
    while (true) {
      const ssize_t count = recv(connection.fd, bytes, sizeof(bytes), 0);
      if (count < 0) return errno == EAGAIN;
      if (count == 0) return false;
      connection.in.append(bytes, size_t(count));
      if (!Take(connection)) return false;
    }
  }

  // Takes the answer if all of it is there. False: it is none.
  bool Take(Connection& connection) {
    if (connection.head_bytes == 0) {
      const size_t end = connection.in.find("\r\n\r\n");
      if (end == connection.in.npos) return true;
      connection.head_bytes = end + 4;
      if (!ReadHead(connection.in.substr(0, connection.head_bytes), connection.head)) return false;
    }
    if (connection.in.size() < connection.head_bytes + connection.head.body_bytes || !connection.busy)
      return true;
    tally_.Add(connection.head, connection.in.substr(connection.head_bytes), connection.due, connection.begun,
               Now());
    connection.busy = false;
    const bool ends = connection.head.closes || connection.sent < head_.size() + options_.body.size();
    if (ends) Reopen(connection);
    else free_.push_back(&connection);
    return true;
  }

  // The connection was closed, between requests or without an answer.
  void Lost(Connection& connection) {
    if (connection.busy) ++tally_.closed;
    else std::erase(free_, &connection);
    connection.busy = false;
    Reopen(connection);
  }

  void Reopen(Connection& connection) {
    if (Open(connection)) return free_.push_back(&connection);
    fmt::print(stderr, "[serve_load] the server is gone: {}\n", std::strerror(errno));
    std::exit(1);
  }

  const Options& options_;
  std::mt19937_64 random_;
  std::string head_;
  const int epoll_, timer_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> free_;
  std::deque<Nanoseconds> due_;  // requests that wait for a connection
  Nanoseconds start_ = 0, next_ = 0, end_ = 0;
  Tally tally_;
};

}  // namespace
}  // namespace mete::load

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto options = mete::load::ReadOptions(argc, argv);
  if (!options) return 2;
  if (mete::load::Generator(*options).Run()) return 0;
  fmt::print(stderr, "[serve_load] cannot connect to {}:{}: {}\n", options->host, options->port,
             std::strerror(errno));
  return 1;
}
