#include "kubectl-esi/commands/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "kube/patch.h"
#include "kube/percent.h"
#include "kube/status_error.h"
#include "kubectl-esi/read/remedy.h"
#include "kubectl-esi/read/tries.h"
#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/blockers.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"
#include "model/conditions.h"
#include "model/names.h"

namespace esi::kubectl {

namespace answers = scheduling::answers;
namespace types = kube::types;
using model::object_key;
using shown::json;

namespace {

using namespace std::chrono_literals;

/// As large as the API server's limit for one request, and several documents.
constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::size_t most_documents = 100;
constexpr auto look_again = 500ms;
constexpr auto in_dry_run = " (server dry run)";
constexpr auto look_again_slower = 5s;

struct document {
    json body;
    object_key name;
};

result<std::string> read_stream(std::FILE* from, const std::string& name) {
    std::string out;
    char buffer[16384];
    while (const auto got = std::fread(buffer, 1, sizeof buffer, from)) {
        out.append(buffer, got);
        if (out.size() > most_bytes) return fail(errc::config, name + " has more than 16 MiB");
    }
    if (std::ferror(from) != 0) return fail(errc::config, "cannot read " + name);
    return out;
}

result<std::string> read_file(const std::string& name) {
    if (name == "-") return read_stream(stdin, "stdin");
    std::FILE* file = std::fopen(name.c_str(), "rb");
    if (file == nullptr)
        return fail(errc::config, "cannot open " + name + ": no such file, or no right to read it");
    auto out = read_stream(file, name);
    std::fclose(file);
    return out;
}

std::string text_at(const json& of, const char* key) {
    const auto found = of.is_object() ? of.find(key) : of.end();
    return found != of.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Adds the object; a list of kind List is replaced by its items.
void add_all(std::vector<json>& to, json from) {
    if (text_at(from, "kind") == "List" && from.contains("items") && from["items"].is_array()) {
        for (auto& each : from["items"]) add_all(to, std::move(each));
        return;
    }
    to.push_back(std::move(from));
}

result<std::vector<document>> read_schedulings(const std::string& file, const std::string& ns,
                                               bool ns_is_given) {
    auto text = read_file(file);
    if (!text) return std::unexpected(std::move(text).error());
    const auto source = file == "-" ? std::string("stdin") : file;
    auto read = shown::read_documents(*text, source);
    if (!read) return std::unexpected(std::move(read).error());
    std::vector<json> bodies;
    for (auto& each : *read) add_all(bodies, std::move(each));
    if (bodies.empty()) return fail(errc::config, source + " has no document");
    if (bodies.size() > most_documents) {
        return fail(errc::config,
                    fmt::format("{} has more than {} documents", source, most_documents));
    }
    std::vector<document> out;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        auto& body = bodies[i];
        const auto where = fmt::format("{}, document {}", source, i + 1);
        const auto kind = text_at(body, "kind");
        if (kind != types::scheduling.kind ||
            text_at(body, "apiVersion") != types::scheduling.api_version()) {
            return fail(
                errc::config,
                fmt::format("{} is {} {}, not a Scheduling of {}; other kinds: kubectl apply",
                            where, text_at(body, "apiVersion"), shown::or_none(kind),
                            types::scheduling.api_version()));
        }
        const json none;
        const auto& meta = body.contains("metadata") ? body["metadata"] : none;
        object_key name{text_at(meta, "namespace"), text_at(meta, "name")};
        if (name.name.empty() && text_at(meta, "generateName").empty()) {
            return fail(errc::config, where + " has no metadata.name");
        }
        if (name.namespace_.empty()) name.namespace_ = ns;
        if (ns_is_given && name.namespace_ != ns) {
            return fail(errc::config, fmt::format("{} is of namespace {}, and -n {} is given",
                                                  where, name.namespace_, ns));
        }
        out.push_back({std::move(body), std::move(name)});
    }
    return out;
}

std::string full_name(const object_key& name) {
    return "scheduling." + std::string(model::names::group) + "/" + name.name;
}

result<json> read_answer(const std::string& text) {
    auto out = json::parse(text, nullptr, false);
    if (!out.is_object() || !out.contains("metadata")) {
        return fail(errc::decode, "the API server answers with something that is no object");
    }
    return out;
}

/// The object as the API server would store it, with defaults, and every fault that it reports.
asio::awaitable<result<json>> checked(session& in, document of, bool exists,
                                      const std::string& version) {
    if (!exists) {
        kube::create_options how;
        how.dry_run = true;
        how.field_validation = "Strict";
        auto made = co_await in.api.create(types::scheduling, of.name.namespace_, of.body, how);
        if (!made) co_return std::unexpected(std::move(made).error());
        co_return read_answer(*made);
    }
    of.body["metadata"]["resourceVersion"] = version;
    kube::query_builder target(types::scheduling.path(of.name.namespace_, of.name.name));
    target.add("dryRun", "All").add("fieldValidation", "Strict");
    kube::request what("PUT", target.take());
    what.content_type = "application/json";
    what.body = of.body.dump();
    const auto subject = "dry run of update Scheduling " + of.name.text();
    auto answer =
        co_await in.api.wire().send(std::move(what), in.time.now() + in.flags.request_timeout);
    if (!answer) co_return std::unexpected(std::move(answer).error());
    if (answer->status != 200) co_return std::unexpected(kube::status_error(*answer, subject));
    co_return read_answer(answer->body);
}

asio::awaitable<result<reply>> previewed(session& in, document of, const schedule_options& how) {
    reply out;
    auto seen = co_await read_world(in, {{of.name.namespace_, in.own_namespace()}});
    if (!seen) co_return std::unexpected(std::move(seen).error());
    out.note = notes_text(seen->hidden);
    const auto found = seen->objects.schedulings.find(of.name);
    const auto* existing = found == seen->objects.schedulings.end() ? nullptr : found->second.get();
    auto body = co_await checked(in, of, existing != nullptr,
                                 existing != nullptr ? existing->metadata.resource_version : "");
    if (!body && body.error().code == errc::forbidden) {
        out.note += "note: you may not create it, so the API server has not checked it: " +
                    shown::printable(body.error().text) + "\n";
        body = of.body;
    }
    if (!body) co_return std::unexpected(std::move(body).error());
    auto& meta = (*body)["metadata"];
    // A record is decoded completely if name and uid are there.
    if (text_at(meta, "name").empty()) meta["name"] = of.name.name.empty() ? "new" : of.name.name;
    if (text_at(meta, "uid").empty()) meta["uid"] = "new";
    auto read = model::decode<model::scheduling>(body->dump(), "Scheduling");
    if (!read) co_return std::unexpected(std::move(read).error());
    if (!read->metadata.undecodable.empty()) {
        co_return fail(errc::invalid,
                       "Scheduling " + of.name.text() + ": " + read->metadata.undecodable);
    }
    const auto now = in.now();
    const auto self = answers::draft_of({of.name.namespace_, read->metadata.name},
                                        std::move(read->spec), existing, now);
    const auto what = answers::preview_of(answers::view_of(seen->objects, self), now);
    if (in.tables()) {
        out.out = preview_text(self->metadata.key(), what, in.wide(), in.look(), now);
    } else {
        auto shown_body = model::encode(what);
        shown_body["namespace"] = self->metadata.namespace_;
        shown_body["name"] = self->metadata.name;
        out.out = shown::object_text(shown_body, in.flags.output);
    }
    const bool good =
        what.verdict == answers::verdict::starts || what.verdict == answers::verdict::started;
    if (how.exit_code && !good) out.code = exit_code::starts_nothing;
    co_return out;
}

/// One try to write the spec of the file into the object that exists; a conflict says that the
/// object was written in between.
asio::awaitable<result<std::string>> updated(session& in, const document& of, bool dry_run) {
    auto now = co_await read_one<model::scheduling>(in, types::scheduling, of.name);
    if (!now) co_return std::unexpected(std::move(now).error());
    const auto version = (*now)->metadata.resource_version;
    auto fresh = co_await checked(in, of, true, version);
    if (!fresh) co_return std::unexpected(std::move(fresh).error());
    if ((*fresh)["metadata"].value("generation", std::int64_t{0}) == (*now)->metadata.generation) {
        co_return full_name(of.name) + " unchanged\n";
    }
    if (!dry_run) {
        // Finalizers and labels of the operators stay: only the spec comes from the file.
        auto patch = kube::guarded({{"spec", of.body["spec"]}}, (*now)->metadata.uid, version);
        const auto keep = json::parse(model::encode((*now)->spec).dump());
        for (const auto& [key, value] : keep.items()) {
            if (!patch["spec"].contains(key)) patch["spec"][key] = nullptr;
        }
        auto done = co_await in.api.patch(types::scheduling, of.name.namespace_, of.name.name,
                                          kube::patch_kind::merge, std::move(patch));
        if (!done) co_return std::unexpected(std::move(done).error());
    }
    co_return full_name(of.name) + " configured" + (dry_run ? in_dry_run : "") + "\n";
}

asio::awaitable<result<reply>> created(session& in, document& of, const schedule_options& how) {
    kube::create_options as;
    as.dry_run = how.dry_run;
    as.field_validation = "Strict";
    const char* dry = how.dry_run ? in_dry_run : "";
    auto made = co_await in.api.create(types::scheduling, of.name.namespace_, of.body, as);
    if (made) {
        const auto body = json::parse(*made, nullptr, false);
        if (body.is_object() && body.contains("metadata")) {
            of.name.name = text_at(body["metadata"], "name");
        }
        co_return reply{fmt::format("{} created{}\n", full_name(of.name), dry), "", exit_code::ok};
    }
    if (made.error().code != errc::already_exists) co_return std::unexpected(made.error());
    if (!how.update) {
        co_return fail(errc::already_exists,
                       fmt::format("Scheduling {} exists already; --update changes it, another "
                                   "metadata.name or generateName runs the plan again",
                                   of.name.text()));
    }
    auto line = co_await tried([&] { return updated(in, of, how.dry_run); });
    if (!line) co_return std::unexpected(std::move(line).error());
    co_return reply{std::move(*line), "", exit_code::ok};
}

bool holds(const model::scheduling& of, std::string_view type) {
    const auto* found = model::find_condition(of.status.conditions, type);
    return found != nullptr && found->status == "True";
}

/// Waits until the Scheduling has succeeded, has failed, or is gone.
asio::awaitable<result<reply>> waited_for(session& in, object_key name, steady_time deadline) {
    auto pause = milliseconds(look_again);
    while (true) {
        auto now = co_await read_one<model::scheduling>(in, types::scheduling, name);
        if (!now && now.error().code == errc::not_found) {
            co_return reply{full_name(name) + " deleted\n", "", exit_code::ok};
        }
        if (!now && !now.error().transient()) co_return std::unexpected(std::move(now).error());
        if (now) {
            const auto& self = **now;
            if (holds(self, model::condition_type::succeeded)) {
                co_return reply{end_text(name, self.status, "succeeded"), "", exit_code::ok};
            }
            if (holds(self, model::condition_type::failed)) {
                co_return reply{end_text(name, self.status, "failed"), "", exit_code::failed};
            }
        }
        if (in.time.now() + pause >= deadline) {
            co_return fail(errc::timeout, "Scheduling " + name.text() +
                                              " is not over yet; why: kubectl esi explain "
                                              "scheduling " +
                                              name.name + " -n " + name.namespace_);
        }
        co_await in.time.sleep_for(pause);
        pause = std::min<milliseconds>(pause * 2, look_again_slower);
    }
}

void add(reply& to, const reply& what) {
    to.out += what.out;
    to.note += what.note;
    to.code = std::max(to.code, what.code);
}

reply failed_after(reply done, const error& why, const session& in) {
    done.note += error_text(why, &in.access);
    done.code = exit_code::failed;
    return done;
}

}  // namespace

std::string end_text(const object_key& name, const model::scheduling_status& of,
                     std::string_view outcome) {
    const auto progress = of.progress.value_or(model::progress_counts{});
    auto out =
        fmt::format("{} {}: {}\n", full_name(name), outcome, shown::printable(progress.summary));
    if (outcome != "failed") return out;
    for (const auto& each : of.problems) out += "  " + shown::printable(each) + "\n";
    return out;
}

std::string preview_text(const object_key& name, const answers::preview& of, bool wide,
                         const shown::look& as, wall_time now) {
    auto inner = as;
    inner.indent += 2;
    shown::facts lines;
    lines.add("Scheduling", name.name);
    lines.add("Namespace", name.namespace_);
    lines.add("Testbed", shown::name_in(of.testbed, name.namespace_));
    lines.add("Mode", of.mode);
    lines.add("Verdict", of.verdict);
    lines.add("End", shown::estimate_text(of.end));
    auto out = lines.text();
    if (!of.blockers.empty()) {
        out += "Blockers of the plan:\n" +
               shown::blockers_text(of.blockers, {}, name.namespace_, wide, inner, now) +
               shown::left_out_text(of.blockers_left_out);
    }
    if (!of.starts.empty()) {
        shown::table rows({"JOB", "SLOTS", "END"});
        for (const auto& each : of.starts) {
            rows.add({shown::name_in({each.namespace_, each.name}, name.namespace_),
                      shown::slots_text(each.slots), shown::estimate_text(each.end)});
        }
        out += "Starts now:\n" + rows.text(inner) + shown::left_out_text(of.starts_left_out);
    }
    if (!of.waits.empty()) {
        shown::table rows({"JOB", "WANTS", "START", "WAITS-FOR"});
        for (const auto& each : of.waits) {
            rows.add({shown::name_in({each.namespace_, each.name}, name.namespace_),
                      std::to_string(each.slots_wanted), shown::estimate_text(each.start),
                      each.blockers.empty() ? std::string("what blocks the plan")
                                            : each.blockers.front().text});
        }
        out += "Waits:\n" + rows.text(inner) + shown::left_out_text(of.waits_left_out);
    }
    if (!of.refused.empty()) {
        shown::table rows({"JOB", "REASON", "MESSAGE"});
        for (const auto& each : of.refused) {
            rows.add({each.name.empty()
                          ? "(the plan)"
                          : shown::name_in({each.namespace_, each.name}, name.namespace_),
                      shown::cell(each.reason, shown::tint::bad), each.text});
        }
        out += "Refused:\n" + rows.text(inner) + shown::left_out_text(of.refused_left_out);
    }
    for (const auto& each : of.ignored) out += "Ignored: " + shown::printable(each) + "\n";
    return out;
}

asio::awaitable<result<reply>> schedule(session& in, schedule_options how) {
    auto documents = read_schedulings(how.file, in.own_namespace(), !in.flags.ns.empty());
    if (!documents) co_return std::unexpected(std::move(documents).error());
    reply out;
    for (auto& each : *documents) {
        result<reply> done;
        if (how.preview) {
            done = co_await tried([&] { return previewed(in, each, how); });
        } else {
            done = co_await created(in, each, how);
        }
        // The results of earlier documents are reported all the same.
        if (!done) co_return failed_after(std::move(out), done.error(), in);
        if (how.preview && !out.out.empty()) {
            out.out += in.flags.output == form::yaml ? "---\n" : "\n";
        }
        add(out, *done);
    }
    if (how.preview || how.dry_run || !how.wait) co_return out;
    const auto deadline = in.time.now() + how.timeout;
    for (const auto& each : *documents) {
        auto done = co_await waited_for(in, each.name, deadline);
        if (!done) co_return failed_after(std::move(out), done.error(), in);
        add(out, *done);
    }
    co_return out;
}

}  // namespace esi::kubectl
