// One operation of /api/v1: its path, rights, bodies and answers, and its handler. The table of
// operations is the one source of the routes, of the rights that are checked, and of the OpenAPI
// document.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "http/router.h"

namespace esi::interface::v1 {

/// A right that RBAC has to grant. Namespace and name are those of the request's path ({namespace},
/// {name}); without {namespace} in the path and in the query it is checked for all namespaces.
struct permission {
    std::string verb;      ///< get, list, watch, create, update, patch, delete
    std::string resource;  ///< testbeds, batchjobs, schedulings, nodes
    std::string group = "esi.tu-berlin.de";
};

struct parameter {
    std::string name;
    std::string description;
    /// JSON Schema of its text, for example {"type":"integer","minimum":0}.
    std::string schema;
    bool required = false;
};

/// A body, by the name of its schema (schemas.h).
struct content {
    std::string schema;
    std::string media_type = "application/json";
};

struct documented_answer {
    int status = 200;
    std::string description;
    std::vector<content> contents;
    /// Names of response headers (openapi.cpp describes them).
    std::vector<std::string> headers = {};
};

struct operation {
    std::string id;      ///< operationId, "listTestbeds"
    std::string tag;     ///< its kind: "testbeds"
    std::string method;  ///< upper case
    std::string path;    ///< "/api/v1/namespaces/{namespace}/testbeds/{name}"
    std::string summary;
    std::string description;
    /// All of them are needed; none: each authenticated caller may.
    std::vector<permission> needs;
    /// Rights that the handler itself checks, for what the request names.
    std::vector<permission> asks = {};
    std::vector<parameter> query;
    std::vector<parameter> headers;
    /// Bodies that it accepts; none: it takes no body.
    std::vector<content> bodies;
    /// The body may be left out.
    bool body_is_optional = false;
    std::vector<documented_answer> answers;
    /// The longest body, in bytes.
    std::size_t body_limit = 0;
    http::route_handler handler;
};

}  // namespace esi::interface::v1
