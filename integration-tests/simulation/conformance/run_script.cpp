#include "conformance/run_script.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "conformance/normal_form.h"
#include "kube/watch/line_splitter.h"
#include "server/kinds.h"
#include "server/validation/faults.h"

namespace esi::simulation {

namespace {

using namespace std::chrono_literals;

constexpr auto request_time = 30s;

struct open_watch {
    std::unique_ptr<kube::stream> stream;
    std::string rest;
    bool ended = false;
};

class runner {
public:
    runner(const script& what, kube::transport& wire, clock& time,
           const conformance_options& options)
        : script_(what),
          wire_(wire),
          time_(time),
          options_(options),
          form_({{options.ns, "NAMESPACE"}}),
          known_(what.known) {
        known_["ns"] = options.ns;
        known_ = fill(known_, {{"ns", options.ns}});
    }

    asio::awaitable<json> run() {
        for (const auto& step : script_.steps) {
            switch (step.what) {
                case script_step::kind::request:
                    co_await request(step);
                    break;
                case script_step::kind::watch:
                    co_await open(step);
                    break;
                case script_step::kind::read:
                    co_await read(step);
                    break;
                case script_step::kind::documents:
                    co_await documents(step);
                    break;
                case script_step::kind::compact:
                    options_.compact();
                    break;
            }
        }
        co_return form_.finished(shown_);
    }

private:
    asio::awaitable<std::pair<int, json>> send(std::string method, std::string target, json body,
                                               std::string content_type,
                                               std::string accept = std::string()) {
        kube::request what(std::move(method), std::move(target));
        what.accept = std::move(accept);
        if (!body.is_null()) {
            what.content_type = std::move(content_type);
            what.body = body.dump();
        }
        const auto deadline = time_.now() + request_time;
        const auto subject = what.method + " " + what.target;
        auto answer = co_await wire_.send(std::move(what), deadline);
        if (!answer) throw std::runtime_error(subject + ": " + answer.error().text);
        auto read = json::parse(answer->body, nullptr, false);
        if (read.is_discarded()) read = answer->body;
        co_return std::pair<int, json>(answer->status, std::move(read));
    }

    void show(const script_step& step, const std::string& what, json answer) {
        if (step.code_only) {
            json less = {{"code", answer["code"]}};
            if (answer.contains("reason")) less["reason"] = answer["reason"];
            answer = std::move(less);
        } else if (!step.pick.empty() && answer.contains("object")) {
            json picked = json::object();
            for (const auto& path : step.pick) {
                const auto* found = at_path(answer["object"], path);
                picked[path] = found ? *found : json();
            }
            answer["object"] = std::move(picked);
        }
        json out = {{"step", what}};
        out.update(answer);
        shown_.push_back(std::move(out));
    }

    static std::string title_of(const script_step& step, const std::string& otherwise) {
        return step.title.empty() ? otherwise : step.title;
    }

    asio::awaitable<void> request(const script_step& step) {
        auto body = fill(step.body, known_);
        if (!step.change.is_null()) body.merge_patch(fill(step.change, known_));
        const auto target = fill_text(step.target, known_);
        const auto answer =
            co_await send(step.method, target, body, step.content_type, step.accept);
        if (!step.name.empty()) known_[step.name] = answer.second;
        auto normal = form_.answer(answer.first, answer.second);
        show(step, title_of(step, step.method + " " + step.target), std::move(normal));
    }

    asio::awaitable<void> open(const script_step& step) {
        kube::request what("GET", fill_text(step.target, known_));
        const auto deadline = time_.now() + request_time;
        auto opened = co_await wire_.open(std::move(what), deadline);
        if (!opened) throw std::runtime_error(step.target + ": " + opened.error().text);
        const int status = (*opened)->status();
        if (status == 200) {
            watches_[step.name].stream = std::move(*opened);
            co_return;
        }
        std::string text;
        while (true) {
            const auto limit = time_.now() + request_time;
            auto more = co_await (*opened)->read(limit);
            if (!more || more->empty()) break;
            text += *more;
        }
        auto body = json::parse(text, nullptr, false);
        if (body.is_discarded()) body = text;
        show(step, title_of(step, "watch " + step.target), form_.answer(status, body));
    }

    /// Reads on until `count` events that are no bookmarks have come, the watch ends or patience
    /// does.
    asio::awaitable<void> read(const script_step& step) {
        const auto found = watches_.find(step.name);
        if (found == watches_.end()) throw std::runtime_error("no watch " + step.name);
        auto& watch = found->second;
        json events = json::array();
        bool bookmarks = false;
        const auto until = time_.now() + options_.patience;
        const auto enough = [&] {
            return step.events > 0 && std::cmp_greater_equal(events.size(), step.events);
        };
        while (true) {
            take_lines(watch, step, events, bookmarks);
            if (enough() || watch.ended || time_.now() >= until) break;
            auto more = co_await watch.stream->read(until);
            if (!more) {
                if (more.error().code != errc::timeout) watch.ended = true;
                break;
            }
            if (more->empty()) watch.ended = true;
            watch.rest += *more;
        }
        json answer = {{"code", 200}, {"events", std::move(events)}};
        if (step.events == 0) answer["bookmarks"] = bookmarks;
        show(step, title_of(step, "read " + step.name), std::move(answer));
    }

    void take_lines(open_watch& watch, const script_step& step, json& events, bool& bookmarks) {
        while (step.events == 0 || std::cmp_less(events.size(), step.events)) {
            const auto end = watch.rest.find('\n');
            if (end == std::string::npos) return;
            auto event = json::parse(watch.rest.substr(0, end), nullptr, false);
            watch.rest.erase(0, end + 1);
            if (event.is_discarded()) throw std::runtime_error("a line of a watch that is no JSON");
            auto shown = form_.event(event);
            if (shown["type"] == "BOOKMARK") {
                bookmarks = true;
                // Only the one that ends a streaming list comes at a known time.
                if (!at_path(event, "object.metadata.annotations")) continue;
            }
            if (!step.pick.empty() && shown.contains("object")) {
                json picked = json::object();
                for (const auto& path : step.pick) {
                    const auto* member = at_path(shown["object"], path);
                    picked[path] = member ? *member : json();
                }
                shown["object"] = std::move(picked);
            }
            events.push_back(std::move(shown));
        }
    }

    /// As kubectl apply and replace --subresource=status do with the files of crds/, one file after
    /// another; a file's objects go before the next one.
    asio::awaitable<void> documents(const script_step& step) {
        const auto folder = std::filesystem::path(options_.root) / step.folder;
        std::vector<std::string> files;
        for (const auto& each : std::filesystem::directory_iterator(folder)) {
            if (each.path().extension() == ".yaml") files.push_back(each.path().string());
        }
        std::ranges::sort(files);
        for (const auto& file : files) {
            std::vector<std::string> made;
            for (auto document : read_documents(file)) {
                document["metadata"]["namespace"] = options_.ns;
                co_await put_document(step, std::filesystem::path(file).filename().string(),
                                      std::move(document), made);
            }
            for (const auto& target : made) co_await send("DELETE", target, json(), {});
        }
    }

    asio::awaitable<void> put_document(const script_step& step, std::string file, json document,
                                       std::vector<std::string>& made) {
        const auto& kind = document["kind"];
        const auto all = all_kinds();
        const auto type = std::ranges::find_if(all, [&](const auto* each) {
            return kind == each->kind && document["apiVersion"] == each->api_version();
        });
        if (type == all.end()) throw std::runtime_error(file + ": unknown kind");
        const auto name = document["metadata"]["name"].get<std::string>();
        const auto target = (*type)->path(options_.ns, name);
        const bool is_new = std::ranges::find(made, target) == made.end();
        std::pair<int, json> answer;
        if (is_new) {
            const auto where = (*type)->path(options_.ns) + "?fieldValidation=Strict";
            answer = co_await send("POST", where, document, "application/json");
            if (answer.first == 201) made.push_back(target);
            show(step, file + ": create", form_.answer(answer.first, answer.second));
            if (answer.first != 201 || !document.contains("status")) co_return;
        }
        const auto where = (document.contains("status") ? target + "/status" : target) +
                           std::string("?fieldValidation=Strict");
        answer = co_await send("PATCH", where, document, "application/merge-patch+json");
        show(step, file + ": patch", form_.answer(answer.first, answer.second));
    }

    const script& script_;
    kube::transport& wire_;
    clock& time_;
    const conformance_options& options_;
    normal_form form_;
    json known_;
    json shown_ = json::array();
    std::map<std::string, open_watch> watches_;
};

}  // namespace

asio::awaitable<json> run_script(const script& what, kube::transport& wire, clock& time,
                                 const conformance_options& options) {
    runner run(what, wire, time, options);
    auto out = co_await run.run();
    co_return out;
}

}  // namespace esi::simulation
