// Whether openapi.json is true: each of its operations is asked for, and what comes back is what it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/json.h"
#include "base/temp_path_testing.h"
#include "serve/http/files.h"
#include "serve/http/routes.h"

namespace mete::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Replaced(std::string text, const std::string& part, const std::string& by) {
  if (const size_t at = text.find(part); at != text.npos) text.replace(at, part.size(), by);
  return text;
}

class OpenApi : public testing::Test {
 protected:
  OpenApi() : description_(Json::parse(OpenApiFile().body)) {
    std::filesystem::create_directory(repository_.str());
    for (const char* file : {"digits.onnx", "digits.toml", "digits.labels.txt"})
      std::filesystem::copy("models/" + std::string(file), repository_.str());
    server_ =
        std::make_unique<Server>(ServerOptions{.repository = repository_.str(), .session = {.threads = 1}});
    RouteOptions options;
    options.token = "secret";
    routes_ = std::make_unique<Routes>(*server_, options);
  }

  HttpAnswer Ask(const HttpRequest& request) const {
    auto answer = std::make_shared<std::promise<HttpAnswer>>();
    routes_->Answer(request,
                    [answer](const std::function<HttpAnswer()>& make) { answer->set_value(make()); });
    return answer->get_future().get();
  }

  // Calls `check(path, method, operation)` for each operation.
  void ForEach(const std::function<void(const std::string&, const std::string&, const Json&)>& check) const {
    for (const auto& [path, methods] : description_["paths"].items())
      for (const auto& [method, operation] : methods.items()) {
        std::string upper = method;
        for (char& c : upper) c = char(std::toupper(c));
        SCOPED_TRACE(upper + " " + path);
        check(path, upper, operation);
      }
  }

  const Json& Resolved(const Json& j) const {
    if (!j.contains("$ref")) return j;
    return description_.at(Json::json_pointer(j["$ref"].get<std::string>().substr(1)));
  }

  // The rules of JSON Schema that the description has.
  bool Fits(const Json& value, const Json& schema_or_ref) const {
    const Json& schema = Resolved(schema_or_ref);
    if (schema.contains("anyOf")) {
      const Json& any = schema["anyOf"];
      return std::any_of(any.begin(), any.end(), [&](const Json& one) { return Fits(value, one); });
    }
    if (schema.contains("type") && !IsOf(value, schema["type"])) return false;
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      return false;
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) return false;
    if (value.is_array() && schema.contains("items"))
      return std::all_of(value.begin(), value.end(),
                         [&](const Json& item) { return Fits(item, schema["items"]); });
    if (!value.is_object()) return true;
    const Json required = schema.value("required", Json::array()),
               properties = schema.value("properties", Json::object());
    for (const Json& name : required)
      if (!value.contains(name.get<std::string>())) return false;
    for (const auto& [name, property] : properties.items())
      if (value.contains(name) && !Fits(value[name], property)) return false;
    return true;
  }

  static bool IsOf(const Json& value, const Json& type) {
    if (type.is_array())
      return std::any_of(type.begin(), type.end(), [&](const Json& one) { return IsOf(value, one); });
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "integer" && value.is_number_integer()) || (type == "number" && value.is_number()) ||
           (type == "null" && value.is_null());
  }

  // Expects an answer with this status whose type and body the operation describes.
  void ExpectDescribed(const HttpAnswer& answer, int status, const Json& operation) const {
    EXPECT_EQ(answer.status, status) << answer.body.substr(0, 300);
    const std::string code = std::to_string(answer.status);
    ASSERT_TRUE(operation["responses"].contains(code)) << code;
    const Json& response = Resolved(operation["responses"][code]);
    for (const auto& [name, value] : answer.headers)
      if (name == "Mete-Wait-Ms" || name == "Retry-After") {
        EXPECT_TRUE(response.value("headers", Json::object()).contains(name)) << name;
      }
    const std::string type = answer.type.substr(0, answer.type.find(';'));
    ASSERT_TRUE(response["content"].contains(type)) << type;
    if (type != "application/json") return;
    EXPECT_TRUE(Fits(Json::parse(answer.body), response["content"][type]["schema"]))
        << answer.body.substr(0, 300);
  }

  HttpRequest Good(const std::string& path, const std::string& method, const std::string& model = "digits",
                   const std::string& version = "1") const {
    HttpRequest request;
    request.method = method;
    request.target = Replaced(Replaced(path, "{model}", model), "{version}", version);
    if (method == "POST" && path.ends_with("/classify")) request.body = FileText("models/digit.png");
    if (path.ends_with("/infer")) {
      const Json input = {{"name", "image"},
                          {"datatype", "FP32"},
                          {"shape", {1, 3, 32, 32}},
                          {"data", std::vector<float>(3 * 32 * 32, 0.5f)}};
      request.body = Json{{"inputs", Json::array({input})}}.dump();
    }
    return request;
  }

  const Json description_;
  TempPath repository_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Routes> routes_;
};

TEST_F(OpenApi, EachOperationAnswersAsDescribed) {
  int operations = 0;
  ForEach([&](const std::string& path, const std::string& method, const Json& operation) {
    ++operations;
    ExpectDescribed(Ask(Good(path, method)), 200, operation);
    if (path.ends_with("/unload")) server_->Load("digits");
    HttpRequest with_slash = Good(path, method);
    with_slash.target += with_slash.target == "/" ? "" : "/";
    ExpectDescribed(Ask(with_slash), 200, operation);
  });
  EXPECT_GE(operations, 22);
}

TEST_F(OpenApi, UnknownModelsAndVersionsAreNotFound) {
  ForEach([&](const std::string& path, const std::string& method, const Json& operation) {
    if (path.find("{model}") != path.npos) ExpectDescribed(Ask(Good(path, method, "none")), 404, operation);
    if (path.find("{version}") != path.npos)
      ExpectDescribed(Ask(Good(path, method, "digits", "9")), 404, operation);
  });
}

TEST_F(OpenApi, OtherMethodsAreRefused) {
  ForEach([&](const std::string& path, const std::string&, const Json& operation) {
    for (const std::string method : {"GET", "POST", "PUT", "DELETE", "PATCH"}) {
      const std::string key = method == "GET" ? "get" : method == "POST" ? "post" : "other";
      if (description_["paths"][path].contains(key)) continue;
      ExpectDescribed(Ask(Good(path, method)), 405, operation);
      ExpectDescribed(Ask(Good(path, method, "none")), 405, operation);  // whatever the model is
    }
  });
}

TEST_F(OpenApi, CallersNeedATokenWhereItSaysSo) {
  ForEach([&](const std::string& path, const std::string& method, const Json& operation) {
    HttpRequest request = Good(path, method);
    const auto refusal = routes_->Refusal(request);
    if (operation.contains("security") && operation["security"].empty()) {
      EXPECT_EQ(refusal, std::nullopt);
      return;
    }
    ASSERT_TRUE(refusal);
    ExpectDescribed(*refusal, 401, operation);
    request.headers["authorization"] = "Bearer secret";
    EXPECT_FALSE(routes_->Refusal(request));
  });
}

TEST_F(OpenApi, PagesOfOthersMayReadAlone) {
  const Routes without_token(*server_, RouteOptions());
  int refused = 0;
  ForEach([&](const std::string& path, const std::string& method, const Json& operation) {
    HttpRequest request = Good(path, method);
    request.headers["host"] = "localhost:8080";
    EXPECT_FALSE(without_token.Refusal(request));
    request.headers["origin"] = "http://localhost:8080";
    EXPECT_FALSE(without_token.Refusal(request));
    request.headers["origin"] = "http://pages.example";
    const auto refusal = without_token.Refusal(request);
    EXPECT_EQ(refusal.has_value(), method == "POST");
    if (!refusal) return;
    ExpectDescribed(*refusal, 403, operation);
    ++refused;
    request.headers["authorization"] = "Bearer secret";
    EXPECT_FALSE(routes_->Refusal(request));  // a page that has the token is not foreign
  });
  EXPECT_GE(refused, 7);
}

TEST_F(OpenApi, BadRequestsAreAnsweredAsDescribed) {
  const auto operation = [&](const char* path) { return description_["paths"][path]["post"]; };
  const char* infer = "/v2/models/{model}/infer";
  HttpRequest request = Good(infer, "POST");
  request.body = "{";
  ExpectDescribed(Ask(request), 400, operation(infer));
  request.body = R"({"inputs":[{"name":"image","datatype":"FP32","shape":[100000,100000],"data":[]}]})";
  ExpectDescribed(Ask(request), 413, operation(infer));
  request = Good(infer, "POST");
  request.headers["inference-header-content-length"] = "";
  ExpectDescribed(Ask(request), 400, operation(infer));
  request = Good(infer, "POST");
  request.headers["content-encoding"] = "gzip";
  ExpectDescribed(Ask(request), 415, operation(infer));
  const char* classify = "/v2/models/{model}/classify";
  request = Good(classify, "POST");
  request.headers["content-type"] = "text/plain";
  ExpectDescribed(Ask(request), 415, operation(classify));
  request = Good(classify, "POST");
  request.body = "no picture";
  ExpectDescribed(Ask(request), 400, operation(classify));
  request = Good(classify, "POST");
  request.headers["timeout-ms"] = "0";
  ExpectDescribed(Ask(request), 400, operation(classify));
}

TEST_F(OpenApi, UsesAllOfItsSchemas) {
  for (const auto& [name, schema] : description_["components"]["schemas"].items()) {
    const std::string ref = "\"#/components/schemas/" + name + "\"";
    EXPECT_NE(description_.dump().find(ref), std::string::npos) << name << " is not used";
  }
}

}  // namespace
}  // namespace mete::serve
