#include "interface/v1/access/trail.h"

#include <gtest/gtest.h>

#include "base/log.h"

namespace esi::interface::v1 {
namespace {

using nlohmann::json;

http::identity named(std::string name) { return {std::move(name), "", {}, {}}; }

TEST(requested_by_annotation, is_put_beside_others_and_over_what_the_caller_wrote) {
    auto object = json::parse(
        R"({"metadata": {"annotations": {"a": "b", "esi.tu-berlin.de/requested-by": "root"}}})");
    note_requester(object, named("anna"));
    EXPECT_EQ(object["metadata"]["annotations"],
              json::parse(R"({"a": "b", "esi.tu-berlin.de/requested-by": "anna"})"));
    for (const char* text :
         {"{}", R"({"metadata": null})", R"({"metadata": {"annotations": null}})",
          R"({"metadata": {"annotations": "x"}})", "null"}) {
        auto other = json::parse(text);
        note_requester(other, named("anna"));
        EXPECT_EQ(other["metadata"]["annotations"]["esi.tu-berlin.de/requested-by"], "anna")
            << text;
    }
}

TEST(requested_by_annotation, as_operations_keeps_the_annotations_that_are_there) {
    const auto object = json::parse(R"({"metadata": {"annotations": {"a": "b"}}})");
    EXPECT_EQ(object.patch(requester_operations(named("anna"), true))["metadata"]["annotations"],
              json::parse(R"({"a": "b", "esi.tu-berlin.de/requested-by": "anna"})"));
    const auto bare = json::parse(R"({"metadata": {}})");
    EXPECT_EQ(bare.patch(requester_operations(named("anna"), false))["metadata"]["annotations"],
              json::parse(R"({"esi.tu-berlin.de/requested-by": "anna"})"));
}

TEST(requested_by_annotation, its_value_is_bounded_and_printable) {
    EXPECT_EQ(shown_name(named("system:serviceaccount:a:b")), "system:serviceaccount:a:b");
    EXPECT_EQ(shown_name(named("a\nb\x1b")), "a?b?");
    EXPECT_EQ(shown_name(named("a\xff")), "a?");
    const auto cut = shown_name(named(std::string(300, 'a')));
    EXPECT_EQ(cut.size(), 256U);
    EXPECT_TRUE(cut.ends_with("a..."));
    std::string wide;
    for (int i = 0; i < 200; ++i) wide += "\xc3\xbc";
    const auto cut_wide = shown_name(named(wide));
    EXPECT_LE(cut_wide.size(), 256U);
    EXPECT_TRUE(cut_wide.ends_with("\xc3\xbc...")) << cut_wide;
}

TEST(audit, is_one_line_with_who_what_and_how_it_ended) {
    std::string line;
    log::send_to([&](log::level, std::string_view text) { line += text; });
    http::server_request from;
    from.headers = {{"authorization", "Bearer s3cret"}};
    from.caller = std::make_shared<http::identity>(named("anna"));
    auto peer = std::make_shared<http::peer_details>();
    peer->address = "10.0.0.7";
    from.peer = peer;
    audit(from, {"create", "Scheduling", {"default", "plan"}, 201});
    EXPECT_EQ(line,
              "api write caller=anna peer=10.0.0.7 verb=create kind=Scheduling "
              "object=default/plan status=201");
    line.clear();
    audit(from, {"patch", "Scheduling", {"default", "plan"}, 412, "PreconditionFailed", true});
    EXPECT_EQ(line,
              "api write caller=anna peer=10.0.0.7 verb=patch kind=Scheduling "
              "object=default/plan status=412 code=PreconditionFailed dry_run=true");
    log::send_to({});
}

}  // namespace
}  // namespace esi::interface::v1
