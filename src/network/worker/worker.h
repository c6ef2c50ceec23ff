// A worker computes shares of requests for callers that reach its port (network/protocol/worker.proto). A
// worker checks every message before it uses it: message sizes, memory, and the numbers of deployments and
// requests at a time have limits, graphs and programs are verified, and no path that a message names is ever
// opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mete/engine.h"
#include "network/protocol/channel.h"
#include "network/protocol/programs.h"
#include "processor/processor.h"

namespace mete {

struct WorkerOptions {
  std::string listen = "127.0.0.1:0";  // HOST:PORT; port 0: any free port
  Security security;
  // The processors that callers may use, with names of their own; empty: one, the CPU, with the options
  // `session`.
  std::vector<std::shared_ptr<Processor>> processors;
  SessionOptions session = SessionOptions::Estimated();
  std::string weights_folder;  // empty: weights are kept in memory
  // The limit of that folder's size. This value is a guess: several large networks on a card of 32 GB.
  int64_t weights_bytes = int64_t(8) << 30;
  // The limit for shares, their requests, and weights that are not on the disk. This value is a guess: half
  // of a small board's memory.
  int64_t memory_bytes = int64_t(2) << 30;
  int max_deployments = 8;        // at a time; guess
  uint32_t protocol = kProtocol;  // other versions are refused; tests set another one
};

class Worker {
 public:
  // Starts to listen. Error UNAVAILABLE where the port cannot be listened on.
  explicit Worker(const WorkerOptions& options);
  ~Worker();  // ends all deployments
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int port() const;
  int waiting() const;  // requests that wait for pieces of other processors

 private:
  class Service;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace mete
