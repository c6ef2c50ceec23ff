#include "serve/http/files.h"

namespace mete {
extern const char kPage[], kOpenApi[];  // made of the files by cmake/text_file.cmake
}

namespace mete::serve {

HttpAnswer PageFile() {
  HttpAnswer answer;
  answer.type = "text/html; charset=utf-8";
  answer.headers = {
      {"Cache-Control", "no-cache"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob: data:; "
       "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"}};
  answer.body = kPage;
  return answer;
}

HttpAnswer OpenApiFile() {
  HttpAnswer answer;
  answer.body = kOpenApi;
  return answer;
}

}  // namespace mete::serve
