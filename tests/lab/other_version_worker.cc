// A worker with another version of the protocol, for tests of callers that connect to it:
// other_version_worker --listen HOST:PORT
#include <unistd.h>

#include <cstdio>
#include <string>

#include "network/worker/worker.h"

int main(int count, char** words) {
  if (count != 3 || std::string(words[1]) != "--listen") {
    std::fprintf(stderr, "usage: other_version_worker --listen HOST:PORT\n");
    return 2;
  }
  mete::WorkerOptions options;
  options.listen = words[2];
  options.protocol = mete::kProtocol + 1;
  const mete::Worker worker(options);
  for (;;) pause();
}
