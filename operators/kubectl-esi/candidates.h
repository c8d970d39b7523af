// What a command line can go on with. The answer has the form in which kubectl asks its plugins:
// a line for each candidate, with a description behind a tab, and at the end ":0" where the shell
// offers files, else ":4".
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
    /// What the user has typed of the last word.
    std::string prefix;
    /// In front of the candidates, where the last word has something else before them: "--output=",
    /// or the nodes of "--nodes a,b,".
    std::string before;
    /// Commands and flags; all begin with the prefix.
    std::vector<candidate> fixed;
    /// Beside them, the names of objects.
    named names = named::nothing;
    /// As far as the words before say.
    general_flags flags;
};

/// `words`: those behind the program's name; the last one is to be completed, and may be empty.
/// Pure.
question ask(const CLI::App& app, const std::vector<std::string>& words);

/// The names that the API server or the kubeconfig has; none where it does not answer.
asio::awaitable<std::vector<std::string>> names_of(session& in, named what);
std::vector<std::string> contexts_of(const general_flags& flags);

std::string answer_text(const question& of, const std::vector<std::string>& names);

}  // namespace esi::kubectl::completion
