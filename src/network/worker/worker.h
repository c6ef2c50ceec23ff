// A worker: computes shares of requests for callers that reach its port (network/protocol/worker.proto). It
// checks whatever it is sent before it uses it: messages, memory, deployments and requests at a time have
// limits, graphs and programs are verified, and no path is ever opened that somebody names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mete/engine.h"
#include "network/protocol/channel.h"
#include "network/protocol/programs.h"

namespace mete {

struct WorkerOptions {
  std::string listen = "127.0.0.1:0";  // HOST:PORT; port 0: any that is free
  Security security;
  SessionOptions session = SessionOptions::Estimated();  // of every share
  std::string weights_folder;                            // empty: weights are kept in memory
  // of that folder at most. Guess: several large networks on a card of 32 GB
  int64_t weights_bytes = int64_t(8) << 30;
  // of shares, their requests, and weights that are on no disk. Guess: a half of a small board's
  int64_t memory_bytes = int64_t(2) << 30;
  int max_deployments = 8;        // at a time; guess
  uint32_t protocol = kProtocol;  // others are refused; another one is for tests
};

class Worker {
 public:
  // Listens. Error UNAVAILABLE where the port is not to be had.
  explicit Worker(const WorkerOptions& options);
  ~Worker();  // ends all deployments
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int port() const;

 private:
  class Service;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace mete
