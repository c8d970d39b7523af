#include "stomp/frame.h"

#include <gtest/gtest.h>

namespace esi::stomp {
namespace {

using namespace std::string_literals;

frame made(std::string command, std::vector<std::pair<std::string, std::string>> headers = {},
           std::string body = {}) {
    frame out;
    out.command = std::move(command);
    out.headers = std::move(headers);
    out.body = std::move(body);
    return out;
}

/// Items and the fault's text, if any.
struct read_back {
    std::vector<parser::item> items;
    std::string fault;
};
read_back read(const std::vector<std::string>& pieces, version spoken = version::v1_2,
               frame_limits limits = frame_limits()) {
    read_back out;
    parser of(limits);
    of.speak(spoken);
    for (const auto& piece : pieces) {
        of.feed(piece);
        for (;;) {
            auto next = of.next();
            if (!next) {
                out.fault = next.error().text;
                return out;
            }
            if (!*next) break;
            out.items.push_back(std::move(**next));
        }
    }
    return out;
}

TEST(stomp_frame, is_read_with_headers_in_their_order) {
    const auto got = read({"SUBSCRIBE\nid:0\ndestination:/topic/jobs\n\n\0"s});
    EXPECT_EQ(got.items, (std::vector<parser::item>{
                             made("SUBSCRIBE", {{"id", "0"}, {"destination", "/topic/jobs"}})}));
    EXPECT_EQ(got.fault, "");
}

TEST(stomp_frame, is_the_same_however_it_is_cut) {
    const auto text =
        "\nSUBSCRIBE\r\nid:0\r\ndestination:/topic/jobs\r\n\r\n\0\r\nSEND\ncontent-length:3\n\n"
        "a\0b\0MESSAGE\nk:v\n\nhello\0\n"s;
    const std::vector<parser::item> expected{
        heart_beat(),
        made("SUBSCRIBE", {{"id", "0"}, {"destination", "/topic/jobs"}}),
        heart_beat(),
        made("SEND", {{"content-length", "3"}}, "a\0b"s),
        made("MESSAGE", {{"k", "v"}}, "hello"),
        heart_beat()};
    EXPECT_EQ(read({text}).items, expected);
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        const auto got = read({text.substr(0, cut), text.substr(cut)});
        EXPECT_EQ(got.items, expected) << "cut at " << cut << ": " << got.fault;
    }
    std::vector<std::string> bytes;
    for (const char c : text) bytes.emplace_back(1, c);
    EXPECT_EQ(read(bytes).items, expected);
}

TEST(stomp_frame, escapes_are_those_of_the_version) {
    const auto header = [](version spoken, const std::string& value) {
        const auto got = read({"SEND\nk:" + value + "\n\n\0"s}, spoken);
        if (!got.fault.empty()) return "fault: " + got.fault;
        return std::get<frame>(got.items.at(0)).headers.at(0).second;
    };
    EXPECT_EQ(header(version::v1_2, R"(a\nb\cc\\d\re)"), "a\nb:c\\d\re");
    EXPECT_EQ(header(version::v1_1, R"(a\nb\cc\\d)"), "a\nb:c\\d");
    EXPECT_EQ(header(version::v1_1, R"(a\r)"),
              "fault: a header has an escape that this version does not know");
    EXPECT_EQ(header(version::v1_2, R"(a\t)"),
              "fault: a header has an escape that this version does not know");
    EXPECT_EQ(header(version::v1_0, R"(a\nb)"), R"(a\nb)");
    EXPECT_EQ(header(version::v1_2, "a:b"), "a:b");
}

TEST(stomp_frame, connect_is_never_escaped) {
    const auto got = read({"CONNECT\npasscode:a\\nb\n\n\0"s});
    EXPECT_EQ(std::get<frame>(got.items.at(0)).header("passcode"), "a\\nb");
}

TEST(stomp_frame, the_first_of_repeated_headers_counts) {
    const auto got = read({"SEND\nk:first\nk:second\n\n\0"s});
    EXPECT_EQ(std::get<frame>(got.items.at(0)).header("k"), "first");
}

TEST(stomp_frame, what_is_no_frame_is_a_fault) {
    const std::pair<std::string, std::string> table[] = {
        {"SEND\nno colon\n\n\0"s, "a header has no colon"},
        {"SEND\n:x\n\n\0"s, "a header has no name"},
        {"SEND\0"s, "the frame ends before the empty line behind its headers"},
        {"SEND\nk:v\0"s, "the frame ends before the empty line behind its headers"},
        {"SEND\na\rb:c\n\n\0"s, "a carriage return stands within a line"},
        {"\rSEND"s, "a carriage return stands alone"},
        {"SEND\nk:\xff\n\n\0"s, "command and headers are not UTF-8"},
        {"SEND\ncontent-length:x\n\n\0"s, "content-length is not a number"},
        {"SEND\ncontent-length:-1\n\n\0"s, "content-length is not a number"},
        {"SEND\ncontent-length:\n\n\0"s, "content-length is not a number"},
        {"SEND\ncontent-length:1\n\nab\0"s, "no NUL stands behind the body"},
        {"SEND\ncontent-length:99999999999999999999999\n\n\0"s, "the body has more than 10 bytes"},
        {"SEND\ncontent-length:11\n\n"s, "the body has more than 10 bytes"},
        {"SEND\n\n01234567890"s, "the body has more than 10 bytes"},
        {"SEND\na:1\nb:2\nc:3\n\n\0"s, "there are more than 2 headers"},
        {std::string(101, 'A'), "command and headers have more than 100 bytes"},
        {"SEND\nk:" + std::string(100, 'v'), "command and headers have more than 100 bytes"},
    };
    frame_limits limits;
    limits.headers = 2;
    limits.head = 100;
    limits.body = 10;
    for (const auto& [text, fault] : table) {
        EXPECT_EQ(read({text}, version::v1_2, limits).fault, fault) << text;
    }
}

TEST(stomp_frame, after_a_fault_nothing_is_read) {
    parser of;
    of.feed("\0SEND\n\n\0"s);
    EXPECT_FALSE(of.next());
    of.feed("SEND\n\n\0"s);
    EXPECT_FALSE(of.next());
}

TEST(stomp_frame, is_written_with_escapes) {
    const auto what = made("MESSAGE", {{"a:b", "c\r\n\\d"}}, "body");
    EXPECT_EQ(encode(what, version::v1_2), "MESSAGE\na\\cb:c\\r\\n\\\\d\n\nbody\0"s);
    EXPECT_EQ(encode(what, version::v1_1), "MESSAGE\na\\cb:c \\n\\\\d\n\nbody\0"s);
    EXPECT_EQ(encode(made("RECEIPT", {{"receipt-id", "a\nb"}}), version::v1_0),
              "RECEIPT\nreceipt-id:a b\n\n\0"s);
}

}  // namespace
}  // namespace esi::stomp
