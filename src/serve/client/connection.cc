#include "serve/client/connection.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cctype>
#include <future>
#include <thread>

#include "base/error.h"

namespace mete::serve {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = net::ip::tcp;
using Problem = boost::system::error_code;
using Stream = beast::ssl_stream<beast::tcp_stream>;  // without keys its inner one alone is used
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostHeaderBytes = 16 << 10;  // guess: as the server's own bound of requests

struct HostAndPort {
  std::string host, port;
};
HostAndPort PartsOf(const std::string& address) {
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {host, address.substr(colon + 1)};
}

net::ssl::context ContextOf(const ClientKeys& keys) {
  net::ssl::context context(net::ssl::context::tls_client);
  Problem problem;
  const auto check = [&](const char* what) {
    if (problem) Invalid("keys", "{} cannot be used: {}", what, problem.message());
  };
  context.add_certificate_authority(net::buffer(keys.ca), problem);
  check("the authority's certificate");
  context.set_verify_mode(net::ssl::verify_peer);
  if (keys.certificate.empty()) return context;
  context.use_certificate_chain(net::buffer(keys.certificate), problem);
  check("the certificate");
  context.use_private_key(net::buffer(keys.key), net::ssl::context::pem, problem);
  check("the key");
  return context;
}

struct Resolved {
  Problem problem;
  std::vector<tcp::endpoint> endpoints;
};

// The system's resolver has no deadline, so that a thread of its own waits for it, which nobody waits for.
Resolved Resolve(const HostAndPort& address, Deadline deadline) {
  Problem is_name;
  const auto ip = net::ip::make_address(address.host, is_name);
  if (!is_name) return {{}, {tcp::endpoint(ip, std::uint16_t(std::stoi(address.port)))}};
  auto promise = std::make_shared<std::promise<Resolved>>();
  std::future<Resolved> found = promise->get_future();
  std::thread([promise, address] {
    Resolved resolved;
    net::io_context context;
    tcp::resolver resolver(context);
    for (const auto& entry : resolver.resolve(address.host, address.port, resolved.problem))
      resolved.endpoints.push_back(entry.endpoint());
    promise->set_value(std::move(resolved));
  }).detach();
  if (found.wait_until(deadline) != std::future_status::ready) return {beast::error::timeout, {}};
  return found.get();
}

// What a problem of a connection is for the caller.
Code CodeOf(const Problem& problem) {
  if (problem == beast::error::timeout) return Code::kDeadlineExceeded;
  const bool is_http = problem.category() == http::make_error_code(http::error::bad_value).category();
  const bool is_end = problem == http::error::end_of_stream || problem == http::error::partial_message;
  return is_http && !is_end ? Code::kDataLoss : Code::kUnavailable;
}

}  // namespace

struct ClientConnection::Impl {
  explicit Impl(const ClientOptions& given)
      : address(PartsOf(given.address)), most_bytes(given.most_answer_bytes), host(given.address) {
    if (given.keys) tls.emplace(ContextOf(*given.keys));
  }

  // Begins an operation, and returns how it ended.
  template <class Begin>
  Problem Wait(Begin&& begin) {
    Problem result = net::error::operation_aborted;
    begin([&result](const Problem& problem, auto&&...) { result = problem; });
    context.restart();
    context.run();
    return result;
  }
  // Calls `what` with the stream that carries HTTP.
  template <class What>
  Problem On(What&& what) {
    return tls ? what(*stream) : what(stream->next_layer());
  }

  Problem Connect(Deadline deadline);
  Problem Send(const Request& request);
  Problem Receive(Received& received);
  void Close() { stream.reset(); }
  // Sets whether closing the connection drops the bytes that the system has not sent yet, as at a deadline:
  // they would occupy a slow link, although their answer is not needed any more.
  void DropWhenClosed(bool drop) {
    Problem ignored;  // it would be sent
    if (stream) stream->next_layer().socket().set_option(net::socket_base::linger(drop, 0), ignored);
  }

  const HostAndPort address;
  const int64_t most_bytes;
  const std::string host;  // the header
  std::optional<net::ssl::context> tls;
  net::ssl::context none{net::ssl::context::tls_client};
  net::io_context context;
  std::optional<Stream> stream;  // nothing: no connection
  beast::flat_buffer buffer;     // what has come of the next answer
  bool heard = false;            // whether a byte of the answer has come
};

Problem ClientConnection::Impl::Connect(Deadline deadline) {
  const Resolved resolved = Resolve(address, deadline);
  if (resolved.problem) return resolved.problem;
  stream.emplace(context, tls ? *tls : none);
  buffer.clear();
  beast::tcp_stream& below = stream->next_layer();
  below.expires_at(deadline);
  Problem problem = Wait([&](auto done) { below.async_connect(resolved.endpoints, std::move(done)); });
  if (problem) return problem;
  below.socket().set_option(tcp::no_delay(true), problem);
  if (!tls) return {};
  Problem is_name;
  net::ip::make_address(address.host, is_name);
  if (is_name) SSL_set_tlsext_host_name(stream->native_handle(), address.host.c_str());
  stream->set_verify_callback(net::ssl::host_name_verification(address.host));
  return Wait([&](auto done) { stream->async_handshake(net::ssl::stream_base::client, std::move(done)); });
}

Problem ClientConnection::Impl::Send(const Request& request) {
  http::request<http::string_body> message(http::string_to_verb(request.method), request.target, 11);
  message.set(http::field::host, host);
  for (const auto& [name, value] : request.headers) message.set(name, value);
  message.body() = request.body;
  message.prepare_payload();
  return On(
      [&](auto& on) { return Wait([&](auto done) { http::async_write(on, message, std::move(done)); }); });
}

Problem ClientConnection::Impl::Receive(Received& received) {
  http::response_parser<http::string_body> parser;
  parser.header_limit(kMostHeaderBytes);
  parser.body_limit(std::uint64_t(most_bytes));
  const auto began = Clock::now();
  const auto ms = [](Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  Problem problem = On([&](auto& on) {
    return Wait([&](auto done) { http::async_read_header(on, buffer, parser, std::move(done)); });
  });
  heard = parser.got_some() || buffer.size() > 0;
  const auto header = Clock::now();
  received.times.wait_ms += ms(header - began);
  if (!problem)
    problem = On([&](auto& on) {
      return Wait([&](auto done) { http::async_read(on, buffer, parser, std::move(done)); });
    });
  received.times.receive_ms += ms(Clock::now() - header);
  if (problem) return problem;
  http::response<http::string_body> message = parser.release();
  received.status = message.result_int();
  for (const auto& field : message) {
    std::string name(field.name_string());
    for (char& c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
    received.headers[name] = std::string(field.value());
  }
  received.body = std::move(message.body());
  if (!message.keep_alive()) Close();
  return {};
}

ClientConnection::ClientConnection(const ClientOptions& options) {
  if (!IsAddress(options.address))
    Invalid("address", "is no address of a server; got '{}', expected HOST:PORT", Printable(options.address));
  impl_ = std::make_unique<Impl>(options);
}
ClientConnection::~ClientConnection() = default;

Received ClientConnection::Exchange(const Request& request, Deadline deadline) {
  Received received;
  const auto timed = [](double& ms, auto&& what) {
    const auto began = Clock::now();
    const Problem problem = what();
    ms += std::chrono::duration<double, std::milli>(Clock::now() - began).count();
    return problem;
  };
  const char* doing = "connect";
  const auto once = [&]() -> Problem {
    impl_->heard = false;
    doing = "connect";
    if (!impl_->stream)
      if (const Problem problem = timed(received.times.connect_ms, [&] { return impl_->Connect(deadline); }))
        return problem;
    impl_->stream->next_layer().expires_at(deadline);
    impl_->DropWhenClosed(true);
    doing = "send the request";
    if (const Problem problem = timed(received.times.send_ms, [&] { return impl_->Send(request); }))
      return problem;
    doing = "receive the answer";
    return impl_->Receive(received);
  };
  const bool kept = impl_->stream.has_value();
  Problem problem = once();
  if (problem && kept && !impl_->heard && CodeOf(problem) == Code::kUnavailable) {
    impl_->Close();  // the server had closed it
    problem = once();
  }
  if (!problem) {
    impl_->DropWhenClosed(false);
    return received;
  }
  impl_->Close();
  received.code = CodeOf(problem);
  received.problem = fmt::format("cannot {}: {}", doing, Printable(problem.message()));
  return received;
}

}  // namespace mete::serve
