// The documents of crds/: what a cluster accepts and refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/source_folder.h"
#include "server/kinds.h"
#include "server/validation/schema.h"
#include "server/validation/validation.h"

namespace esi::simulation {
namespace {

const validation& rules() {
    static const validation made(source_folder() + "/crds");
    return made;
}

std::vector<std::filesystem::path> files(const char* folder) {
    std::vector<std::filesystem::path> out;
    for (const auto& each :
         std::filesystem::directory_iterator(source_folder() + "/crds/" + folder)) {
        out.push_back(each.path());
    }
    std::ranges::sort(out);
    return out;
}

std::string name_of_file(const testing::TestParamInfo<std::filesystem::path>& info) {
    auto name = info.param.stem().string();
    std::ranges::replace(name, '-', '_');
    return name;
}

/// Puts the documents of a file one after another; the words of the last refusal, or nothing.
std::string put_all(const std::filesystem::path& file) {
    std::map<std::string, json> stored;
    std::string said;
    for (const auto& document : YAML::LoadAllFromFile(file.string())) {
        json body = to_json(document);
        if (!body.is_object()) continue;
        const kube::resource_type* type = nullptr;
        for (const auto* each :
             {&kinds::testbed, &kinds::batchjob, &kinds::scheduling, &kinds::slot_slice}) {
            if (body["kind"] == each->kind) type = each;
        }
        EXPECT_TRUE(type) << body["kind"];
        said.clear();
        for (const auto& each : rules().unknown_fields(*type, body)) said += each + "\n";
        const auto name =
            body["kind"].get<std::string>() + "/" + body["metadata"]["name"].get<std::string>();
        const auto old = stored.find(name);
        auto whole = body;
        const auto put_one = [&](std::string_view subresource, const json* before) {
            json next = whole;
            rules().prepare(*type, subresource, next, before);
            for (const auto& each : rules().check(*type, subresource, next, before)) {
                said += each.field + ": " + each.message + "\n";
            }
            if (said.empty()) stored[name] = std::move(next);
        };
        if (old != stored.end()) {
            auto merged = old->second;
            merged.merge_patch(body);
            whole = merged;
            const json before = old->second;
            put_one(body.contains("status") ? "status" : "", &before);
        } else {
            put_one("", nullptr);
            if (!said.empty() || !body.contains("status")) continue;
            const json before = stored[name];
            put_one("status", &before);
        }
    }
    return said;
}

class refused : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(refused, is_refused_with_the_words_of_its_first_line) {
    std::ifstream file(GetParam());
    std::string first;
    std::getline(file, first);
    ASSERT_TRUE(first.starts_with("# expect: "));
    EXPECT_THAT(put_all(GetParam()), testing::HasSubstr(first.substr(10)));
}
INSTANTIATE_TEST_SUITE_P(files, refused, testing::ValuesIn(files("refused")), name_of_file);

class accepted : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(accepted, is_accepted) { EXPECT_EQ(put_all(GetParam()), ""); }
INSTANTIATE_TEST_SUITE_P(files, accepted, testing::ValuesIn(files("accepted")), name_of_file);

}  // namespace
}  // namespace esi::simulation
