#include "interface/v1/access/credential.h"

#include <gtest/gtest.h>

#include "interface/v1/access/digest.h"

namespace esi::interface::v1 {
namespace {

constexpr wall_time some_time = std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) +
                                std::chrono::hours(9) + std::chrono::minutes(23);

http::server_request with(std::vector<std::pair<std::string, std::string>> headers) {
    http::server_request out;
    out.headers = std::move(headers);
    return out;
}

TEST(credential, a_bearer_token_is_read_from_the_one_header_authorization) {
    EXPECT_EQ(bearer_token(with({})).value(), "");
    for (const char* value :
         {"Bearer abc.d-_~+/e==", "bearer  abc.d-_~+/e==", "BEARER abc.d-_~+/e=="}) {
        EXPECT_EQ(bearer_token(with({{"authorization", value}})).value(), "abc.d-_~+/e==") << value;
    }
    for (const char* name : {"x-remote-user", "x-forwarded-user", "impersonate-user",
                             "proxy-authorization", "x-authorization"}) {
        EXPECT_EQ(bearer_token(with({{name, "Bearer abc"}})).value(), "") << name;
    }
}

TEST(credential, what_is_no_token_is_told_without_a_part_of_it) {
    for (const char* value : {"Basic c2VjcmV0", "Bearer", "Bearer ", "Bearer s3cret s3cret",
                              "Bearer s3c=ret", "Bearer =", "Bearer s3cr\xc3\xa9t", "s3cret"}) {
        const auto token = bearer_token(with({{"authorization", value}}));
        ASSERT_FALSE(token) << value;
        EXPECT_EQ(token.error().find("s3c"), std::string::npos) << token.error();
        EXPECT_EQ(token.error().find("c2V"), std::string::npos) << token.error();
    }
    EXPECT_FALSE(
        bearer_token(with({{"authorization", "Bearer a"}, {"authorization", "Bearer b"}})));
}

TEST(credential, an_empty_token_is_told_as_what_it_is) {
    for (const char* value : {"Bearer", "Bearer ", "bearer  ", "BEARER\t"}) {
        EXPECT_EQ(bearer_token(with({{"authorization", value}})).error(),
                  "Authorization has the scheme Bearer and no token behind it")
            << value;
    }
}

TEST(credential, the_subject_of_a_certificate_is_user_and_groups) {
    const auto who = identity_of({"anna", {"planners", "staff"}}, some_time);
    ASSERT_TRUE(who);
    EXPECT_EQ((*who)->name, "anna");
    EXPECT_EQ((*who)->groups,
              (std::vector<std::string>{"planners", "staff", "system:authenticated"}));
}

TEST(credential, a_certificate_names_nobody_of_the_cluster_itself_and_nobody_unclear) {
    const http::certificate_subject bad[] = {
        {"", {"planners"}},
        {"system:admin", {}},
        {"anna", {"system:masters"}},
        {"anna", {"staff", "system:nodes"}},
        {std::string("anna\0b", 6), {}},
        {"an\nna", {}},
        {std::string(257, 'a'), {}},
        {"anna", std::vector<std::string>(65, "staff")},
        {"anna", {""}},
        {"a\xff", {}},
    };
    for (const auto& subject : bad) EXPECT_FALSE(identity_of(subject, some_time));
}

TEST(credential, a_certificate_names_nobody_from_its_end_on) {
    const http::certificate_subject anna{"anna", {}, some_time + seconds(40)};
    EXPECT_TRUE(identity_of(anna, some_time + seconds(40) - std::chrono::microseconds(1)));
    const auto after = identity_of(anna, some_time + seconds(40));
    ASSERT_FALSE(after);
    EXPECT_EQ(
        after.error(),
        "the client certificate of this connection has expired: it was valid until "
        "2026-11-21T09:23:40Z; open a new connection with a new certificate, or send a bearer "
        "token");
}

TEST(credential, plain_names_are_utf8_without_control_characters) {
    EXPECT_TRUE(is_plain_name("system:serviceaccount:default:anna"));
    EXPECT_TRUE(is_plain_name("j\xc3\xbcrgen@example.org"));
    EXPECT_FALSE(is_plain_name("a\xc2\x9b")) << "a control character of C1";
    EXPECT_FALSE(is_plain_name("a\x7f"));
    EXPECT_FALSE(is_plain_name("a\xc2"));
}

TEST(digest, is_sha256) {
    const auto digest = sha256("abc");
    ASSERT_EQ(digest.size(), 32U);
    // FIPS 180-2, B.1
    EXPECT_EQ(digest.substr(0, 4), "\xba\x78\x16\xbf");
    EXPECT_EQ(digest.substr(28), std::string("\xf2\x00\x15\xad", 4));
}

}  // namespace
}  // namespace esi::interface::v1
