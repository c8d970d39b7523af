#include "http/access.h"

#include <gtest/gtest.h>

namespace esi::http {
namespace {

TEST(access, loopback_is_one_address_of_each_kind) {
    const auto is = [](const char* text) {
        return is_loopback(boost::asio::ip::make_address(text));
    };
    for (const char* own : {"127.0.0.1", "::1", "::ffff:127.0.0.1"}) EXPECT_TRUE(is(own)) << own;
    // 127.0.0.6 is where Istio hands over connections from outside.
    for (const char* other : {"127.0.0.6", "127.1.2.3", "::ffff:127.0.0.2", "10.0.0.1", "0.0.0.0",
                              "::", "fe80::1", "::2"}) {
        EXPECT_FALSE(is(other)) << other;
    }
}

server_request asked(std::string host, bool loopback = true) {
    server_request out;
    if (!host.empty()) out.headers.emplace_back("host", std::move(host));
    out.peer_is_loopback = loopback;
    return out;
}

TEST(access, only_names_of_this_machine_are_answered) {
    const local_access closed;
    for (const char* own : {"localhost", "LocalHost:8082", "localhost.", "127.0.0.1",
                            "127.0.0.1:8082", "[::1]", "[::1]:8082"}) {
        EXPECT_EQ(closed.refusal(asked(own), "/x"), "") << own;
        EXPECT_NE(closed.refusal(asked(own, false), "/x"), "") << own;
    }
    for (const char* other : {"evil.example", "evil.example:8082", "localhost.evil.example",
                              "127.0.0.1.evil.example", "127.0.0.2", "[::2]", "[::1", "::1",
                              "localhost:", "localhost:x", "[localhost]", "10.0.0.1"}) {
        EXPECT_NE(closed.refusal(asked(other), "/x"), "") << other;
    }
    EXPECT_EQ(closed.refusal(asked(""), "/x"), "") << "no browser";
}

TEST(access, what_a_proxy_handed_on_is_refused) {
    for (const char* name : {"x-forwarded-for", "forwarded", "x-real-ip", "via"}) {
        auto from = asked("localhost");
        from.headers.emplace_back(name, "127.0.0.1");
        EXPECT_NE(local_access{}.refusal(from, "/x"), "") << name;
        local_access open;
        open.open = true;
        EXPECT_EQ(open.refusal(from, "/x"), "") << name;
    }
}

TEST(access, where_it_is_open_the_host_is_one_that_no_page_can_have_or_is_listed) {
    local_access open;
    open.open = true;
    open.hosts = {"esi.example.org", "*.lab.example"};
    for (const char* good : {"localhost:8082", "10.0.0.1:8082", "[2001:db8::1]", "esi-scheduling",
                             "esi-scheduling.esi-system.svc", "a.b.svc.cluster.local:8082",
                             "ESI.example.org:8082", "esi.example.org.", "a.lab.example"}) {
        EXPECT_EQ(open.refusal(asked(good, false), "/x"), "") << good;
    }
    for (const char* bad :
         {"evil.example", "esi.example.org.evil.example", "lab.example", "evillab.example",
          "1.2.3.4.evil.example", "esi-scheduling.esi-system", "0x7f.1", "a.b:x"}) {
        EXPECT_NE(open.refusal(asked(bad, false), "/x"), "") << bad;
    }
    open.hosts = {"*"};
    EXPECT_EQ(open.refusal(asked("evil.example", false), "/x"), "");
}

TEST(access, origins_are_those_of_the_server_itself_or_of_the_list) {
    const std::vector<std::string> none;
    EXPECT_TRUE(may_come_from("", "h:8082", none));
    EXPECT_TRUE(may_come_from("http://h:8082", "h:8082", none));
    EXPECT_TRUE(may_come_from("https://H:8082", "h:8082", none));
    EXPECT_FALSE(may_come_from("http://h:8083", "h:8082", none));
    EXPECT_FALSE(may_come_from("http://h:8082.evil.example", "h:8082", none));
    EXPECT_FALSE(may_come_from("null", "h:8082", none));
    EXPECT_TRUE(may_come_from("http://page.example", "h", {"http://other", "HTTP://page.example"}));
    EXPECT_FALSE(may_come_from("http://page.example", "h", {"http://other"}));
    EXPECT_TRUE(may_come_from("null", "h", {"*"}));
}

TEST(access, pages_of_other_origins_change_nothing) {
    local_access any;
    const auto from = [](std::string method, std::string origin) {
        auto out = asked("localhost:8082");
        out.method = std::move(method);
        if (!origin.empty()) out.headers.emplace_back("origin", std::move(origin));
        return out;
    };
    for (const char* changes : {"POST", "PUT", "DELETE", "PATCH"}) {
        EXPECT_EQ(any.refusal(from(changes, ""), "/x"), "") << changes;
        EXPECT_EQ(any.refusal(from(changes, "http://localhost:8082"), "/x"), "") << changes;
        EXPECT_EQ(any.refusal(from(changes, "http://evil.example"), "/x"),
                  "pages of this Origin may not change anything of /x; --stomp-allowed-origins of "
                  "esi-scheduling lets them");
        EXPECT_NE(any.refusal(from(changes, "null"), "/x"), "") << changes;
    }
    EXPECT_EQ(any.refusal(from("GET", "http://evil.example"), "/x"), "")
        << "it is not shown what it asked for";
    any.origins = {"http://page.example"};
    EXPECT_EQ(any.refusal(from("POST", "http://page.example"), "/x"), "");
    any.open = true;
    EXPECT_NE(any.refusal(from("POST", "http://evil.example"), "/x"), "");
}

}  // namespace
}  // namespace esi::http
