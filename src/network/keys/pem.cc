#include "network/keys/pem.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <span>

#include "base/error.h"
#include "network/keys/list.h"

namespace mete {
namespace {

using SslBio = std::unique_ptr<BIO, SslFree<BIO_free_all>>;

SslBio ReaderOf(const std::string& text) {
  SslBio bio(BIO_new_mem_buf(text.data(), int(text.size())));
  CheckSsl(bio != nullptr, "a buffer");
  return bio;
}

SslBio NewBuffer() {
  SslBio bio(BIO_new(BIO_s_mem()));
  CheckSsl(bio != nullptr, "a buffer");
  return bio;
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio, &data);
  return {data, size_t(bytes)};
}

// OpenSSL calls this function instead of asking for a password on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

// Returns whether the reader stopped because the text has no more objects, not because of damage.
bool IsEnd() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

std::string IpText(const ASN1_OCTET_STRING* bytes) {
  const int length = ASN1_STRING_length(bytes);
  char text[INET6_ADDRSTRLEN] = "?";
  if (length == 4 || length == 16)
    inet_ntop(length == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(bytes), text, sizeof text);
  return text;
}

std::string Utf8Of(const ASN1_STRING* text) {
  unsigned char* data = nullptr;
  const int bytes = ASN1_STRING_to_UTF8(&data, text);
  ERR_clear_error();
  if (bytes < 0) return "?";
  const std::string copy(reinterpret_cast<const char*>(data), size_t(bytes));
  OPENSSL_free(data);
  return Printable(copy);
}

}  // namespace

void CheckSsl(bool good, const char* what) {
  if (good) return;
  char reason[256];
  ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
  ERR_clear_error();
  Fail(Code::kInternal, "OpenSSL", "cannot make {}: {}", what, reason);
}

std::vector<SslCertificate> ParseCertificates(const std::string& pem, const std::string& where) {
  const SslBio bio = ReaderOf(pem);
  std::vector<SslCertificate> all;
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, NoPassword, nullptr)) all.emplace_back(one);
  const bool is_end = IsEnd();
  if (!is_end) Invalid(where, "the certificate is damaged; expected PEM text as 'mete keys make' writes it");
  if (all.empty()) Invalid(where, "no certificate in the file; expected '-----BEGIN CERTIFICATE-----'");
  return all;
}

SslKey ParseKey(const std::string& pem, const std::string& where) {
  const SslBio bio = ReaderOf(pem);
  SslKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  if (!key)
    Invalid(where,
            "no private key in the file, or one with a password, or damaged; expected '-----BEGIN PRIVATE "
            "KEY-----'");
  return key;
}

std::string ToPem(X509* certificate) {
  const SslBio bio = NewBuffer();
  CheckSsl(PEM_write_bio_X509(bio.get(), certificate) == 1, "the text of a certificate");
  return TextOf(bio.get());
}

std::string ToPem(EVP_PKEY* key) {
  const SslBio bio = NewBuffer();
  CheckSsl(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
           "the text of a key");
  return TextOf(bio.get());
}

std::time_t TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  const bool good = ASN1_TIME_to_tm(time, &parts) == 1;
  ERR_clear_error();
  return good ? timegm(&parts) : 0;
}

std::string FingerprintOf(const X509* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned bytes = 0;
  CheckSsl(X509_digest(certificate, EVP_sha256(), digest, &bytes) == 1, "a fingerprint");
  return fmt::format("{:02X}", fmt::join(std::span(digest, bytes), ":"));
}

std::string CommonNameOf(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  return at < 0 ? "" : Utf8Of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

std::vector<std::string> AddressesOf(const X509* certificate) {
  using Names = std::unique_ptr<GENERAL_NAMES, SslFree<GENERAL_NAMES_free>>;
  const Names names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  std::vector<std::string> all;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) all.push_back(Utf8Of(name->d.dNSName));
    if (name->type == GEN_IPADD) all.push_back(IpText(name->d.iPAddress));
  }
  return all;
}

std::string ProblemOfTime(const X509* certificate, std::time_t now) {
  const std::time_t from = TimeOf(X509_get0_notBefore(certificate)),
                    until = TimeOf(X509_get0_notAfter(certificate));
  const std::string today = FormatDate(now);
  if (now > until) return fmt::format("expired on {}; got {} as today's date", FormatDate(until), today);
  if (now < from)
    return fmt::format("not valid before {}; got {} as today's date; try setting the clock", FormatDate(from),
                       today);
  return "";
}

std::string ProblemOfSignature(X509* certificate, const std::vector<SslCertificate>& others,
                               const std::vector<SslCertificate>& authorities) {
  struct FreeStack {
    void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
  };
  const std::unique_ptr<STACK_OF(X509), FreeStack> between(sk_X509_new_null());
  const std::unique_ptr<X509_STORE, SslFree<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, SslFree<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  CheckSsl(between && store && context, "a store of certificates");
  for (const SslCertificate& a : authorities)
    CheckSsl(X509_STORE_add_cert(store.get(), a.get()) == 1, "a store of certificates");
  for (const SslCertificate& o : others)
    CheckSsl(sk_X509_push(between.get(), o.get()) > 0, "a store of certificates");
  CheckSsl(X509_STORE_CTX_init(context.get(), store.get(), certificate, between.get()) == 1,
           "a check of certificates");
  // ProblemOfTime() reports times with a better message
  X509_STORE_CTX_set_flags(context.get(), X509_V_FLAG_NO_CHECK_TIME);
  const bool good = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  return good ? "" : X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()));
}

}  // namespace mete
