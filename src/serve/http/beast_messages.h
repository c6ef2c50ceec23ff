// Requests and answers as Boost.Beast has them, to and from the values that routes see.
#pragma once

#include <boost/beast/http.hpp>

#include "serve/http/message.h"

namespace mete::serve {

// The request without its body.
HttpRequest RequestOf(const boost::beast::http::request_header<>& header);

// `stay`: whether the connection goes on. To HEAD the answer has the length of its body alone.
boost::beast::http::response<boost::beast::http::string_body> MessageOf(HttpAnswer answer,
                                                                        const HttpRequest& request,
                                                                        bool stay);

}  // namespace mete::serve
