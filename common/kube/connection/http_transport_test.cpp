#include "kube/connection/http_transport.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>

#include "base/task_group.h"
#include "http/problem.h"
#include "http/server.h"
#include "http/tls_files.h"

namespace esi::kube {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

/// A server that sends what the test says, connection by connection, whatever the request is.
class scripted_server {
public:
    /// One connection: each text is sent after a request (or the next piece of one) came in; then
    /// it is closed, or kept open.
    struct conversation {
        std::vector<std::string> answers;
        bool close_after = true;
    };

    scripted_server(asio::io_context& loop, std::vector<conversation> script)
        : acceptor_(loop, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
          tasks_(loop.get_executor()) {
        tasks_.spawn("accept", accept(std::move(script)));
    }
    ~scripted_server() {
        error_code ignored;
        acceptor_.close(ignored);
        for (auto& socket : open_) socket->close(ignored);
    }
    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }
    int connections = 0;
    int ended = 0;
    std::vector<std::string> heard;

private:
    asio::awaitable<void> accept(std::vector<conversation> script) {
        for (auto& one : script) {
            error_code failure;
            auto socket =
                co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, failure));
            if (failure) co_return;
            ++connections;
            open_.push_back(std::make_shared<tcp::socket>(std::move(socket)));
            tasks_.spawn("talk", talk(open_.back(), std::move(one)));
        }
    }
    asio::awaitable<void> talk(std::shared_ptr<tcp::socket> socket, conversation what) {
        std::array<char, 65536> space;
        error_code failure;
        for (const auto& answer : what.answers) {
            const auto count = co_await socket->async_read_some(
                asio::buffer(space), asio::redirect_error(asio::use_awaitable, failure));
            if (failure) break;
            heard.emplace_back(space.data(), count);
            co_await asio::async_write(*socket, asio::buffer(answer),
                                       asio::redirect_error(asio::use_awaitable, failure));
        }
        if (what.close_after) {
            socket->close(failure);
        } else {
            while (!failure) {
                co_await socket->async_read_some(
                    asio::buffer(space), asio::redirect_error(asio::use_awaitable, failure));
            }
        }
        ++ended;
    }

    tcp::acceptor acceptor_;
    task_group tasks_;
    std::vector<std::shared_ptr<tcp::socket>> open_;
};

std::string ok(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class transport_test : public testing::Test {
protected:
    std::unique_ptr<http_transport> to(const std::string& url) {
        access.cluster.server = url;
        auto made = http_transport::make(loop.get_executor(), time, access, options);
        EXPECT_TRUE(made) << made.error().text;
        return made ? std::move(*made) : nullptr;
    }

    /// Runs the loop until the task has ended, five seconds at most.
    template <class T>
    result<T> run(asio::awaitable<result<T>> task) {
        std::optional<result<T>> out;
        asio::co_spawn(loop, std::move(task), [&](std::exception_ptr failure, result<T> answer) {
            if (failure) std::rethrow_exception(failure);
            out.emplace(std::move(answer));
        });
        run_until([&] { return out.has_value(); });
        if (!out) return fail(errc::timeout, "the test's limit");
        return std::move(*out);
    }
    template <class Reached>
    bool run_until(Reached reached) {
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!reached() && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(std::chrono::milliseconds(20));
        }
        return reached();
    }
    result<response> get(http_transport& wire, const std::string& target = "/x") {
        return run(wire.send(request("GET", target), soon()));
    }
    result<response> post(http_transport& wire, bool safe) {
        request what("POST", "/x");
        what.body = "{}";
        what.content_type = "application/json";
        what.safe_to_repeat = safe;
        return run(wire.send(std::move(what), soon()));
    }
    steady_time soon() const { return time.now() + seconds(4); }

    asio::io_context loop;
    system_clock time;
    cluster_access access;
    http_transport_options options;
};

TEST_F(transport_test, sends_what_the_api_server_needs_and_reads_the_answer) {
    access.user.token = "secret";
    options.user_agent = "esi-testbed/1";
    scripted_server server(
        loop, {{{"HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nWarning: 299 - \"old \\\"v1\\\"\"\r\n"
                 "Warning: 299 - \"other\"\r\nContent-Length: 2\r\n\r\n{}"}}});
    auto wire = to(server.url() + "/prefix/");
    request what("PATCH", "/api/v1/x?a=b");
    what.content_type = "application/merge-patch+json";
    what.body = "{\"a\":1}";
    auto answer = run(wire->send(std::move(what), soon()));
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->status, 429);
    EXPECT_EQ(answer->retry_after_seconds, 7);
    EXPECT_EQ(answer->warnings, (std::vector<std::string>{"old \"v1\"", "other"}));
    EXPECT_EQ(answer->body, "{}");
    EXPECT_EQ(server.heard.at(0),
              "PATCH /prefix/api/v1/x?a=b HTTP/1.1\r\nHost: " + wire->host() +
                  "\r\nUser-Agent: esi-testbed/1\r\nAccept: application/json\r\n"
                  "Authorization: Bearer secret\r\n"
                  "Content-Type: application/merge-patch+json\r\n"
                  "Content-Length: 7\r\n\r\n{\"a\":1}");
}

TEST_F(transport_test, the_answer_is_asked_for_in_the_form_that_the_request_names) {
    scripted_server server(loop, {{{ok("{}")}}});
    auto wire = to(server.url());
    request what("GET", "/api/v1/x");
    what.accept = "application/json;as=PartialObjectMetadata";
    ASSERT_TRUE(run(wire->send(std::move(what), soon())));
    EXPECT_TRUE(
        server.heard.at(0).contains("\r\nAccept: application/json;as=PartialObjectMetadata\r\n"))
        << server.heard.at(0);
}

TEST_F(transport_test, a_large_answer_comes_whole) {
    std::string body;
    for (int i = 0; body.size() < 1'000'000; ++i) body += std::to_string(i) + ' ';
    scripted_server server(loop, {{{ok(body), ok("next")}, false}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, body);
    EXPECT_EQ(get(*wire)->body, "next");
    EXPECT_EQ(server.connections, 1);
}

TEST_F(transport_test, a_connection_serves_one_request_after_the_other) {
    scripted_server server(loop, {{{ok("1"), ok("2"), ok("3")}, false}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, "1");
    EXPECT_EQ(get(*wire)->body, "2");
    EXPECT_EQ(post(*wire, false)->body, "3");
    EXPECT_EQ(server.connections, 1);
}

TEST_F(transport_test, a_connection_that_the_server_closed_meanwhile_is_not_used) {
    scripted_server server(loop, {{{ok("1")}}, {{ok("2")}}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, "1");
    run_until([&] { return server.ended == 1; });
    EXPECT_EQ(post(*wire, false)->body, "2");
    EXPECT_EQ(server.connections, 2);
}

TEST_F(transport_test, connection_close_is_honoured) {
    scripted_server server(
        loop, {{{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na"}, false},
               {{ok("b")}, false}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, "a");
    EXPECT_EQ(get(*wire)->body, "b");
    EXPECT_EQ(server.connections, 2);
}

/// The second request reaches the first connection, which then ends without a byte of an answer.
std::vector<scripted_server::conversation> stale_script() {
    return {{{ok("1"), ""}}, {{ok("2")}, false}};
}

TEST_F(transport_test, a_read_on_a_stale_connection_is_repeated_on_a_new_one) {
    scripted_server server(loop, stale_script());
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, "1");
    auto second = get(*wire);
    ASSERT_TRUE(second) << second.error().text;
    EXPECT_EQ(second->body, "2");
    EXPECT_EQ(server.connections, 2);
}

TEST_F(transport_test, a_guarded_write_is_repeated_and_an_unguarded_one_is_not) {
    for (const bool safe : {true, false}) {
        scripted_server server(loop, stale_script());
        auto wire = to(server.url());
        EXPECT_EQ(get(*wire)->body, "1");
        auto second = post(*wire, safe);
        EXPECT_EQ(second.has_value(), safe);
        if (!second) EXPECT_EQ(second.error().code, errc::transport) << second.error().text;
    }
}

TEST_F(transport_test, a_broken_answer_is_never_repeated) {
    scripted_server server(
        loop, {{{ok("1"), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"}}, {{ok("2")}}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, "1");
    auto second = get(*wire);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, errc::transport);
    EXPECT_EQ(server.connections, 1);
}

TEST_F(transport_test, a_server_that_says_nothing_is_a_timeout) {
    scripted_server server(loop, {{{""}, false}});
    auto wire = to(server.url());
    const auto begun = time.now();
    auto answer = run(wire->send(request("GET", "/x"), time.now() + milliseconds(100)));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::timeout) << answer.error().text;
    EXPECT_LT(time.now() - begun, seconds(3));
    EXPECT_TRUE(run_until([&] { return server.ended == 1; })) << "the connection stays open";
}

TEST_F(transport_test, a_refused_connection_is_an_error_that_names_the_server) {
    std::string url;
    {
        scripted_server gone(loop, {});
        url = gone.url();
    }
    auto wire = to(url);
    auto answer = get(*wire);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::transport);
    EXPECT_EQ(answer.error().text, "connecting to " + wire->host() + ": Connection refused");
}

TEST_F(transport_test, a_name_that_does_not_resolve_is_an_error) {
    auto wire = to("http://no-such-host.invalid:1");
    auto answer = get(*wire);
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().text.find("no-such-host.invalid"), std::string::npos);
}

TEST_F(transport_test, reads_a_body_of_many_megabytes) {
    const std::string big(20u << 20, 'x');
    scripted_server server(loop, {{{ok(big)}}});
    auto wire = to(server.url());
    auto answer = get(*wire);
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->body.size(), big.size());
}

TEST_F(transport_test, a_body_above_the_limit_is_an_error) {
    options.body_limit = 10;
    scripted_server server(loop, {{{ok("12345678901")}}});
    auto wire = to(server.url());
    auto answer = get(*wire);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::answer_too_large);
}

TEST_F(transport_test, an_answer_above_the_limit_of_its_request_is_not_read_to_its_end) {
    const std::string chunk = "400\r\n" + std::string(1024, 'x') + "\r\n";
    const std::string endless =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk + chunk;
    scripted_server server(loop, {{{endless}, false},
                                  {{ok(std::string(2000, 'y'))}, false},
                                  {{ok(std::string(2000, 'z')), ok("next")}, false}});
    auto wire = to(server.url());
    request what("GET", "/x");
    what.answer_limit = 1999;
    for (const char* form : {"chunks", "length"}) {
        const auto answer = run(wire->send(what, soon()));
        ASSERT_FALSE(answer) << form;
        EXPECT_EQ(answer.error().code, errc::answer_too_large) << form;
        EXPECT_EQ(answer.error().text, "the answer has more than 1999 bytes");
    }
    what.answer_limit = 2000;
    EXPECT_EQ(run(wire->send(what, soon()))->body.size(), 2000u);
    EXPECT_EQ(get(*wire)->body, "next");
    EXPECT_EQ(server.connections, 3) << "what was not read to its end carries nothing else";
}

TEST_F(transport_test, requests_wait_for_a_free_connection) {
    options.pool.in_flight = 1;
    scripted_server server(loop, {{{ok("1"), ok("2"), ok("3"), ok("4")}, false}});
    auto wire = to(server.url());
    std::vector<std::string> bodies;
    for (int i = 0; i < 4; ++i) {
        asio::co_spawn(loop, wire->send(request("GET", "/x"), soon()),
                       [&](std::exception_ptr, result<response> answer) {
                           bodies.push_back(answer ? answer->body : answer.error().text);
                       });
    }
    EXPECT_TRUE(run_until([&] { return bodies.size() == 4; }));
    EXPECT_EQ(bodies, (std::vector<std::string>{"1", "2", "3", "4"}));
    EXPECT_EQ(server.connections, 1);
}

TEST_F(transport_test, a_waiter_gives_up_at_its_deadline) {
    options.pool.in_flight = 1;
    scripted_server server(loop, {{{""}, false}});
    auto wire = to(server.url());
    bool first_ended = false;
    asio::co_spawn(loop, wire->send(request("GET", "/x"), time.now() + milliseconds(100)),
                   [&](std::exception_ptr, const result<response>&) { first_ended = true; });
    auto second = run(wire->send(request("GET", "/x"), time.now() + milliseconds(50)));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, errc::timeout);
    EXPECT_TRUE(run_until([&] { return first_ended; }));
}

asio::awaitable<void> send_and_note(http_transport& wire, steady_time deadline, bool& finished) {
    auto answer = co_await wire.send(request("GET", "/x"), deadline);
    finished = true;
}

TEST_F(transport_test, a_cancelled_request_closes_its_connection_and_frees_its_place) {
    options.pool.in_flight = 1;
    scripted_server server(loop, {{{""}, false}, {{ok("2")}, false}});
    auto wire = to(server.url());
    bool finished = false;
    task_group group(loop.get_executor());
    group.spawn("request", send_and_note(*wire, soon(), finished));
    ASSERT_TRUE(run_until([&] { return server.heard.size() == 1; }));
    group.cancel();
    ASSERT_TRUE(run_until([&] { return group.size() == 0 && server.ended == 1; }));
    EXPECT_FALSE(finished);
    EXPECT_EQ(get(*wire)->body, "2");
}

TEST_F(transport_test, a_stream_gives_pieces_as_they_come) {
    scripted_server server(
        loop, {{{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}, false}});
    auto wire = to(server.url());
    auto opened = run(wire->open(request("GET", "/watch"), soon()));
    ASSERT_TRUE(opened) << opened.error().text;
    EXPECT_EQ((*opened)->status(), 200);
    const auto begun = time.now();
    EXPECT_EQ(run((*opened)->read(soon())).value_or("failed"), "hello");
    EXPECT_LT(time.now() - begun, seconds(2)) << "held back until the next piece";
    auto late = run((*opened)->read(time.now() + milliseconds(50)));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, errc::timeout);
}

TEST_F(transport_test, the_date_of_an_answer_and_of_the_head_of_a_stream_is_told) {
    const std::string date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    const std::vector<std::string> answers{
        "HTTP/1.1 200 OK\r\n" + date + "Content-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nDate: yesterday\r\nContent-Length: 1\r\n\r\nx"};
    scripted_server server(
        loop, {{answers},
               {{"HTTP/1.1 200 OK\r\n" + date + "Transfer-Encoding: chunked\r\n\r\n"}, false}});
    auto wire = to(server.url());
    auto answer = get(*wire);
    ASSERT_TRUE(answer) << answer.error().text;
    ASSERT_TRUE(answer->date);
    EXPECT_EQ(answer->date->time_since_epoch(), seconds(784111777));
    auto other = get(*wire);
    ASSERT_TRUE(other) << other.error().text;
    EXPECT_FALSE(other->date);
    auto opened = run(wire->open(request("GET", "/watch"), soon()));
    ASSERT_TRUE(opened) << opened.error().text;
    EXPECT_EQ((*opened)->date(), answer->date);
}

TEST_F(transport_test, a_stream_ends_with_an_empty_piece) {
    std::string body;
    for (int i = 0; i < 1000; ++i) body += "3e8\r\n" + std::string(1000, 'x') + "\r\n";
    scripted_server server(
        loop,
        {{{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body + "0\r\n\r\n"}, false}});
    auto wire = to(server.url());
    auto opened = run(wire->open(request("GET", "/watch"), soon()));
    ASSERT_TRUE(opened) << opened.error().text;
    std::size_t total = 0;
    for (;;) {
        auto piece = run((*opened)->read(soon()));
        ASSERT_TRUE(piece) << piece.error().text;
        if (piece->empty()) break;
        total += piece->size();
    }
    EXPECT_EQ(total, 1'000'000u);
}

TEST_F(transport_test, a_stream_that_breaks_is_an_error) {
    scripted_server server(
        loop, {{{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}}});
    auto wire = to(server.url());
    auto opened = run(wire->open(request("GET", "/watch"), soon()));
    ASSERT_TRUE(opened) << opened.error().text;
    EXPECT_EQ(run((*opened)->read(soon())).value_or("failed"), "hello");
    auto broken = run((*opened)->read(soon()));
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, errc::transport) << broken.error().text;
}

TEST_F(transport_test, streams_do_not_use_up_the_pool) {
    options.pool.in_flight = 1;
    const std::string begun = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    scripted_server server(loop, {{{begun}, false}, {{begun}, false}, {{ok("1")}, false}});
    auto wire = to(server.url());
    auto first = run(wire->open(request("GET", "/watch"), soon()));
    auto second = run(wire->open(request("GET", "/watch"), soon()));
    EXPECT_TRUE(first && second);
    EXPECT_EQ(get(*wire)->body, "1");
    EXPECT_EQ(server.connections, 3);
    first->reset();
    EXPECT_TRUE(run_until([&] { return server.ended == 1; })) << "a stream closes what it had";
}

TEST_F(transport_test, a_target_with_line_breaks_never_leaves) {
    scripted_server server(loop, {{{ok("1")}}});
    auto wire = to(server.url());
    EXPECT_FALSE(get(*wire, "/x\r\nEvil: 1"));
    EXPECT_FALSE(get(*wire, ""));
    EXPECT_EQ(server.connections, 0);
}

/// A folder for tokens and certificates, gone at the end.
class files_test : public transport_test {
protected:
    files_test() {
        std::string pattern = (std::filesystem::temp_directory_path() / "esi-test-XXXXXX").string();
        folder = mkdtemp(pattern.data());
    }
    ~files_test() override { std::filesystem::remove_all(folder); }
    std::string write(const std::string& name, const std::string& text) {
        std::ofstream(folder + "/" + name) << text;
        return folder + "/" + name;
    }
    std::string folder;
};

constexpr const char* refused = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";

TEST_F(files_test, after_a_401_the_token_file_is_read_again) {
    access.user.token_file = write("token", "old\n");
    scripted_server server(loop, {{{ok("1"), refused, ok("2")}, false}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, "1");
    EXPECT_NE(server.heard.at(0).find("Bearer old\r\n"), std::string::npos);
    write("token", "new\n");
    EXPECT_EQ(get(*wire)->body, "2");
    EXPECT_NE(server.heard.at(1).find("Bearer old\r\n"), std::string::npos);
    EXPECT_NE(server.heard.at(2).find("Bearer new\r\n"), std::string::npos);
}

TEST_F(files_test, a_401_with_the_same_token_is_the_answer) {
    access.user.token_file = write("token", "same");
    scripted_server server(loop, {{{refused, refused, ok("1")}, false}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->status, 401);
    EXPECT_EQ(server.heard.size(), 1u);
    EXPECT_EQ(get(*wire)->status, 401);
}

TEST_F(files_test, a_token_file_that_vanishes_leaves_the_old_token_in_use) {
    access.user.token_file = write("token", "old");
    scripted_server server(loop, {{{ok("1"), refused, ok("2")}, false}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, "1");
    std::filesystem::remove(folder + "/token");
    EXPECT_EQ(get(*wire)->status, 401);
    EXPECT_EQ(get(*wire)->body, "2");
}

TEST_F(files_test, a_plugin_gives_the_token) {
    exec_plugin plugin;
    plugin.api_version = "client.authentication.k8s.io/v1";
    plugin.command = "sh";
    plugin.args = {"-c",
                   "echo x >>" + folder +
                       "/runs; echo '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                       "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t'$(wc -l <" +
                       folder + "/runs)'\"}}'"};
    access.user.exec = plugin;
    scripted_server server(loop, {{{ok("1"), ok("2"), refused, ok("3")}, false}});
    auto wire = to(server.url());
    EXPECT_EQ(get(*wire)->body, "1");
    EXPECT_EQ(get(*wire)->body, "2");
    EXPECT_NE(server.heard.at(1).find("Bearer t1\r\n"), std::string::npos) << "asked once";
    EXPECT_EQ(get(*wire)->body, "3");
    EXPECT_NE(server.heard.at(3).find("Bearer t2\r\n"), std::string::npos) << "asked after a 401";
}

TEST_F(files_test, what_cannot_be_used_is_an_error_at_the_start) {
    const auto text = write("text", "no pem");
    const auto try_it = [&](cluster_access wrong) {
        wrong.cluster.server = "https://x";
        auto made = http_transport::make(loop.get_executor(), time, std::move(wrong));
        EXPECT_FALSE(made);
        return made ? std::string() : made.error().text;
    };
    cluster_access wrong;
    wrong.cluster.ca.file = "/nowhere/ca.crt";
    EXPECT_EQ(try_it(wrong), "/nowhere/ca.crt: cannot be opened");
    wrong.cluster.ca.file = text;
    EXPECT_TRUE(try_it(wrong).starts_with("the cluster's CA: ")) << try_it(wrong);
    wrong.cluster.ca = {};
    wrong.user.client_certificate.file = text;
    EXPECT_TRUE(try_it(wrong).starts_with("the client certificate: "));
    wrong.user.client_certificate = {};
    wrong.user.token = "a\r\nb";
    EXPECT_EQ(try_it(wrong), "the token contains white space or control characters");
}

/// Key and self-signed certificate for `alternative_names` ("IP:127.0.0.1,DNS:x"), as PEM.
std::pair<std::string, std::string> make_certificate(const std::string& alternative_names) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    for (const auto& [nid, value] :
         {std::pair(NID_basic_constraints, std::string("critical,CA:TRUE")),
          std::pair(NID_subject_alt_name, alternative_names)}) {
        X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
        X509_add_ext(certificate, extension, -1);
        X509_EXTENSION_free(extension);
    }
    X509_sign(certificate, key, EVP_sha256());
    const auto text = [](auto write_it) {
        BIO* memory = BIO_new(BIO_s_mem());
        write_it(memory);
        char* data = nullptr;
        const auto size = BIO_get_mem_data(memory, &data);
        std::string out(data, static_cast<std::size_t>(size));
        BIO_free(memory);
        return out;
    };
    auto key_pem = text(
        [&](BIO* to) { PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr); });
    auto certificate_pem = text([&](BIO* to) { PEM_write_bio_X509(to, certificate); });
    X509_free(certificate);
    EVP_PKEY_free(key);
    return {std::move(key_pem), std::move(certificate_pem)};
}

asio::awaitable<http::server_reply> say_hello(http::server_request) {
    co_return http::server_reply(200, "text/plain", "hello");
}

/// The system's time, a while later where a test says so.
class later_clock final : public clock {
public:
    explicit later_clock(clock& of) : of_(of) {}
    steady_time now() const override { return of_.now(); }
    wall_time wall() const override { return of_.wall() + later; }
    asio::awaitable<void> sleep_until(steady_time when) override { return of_.sleep_until(when); }
    seconds later{0};

private:
    clock& of_;
};

class tls_test : public files_test {
protected:
    tls_test() { routes.add("GET", "/x", say_hello); }
    ~tls_test() override {
        wire.reset();
        if (!own) return;
        asio::co_spawn(loop, own->stop(time.now()), asio::detached);
        loop.restart();
        loop.run_for(std::chrono::seconds(5));
    }
    /// `client_ca`: asks clients for certificates that it vouches for.
    std::string serve(const std::string& alternative_names, const std::string& client_ca = {}) {
        const auto [key, certificate] = make_certificate(alternative_names);
        http::server_options server_options;
        if (!client_ca.empty()) server_options.client_ca_file = write("clients.crt", client_ca);
        server_options.bind_address = "127.0.0.1";
        server_options.tls_private_key_file = write("tls.key", key);
        server_options.tls_cert_file = write("tls.crt", certificate);
        own = std::make_unique<http::server>(loop.get_executor(), server_time, server_options,
                                             routes);
        auto started = own->start();
        EXPECT_TRUE(started) << started.error().text;
        return certificate;
    }
    result<response> ask(const std::string& host) {
        wire = to("https://" + host + ":" + std::to_string(own->port()));
        return get(*wire);
    }
    later_clock server_time{time};
    http::router routes;
    std::unique_ptr<http::server> own;
    std::unique_ptr<http_transport> wire;
};

TEST_F(tls_test, speaks_to_a_server_that_the_ca_vouches_for) {
    access.cluster.ca.data = serve("IP:127.0.0.1");
    auto answer = ask("127.0.0.1");
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->body, "hello");
    EXPECT_EQ(get(*wire)->body, "hello");
}

TEST_F(tls_test, an_unknown_ca_is_refused_in_words) {
    serve("IP:127.0.0.1");
    access.cluster.ca.data = make_certificate("IP:127.0.0.1").second;
    auto answer = ask("127.0.0.1");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::transport);
    EXPECT_NE(answer.error().text.find("certificate is refused"), std::string::npos)
        << answer.error().text;
}

TEST_F(tls_test, the_certificate_must_name_the_address_and_the_common_name_does_not_count) {
    access.cluster.ca.data = serve("DNS:api.lab");
    for (const char* host : {"127.0.0.1", "localhost"}) {
        auto answer = ask(host);
        ASSERT_FALSE(answer) << host;
        EXPECT_NE(answer.error().text.find("mismatch"), std::string::npos) << answer.error().text;
    }
    access.cluster.tls_server_name = "api.lab";
    auto named = ask("127.0.0.1");
    EXPECT_TRUE(named) << named.error().text;
}

TEST_F(tls_test, insecure_skips_the_check) {
    serve("DNS:api.lab");
    access.cluster.insecure_skip_tls_verify = true;
    auto answer = ask("127.0.0.1");
    EXPECT_TRUE(answer) << answer.error().text;
}

TEST_F(tls_test, the_server_takes_up_a_new_certificate_and_keeps_the_old_one_over_a_bad_one) {
    serve("IP:127.0.0.1");
    const auto begun = time.now();
    auto files = http::tls_files::load({folder + "/tls.crt", folder + "/tls.key", ""}, begun);
    ASSERT_TRUE(files) << files.error().text;
    const auto first = files->context(begun);
    EXPECT_EQ(files->context(begun + seconds(10)), first);
    write("tls.crt", "no pem");
    EXPECT_EQ(files->context(begun + seconds(20)), first);
    const auto [key, certificate] = make_certificate("DNS:new");
    write("tls.crt", certificate);
    EXPECT_EQ(files->context(begun + seconds(30)), first) << "the key is still the old one";
    write("tls.key", key);
    EXPECT_EQ(files->context(begun + seconds(35)), first) << "looked at every ten seconds";
    EXPECT_NE(files->context(begun + seconds(40)), first);
}

asio::awaitable<http::server_reply> measure(http::server_request asked) {
    co_return http::server_reply(200, "text/plain", std::to_string(asked.body.size()));
}

asio::awaitable<http::server_reply> text_of(std::string text) {
    co_return http::server_reply(200, "text/plain", std::move(text));
}

/// A route for clients with a certificate, and one for all clients.
class certified_test : public tls_test {
protected:
    certified_test() {
        http::route_rules rules;
        rules.body_limit = 1000;
        rules.certified_body_limit = 8u << 20;
        routes.add("POST", "/filter", measure, rules);
        routes.guard("/filter", [](const http::server_request& head) {
            std::optional<http::server_reply> out;
            if (!head.peer_has_certificate) out = http::problem(403, "show a certificate");
            return out;
        });
        std::tie(key, certificate) = make_certificate("DNS:scheduler");
        access.cluster.ca.data = serve("IP:127.0.0.1", certificate);
    }
    request filter(std::size_t bytes) {
        auto out = request("POST", "/filter");
        out.content_type = "application/json";
        out.body.assign(bytes, 'x');
        out.safe_to_repeat = true;
        return out;
    }
    void show_certificate() {
        access.user.client_certificate.data = certificate;
        access.user.client_key.data = key;
    }
    /// Status and body.
    std::string post(std::size_t bytes) {
        wire = to("https://127.0.0.1:" + std::to_string(own->port()));
        auto answer = run(wire->send(filter(bytes), soon()));
        return answer ? std::to_string(answer->status) + " " + answer->body : answer.error().text;
    }
    std::string key;
    std::string certificate;
};

TEST_F(certified_test, a_certificate_is_asked_for_and_needed_where_a_route_says_so) {
    EXPECT_TRUE(post(10).starts_with("403 ")) << "without one";
    EXPECT_EQ(ask("127.0.0.1")->body, "hello") << "probes have none";
    show_certificate();
    EXPECT_EQ(post(10), "200 10");
    EXPECT_EQ(ask("127.0.0.1")->body, "hello");
}

TEST_F(certified_test, routes_see_whom_a_certificate_was_made_for) {
    http::peer_details seen;
    routes.add("GET", "/who", [&](const http::server_request& head) {
        seen = *head.peer;
        return text_of("seen");
    });
    const auto look = [&] {
        wire = to("https://127.0.0.1:" + std::to_string(own->port()));
        auto answer = run(wire->send(request("GET", "/who"), soon()));
        return answer ? answer->body : answer.error().text;
    };
    ASSERT_EQ(look(), "seen");
    EXPECT_FALSE(seen.certificate);
    EXPECT_EQ(seen.address, "127.0.0.1");
    EXPECT_TRUE(seen.loopback);
    show_certificate();
    ASSERT_EQ(look(), "seen");
    ASSERT_TRUE(seen.certificate);
    EXPECT_EQ(seen.certificate->common_name, "localhost");
    EXPECT_TRUE(seen.certificate->organizations.empty());
}

TEST_F(certified_test, a_connection_ends_with_the_first_answer_after_the_end_of_its_certificate) {
    std::vector<std::shared_ptr<const http::peer_details>> connections;
    routes.add("GET", "/who", [&](const http::server_request& head) {
        connections.push_back(head.peer);
        return text_of(head.peer_has_certificate ? "somebody" : "nobody");
    });
    show_certificate();
    wire = to("https://127.0.0.1:" + std::to_string(own->port()));
    const auto look = [&] {
        auto answer = run(wire->send(request("GET", "/who"), soon()));
        return answer ? answer->body : answer.error().text;
    };
    EXPECT_EQ(look(), "somebody");
    server_time.later = seconds(3590);
    EXPECT_EQ(look(), "somebody");
    server_time.later = seconds(3601);
    EXPECT_EQ(look(), "nobody");
    server_time.later = seconds(0);
    EXPECT_EQ(look(), "somebody");
    ASSERT_EQ(connections.size(), 4U);
    EXPECT_EQ(connections[0], connections[1]);
    EXPECT_EQ(connections[0], connections[2]);
    EXPECT_NE(connections[2], connections[3]) << "the server has closed the connection";
}

TEST_F(certified_test, a_certificate_of_another_ca_ends_the_handshake) {
    std::tie(key, certificate) = make_certificate("DNS:scheduler");
    show_certificate();
    const auto answer = post(10);
    EXPECT_FALSE(answer.starts_with("200 ") || answer.starts_with("403 ")) << answer;
}

TEST_F(certified_test, large_bodies_come_with_a_certificate_one_at_a_time) {
    show_certificate();
    EXPECT_EQ(post(8u << 20), "200 8388608");
    EXPECT_FALSE(post((8u << 20) + 1).starts_with("200 "));
    std::vector<std::unique_ptr<http_transport>> wires;
    int answers = 0;
    for (int i = 0; i < 4; ++i) {
        wires.push_back(to("https://127.0.0.1:" + std::to_string(own->port())));
        asio::co_spawn(loop, wires.back()->send(filter(4u << 20), soon()),
                       [&](std::exception_ptr, result<response> answer) {
                           EXPECT_EQ(answer ? answer->body : answer.error().text, "4194304");
                           ++answers;
                       });
    }
    EXPECT_TRUE(run_until([&] { return answers == 4; }));
}

TEST_F(tls_test, a_handshake_that_hangs_ends_at_the_deadline) {
    scripted_server silent(loop, {{{""}, false}});
    access.cluster.insecure_skip_tls_verify = true;
    wire = to("https" + silent.url().substr(4));
    auto answer = run(wire->send(request("GET", "/x"), time.now() + milliseconds(100)));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::timeout) << answer.error().text;
}

}  // namespace
}  // namespace esi::kube
