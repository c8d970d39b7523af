#include "kube/auth/kubeconfig.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>

#include "kube/auth/exec_plugin.h"
#include "kube/auth/server_address.h"

namespace esi::kube {
namespace {

constexpr const char* example = R"(
apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: c1
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority: pki/ca.crt
    tls-server-name: kubernetes
- name: c2
  cluster: {server: "http://localhost:8001", insecure-skip-tls-verify: true, certificate-authority-data: UEVN}
- name: proxied
  cluster: {server: "https://x", proxy-url: "http://proxy"}
users:
- name: cert
  user: {client-certificate-data: QQ==, client-key: /keys/k.pem}
- name: token
  user: {token: 12345, tokenFile: t/token}
- name: empty
- name: basic
  user: {username: u, password: p}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: [a, "b c"]
      env: [{name: X, value: "1"}]
      provideClusterInfo: true
      installHint: install it
contexts:
- name: lab
  context: {cluster: c1, user: cert, namespace: experiments}
- name: other
  context: {cluster: c2, user: token}
- name: nobody
  context: {cluster: c2, user: empty}
- name: proxied
  context: {cluster: proxied, user: cert}
- name: basic
  context: {cluster: c1, user: basic}
- name: lost-user
  context: {cluster: c1, user: gone}
- name: lost-cluster
  context: {cluster: gone, user: cert}
- name: plugin
  context: {cluster: c1, user: plugin}
)";

TEST(kubeconfig, is_read) {
    auto config = parse_kubeconfig(example, "/home/u/.kube/config");
    ASSERT_TRUE(config) << config.error().text;
    auto lab = select_context(*config, "");
    ASSERT_TRUE(lab) << lab.error().text;
    EXPECT_EQ(lab->ns, "experiments");
    EXPECT_EQ(lab->cluster.server, "https://10.0.0.1:6443");
    EXPECT_EQ(lab->cluster.ca.file, "/home/u/.kube/pki/ca.crt");
    EXPECT_EQ(lab->cluster.tls_server_name, "kubernetes");
    EXPECT_EQ(lab->user.client_certificate.data, "A");
    EXPECT_EQ(lab->user.client_key.file, "/keys/k.pem");

    auto other = select_context(*config, "other");
    ASSERT_TRUE(other);
    EXPECT_EQ(other->ns, "default");
    EXPECT_EQ(other->cluster.ca.data, "PEM");
    EXPECT_TRUE(other->cluster.insecure_skip_tls_verify);
    EXPECT_EQ(other->user.token, "12345");
    EXPECT_EQ(other->user.token_file, "/home/u/.kube/t/token");

    EXPECT_TRUE(select_context(*config, "nobody"));

    auto plugin = select_context(*config, "plugin");
    ASSERT_TRUE(plugin);
    ASSERT_TRUE(plugin->user.exec);
    EXPECT_EQ(plugin->user.exec->command, "/home/u/.kube/bin/login");
    EXPECT_EQ(plugin->user.exec->args, (std::vector<std::string>{"a", "b c"}));
    EXPECT_EQ(plugin->user.exec->env.at(0).first, "X");
    EXPECT_TRUE(plugin->user.exec->provide_cluster_info);
}

TEST(kubeconfig, a_context_that_cannot_be_used_says_why) {
    auto config = parse_kubeconfig(example, "/c");
    ASSERT_TRUE(config);
    const struct {
        const char* context;
        const char* says;
    } table[] = {
        {"absent", "there is no context \"absent\" (there are: basic, lab,"},
        {"proxied", "proxy-url"},
        {"basic", "uses username"},
        {"lost-user", "\"gone\""},
        {"lost-cluster", "\"gone\""},
    };
    for (const auto& row : table) {
        auto access = select_context(*config, row.context);
        ASSERT_FALSE(access) << row.context;
        EXPECT_EQ(access.error().code, errc::config);
        EXPECT_NE(access.error().text.find(row.says), std::string::npos) << access.error().text;
    }
    EXPECT_FALSE(select_context(kubeconfig(), ""));
}

TEST(kubeconfig, bad_text_is_an_error_that_names_the_file) {
    const std::string deep = "clusters: " + std::string(20000, '[') + std::string(20000, ']');
    const struct {
        std::string text;
        const char* says;
    } table[] = {
        {"a: [", ""},
        {"- a", "is not a kubeconfig"},
        {"just text", "is not a kubeconfig"},
        {"clusters: {a: b}", "clusters is not a list"},
        {"clusters: [a, b]", "without name"},
        {"clusters: [{cluster: {}}]", "without name"},
        {"clusters: [{name: c, cluster: {server: [a]}}]", "cluster c: server is not a text"},
        {"clusters: [{name: c, cluster: {insecure-skip-tls-verify: maybe}}]", "neither true nor"},
        {"clusters: [{name: c, cluster: {certificate-authority-data: '!'}}]", "is not base64"},
        {"users: [{name: u, user: {exec: {}}}]", "exec has no command"},
        {"users: [{name: u, user: {exec: {command: x, apiVersion: v0}}}]", "apiVersion \"v0\""},
        {"users: [{name: u, user: {exec: {command: x, apiVersion: "
         "client.authentication.k8s.io/v1, interactiveMode: Always}}}]",
         "terminal"},
        {deep, ""},
        {"a: &a\n  b: *a\nclusters: *a", "clusters is not a list"},
    };
    for (const auto& row : table) {
        auto config = parse_kubeconfig(row.text, "/etc/kube.yaml");
        ASSERT_FALSE(config) << row.text.substr(0, 80);
        EXPECT_EQ(config.error().code, errc::config);
        EXPECT_TRUE(config.error().text.starts_with("/etc/kube.yaml: ")) << config.error().text;
        EXPECT_NE(config.error().text.find(row.says), std::string::npos) << config.error().text;
    }
    EXPECT_TRUE(parse_kubeconfig("", "/c"));
    EXPECT_TRUE(parse_kubeconfig("clusters: null\nusers:\n", "/c"));
    EXPECT_TRUE(parse_kubeconfig("clusters: [{name: a, cluster: null}, {name: b}]", "/c"));
}

TEST(kubeconfig, what_would_make_it_somebody_else_is_refused_not_passed_over) {
    for (const char* key : {"auth-provider: {name: x}", "password: p", "as: a", "as-groups: [g]",
                            "as-uid: u", "as-user-extra: {a: [b]}"}) {
        auto config =
            parse_kubeconfig(std::string("clusters: [{name: c, cluster: {server: 'https://a'}}]\n"
                                         "users: [{name: u, user: {token: t, ") +
                                 key + "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]",
                             "/c");
        ASSERT_TRUE(config) << config.error().text;
        const auto access = select_context(*config, "x");
        ASSERT_FALSE(access) << key;
        EXPECT_TRUE(access.error().text.contains("which ESI does not speak")) << key;
    }
}

TEST(kubeconfig, of_several_files_the_first_wins_per_key) {
    auto a = parse_kubeconfig(
        "clusters: [{name: c, cluster: {server: 'https://a'}}]\n"
        "contexts: [{name: x, context: {cluster: c}}]",
        "/a");
    auto b = parse_kubeconfig(
        "current-context: x\n"
        "clusters: [{name: c, cluster: {server: 'https://b'}}, {name: d, cluster: {server: d}}]",
        "/b");
    ASSERT_TRUE(a && b);
    const auto merged = merge_kubeconfigs({*a, *b});
    EXPECT_EQ(merged.current_context, "x");
    EXPECT_EQ(merged.clusters.at("c").server, "https://a");
    EXPECT_EQ(merged.clusters.size(), 2u);
    EXPECT_EQ(select_context(merged, "")->cluster.server, "https://a");
}

/// A folder of its own under the system's, gone at the end.
class access_files : public testing::Test {
protected:
    access_files() {
        std::string pattern = (std::filesystem::temp_directory_path() / "esi-test-XXXXXX").string();
        folder = mkdtemp(pattern.data());
    }
    ~access_files() override { std::filesystem::remove_all(folder); }
    std::string write(const std::string& name, const std::string& text) {
        std::ofstream(folder + "/" + name) << text;
        return folder + "/" + name;
    }
    environment_lookup environment(std::map<std::string, std::string> variables) {
        return [variables](const char* name) {
            const auto found = variables.find(name);
            return found == variables.end() ? std::string() : found->second;
        };
    }
    static std::string config(const std::string& server) {
        return "current-context: x\nclusters: [{name: c, cluster: {server: '" + server +
               "'}}]\ncontexts: [{name: x, context: {cluster: c}}]";
    }
    std::string folder;
};

TEST_F(access_files, the_flag_goes_before_the_variable_before_the_home) {
    const auto flag = write("flag", config("https://flag"));
    const auto variable = write("variable", config("https://variable"));
    std::filesystem::create_directory(folder + "/.kube");
    write(".kube/config", config("https://home"));
    const auto all =
        environment({{"KUBECONFIG", folder + "/absent:" + variable}, {"HOME", folder}});
    EXPECT_EQ(load_access(flag, "", all)->cluster.server, "https://flag");
    EXPECT_EQ(load_access("", "", all)->cluster.server, "https://variable");
    EXPECT_EQ(load_access("", "", environment({{"HOME", folder}}))->cluster.server, "https://home");
    EXPECT_FALSE(load_access("", "y", all));
    auto none = load_access("", "", environment({{"HOME", "/nowhere"}}));
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().text.find("/nowhere/.kube/config; give --kubeconfig"),
              std::string::npos);
    EXPECT_FALSE(load_access("/nowhere", "", all));
    EXPECT_EQ(load_access(flag, "", all)->context, "x");
}

TEST_F(access_files, an_empty_file_is_named) {
    const auto empty = write("empty", " \n");
    auto access = load_access(empty, "", environment({}));
    ASSERT_FALSE(access);
    EXPECT_EQ(access.error().text, empty + " is empty");
    const auto full = write("full", config("https://full"));
    EXPECT_EQ(
        load_access("", "", environment({{"KUBECONFIG", empty + ":" + full}}))->cluster.server,
        "https://full");
}

TEST_F(access_files, a_pod_uses_its_service_account) {
    write("token", "t");
    write("namespace", "lab");
    const auto pod = in_cluster_access(
        environment({{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}}),
        folder);
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->cluster.server, "https://[fd00::1]:443");
    EXPECT_EQ(pod->cluster.ca.file, folder + "/ca.crt");
    EXPECT_EQ(pod->user.token_file, folder + "/token");
    EXPECT_EQ(pod->ns, "lab");
    EXPECT_EQ(pod->context, "");
    EXPECT_FALSE(in_cluster_access(environment({}), folder));
}

TEST(server_address, is_taken_apart) {
    const struct {
        const char* url;
        const char* authority;
        const char* prefix;
        bool tls;
    } table[] = {
        {"https://10.0.0.1:6443", "10.0.0.1:6443", "", true},
        {"https://host", "host:443", "", true},
        {"http://localhost:8001/", "localhost:8001", "", false},
        {"https://[::1]:6443", "[::1]:6443", "", true},
        {"https://rancher/k8s/clusters/c-1/", "rancher:443", "/k8s/clusters/c-1", true},
    };
    for (const auto& row : table) {
        auto parsed = parse_server_address(row.url);
        ASSERT_TRUE(parsed) << row.url;
        EXPECT_EQ(parsed->authority(), row.authority);
        EXPECT_EQ(parsed->prefix, row.prefix);
        EXPECT_EQ(parsed->tls, row.tls);
    }
    for (const char* url :
         {"", "host:6443", "ftp://x", "https://", "https://u:p@x", "https://x?a=1", "https://a b",
          "//x", "https://a%41b", "https://host:1x", "https://host:65536"}) {
        EXPECT_FALSE(parse_server_address(url)) << url;
    }
}

TEST(base64, is_decoded_strictly) {
    EXPECT_EQ(decode_base64("aGVsbG8="), "hello");
    EXPECT_EQ(decode_base64("aGVs\nbG8h\n"), "hello!");
    EXPECT_EQ(decode_base64(""), "");
    for (const char* text : {"a", "aGVsbG8", "aG=s", "!!!!", "a===", "aGVsbG8=="}) {
        EXPECT_EQ(decode_base64(text), std::nullopt) << text;
    }
}

TEST(exec_credential, is_checked) {
    const auto answer = [](const std::string& status) {
        return parse_exec_credential(
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
                status + "}",
            "client.authentication.k8s.io/v1");
    };
    auto token = answer(R"({"token":"t","expirationTimestamp":"2026-11-21T09:34:07Z"})");
    ASSERT_TRUE(token);
    EXPECT_EQ(token->token, "t");
    EXPECT_TRUE(token->expires);
    EXPECT_TRUE(answer(R"({"clientCertificateData":"c","clientKeyData":"k"})"));
    for (const char* status : {"{}", "null", "[]", R"({"token":1})", R"({"clientKeyData":"k"})",
                               R"({"token":"t","expirationTimestamp":"soon"})"}) {
        EXPECT_FALSE(answer(status)) << status;
    }
    EXPECT_FALSE(parse_exec_credential("", "v"));
    EXPECT_FALSE(parse_exec_credential(R"({"kind":"ExecCredential","apiVersion":"x"})", "v"));
}

exec_plugin shell(const std::string& script) {
    exec_plugin out;
    out.api_version = "client.authentication.k8s.io/v1";
    out.command = "sh";
    out.args = {"-c", script};
    out.env = {{"GIVEN", "value"}};
    out.install_hint = "the hint";
    return out;
}

TEST(exec_plugin, is_told_and_answers) {
    const std::atomic<bool> stop = false;
    auto plugin = shell(
        R"sh(printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",'
             printf '"status":{"token":"%s-%s"}}' "$GIVEN" \
                 "$(printf %s "$KUBERNETES_EXEC_INFO" | cut -c1-14)")sh");
    plugin.provide_cluster_info = true;
    cluster_entry cluster;
    cluster.server = "https://x";
    const auto info = exec_info(plugin, cluster, "PEM!");
    EXPECT_EQ(info,
              R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":)"
              R"({"cluster":{"certificate-authority-data":"UEVNIQ==","server":"https://x"},)"
              R"("interactive":false}})");
    auto answer = run_exec_plugin(plugin, "0123456789abcdef",
                                  std::chrono::steady_clock::now() + seconds(5), stop);
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->token, "value-0123456789abcd");
}

TEST(exec_plugin, failures_say_what_it_said) {
    const std::atomic<bool> stop = false;
    const auto soon = std::chrono::steady_clock::now() + seconds(5);
    auto failed = run_exec_plugin(shell("echo no login >&2; exit 3"), "", soon, stop);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().text, "credential plugin sh: exit code 3: no login\n (the hint)");
    auto absent = shell("");
    absent.command = "/nowhere/plugin";
    EXPECT_FALSE(run_exec_plugin(absent, "", soon, stop));
    EXPECT_FALSE(run_exec_plugin(shell("echo text"), "", soon, stop));
    EXPECT_FALSE(run_exec_plugin(shell("cat /dev/zero"), "", soon, stop));
}

TEST(exec_plugin, one_that_hangs_is_killed_with_its_children) {
    const std::atomic<bool> stop = false;
    auto hung = run_exec_plugin(shell("sleep 100 & sleep 100"), "",
                                std::chrono::steady_clock::now() + milliseconds(100), stop);
    ASSERT_FALSE(hung);
    EXPECT_NE(hung.error().text.find("did not answer in time"), std::string::npos);
    const std::atomic<bool> stopped = true;
    EXPECT_FALSE(run_exec_plugin(shell("sleep 100"), "",
                                 std::chrono::steady_clock::now() + seconds(100), stopped));
}

}  // namespace
}  // namespace esi::kube
