// What a connection reads beside requests: the rest of one that it has refused, and that its caller has gone.
#pragma once

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <memory>

namespace mete::serve {

constexpr size_t kReadBytes = 64 << 10;  // at a time at most

// Reads `left` bytes, of which the buffer may have some, and calls `done`; does not if they do not come. The
// stream and the buffer must live as long as `done`.
template <class Stream, class Done>
void ReadAway(Stream& stream, boost::beast::flat_buffer& buffer, size_t left, Done done) {
  const size_t there = std::min(left, buffer.size());
  buffer.consume(there);
  left -= there;
  if (left == 0) return done();
  const auto into = buffer.prepare(std::min(left, kReadBytes));
  stream.async_read_some(into,
                         [&stream, &buffer, left, done](boost::system::error_code problem, size_t bytes) {
                           buffer.commit(bytes);
                           if (!problem) ReadAway(stream, buffer, left, done);
                         });
}

// Calls `gone` if the caller closes its side, which other servers take for a farewell as well, before it
// sends another request, and before the socket's operations are cancelled. Of a caller by TLS nothing is
// seen: its farewell is a message. `keep` owns the socket.
void AwaitLeaving(boost::asio::ip::tcp::socket& socket, std::shared_ptr<void> keep,
                  std::function<void()> gone);

// Reads what the caller still sends before the connection ends, such as a body that was refused, so that the
// answer is not lost by a reset; for some seconds at most, however slowly the caller sends. Keeps `keep`,
// which owns the others, until the end.
void Linger(boost::beast::tcp_stream& stream, boost::beast::flat_buffer& buffer, std::shared_ptr<void> keep);

}  // namespace mete::serve
