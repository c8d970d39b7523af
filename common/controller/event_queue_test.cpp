#include "controller/event_queue.h"

#include <gtest/gtest.h>

namespace esi::controller {
namespace {

event_write about(const std::string& ns, const std::string& name) {
    event_write out;
    out.what.subject = {ns, name};
    return out;
}

std::string text_of_all(event_queue& of) {
    std::string out;
    while (const auto next = of.pop()) {
        out += (out.empty() ? "" : " ") + next->what.subject.text();
    }
    return out;
}

TEST(event_queue, a_full_queue_gives_up_what_the_namespace_with_the_most_told_last) {
    event_queue all(4);
    for (const char* name : {"1", "2", "3"}) EXPECT_FALSE(all.push(about("busy", name)));
    EXPECT_FALSE(all.push(about("quiet", "1")));
    EXPECT_TRUE(all.push(about("quiet", "2")));
    EXPECT_EQ(all.size(), 4U);
    EXPECT_TRUE(all.push(about("busy", "4"))) << "as many as the other";
    EXPECT_TRUE(all.push(about("third", "1")));
    EXPECT_EQ(text_of_all(all), "busy/1 quiet/1 third/1 quiet/2");
    EXPECT_TRUE(all.empty());
}

TEST(event_queue, a_namespace_with_many_keeps_no_other_waiting) {
    event_queue all(1000);
    for (int i = 0; i < 2000; ++i) all.push(about("busy", std::to_string(i)));
    for (const char* name : {"a", "b"}) EXPECT_TRUE(all.push(about("victim", name)));
    EXPECT_TRUE(all.push(about("", "node")));
    std::string first;
    for (int i = 0; i < 6; ++i) first += all.pop()->what.subject.text() + " ";
    EXPECT_EQ(first, "busy/0 node victim/a busy/1 victim/b busy/2 ");
}

}  // namespace
}  // namespace esi::controller
