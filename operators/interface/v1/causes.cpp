#include "interface/v1/causes.h"

#include <algorithm>

#include "interface/v1/wire/problems.h"
#include "model/text.h"

namespace esi::interface::v1 {

namespace {

using nlohmann::json;

struct known_reason {
    std::string_view reason;
    std::string_view code;
};
constexpr known_reason reasons[] = {
    {"FieldValueRequired", problem_code::field_missing},
    {"FieldValueInvalid", problem_code::field_value},
    {"FieldValueNotSupported", problem_code::field_value},
    {"FieldValueTypeInvalid", problem_code::field_type},
    {"FieldValueTooLong", problem_code::too_long},
    {"FieldValueTooMany", problem_code::too_long},
    {"FieldValueDuplicate", problem_code::field_twice},
    {"FieldValueForbidden", problem_code::field_immutable},
};

std::string_view code_of(std::string_view reason) {
    const auto* const found = std::ranges::find(reasons, reason, &known_reason::reason);
    return found == std::end(reasons) ? problem_code::refused_by_api_server : found->code;
}

std::string text_at(const json& object, const char* member) {
    const auto found = object.find(member);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string pointer_of_field(std::string_view field) {
    std::string out;
    if (field.empty() || field.front() == '<') return out;
    std::string word;
    const auto end_word = [&] {
        if (!word.empty()) out = pointer_to(out, word);
        word.clear();
    };
    for (std::size_t i = 0; i < field.size(); ++i) {
        const char c = field[i];
        if (c == '.') {
            end_word();
        } else if (c == '[') {
            end_word();
            const auto close = std::min(field.find(']', i), field.size());
            word = field.substr(i + 1, close - i - 1);
            end_word();
            i = close;
        } else {
            word += c;
        }
    }
    end_word();
    return out;
}

faults faults_of_status(std::string_view status_json) {
    faults out;
    const auto status = json::parse(status_json, nullptr, false);
    if (!status.is_object()) return out;
    const auto details = status.find("details");
    if (details == status.end() || !details->is_object()) return out;
    const auto causes = details->find("causes");
    if (causes == details->end() || !causes->is_array()) return out;
    for (const auto& each : *causes) {
        if (!each.is_object()) continue;
        add_fault(out, pointer_of_field(text_at(each, "field")), code_of(text_at(each, "reason")),
                  model::cut(text_at(each, "message"), 1000));
    }
    return out;
}

asio::awaitable<result<kube::response>> refusal_reader::send(kube::request what,
                                                             steady_time deadline) {
    auto answer = co_await under_.send(std::move(what), deadline);
    if (answer && (answer->status == 400 || answer->status == 422)) {
        found_ = faults_of_status(answer->body);
    }
    co_return answer;
}

asio::awaitable<result<std::unique_ptr<kube::stream>>> refusal_reader::open(kube::request what,
                                                                            steady_time deadline) {
    co_return co_await under_.open(std::move(what), deadline);
}

http::problem_details problem_of_write(const error& why, const faults& found) {
    auto out = problem_of(why);
    if (why.code == errc::invalid || why.code == errc::bad_request) out.errors = found;
    return out;
}

}  // namespace esi::interface::v1
