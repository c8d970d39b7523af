// The candidates that complete a command line. The answer has the form in which kubectl asks its
// plugins: a line for each candidate, with a description behind a tab, and at the end ":0" if the
// shell is to offer files, else ":4".
#pragma once

#include <string>
#include <vector>

#include "kubectl-esi/command_line.h"

namespace esi::kubectl::completion {

struct candidate {
    std::string word;
    std::string text;  ///< may be empty
    bool operator==(const candidate&) const = default;
};

struct question {
    /// The typed part of the last word.
    std::string prefix;
    /// Written in front of the candidates if the last word has another part before them:
    /// "--output=", or the nodes of "--nodes a,b,".
    std::string before;
    /// Candidates that are commands and flags; all begin with the prefix.
    std::vector<candidate> fixed;
    /// The objects whose names are candidates as well.
    named names = named::nothing;
    /// The flags that the words before give.
    general_flags flags;
};

/// `words`: all words after the program's name; the last one is to be completed, and may be empty.
/// Pure.
question ask(const CLI::App& app, const std::vector<std::string>& words);

/// The names that the API server or the kubeconfig has; none if it does not answer.
asio::awaitable<std::vector<std::string>> names_of(session& in, named what);
std::vector<std::string> contexts_of(const general_flags& flags);

std::string answer_text(const question& of, const std::vector<std::string>& names);

}  // namespace esi::kubectl::completion
