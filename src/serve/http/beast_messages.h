// Requests and answers as Boost.Beast has them, to and from the values that routes see.
#pragma once

#include <boost/beast/http.hpp>
#include <optional>

#include "serve/http/message.h"

namespace mete::serve {

// The request without its body.
HttpRequest RequestOf(const boost::beast::http::request_header<>& header);

// The answer to bytes that are no HTTP/1.1, or too many of it, in a header or in a body whose length is not
// told, where a header may have `header_bytes`; nothing: there is no problem, or the connection was lost or
// is too slow.
std::optional<HttpAnswer> RefusalOf(boost::system::error_code problem, bool in_body, int64_t header_bytes);

// Returns memory for a body of `bytes` bytes, aligned so that a binary tensor in it can be read in place. The
// operating system supplies a page when the first of its bytes is written.
HttpBody RoomFor(const HttpRequest& request, size_t bytes);

// `stay`: whether the connection goes on. To HEAD the answer has the length of its body alone.
boost::beast::http::response<boost::beast::http::string_body> MessageOf(HttpAnswer answer,
                                                                        const HttpRequest& request,
                                                                        bool stay);

}  // namespace mete::serve
