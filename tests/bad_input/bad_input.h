// A fixture for the tests of bad input: a temporary folder, and the check of the form of messages.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <string>

#include "base/temp_path_testing.h"
#include "import/onnx/models_testing.h"
#include "mete/engine.h"

namespace mete {

// Every line must be "[where] what", where the place is a file, a node or a value. A list of problems has one
// problem per line.
inline void ExpectForm(const std::string& message) {
  std::istringstream lines(message);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind("...", 0) == 0) continue;  // "... and 12 more"
    EXPECT_TRUE(std::regex_search(line, std::regex(R"(^\[.+\] \S)"))) << line;
  }
}

class BadInput : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ / "model"); }

  std::string Write(const std::string& name, const std::string& bytes) {
    const auto path = folder_ / "model" / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  // Returns the error of loading this file as "CODE: message", and checks its form; "" if the file loads.
  std::string LoadError(const std::string& path, const LoadOptions& options = {}) {
    try {
      Model::Load(path, options);
    } catch (const Error& e) {
      if (check_form_) ExpectForm(e.what());
      return std::string(CodeName(e.code())) + ": " + e.what();
    }
    return "";
  }
  std::string LoadError(const ModelProto& model) {
    return LoadError(Write("model.onnx", model.SerializeAsString()));
  }

  bool check_form_ = true;
  const TempPath temp_;
  const std::filesystem::path folder_ = temp_.str();
};

}  // namespace mete
