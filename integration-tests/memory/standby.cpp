#include "standby.h"

#include <fmt/format.h>

namespace esi::memory {

namespace {

using namespace std::chrono_literals;

std::string event(std::string_view type, std::string_view object) {
    return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

const std::string end_of_list = event(
    "BOOKMARK",
    R"({"metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}})");

/// A definition, where an operator asks for one by its name: the kind is there.
std::string definition_asked_for(std::string_view target) {
    constexpr std::string_view by_name = "fieldSelector=metadata.name%3D";
    const auto at = target.find(by_name);
    if (!target.contains("/customresourcedefinitions") || at == std::string_view::npos) return {};
    const auto name = target.substr(at + by_name.size()).substr(0, target.find('&', at) - at);
    return event("ADDED",
                 fmt::format(R"({{"metadata":{{"name":"{}","uid":"d","resourceVersion":"1"}},)"
                             R"("status":{{"conditions":[{{"type":"Established",)"
                             R"("status":"True"}}]}}}})",
                             name.substr(0, name.find('&'))));
}

}  // namespace

asio::awaitable<result<kube::response>> shown_transport::send(kube::request, steady_time) {
    co_return fail(errc::transport, "there is no server");
}

asio::awaitable<result<std::unique_ptr<kube::stream>>> shown_transport::open(kube::request what,
                                                                             steady_time) {
    auto end = std::make_shared<kube::stream_feed>(executor_);
    end->push(definition_asked_for(what.target) + end_of_list);
    watches[what.target.substr(0, what.target.find('?'))] = end;
    co_return std::make_unique<kube::fed_stream>(time_, end);
}

standby::standby(std::string name, const controller::operator_factory& make)
    : life_({loop_.get_executor(), time_, wire_, &no_lease_, numbers_, routes_, options_,
             "esi-" + name, "standby", "", "nobody", nullptr},
            make, [] {}) {
    tasks_.spawn("life", [](controller::operator_life& life) -> asio::awaitable<void> {
        co_await life.run();
    }(life_));
    settle();
}

standby::~standby() {
    tasks_.cancel();
    settle();
}

void standby::settle() { run_for(loop_, time_, 0s); }

std::vector<std::string> standby::watched() const {
    std::vector<std::string> out;
    for (const auto& [list, unused] : wire_.watches) out.push_back(list);
    return out;
}

void standby::show(const std::string& list, std::string event_line) {
    wire_.watches.at(list)->push(std::move(event_line));
    settle();
}

}  // namespace esi::memory
