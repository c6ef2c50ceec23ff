#include "serve/http/http_server.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "serve/http/connection.h"

namespace mete::serve {
namespace {

namespace net = boost::asio;
using tcp = net::ip::tcp;

tcp::endpoint EndpointOf(net::io_context& context, const std::string& listen) {
  const size_t colon = listen.rfind(':');
  std::string host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  tcp::resolver resolver(context);
  boost::system::error_code problem;
  const auto found = resolver.resolve(host, listen.substr(colon + 1), tcp::resolver::passive, problem);
  if (problem) Fail(Code::kUnavailable, "--listen", "cannot find {}: {}", listen, problem.message());
  return *found.begin();
}

net::ssl::context ContextOf(const HttpKeys& keys) {
  net::ssl::context context(net::ssl::context::tls_server);
  boost::system::error_code problem;
  const auto check = [&](const char* what) {
    if (problem) Invalid("--keys", "{} cannot be used: {}", what, problem.message());
  };
  context.set_options(net::ssl::context::default_workarounds | net::ssl::context::no_sslv2 |
                      net::ssl::context::no_sslv3 | net::ssl::context::no_tlsv1 |
                      net::ssl::context::no_tlsv1_1);
  context.use_certificate_chain(net::buffer(keys.certificate), problem);
  check("the certificate");
  context.use_private_key(net::buffer(keys.key), net::ssl::context::pem, problem);
  check("the key");
  if (keys.ca.empty()) return context;
  context.add_certificate_authority(net::buffer(keys.ca), problem);
  check("the authority's certificate");
  context.set_verify_mode(net::ssl::verify_peer | net::ssl::verify_fail_if_no_peer_cert);
  return context;
}

}  // namespace

struct HttpServer::Impl : ConnectionOwner {
  Impl(const Routes& all, HttpOptions given)
      : ConnectionOwner(all, given.limits, given.log), options(std::move(given)), acceptor(context) {
    if (options.keys) tls.emplace(ContextOf(*options.keys));
  }

  void Listen();
  void Accept();
  void Begin(tcp::socket socket);

  const HttpOptions options;
  net::io_context context;
  tcp::acceptor acceptor;
  std::optional<net::ssl::context> tls;
  std::vector<std::thread> threads;
};

void HttpServer::Impl::Listen() {
  const tcp::endpoint endpoint = EndpointOf(context, options.listen);
  boost::system::error_code problem;
  acceptor.open(endpoint.protocol(), problem);
  if (!problem) acceptor.set_option(net::socket_base::reuse_address(true), problem);
  if (!problem) acceptor.bind(endpoint, problem);
  if (!problem) acceptor.listen(net::socket_base::max_listen_connections, problem);
  if (problem)
    Fail(Code::kUnavailable, "--listen", "cannot listen on {}: {}", options.listen, problem.message());
  Accept();
  for (int i = 0; i < options.threads; ++i) threads.emplace_back([this] { context.run(); });
}

void HttpServer::Impl::Accept() {
  acceptor.async_accept(net::make_strand(context),
                        [this](boost::system::error_code problem, tcp::socket socket) {
                          if (closing) return;
                          if (!problem) Begin(std::move(socket));
                          else if (problem == net::error::operation_aborted) return;
                          // no file is left for a connection: those that end make room
                          Accept();
                        });
}

void HttpServer::Impl::Begin(tcp::socket socket) {
  if (Count() >= options.limits.connections) return;  // closes the socket
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  BeginConnection(*this, std::move(socket), tls ? &*tls : nullptr);
}

HttpServer::HttpServer(const Routes& routes, HttpOptions options)
    : impl_(std::make_unique<Impl>(routes, std::move(options))) {
  impl_->Listen();
}

HttpServer::~HttpServer() {
  impl_->closing = true;
  impl_->context.stop();
  for (std::thread& thread : impl_->threads) thread.join();
}

int HttpServer::port() const { return impl_->acceptor.local_endpoint().port(); }

int HttpServer::connections() const { return impl_->Count(); }

void HttpServer::Close(std::chrono::milliseconds limit) {
  impl_->closing = true;
  net::post(impl_->context, [this] {
    boost::system::error_code ignored;
    impl_->acceptor.close(ignored);
  });
  impl_->CloseIdle();
  impl_->WaitUntilNone(limit);
}

}  // namespace mete::serve
