#include "kube/watch/store.h"

#include <gtest/gtest.h>

#include <random>

#include "model/cluster.h"

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

// --- a kind that is kept packed ---

static_assert(packable<model::pod> && !packable<thing>);

model::pod pod(std::string name, std::string node, std::string version = "1",
               std::string ns = "default") {
    model::pod out;
    out.metadata.namespace_ = std::move(ns);
    out.metadata.name = std::move(name);
    out.metadata.resource_version = std::move(version);
    out.node_name = std::move(node);
    return out;
}

struct a_store_of_packed : testing::Test {
    a_store_of_packed() {
        pods.add_index("node", [](const model::pod& of) {
            return of.node_name.empty() ? strings{} : strings{of.node_name, "any", "any"};
        });
        pods.on_change([this](const change<model::pod>& what) {
            const auto& any = what.after ? what.after : what.before;
            notes.push_back((what.before ? what.before->node_name : "_") + ">" +
                            (what.after ? what.after->node_name : "_") + " " +
                            any->metadata.key().text());
        });
    }
    strings names(std::string_view value) const {
        strings out;
        for (const auto& found : pods.by_index("node", value)) {
            out.push_back(found->metadata.name);
        }
        return out;
    }
    strings all() const {
        strings out;
        pods.each([&](const auto& each) { out.push_back(each->metadata.key().text()); });
        return out;
    }
    store<model::pod> pods;
    strings notes;
};

TEST_F(a_store_of_packed, shows_objects_and_groups_in_key_order) {
    for (const char* name : {"c", "a", "10", "b", "9"}) pods.apply(pod(name, "n1"));
    pods.apply(pod("z", "n1", "1", "abc"));
    EXPECT_EQ(all(),
              (strings{"abc/z", "default/10", "default/9", "default/a", "default/b", "default/c"}));
    EXPECT_EQ(names("n1"), (strings{"z", "10", "9", "a", "b", "c"}));
    EXPECT_EQ(names("any"), (strings{"z", "10", "9", "a", "b", "c"}));
    EXPECT_EQ(pods.size(), 6U);
    ASSERT_NE(pods.find({"default", "9"}), nullptr);
    EXPECT_EQ(pods.find({"default", "9"})->node_name, "n1");
    EXPECT_EQ(pods.find({"default", "90"}), nullptr);
}

TEST_F(a_store_of_packed, tells_what_was_before_and_what_is) {
    pods.apply(pod("a", "n1"));
    pods.apply(pod("a", "n2", "2"));
    pods.apply(pod("a", "", "3"));
    EXPECT_EQ(names("n1"), strings{});
    EXPECT_EQ(names("any"), strings{});
    pods.erase({"default", "a"});
    pods.erase({"default", "a"});
    EXPECT_EQ(notes,
              (strings{"_>n1 default/a", "n1>n2 default/a", "n2> default/a", ">_ default/a"}));
    EXPECT_EQ(pods.size(), 0U);
}

TEST_F(a_store_of_packed, does_not_tell_of_what_has_not_changed) {
    pods.apply(pod("a", "n1"));
    pods.apply(pod("a", "n1"));
    EXPECT_EQ(notes, strings{"_>n1 default/a"});
}

TEST_F(a_store_of_packed, an_object_that_somebody_holds_does_not_change) {
    pods.apply(pod("a", "n1"));
    const auto held = pods.find({"default", "a"});
    pods.apply(pod("a", "n2", "2"));
    pods.erase({"default", "a"});
    EXPECT_EQ(held->node_name, "n1");
}

TEST_F(a_store_of_packed, a_relist_deletes_what_is_missing_and_tells_of_what_differs) {
    std::vector<model::pod> list;
    list.push_back(pod("b", "n1"));
    list.push_back(pod("a", "n1"));
    list.push_back(pod("a", "n1", "1", "other"));
    pods.replace(std::move(list));
    notes.clear();
    list = {};
    list.push_back(pod("c", "n2"));
    list.push_back(pod("a", "n1"));
    // Listed twice: an object that a page of the list showed before.
    list.push_back(pod("c", "n3", "2"));
    pods.replace(std::move(list), "default");
    EXPECT_EQ(notes, (strings{"n1>_ default/b", "_>n2 default/c", "n2>n3 default/c"}));
    EXPECT_EQ(names("n1"), (strings{"a", "a"}));
    EXPECT_EQ(names("n2"), strings{});
    EXPECT_EQ(names("n3"), strings{"c"});
    EXPECT_EQ(all(), (strings{"default/a", "default/c", "other/a"}));
}

TEST_F(a_store_of_packed, is_the_same_as_one_that_is_not_after_many_changes) {
    std::mt19937 chance(1);
    const auto upto = [&](unsigned n) { return static_cast<unsigned>(chance() % n); };
    std::map<model::object_key, model::pod> known;
    for (int step = 0; step < 3000; ++step) {
        auto one = pod(std::to_string(upto(40)), "n" + std::to_string(upto(4)),
                       std::to_string(step), "ns" + std::to_string(upto(2)));
        const auto key = one.metadata.key();
        if (upto(3) == 0) {
            known.erase(key);
            pods.erase(key);
        } else {
            known.insert_or_assign(key, one);
            pods.apply(one);
        }
        for (const char* node : {"n0", "n3"}) {
            strings expected;
            for (const auto& [unused, each] : known) {
                if (each.node_name == node) expected.push_back(each.metadata.name);
            }
            ASSERT_EQ(names(node), expected) << "step " << step;
        }
    }
    ASSERT_EQ(pods.size(), known.size());
    for (const auto& [key, each] : known) {
        EXPECT_EQ(pods.find(key)->metadata.resource_version, each.metadata.resource_version);
    }
}

TEST_F(a_store, tells_a_list_apart_from_changes_and_the_version_behind_each) {
    things.on_change([this](const change<thing>& what) {
        const auto& any = what.after ? what.after : what.before;
        notes.push_back(any->metadata.name + (things.replacing() ? " of a list" : ""));
    });
    things.on_list([this](std::string_view ns) { notes.push_back("list of " + std::string(ns)); });
    things.on_version([this](std::string_view ns, std::string_view version) {
        notes.push_back("version " + std::string(version) + " of " + std::string(ns));
    });
    notes.clear();
    things.replace(std::vector<thing>{make("a", "n1", "5")}, "default");
    things.set_version("7", "default");
    // Nothing has changed: the time in between is as unknown.
    things.replace(std::vector<thing>{make("a", "n1", "5")}, "default");
    things.set_version("9", "default");
    things.apply(make("a", "n2", "10"));
    things.set_version("10", "default");
    things.erase({"default", "a"});
    things.set_version("11", "default");
    std::erase_if(notes, [](const auto& each) {
        return each.starts_with("first") || each.starts_with("second");
    });
    EXPECT_EQ(notes, (strings{"a of a list", "list of default", "version 7 of default",
                              "list of default", "version 9 of default", "a",
                              "version 10 of default", "a", "version 11 of default"}));
}

}  // namespace
}  // namespace esi::kube
