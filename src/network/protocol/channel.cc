#include "network/protocol/channel.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/error.h"

namespace mete {
namespace {

constexpr const char* kTokenHeader = "mete-token";
// gRPC reconnects after this time. Mete itself decides when it calls a device again.
constexpr int kReconnectMs = 100;
constexpr int kConnectMs = 3000;  // guess: a board on a bad wireless link
// Streams of one connection. This value is a guess: a caller has one or two, another worker one for each
// deployment.
constexpr int kMostStreams = 16;

// Bytes of a status' message. gRPC's trailers have 8 KiB by default, in which a byte that is no printable
// ASCII character takes three bytes.
constexpr size_t kMostStatusBytes = 4096;

// Returns the number of bytes that the text takes in a trailer.
size_t TrailerBytes(std::string_view text) {
  size_t bytes = 0;
  for (const char c : text) bytes += c >= ' ' && c <= '~' && c != '%' ? 1 : 3;
  return bytes;
}

// Returns as many lines of the text (one problem each) as a trailer has room for; if the first line alone is
// too long, the beginning of this line.
std::string InTrailer(const std::string& text) {
  size_t end = 0, lines = 0, left = kMostStatusBytes;
  const auto all = size_t(std::count(text.begin(), text.end(), '\n')) + 1;
  for (; lines < all; ++lines) {
    const size_t next = std::min(text.find('\n', end + (lines > 0)), text.size());
    const size_t bytes = TrailerBytes(std::string_view(text).substr(end, next - end));
    if (bytes > left) break;
    end = next;
    left -= bytes;
  }
  if (lines == all) return text;
  if (lines > 0) return fmt::format("{}\n... and {} more", text.substr(0, end), all - lines);
  while (end < text.size() && left >= 3) left -= TrailerBytes(text.substr(end++, 1));
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // do not cut within a UTF-8 character
  return text.substr(0, end) + " ...";
}

// A message of gRPC for a failed connection, and what a user may do about it.
struct WayOut {
  const char* said;  // a part of the message of gRPC 1.51 or OpenSSL 3.0
  const char* way_out;
  bool refusal = false;  // true: trying again does not help
};
constexpr WayOut kWaysOut[] = {
    {"certificate verify failed",
     "try certificates of one authority, and clocks that are right, on all devices: 'mete keys show FOLDER'",
     true},
    {"not in peer certificate", "try the name that its certificate has: 'mete keys show FOLDER' there", true},
    {"wrong version number",
     "it speaks no TLS; try 'mete worker --keys FOLDER' there, or a devices file without keys"},
    {"Socket closed", "try keys in the devices file where it has some, or whether it still runs"},
    {"DNS resolution failed", "try its IP address in the devices file"},
    {"",
     "try whether 'mete worker' runs there, listens beyond its own host (--listen 0.0.0.0:PORT), and a "
     "firewall lets the port through"},
};

const WayOut& WayOutOf(const std::string& message) {
  const WayOut* way = kWaysOut;
  while (message.find(way->said) == std::string::npos) ++way;
  return *way;
}

// gRPC first lists the addresses that it has tried; the text after this list is the reason.
std::string NoConnection(const std::string& message) {
  constexpr std::string_view kLast = "last error: ";
  const size_t last = message.find(kLast);
  return fmt::format("cannot be reached: {}; {}",
                     last == std::string::npos ? message : message.substr(last + kLast.size()),
                     WayOutOf(message).way_out);
}

// The message of a Mete worker already names its place; a message of gRPC does not.
std::string TextOf(const grpc::Status& status, const std::string& where) {
  const std::string message = Printable(status.error_message());
  if (message.starts_with("[")) return message;
  if (message.empty()) return fmt::format("[{}] gave no reason", where);
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
    return fmt::format("[{}] has not answered in time", where);
  const bool ours = message.starts_with("has ended");
  const bool gone = status.error_code() == grpc::StatusCode::UNAVAILABLE && !ours;
  return fmt::format("[{}] {}", where, gone ? NoConnection(message) : message);
}

}  // namespace

std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address, const std::string& name,
                                         const Security& security, const Keepalive& keepalive) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.ping_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.timeout_ms);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // unlimited
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMs);
  // this option also sets how long one attempt may take
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  // Do not use the proxy of the environment: it is for the web, and boards are on the local network.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Each channel has a connection of its own, so that a lost connection is lost for one channel only.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (!security.tls())
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  arguments.SetSslTargetNameOverride(name);
  grpc::SslCredentialsOptions ssl{security.ca, security.key, security.certificate};
  return grpc::CreateCustomChannel(address, grpc::SslCredentials(ssl), arguments);
}

std::shared_ptr<grpc::ServerCredentials> ServerCredentialsOf(const Security& security) {
  if (!security.tls()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions ssl(security.ca.empty()
                                            ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                            : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  ssl.pem_root_certs = security.ca;
  ssl.pem_key_cert_pairs.push_back({security.key, security.certificate});
  return grpc::SslServerCredentials(ssl);
}

void LimitServer(grpc::ServerBuilder& builder, const Keepalive& keepalive) {
  builder.SetMaxReceiveMessageSize(kMostMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.ping_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.timeout_ms);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, keepalive.ping_ms / 2);
  // each stream may hold a message that is not yet complete
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreams);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two workers on one port are a mistake
}

void AddToken(grpc::ClientContext& context, const Security& security) {
  if (!security.token.empty()) context.AddMetadata(kTokenHeader, security.token);
}

bool HasToken(const grpc::ServerContext& context, const Security& security) {
  if (security.token.empty()) return true;
  const auto at = context.client_metadata().find(kTokenHeader);
  if (at == context.client_metadata().end() || at->second.size() != security.token.size()) return false;
  return CRYPTO_memcmp(at->second.data(), security.token.data(), security.token.size()) == 0;
}

grpc::Status StatusOf(const Error& error) {
  return {grpc::StatusCode(int(error.code())), InTrailer(error.what())};
}

Error ErrorOf(const grpc::Status& status, const std::string& where) {
  const std::string text = TextOf(status, where);
  switch (status.error_code()) {
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED: return {Code::kFailedPrecondition, text};
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::ALREADY_EXISTS: return {Code::kInternal, text};
    case grpc::StatusCode::UNAVAILABLE:
      return {WayOutOf(status.error_message()).refusal ? Code::kFailedPrecondition : Code::kUnavailable,
              text};
    default: return {Code(int(status.error_code())), text};
  }
}

}  // namespace mete
