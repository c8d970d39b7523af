#include "kube/auth/credentials.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/virtual_clock.h"

namespace esi::kube {
namespace {

class credentials_test : public testing::Test {
protected:
    credentials_test() {
        std::string pattern = (std::filesystem::temp_directory_path() / "esi-test-XXXXXX").string();
        folder = mkdtemp(pattern.data());
    }
    ~credentials_test() override { std::filesystem::remove_all(folder); }

    std::string write(const std::string& name, const std::string& text) {
        std::ofstream(folder + "/" + name) << text;
        return folder + "/" + name;
    }
    /// The files are read on a thread, so this runs the loop in real time, two seconds at most.
    result<credentials::pointer> current(credentials& from) {
        std::optional<result<credentials::pointer>> out;
        asio::co_spawn(loop, from.current(time.now() + seconds(10)),
                       [&](std::exception_ptr failure, result<credentials::pointer> set) {
                           if (failure) std::rethrow_exception(failure);
                           out = std::move(set);
                       });
        run_until([&] { return out.has_value(); });
        return out.value_or(fail(errc::timeout, "the test's limit"));
    }
    template <class Reached>
    void run_until(Reached reached) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        loop.restart();
        while (!reached() && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(std::chrono::milliseconds(5));
            loop.restart();
        }
    }
    std::string token(credentials& from) {
        auto set = current(from);
        return set ? (*set)->token : set.error().text;
    }
    /// A plugin that counts its runs into its token.
    exec_plugin counting(const std::string& more_status) {
        exec_plugin out;
        out.api_version = "client.authentication.k8s.io/v1";
        out.command = "sh";
        out.args = {"-c", "echo x >>" + folder +
                              "/runs; printf '{\"kind\":\"ExecCredential\","
                              "\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{" +
                              more_status + "\"token\":\"t%s\"}}' \"$(wc -l <" + folder +
                              "/runs)\""};
        return out;
    }

    asio::io_context loop;
    virtual_clock time;
    cluster_access access;
    std::string folder;
};

TEST_F(credentials_test, files_are_read_again_each_minute_without_a_wait) {
    access.user.token_file = write("token", "one\n");
    access.cluster.ca.file = write("ca", "CA");
    credentials who(loop.get_executor(), time, access);
    EXPECT_EQ(token(who), "one");
    write("token", "two\n");
    EXPECT_EQ(token(who), "one");
    time.advance_to(time.now() + seconds(60));
    EXPECT_EQ(token(who), "one") << "the request at hand does not wait";
    run_until([&] { return token(who) == "two"; });
    EXPECT_EQ(token(who), "two");
    EXPECT_EQ((*current(who))->tls_revision, 1u);

    write("ca", "NEW");
    time.advance_to(time.now() + seconds(60));
    run_until([&] { return (*current(who))->tls_revision == 2; });
    EXPECT_EQ((*current(who))->ca_pem, "NEW");
    EXPECT_EQ((*current(who))->tls_revision, 2u);
}

TEST_F(credentials_test, an_empty_file_is_an_error_and_what_was_read_before_stays) {
    access.user.token_file = write("token", "\n");
    access.cluster.ca.file = write("ca", "");
    EXPECT_EQ(read_credential_files(access, nullptr).error().text, folder + "/ca: is empty");
    write("ca", "CA");
    EXPECT_EQ(read_credential_files(access, nullptr).error().text, folder + "/token: is empty");
    write("token", "one");
    credentials who(loop.get_executor(), time, access);
    EXPECT_EQ(token(who), "one");
    write("token", "");
    time.advance_to(time.now() + seconds(60));
    EXPECT_EQ(token(who), "one");
    run_until([] { return false; });
    EXPECT_EQ(token(who), "one");
}

TEST_F(credentials_test, a_plugin_inherits_nothing_but_its_own_pipes) {
    // As Asio opens its sockets: without O_CLOEXEC.
    asio::ip::tcp::acceptor listener(loop, {asio::ip::make_address("127.0.0.1"), 0});
    access.user.exec = counting("");
    const auto seen = folder + "/seen";
    auto& script = access.user.exec->args[1];
    script = "ls -l /proc/self/fd | grep -c socket >" + seen +
             "; grep SigIgn /proc/self/status >>" + seen + "; " + script;
    credentials who(loop.get_executor(), time, access);
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(token(who), "t1");
    std::signal(SIGPIPE, before);
    std::ifstream in(seen);
    std::string sockets;
    std::string word;
    std::string ignored;
    in >> sockets >> word >> ignored;
    EXPECT_EQ(sockets, "0");
    EXPECT_EQ(std::stoull(ignored, nullptr, 16) >> (SIGPIPE - 1) & 1, 0u) << ignored;
}

TEST_F(credentials_test, a_plugin_that_leaves_its_group_is_ended_too) {
    access.user.exec = counting("");
    access.user.exec->command = "setsid";
    access.user.exec->args = {"sh", "-c", "trap '' TERM; sleep 100"};
    std::atomic<bool> stop{false};
    const auto begun = std::chrono::steady_clock::now();
    const auto answer =
        run_exec_plugin(*access.user.exec, "{}", begun + std::chrono::milliseconds(300), stop);
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().text.contains("did not answer in time")) << answer.error().text;
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
}

TEST_F(credentials_test, what_was_read_before_is_used_at_once) {
    credential_set first;
    first.token = "first";
    credentials who(loop.get_executor(), time, access, first);
    EXPECT_EQ(token(who), "first");
}

TEST_F(credentials_test, a_missing_file_is_an_error_and_not_tried_again_at_every_request) {
    access.user.token_file = folder + "/token";
    credentials who(loop.get_executor(), time, access);
    EXPECT_EQ(token(who), folder + "/token: cannot be opened");
    write("token", "late");
    EXPECT_EQ(token(who), folder + "/token: cannot be opened");
    time.advance_to(time.now() + seconds(5));
    EXPECT_EQ(token(who), "late");
}

TEST_F(credentials_test, a_plugin_is_asked_again_when_its_answer_expires) {
    // The clock starts at 2026-01-02T03:04:05Z.
    access.user.exec = counting("\"expirationTimestamp\":\"2026-01-02T03:05:05Z\",");
    credentials who(loop.get_executor(), time, access);
    EXPECT_EQ(token(who), "t1");
    time.advance_to(time.now() + seconds(49));
    EXPECT_EQ(token(who), "t1");
    time.advance_to(time.now() + seconds(1));
    EXPECT_EQ(token(who), "t2") << "ten seconds before the end";
}

TEST_F(credentials_test, a_refused_answer_is_replaced_but_not_at_every_request) {
    access.user.exec = counting("");
    credentials who(loop.get_executor(), time, access);
    auto used = current(who);
    ASSERT_TRUE(used) << used.error().text;
    who.rejected(*used);
    EXPECT_EQ(token(who), "t2");
    who.rejected(*used);
    EXPECT_EQ(token(who), "t2") << "an old answer was refused, not this one";
    who.rejected(*current(who));
    EXPECT_EQ(token(who), "t2") << "asked a moment ago";
    time.advance_to(time.now() + seconds(5));
    EXPECT_EQ(token(who), "t3");
}

TEST_F(credentials_test, a_plugin_that_hangs_ends_with_its_owner) {
    access.user.exec = counting("");
    access.user.exec->args = {"-c", "sleep 100"};
    const auto begun = std::chrono::steady_clock::now();
    {
        credentials who(loop.get_executor(), time, access);
        bool ended = false;
        asio::co_spawn(loop, who.current(time.now() + seconds(1)),
                       [&](std::exception_ptr, const result<credentials::pointer>& set) {
                           ended = true;
                           EXPECT_EQ(set.error().code, errc::timeout);
                       });
        loop.poll();
        time.advance_to(time.now() + seconds(1));
        run_until([&] { return ended; });
        EXPECT_TRUE(ended);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
}

}  // namespace
}  // namespace esi::kube
