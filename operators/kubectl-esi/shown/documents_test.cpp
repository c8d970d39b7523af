#include "kubectl-esi/shown/documents.h"

#include <gtest/gtest.h>

#include "kubectl-esi/shown/words.h"

namespace esi::kubectl::shown {
namespace {

json one(const std::string& text) {
    const auto read = read_documents(text, "plan.yaml");
    if (!read) return read.error().text;
    return read->size() == 1 ? read->front() : json(*read);
}

TEST(documents, plain_scalars_have_the_types_of_the_core_schema) {
    EXPECT_EQ(one("{a: 1, b: -2.5, c: true, d: ~, e: text, f: '1', g: \"true\", h: 600m, i: 1e3, "
                  "j: .5, k: 0x1f, l: , m: inf}"),
              (json{{"a", 1},
                    {"b", -2.5},
                    {"c", true},
                    {"d", nullptr},
                    {"e", "text"},
                    {"f", "1"},
                    {"g", "true"},
                    {"h", "600m"},
                    {"i", 1000.0},
                    {"j", 0.5},
                    {"k", "0x1f"},
                    {"l", nullptr},
                    {"m", "inf"}}));
}

TEST(documents, a_stream_has_several_and_empty_ones_do_not_count) {
    EXPECT_EQ(read_documents("a: 1\n---\n---\n# nothing\n---\nb: 2\n", "x")->size(), 2);
    EXPECT_EQ(one(R"({"a": [1, {"b": null}]})"), (json{{"a", {1, {{"b", nullptr}}}}}));
}

TEST(documents, what_is_wrong_names_the_file) {
    EXPECT_EQ(one("a: 1\na: 2").get<std::string>(), "plan.yaml: it has the key a twice");
    EXPECT_TRUE(one("a: [").get<std::string>().starts_with("plan.yaml: yaml-cpp: error at line 1"));
    EXPECT_EQ(one("[[1]: 2]").get<std::string>(), "plan.yaml: it has a key that is no text");
}

TEST(documents, aliases_cannot_grow_without_end) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) bomb += (k ? ", *a" : "*a") + std::to_string(i - 1);
        bomb += "]\n";
    }
    EXPECT_EQ(one(bomb).get<std::string>(), "plan.yaml: it has more than 200,000 values");
}

TEST(documents, yaml_quotes_what_would_read_as_another_type) {
    const json of = {{"a", "1"},
                     {"b", "true"},
                     {"c", "text with: colon"},
                     {"d", json::array()},
                     {"e", "yes"},
                     {"f", {1, 2}},
                     {"g", ""},
                     {"h", false},
                     {"i", json::object()},
                     {"j", "1:30"}};
    const auto text = yaml_text(of);
    EXPECT_EQ(text, R"(a: "1"
b: "true"
c: "text with: colon"
d: []
e: "yes"
f:
  - 1
  - 2
g: ""
h: false
i: {}
j: "1:30"
)");
    EXPECT_EQ(one(text), of);
}

TEST(documents, what_a_terminal_would_act_on_is_escaped_and_read_back) {
    for (const std::string text : {"cr\rover",
                                   "c1\xc2\x9b"
                                   "31m",
                                   "rtl\xe2\x80\xaegpj.exe", "\xe2\x80\xa8ls", "a\nb"}) {
        const json of{{"name", text}, {text, 1}};
        for (const auto as : {form::json, form::yaml}) {
            const auto written = object_text(of, as);
            for (std::string_view rest = written; !rest.empty();) {
                const auto line = rest.substr(0, rest.find('\n'));
                EXPECT_TRUE(is_printable(line)) << written;
                rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            }
            const auto read = read_documents(written, "test");
            ASSERT_TRUE(read) << read.error().text;
            EXPECT_EQ(read->at(0), of) << written;
        }
    }
}

}  // namespace
}  // namespace esi::kubectl::shown
