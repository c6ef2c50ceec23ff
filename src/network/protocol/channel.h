// How devices reach each other: who they believe, how large a message may be, and how soon it is noticed that
// nobody is there any more.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <memory>
#include <string>

#include "mete/error.h"

namespace mete {

// Of a device. Certificates and keys are PEM texts: with them both ends prove who they are, by TLS. A token
// proves it on a closed network: it is sent as it is. With neither, anybody who reaches the port is believed.
struct Security {
  std::string ca, certificate, key;
  std::string token;

  bool tls() const { return !certificate.empty(); }
  bool plain() const { return !tls() && token.empty(); }
};

// guess: a deployment's graphs; pieces and weights come in chunks
inline constexpr int kMostMessageBytes = 64 << 20;
// guess: 20 ms at 100 Mb/s, so that other messages need not wait for long
inline constexpr size_t kChunkBytes = 256 << 10;

struct Keepalive {
  int ping_ms = 1000;  // a connection on which nothing comes is asked after so long
  // and lost when there is no answer after so long. Guesses: more than a busy board is late
  int timeout_ms = 2000;
};

// To a worker. `name`: what its certificate has to say, the device's name in the devices file. Connects when
// something is called.
std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address, const std::string& name,
                                         const Security& security, const Keepalive& keepalive = {});

std::shared_ptr<grpc::ServerCredentials> ServerCredentialsOf(const Security& security);
void LimitServer(grpc::ServerBuilder& builder, const Keepalive& keepalive = {});  // sizes, pings

// What a call has to bring along, and whether it has.
void AddToken(grpc::ClientContext& context, const Security& security);
bool HasToken(const grpc::ServerContext& context, const Security& security);

// Errors of ours on the wire, and back; of many problems those that a status has room for. `where` names the
// device.
grpc::Status StatusOf(const Error& error);
Error ErrorOf(const grpc::Status& status, const std::string& where);

}  // namespace mete
