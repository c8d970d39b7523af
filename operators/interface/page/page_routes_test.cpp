#include "interface/page/page_routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <set>

#include "interface/page/page_files.h"

namespace esi::interface::page {
namespace {

class page_at_root : public testing::Test {
protected:
    void SetUp() override {
        add_to(router);
        router.on_miss("/", [](const http::server_request&, const std::vector<std::string>& known) {
            return http::server_reply(known.empty() ? 404 : 405, "text/plain", "missed");
        });
    }
    http::server_reply ask(std::string method, std::string path,
                           std::vector<std::pair<std::string, std::string>> headers = {}) {
        http::server_request request;
        request.method = std::move(method);
        request.raw_path = std::move(path);
        request.headers = std::move(headers);
        asio::io_context loop;
        std::optional<http::server_reply> out;
        asio::co_spawn(loop, router.answer(std::move(request)),
                       [&](std::exception_ptr failed, http::server_reply reply) {
                           EXPECT_FALSE(failed);
                           out = std::move(reply);
                       });
        loop.run();
        return out.value_or(http::server_reply(599, "", "no answer"));
    }
    static std::string header(const http::server_reply& of, std::string_view name) {
        for (const auto& [key, value] : of.headers) {
            if (key == name) return value;
        }
        return "(none)";
    }
    const std::string browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    http::router router;
};

TEST_F(page_at_root, a_browser_gets_the_page) {
    const auto got = ask("GET", "/", {{"accept", browser}});
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.content_type, "text/html;charset=utf-8");
    EXPECT_TRUE(got.body.starts_with("<!doctype html>")) << got.body.substr(0, 40);
    EXPECT_EQ(header(got, "Vary"), "Accept");
    EXPECT_EQ(header(got, "Cache-Control"), "no-cache");
}

TEST_F(page_at_root, all_that_is_not_a_browsers_read_of_the_root_goes_on_as_without_a_page) {
    for (const auto* accept : {"", "*/*", "application/json", "text/*", "text/html;q=0",
                               "text/html;level=1;q=0.000", "text/htmlx"}) {
        EXPECT_EQ(ask("GET", "/", {{"accept", accept}}).status, 404) << accept;
    }
    EXPECT_EQ(ask("GET", "/").body, "missed");
    for (const auto* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
        EXPECT_EQ(ask(method, "/", {{"accept", browser}}).status, 404) << method;
    }
    EXPECT_EQ(ask("GET", "//", {{"accept", browser}}).body, "missed");
    EXPECT_EQ(ask("GET", "/index.html", {{"accept", browser}}).body, "missed");
}

TEST_F(page_at_root, accept_names_html_in_any_case_and_place_and_with_parameters) {
    for (const auto* accept : {"text/html", "TEXT/HTML", "application/json, text/html;q=0.001",
                               " text/html ; charset=utf-8 ; q=1.0"}) {
        EXPECT_TRUE(names_html(accept)) << accept;
    }
    EXPECT_FALSE(names_html("text/plain, */*;q=0.1"));
}

TEST_F(page_at_root,
       each_file_is_served_with_its_type_and_a_policy_that_allows_its_own_origin_only) {
    std::set<std::string> types;
    for (const auto& each : files()) {
        if (each.name == "index.html") continue;
        const auto got = ask("GET", "/page/" + std::string(each.name));
        EXPECT_EQ(got.status, 200) << each.name;
        EXPECT_EQ(got.body, each.content) << each.name;
        types.insert(got.content_type);
        const auto policy = header(got, "Content-Security-Policy");
        EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
        for (const auto* part : {"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                                 "require-trusted-types-for 'script'"}) {
            EXPECT_NE(policy.find(part), std::string::npos) << part;
        }
        EXPECT_EQ(policy.find("unsafe"), std::string::npos);
        EXPECT_EQ(policy.find("http"), std::string::npos);
        EXPECT_EQ(header(got, "Referrer-Policy"), "no-referrer");
        EXPECT_EQ(header(got, "Cross-Origin-Opener-Policy"), "same-origin");
    }
    EXPECT_EQ(types, (std::set<std::string>{"text/javascript;charset=utf-8",
                                            "text/css;charset=utf-8", "image/svg+xml"}));
}

TEST_F(page_at_root, a_file_that_there_is_not_is_missed_and_no_path_leads_out) {
    for (const auto* path : {"/page/nothing.js", "/page/", "/page/../index.html",
                             "/page/%2e%2e/index.html", "/page/index.html", "/page/app.js/"}) {
        EXPECT_EQ(ask("GET", path, {{"accept", browser}}).status, 404) << path;
    }
    EXPECT_EQ(ask("POST", "/page/app.js").status, 405);
}

TEST_F(page_at_root, what_the_browser_has_already_is_not_sent_again) {
    const auto first = ask("GET", "/page/app.js");
    const auto tag = header(first, "ETag");
    EXPECT_EQ(tag.size(), 66U);
    for (const auto& known : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
        const auto again = ask("GET", "/page/app.js", {{"if-none-match", known}});
        EXPECT_EQ(again.status, 304) << known;
        EXPECT_EQ(again.body, "");
        EXPECT_EQ(header(again, "ETag"), tag);
        EXPECT_EQ(header(again, "Cache-Control"), "no-cache");
    }
    EXPECT_EQ(ask("GET", "/page/app.js", {{"if-none-match", "\"other\""}}).status, 200);
    EXPECT_EQ(ask("GET", "/", {{"accept", browser}, {"if-none-match", tag}}).status, 200);
}

/// In double quotes behind `before`.
std::vector<std::string> quoted(std::string_view text, std::string_view before) {
    std::vector<std::string> out;
    for (auto at = text.find(before); at != std::string_view::npos; at = text.find(before, at)) {
        at += before.size();
        const auto end = text.find('"', at);
        if (end == std::string_view::npos) break;
        out.emplace_back(text.substr(at, end - at));
        at = end;
    }
    return out;
}

TEST_F(page_at_root, all_that_the_page_refers_to_is_embedded_and_nothing_is_embedded_in_vain) {
    std::set<std::string> named = {"index.html"};
    for (const auto& each : files()) {
        for (const auto* before : {"src=\"/page/", "href=\"/page/", "from \"./"}) {
            for (const auto& name : quoted(each.content, before)) named.insert(name);
        }
    }
    std::set<std::string> embedded;
    for (const auto& each : files()) embedded.emplace(each.name);
    EXPECT_EQ(named, embedded);
}

TEST_F(page_at_root, no_file_names_another_server_or_carries_a_script_or_style_in_line) {
    for (const auto& each : files()) {
        if (each.name.ends_with(".svg")) continue;  // names its XML namespace
        EXPECT_EQ(each.content.find("://"), std::string_view::npos) << each.name;
        EXPECT_EQ(each.content.find("<script>"), std::string_view::npos) << each.name;
        EXPECT_EQ(each.content.find("innerHTML"), std::string_view::npos) << each.name;
        EXPECT_EQ(each.content.find(" style=\""), std::string_view::npos) << each.name;
        EXPECT_EQ(each.content.find("sessionStorage"), std::string_view::npos) << each.name;
        EXPECT_EQ(each.content.find("document.cookie"), std::string_view::npos) << each.name;
    }
}

}  // namespace
}  // namespace esi::interface::page
