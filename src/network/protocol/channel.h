// Connections between devices: how the ends authenticate each other, how large a message may be, and how soon
// a dead connection is noticed.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <memory>
#include <string>

#include "mete/error.h"

namespace mete {

// The credentials of a device. Certificates and keys are PEM texts: with them both ends prove their identity,
// by TLS; without `ca` only the server does. A token proves it on a closed network: the token is sent
// unencrypted. Without certificates and token, every process that reaches the port is trusted.
struct Security {
  std::string ca, certificate, key;
  std::string token;

  bool tls() const { return !certificate.empty(); }
  bool plain() const { return !tls() && token.empty(); }
};

// This value is a guess: it must hold a deployment's graphs. Pieces and weights are sent in chunks.
inline constexpr int kMostMessageBytes = 64 << 20;
// This value is a guess: a chunk takes 20 ms at 100 Mb/s, so that other messages do not wait for long.
inline constexpr size_t kChunkBytes = 256 << 10;

struct Keepalive {
  int ping_ms = 1000;  // an idle connection is pinged after this time
  // The connection is lost when a ping has no answer after this time. Both values are guesses: the timeout is
  // longer than a busy board is late.
  int timeout_ms = 2000;
};

// Makes a channel to a worker. `name` is the name that the worker's certificate must have: the device's name
// in the devices file. The channel connects at the first call.
std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address, const std::string& name,
                                         const Security& security, const Keepalive& keepalive = {});

std::shared_ptr<grpc::ServerCredentials> ServerCredentialsOf(const Security& security);
void LimitServer(grpc::ServerBuilder& builder, const Keepalive& keepalive = {});  // message sizes, pings

// AddToken() adds the token to a call; HasToken() returns whether a call has the right one.
void AddToken(grpc::ClientContext& context, const Security& security);
bool HasToken(const grpc::ServerContext& context, const Security& security);

// Convert an Error to a gRPC status and back. A status has room for a limited number of bytes; further
// problems of an error with many lines are counted, not listed. `where` names the device.
grpc::Status StatusOf(const Error& error);
Error ErrorOf(const grpc::Status& status, const std::string& where);

}  // namespace mete
