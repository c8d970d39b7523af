#include "http/certificate.h"

#include <gtest/gtest.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <utility>

namespace esi::http {
namespace {

using parts = std::vector<std::pair<int, std::string>>;

certificate_subject subject_with(const parts& of) {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
    auto* name = X509_get_subject_name(certificate.get());
    for (const auto& [part, text] : of) {
        X509_NAME_add_entry_by_NID(name, part, MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()), -1, 0);
    }
    return subject_of(certificate.get());
}

TEST(certificate, its_subject_is_one_common_name_and_any_organizations) {
    const auto anna = subject_with({{NID_organizationName, "planners"},
                                    {NID_commonName, "anna"},
                                    {NID_organizationalUnitName, "unit"},
                                    {NID_organizationName, "b\u00fcro"}});
    EXPECT_EQ(anna.common_name, "anna");
    EXPECT_EQ(anna.organizations, (std::vector<std::string>{"planners", "b\u00fcro"}));
}

TEST(certificate, several_common_names_or_none_name_nobody) {
    EXPECT_EQ(subject_with({{NID_commonName, "anna"}, {NID_commonName, "ben"}}).common_name, "");
    EXPECT_EQ(subject_with({{NID_organizationName, "planners"}}).common_name, "");
}

TEST(certificate, a_zero_byte_in_a_name_cuts_nothing_off) {
    const std::string tricky("admin\0.evil", 11);
    EXPECT_EQ(subject_with({{NID_commonName, tricky}}).common_name, tricky);
}

wall_time end_with(const char* not_after) {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
    if (not_after != nullptr) {
        ASN1_TIME_set_string(X509_getm_notAfter(certificate.get()), not_after);
    }
    return subject_of(certificate.get()).not_after;
}

TEST(certificate, its_end_is_read_in_both_forms_of_time) {
    using namespace std::chrono;
    EXPECT_EQ(end_with("261121092340Z"),
              sys_days(2026y / November / 21) + hours(9) + minutes(23) + seconds(40));
    EXPECT_EQ(end_with("99991231235959Z"), sys_days(10000y / January / 1) - seconds(1));
}

TEST(certificate, one_without_an_end_has_ended) {
    EXPECT_TRUE(subject_with({{NID_commonName, "anna"}}).has_ended(system_clock().wall()));
    EXPECT_EQ(end_with(nullptr), wall_time{});
}

}  // namespace
}  // namespace esi::http
