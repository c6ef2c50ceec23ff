#include "serve/http/read_away.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace mete::serve {
namespace {

constexpr std::chrono::seconds kSilence(2);  // after which the caller sends no more; guess
constexpr int kMostReads = 1024;             // 64 MiB; guess
constexpr std::chrono::seconds kWhole(10);   // of all reads; guess: more than 64 MiB take in a house

void LingerFor(boost::beast::tcp_stream& stream, boost::beast::flat_buffer& buffer,
               std::shared_ptr<void> keep, int reads, std::chrono::steady_clock::time_point until) {
  stream.expires_at(std::min(std::chrono::steady_clock::now() + kSilence, until));
  buffer.clear();
  const auto into = buffer.prepare(kReadBytes);
  stream.async_read_some(into, [&stream, &buffer, keep = std::move(keep), reads, until](
                                   boost::system::error_code problem, size_t) {
    if (!problem && reads > 1) LingerFor(stream, buffer, keep, reads - 1, until);
  });
}

}  // namespace

void AwaitLeaving(boost::asio::ip::tcp::socket& socket, std::shared_ptr<void> keep,
                  std::function<void()> gone) {
  using Socket = boost::asio::ip::tcp::socket;
  socket.async_wait(Socket::wait_read, [&socket, keep = std::move(keep),
                                        gone = std::move(gone)](boost::system::error_code problem) {
    if (problem) return;
    char byte = 0;
    const ssize_t read = recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (read == 0 || (read < 0 && errno != EAGAIN && errno != EINTR)) gone();
  });
}

void Linger(boost::beast::tcp_stream& stream, boost::beast::flat_buffer& buffer, std::shared_ptr<void> keep) {
  LingerFor(stream, buffer, std::move(keep), kMostReads, std::chrono::steady_clock::now() + kWhole);
}

}  // namespace mete::serve
