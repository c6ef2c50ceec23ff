// A server of models/digits.onnx on a free port of the loopback, for tests of HTTP's two ends.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/temp_path_testing.h"
#include "serve/http/http_server.h"

namespace mete::serve {

class DigitsServer : public testing::Test {
 protected:
  DigitsServer() {
    std::filesystem::create_directory(repository_.str());
    for (const char* file : {"digits.onnx", "digits.toml", "digits.labels.txt"})
      std::filesystem::copy("models/" + std::string(file), repository_.str());
    ServerOptions options;
    options.repository = repository_.str();
    options.session = SessionOptions::Estimated();
    server_ = std::make_unique<Server>(options);
    Start({});
  }

  void Start(RouteOptions routing, HttpOptions options = {}) {
    http_.reset();
    routes_ = std::make_unique<Routes>(*server_, routing);
    options.listen = "127.0.0.1:0";
    http_ = std::make_unique<HttpServer>(*routes_, options);
  }

  const TempPath repository_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Routes> routes_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace mete::serve
