#include "conformance/normal_form.h"

#include <gtest/gtest.h>

namespace esi::simulation {
namespace {

json object(const char* name, const char* uid, const char* version) {
    return {{"kind", "Pod"},
            {"metadata", {{"name", name}, {"uid", uid}, {"resourceVersion", version}}}};
}

TEST(normal_form, uids_and_versions_become_their_order) {
    normal_form form({});
    json shown = json::array({form.answer(201, object("a", "x", "500")),
                              form.answer(201, object("b", "y", "712")),
                              form.answer(200, object("a", "x", "500"))});
    shown = form.finished(shown);
    EXPECT_EQ(shown[0]["object"]["metadata"]["uid"], "uid 1");
    EXPECT_EQ(shown[1]["object"]["metadata"]["uid"], "uid 2");
    EXPECT_EQ(shown[1]["object"]["metadata"]["resourceVersion"], "after write 2");
    EXPECT_EQ(shown[2],
              shown[0].patch(json::parse(R"([{"op": "replace", "path": "/code", "value": 200}])")));
}

TEST(normal_form, the_version_of_a_list_is_that_of_the_write_before) {
    normal_form form({});
    json list = {{"metadata", {{"resourceVersion", "900"}}}, {"items", {object("a", "x", "500")}}};
    const auto shown = form.finished(form.answer(200, list));
    EXPECT_EQ(shown["object"]["metadata"]["resourceVersion"], "after write 1");
}

TEST(normal_form, a_refusal_keeps_fields_and_reasons_and_no_words) {
    normal_form form({{"space-1", "NAMESPACE"}});
    const auto shown =
        form.answer(422, json::parse(R"({"kind": "Status", "status": "Failure", "reason": "Invalid",
        "message": "m", "details": {"name": "space-1-x", "causes": [
            {"field": "b", "reason": "R", "message": "m"}, {"field": "a", "reason": "R"}, {"field": "b", "reason": "R"}]}})"));
    EXPECT_EQ(shown, json::parse(R"({"code": 422, "status": "Failure", "reason": "Invalid",
        "details": {"name": "NAMESPACE-x", "causes": ["a R", "b R"]}})"));
}

TEST(normal_form, what_runs_differ_in_is_masked) {
    normal_form form({});
    const auto shown =
        form.answer(201, json::parse(R"({"kind": "Pod", "metadata": {"generateName": "p-",
        "name": "p-x7f2k", "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [{}]},
        "spec": {"volumes": [{"name": "kube-api-access-abcde"}]}})"));
    EXPECT_EQ(shown["object"]["metadata"],
              json({{"generateName", "p-"}, {"name", "p-*"}, {"creationTimestamp", "time"}}));
    EXPECT_EQ(shown["object"]["spec"], json::object());
}

}  // namespace
}  // namespace esi::simulation
