#include "serve_worker.h"

#include "mete/device.h"
#include "processor/cpu/cpu.h"
#include "serve/shares/slot_processor.h"

namespace mete::cli {

std::unique_ptr<Worker> StartWorker(const std::string& listen, const Security& security,
                                    const SessionOptions& session, int slots, serve::Server& server) {
  SessionOptions one = session;
  one.threads = 1;
  one.cores.clear();  // the slot pins its thread
  one.speeds.clear();
  WorkerOptions options;
  options.listen = listen;
  options.security = security;
  if (!security.token.empty()) options.security.ca.clear();  // as over HTTP
  options.session = session;                                 // callers are told how many threads
  options.processors = {std::make_shared<serve::SlotProcessor>(
      std::make_shared<Cpu>("cpu", session), std::make_shared<Cpu>("cpu", std::move(one)), slots, server)};
  if (const std::string cache = CacheFolder(); !cache.empty()) options.weights_folder = cache + "/received";
  return std::make_unique<Worker>(options);
}

}  // namespace mete::cli
