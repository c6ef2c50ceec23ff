// How a connection ends that has answered a request before it has read all of it.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>

namespace mete::serve {

// Reads what the caller still sends, such as a body that was refused, so that the answer is not lost by a
// reset. Keeps `keep`, which owns the others, until the end.
void Linger(boost::beast::tcp_stream& stream, boost::beast::flat_buffer& buffer, std::shared_ptr<void> keep);

}  // namespace mete::serve
