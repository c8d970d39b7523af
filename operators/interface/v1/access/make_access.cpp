#include "interface/v1/access/access.h"
#include "interface/v1/access/options.h"
#include "interface/v1/access/reviewed_access.h"

namespace esi::interface::v1 {

namespace {

/// All callers are the same, and may do everything.
class open_access final : public access {
public:
    open_access() {
        auto who = std::make_shared<http::identity>();
        who->name = "system:anonymous";
        who->groups = {"system:unauthenticated"};
        anonymous_ = std::move(who);
    }

    asio::awaitable<std::expected<std::shared_ptr<const http::identity>, http::problem_details>>
    authenticate(const http::server_request&) override {
        co_return anonymous_;
    }
    asio::awaitable<std::optional<http::problem_details>> refusal(const http::identity&,
                                                                  const permission&, std::string,
                                                                  std::string) override {
        co_return std::nullopt;
    }

private:
    std::shared_ptr<const http::identity> anonymous_;
};

}  // namespace

std::unique_ptr<access> make_access(access_sources from, const access_options& options) {
    if (!options.by_token) return std::make_unique<open_access>();
    return std::make_unique<reviewed_access>(from, options);
}

}  // namespace esi::interface::v1
