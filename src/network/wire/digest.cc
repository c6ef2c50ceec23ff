#include "network/wire/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace mete {

Digest DigestOf(const ConstView& tensor) {
  const std::string head = fmt::format("{} {}\n", Name(tensor.type), ToString(tensor.shape));
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  Digest digest;
  unsigned length = 0;
  const bool good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), head.data(), head.size()) == 1 &&
                    EVP_DigestUpdate(context.get(), tensor.data, tensor.bytes()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), digest.data(), &length) == 1;
  if (!good || length != digest.size())
    Fail(Code::kInternal, "digest", "SHA-256 cannot be had of the system's OpenSSL");
  return digest;
}

const Digest& DigestMemo::Of(const Tensor& tensor) {
  const auto [known, is_new] = known_.try_emplace({tensor.data(), tensor.type(), ToString(tensor.shape())});
  if (is_new) known->second = {tensor, DigestOf(tensor.view())};
  return known->second.digest;
}

Digest DigestOfText(std::string_view text) {
  return DigestOf({text.data(), DType::kU8, Shape{int64_t(text.size())}});
}

Digest DigestFrom(std::string_view bytes) {
  Digest digest;
  if (bytes.size() != digest.size())
    Invalid("message", "has a digest of the wrong length; got {} bytes, expected {}", bytes.size(),
            digest.size());
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

std::string ToHex(const Digest& digest) {
  std::string text;
  for (const uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace mete
