// Owning pointers for OpenSSL's objects, and the conversion of these objects from and to PEM text. No
// function here asks for a password, and each leaves OpenSSL's queue of errors empty, because other code of
// the process (gRPC) reads that queue too.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace mete {

template <auto kFree>
struct SslFree {
  template <class T>
  void operator()(T* p) const {
    kFree(p);
  }
};
using SslCertificate = std::unique_ptr<X509, SslFree<X509_free>>;
using SslKey = std::unique_ptr<EVP_PKEY, SslFree<EVP_PKEY_free>>;

// Error INTERNAL where `good` is false. For calls of OpenSSL that fail only for lack of memory or of random
// numbers.
void CheckSsl(bool good, const char* what);

// Returns at least one certificate. The first one in a host's file is the host's own, the others belong to
// intermediate authorities. Errors of both functions name `where`.
std::vector<SslCertificate> ParseCertificates(const std::string& pem, const std::string& where);
SslKey ParseKey(const std::string& pem, const std::string& where);

std::string ToPem(X509* certificate);
std::string ToPem(EVP_PKEY* key);

std::time_t TimeOf(const ASN1_TIME* time);
std::string FingerprintOf(const X509* certificate);  // SHA-256, "AB:CD:.."
std::string CommonNameOf(const X509* certificate);   // "" where the certificate has no common name
// Returns the names and IP addresses (subjectAltName) as printable text.
std::vector<std::string> AddressesOf(const X509* certificate);

// ProblemOfTime() returns "" if the certificate is valid at `now`; ProblemOfSignature() if one of
// `authorities` has signed it, perhaps through the intermediate certificates `others`. Otherwise both return
// the reason.
std::string ProblemOfTime(const X509* certificate, std::time_t now);
std::string ProblemOfSignature(X509* certificate, const std::vector<SslCertificate>& others,
                               const std::vector<SslCertificate>& authorities);

}  // namespace mete
