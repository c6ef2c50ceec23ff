// A client's kept connection: a request goes out and its answer comes back, both as texts. Only this folder
// and serve/http know HTTP.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "serve/client/client.h"

namespace mete::serve {

struct Received {
  Code code = Code::kOk;  // kOk: an answer with any status
  std::string problem = {};
  int status = 0;
  std::map<std::string, std::string> headers = {};  // the names in small letters
  std::string body = {};
  CallTimes times = {};
};

class ClientConnection {
 public:
  explicit ClientConnection(const ClientOptions& options);  // Error INVALID_ARGUMENT
  ~ClientConnection();

  Received Exchange(const Request& request, Deadline deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete::serve
