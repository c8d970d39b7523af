// A request script: what is asked of an API server, one request after another, with values of
// earlier answers in later requests. Read from YAML; the form is described in README.md. Knows no
// server.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/transport.h"

namespace esi::simulation {

using json = nlohmann::json;

struct script_step {
    enum class kind { request, watch, read, documents, compact };
    kind what = kind::request;
    /// Shown with the answer.
    std::string title;
    std::string method;
    std::string target;
    json body;
    /// A merge patch onto the body.
    json change;
    std::string content_type;
    /// Of a request; empty: application/json.
    std::string accept;
    /// Under which name the answer (or the watch) is known to later steps.
    std::string name;
    /// Only these members of the answer are shown; empty: all.
    std::vector<std::string> pick;
    /// Only the code and the reason are shown.
    bool code_only = false;
    /// Of a read: so many events, bookmarks apart.
    int events = 0;
    /// Of documents: the folder.
    std::string folder;
};

struct script {
    std::string name;
    /// Templates for bodies, by name: the first known "answers".
    json known = json::object();
    std::vector<script_step> steps;
};

/// Throws std::runtime_error that names the step.
script read_script(const std::string& file);

/// Replaces {name.member.0.member} by what is known; a text that is nothing else takes the value
/// with its type. Throws std::runtime_error for what is not known.
json fill(const json& value, const json& known);
std::string fill_text(const std::string& text, const json& known);

/// The member at "a.b.0"; null where there is none.
const json* at_path(const json& value, std::string_view path);

/// The documents of a YAML file.
std::vector<json> read_documents(const std::string& file);

}  // namespace esi::simulation
