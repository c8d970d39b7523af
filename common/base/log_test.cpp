#include "base/log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace esi::log {
namespace {

/// The line of one call, as text.
std::string line_of(std::string_view event, std::string value) {
    std::string out;
    send_to([&](level, std::string_view line) { out = line; });
    info(event, {{"key", std::move(value)}});
    send_to({});
    return out;
}

TEST(log, words_stand_as_they_are_and_others_in_quotes) {
    EXPECT_EQ(line_of("pod left", "default/a-1"), "pod left key=default/a-1");
    EXPECT_EQ(line_of("pod left", "two words"), "pod left key=\"two words\"");
    EXPECT_EQ(line_of("pod left", ""), "pod left") << "what is empty says nothing";
    EXPECT_EQ(line_of("pod left", "a=b"), "pod left key=\"a=b\"");
    EXPECT_EQ(line_of("pod left", "a\"b"), "pod left key=\"a\\\"b\"");
    EXPECT_EQ(line_of("pod left", "a\\b"), "pod left key=\"a\\\\b\"");
}

TEST(log, what_a_terminal_would_obey_is_told_in_printable_characters) {
    EXPECT_EQ(line_of("x", "\x1b[2J"), "x key=\"\\u001b[2J\"");
    EXPECT_EQ(line_of("x", std::string("a\0b", 3)), "x key=\"a\\u0000b\"");
    EXPECT_EQ(line_of("x", "a\x7f"), "x key=\"a\\u007f\"");
    EXPECT_EQ(line_of("x", "\xc2\x9b"), "x key=\"\\u009b\"") << "CSI as one character of C1";
    EXPECT_EQ(line_of("x", "\xff"), "x key=\"\\ufffd\"") << "not UTF-8";
    EXPECT_EQ(line_of("x", "a\nb"), "x key=\"a\\nb\"");
    EXPECT_EQ(line_of("said \x1b[2J", "y"), "\"said \\u001b[2J\" key=y");
    for (int byte = 0; byte < 256; ++byte) {
        const std::string one(1, static_cast<char>(byte));
        for (const char c : line_of("x" + one, "y" + one)) {
            EXPECT_TRUE(c >= 0x20 && c < 0x7F) << byte;
        }
    }
}

}  // namespace
}  // namespace esi::log
