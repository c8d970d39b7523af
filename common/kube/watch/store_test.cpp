#include "kube/watch/store.h"

#include <gtest/gtest.h>

namespace esi::kube {
namespace {

struct thing {
    model::object_meta metadata;
    std::string node;
};

thing make(std::string name, std::string node, std::string version = "1") {
    thing out;
    out.metadata.namespace_ = "default";
    out.metadata.name = std::move(name);
    out.metadata.resource_version = std::move(version);
    out.node = std::move(node);
    return out;
}

using strings = std::vector<std::string>;

struct a_store : testing::Test {
    a_store() {
        things.add_index(
            "node", [](const thing& t) { return t.node.empty() ? strings{} : strings{t.node}; });
        things.add_index("letters", [](const thing& t) {
            strings out;
            for (char c : t.metadata.name) out.emplace_back(1, c);
            return out;
        });
        things.on_change([this](const change<thing>& what) { note("first", what); });
        things.on_change([this](const change<thing>& what) { note("second", what); });
    }
    void note(const char* who, const change<thing>& what) {
        const auto& any = what.after ? what.after : what.before;
        notes.push_back(std::string(who) + " " + (what.before ? what.before->node : "_") + ">" +
                        (what.after ? what.after->node : "_") + " " + any->metadata.name);
    }
    strings names(std::string_view index, std::string_view value) const {
        strings out;
        for (const auto& found : things.by_index(index, value)) {
            out.push_back(found->metadata.name);
        }
        return out;
    }
    store<thing> things;
    strings notes;
};

TEST_F(a_store, files_objects_under_all_their_keys_in_order) {
    things.apply(make("cab", "n1"));
    things.apply(make("ab", "n1"));
    things.apply(make("b", "n2"));
    EXPECT_EQ(names("node", "n1"), (strings{"ab", "cab"}));
    EXPECT_EQ(names("letters", "b"), (strings{"ab", "b", "cab"}));
    EXPECT_EQ(names("letters", "z"), strings{});
    EXPECT_EQ(names("unknown", "n1"), strings{});
}

TEST_F(a_store, moves_an_object_that_changed_its_key) {
    things.apply(make("a", "n1"));
    things.apply(make("a", "n2", "2"));
    EXPECT_EQ(names("node", "n1"), strings{});
    EXPECT_EQ(names("node", "n2"), strings{"a"});
    things.apply(make("a", "", "3"));
    EXPECT_EQ(names("node", "n2"), strings{});
    EXPECT_EQ(things.size(), 1u);
}

TEST_F(a_store, tells_listeners_in_the_order_of_their_registration) {
    things.apply(make("a", "n1"));
    things.apply(make("a", "n2", "2"));
    things.erase({"default", "a"});
    things.erase({"default", "a"});
    EXPECT_EQ(notes, (strings{"first _>n1 a", "second _>n1 a", "first n1>n2 a", "second n1>n2 a",
                              "first n2>_ a", "second n2>_ a"}));
}

TEST_F(a_store, listeners_see_the_change_in_the_store) {
    std::size_t seen = 99;
    things.on_change([&](const change<thing>&) { seen = names("node", "n1").size(); });
    things.apply(make("a", "n1"));
    EXPECT_EQ(seen, 1u);
    things.erase({"default", "a"});
    EXPECT_EQ(seen, 0u);
}

TEST_F(a_store, replace_deletes_what_is_not_in_the_list) {
    things.replace({make("a", "n1"), make("b", "n1")});
    notes.clear();
    std::vector<thing> next;
    next.push_back(make("b", "n1"));
    next.push_back(make("c", "n1"));
    things.replace(std::move(next));
    EXPECT_EQ(notes, (strings{"first n1>_ a", "second n1>_ a", "first _>n1 c", "second _>n1 c"}));
    EXPECT_EQ(names("node", "n1"), (strings{"b", "c"}));
    EXPECT_EQ(names("letters", "a"), strings{});
}

TEST_F(a_store, replace_tells_of_changed_versions_only) {
    things.replace({make("a", "n1", "1"), make("b", "n1", "1")});
    notes.clear();
    things.replace({make("a", "n2", "2"), make("b", "n1", "1")});
    EXPECT_EQ(notes, (strings{"first n1>n2 a", "second n1>n2 a"}));
}

TEST_F(a_store, an_object_that_somebody_holds_does_not_change) {
    things.apply(make("a", "n1"));
    auto held = things.find({"default", "a"});
    things.apply(make("a", "n2", "2"));
    things.erase({"default", "a"});
    EXPECT_EQ(held->node, "n1");
    EXPECT_EQ(things.find({"default", "a"}), nullptr);
}

}  // namespace
}  // namespace esi::kube
