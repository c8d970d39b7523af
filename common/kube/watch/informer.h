// The cache of one kind: a reflector whose objects are decoded into typed records and kept in a
// store.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/wait.h"
#include "kube/watch/reflector.h"
#include "kube/watch/store.h"

namespace esi::kube {

/// Defined in model/json.h for every record.
template <class T>
result<T> decode_object(const simdjson::dom::element& object);

template <class T>
class informer {
public:
    informer(client& api, clock& time, const resource_type& type, watch_scope scope = watch_scope())
        : type_(type) {
        limit(default_share);
        auto namespaces = scope.namespaces;
        if (namespaces.empty()) namespaces.emplace_back();
        std::ranges::sort(namespaces);
        namespaces.erase(std::ranges::unique(namespaces).begin(), namespaces.end());
        for (auto& ns : namespaces) {
            store_.set_version("", ns);
            feeds_.push_back(std::make_unique<feed>(*this, api, time, scope, std::move(ns)));
        }
    }

    /// Changes each object before it is kept: members that this process never reads are dropped
    /// (client-go's SetTransform). Before the first run().
    void set_transform(std::function<void(T&)> change) { transform_ = std::move(change); }

    /// How much memory its objects of one namespace may take, in bytes (kube/watch/share.h); 0: no
    /// limit. Objects without a namespace are those of administrators, and have none. Before the
    /// first run().
    void limit(std::size_t bytes) { store_.limit(type_.namespaced ? bytes : 0, type_.kind); }
    const namespace_shares& shares() const { return store_.shares(); }

    store<T>& items() { return store_; }
    const store<T>& items() const { return store_; }
    /// Whether a list has been complete, ever, in each namespace. If one of several lacks the right
    /// (its Role was deleted with it, say), it is left out until the right is there: it delays none
    /// of the others.
    bool synced() const { return store_.synced(); }
    /// Lists that began after the last run() are complete: nothing older than that call is shown.
    bool current() const { return rest(&feed::current); }
    /// The namespaces of which current() waits for a list; of one that watches all: "".
    std::vector<std::string> missing() const {
        std::vector<std::string> out;
        for (const auto& each : feeds_) {
            if (!each->current && !each->left_out) out.push_back(each->ns);
        }
        // Only left-out namespaces remain: these are missing.
        if (out.empty() && !current()) {
            for (const auto& each : feeds_) out.push_back(each->ns);
        }
        return out;
    }
    bool served() const {
        return std::ranges::all_of(feeds_, [](const auto& each) { return each->source.served(); });
    }
    const resource_type& type() const { return type_; }
    /// When the last byte of a list or watch came in; of several, that of the quietest.
    steady_time last_heard() const {
        auto out = steady_time::max();
        for (const auto& each : feeds_) out = std::min(out, each->source.last_heard());
        return out;
    }
    /// Why lists or watches fail, for each namespace where they do.
    std::vector<trouble> troubles() const {
        std::vector<trouble> out;
        for (const auto& each : feeds_) {
            if (const auto& of = each->source.present_trouble()) out.push_back(*of);
        }
        return out;
    }
    /// Called when the first list of each namespace is complete.
    void on_synced(std::function<void()> callback) { synced_callback_ = std::move(callback); }
    asio::awaitable<void> run() {
        outdate();
        if (feeds_.size() == 1) return feeds_.front()->source.run();
        std::vector<asio::awaitable<void>> all;
        for (auto& each : feeds_) all.push_back(each->source.run());
        return run_together(std::move(all));
    }
    /// Marks the contents as stale: current() is false until a list that begins from now on is
    /// complete. For a caller that defers run().
    void outdate() {
        for (auto& each : feeds_) each->current = each->left_out = false;
    }

private:
    /// The reports of one reflector, for one namespace or for all.
    struct feed final : sink {
        feed(informer& into, client& api, clock& time, const watch_scope& scope, std::string of)
            : whole(into), ns(std::move(of)), source(api, time, into.type_, scope, ns, *this) {}

        result<void> upsert(const simdjson::dom::element& object) override {
            auto decoded = decode_object<T>(object);
            if (!decoded) return std::unexpected(std::move(decoded).error());
            if (!decoded->metadata.undecodable.empty()) {
                log::warn("object not understood in full",
                          {{"kind", whole.type_.kind},
                           {"object", decoded->metadata.key().text()},
                           {"why", decoded->metadata.undecodable}});
            }
            if (whole.transform_) whole.transform_(*decoded);
            if (listing) {
                pending.add(store<T>::keep(std::move(*decoded)));
            } else {
                whole.store_.apply(std::move(*decoded));
                whole.tell_shares();
            }
            return {};
        }
        result<void> erase(const simdjson::dom::element& object) override {
            auto key = decode_key(object);
            if (!key) return std::unexpected(std::move(key).error());
            if (listing) {
                pending.erase({key->namespace_, key->name});
            } else {
                whole.store_.erase(*key);
                whole.tell_shares();
            }
            return {};
        }
        void begin_list() override {
            listing = true;
            pending = whole.store_.new_list();
        }
        void end_list() override {
            listing = false;
            whole.store_.replace(std::exchange(pending, whole.store_.new_list()), ns);
            whole.tell_shares();
            listed = current = true;
            left_out = false;
            whole.note_list();
        }
        void version(std::string resource_version) override {
            whole.store_.set_version(std::move(resource_version), ns);
        }

        bool wants_list() override { return whole.store_.shares().has_room_again(ns); }

        bool denied() override {
            if (whole.feeds_.size() == 1) return false;
            if (left_out) return true;
            left_out = true;
            whole.tell_left_out(ns);
            whole.note_list();
            return true;
        }

        informer& whole;
        const std::string ns;
        typename store<T>::list pending;
        bool listing = false;
        bool listed = false;
        bool current = false;
        bool left_out = false;
        reflector source;
    };

    /// True for at least one namespace, and for each that is not left out.
    bool rest(bool feed::* holds) const {
        return std::ranges::any_of(feeds_, [&](const auto& each) { return (*each).*holds; }) &&
               std::ranges::all_of(
                   feeds_, [&](const auto& each) { return (*each).*holds || each->left_out; });
    }
    void note_list() {
        if (!rest(&feed::listed)) return;
        store_.mark_synced();
        if (synced_callback_) std::exchange(synced_callback_, nullptr)();
    }

    /// Logs one line if more objects than ever since the last line have lost their content, and one
    /// when all have it again.
    void tell_shares() {
        const auto& of = shares().all_left_out();
        if (of.size() > told_left_out_) {
            log::warn(
                "namespace stores more than its share: content of its largest objects left out",
                {{"kind", type_.kind},
                 {"namespace", of.begin()->first.namespace_},
                 {"object", of.begin()->first.text()},
                 {"objects", of.size()},
                 {"remedy", "make them smaller, delete others, or raise --cache-share-bytes"}});
        } else if (!of.empty() || told_left_out_ == 0) {
            return;
        } else {
            log::info("all objects have their content again", {{"kind", type_.kind}});
        }
        told_left_out_ = of.size();
    }

    void tell_left_out(const std::string& ns) const {
        log::warn("namespace left out until the right is there",
                  {{"namespace", ns},
                   {"kind", type_.kind},
                   {"remedy", "grant list and watch there, or take it out of --namespace"}});
    }

    const resource_type& type_;
    store<T> store_;
    std::size_t told_left_out_ = 0;
    std::function<void()> synced_callback_;
    std::function<void(T&)> transform_;
    std::vector<std::unique_ptr<feed>> feeds_;
};

}  // namespace esi::kube
