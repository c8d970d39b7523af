#include "kubectl-esi/completion/scripts.h"

#include <map>

namespace esi::kubectl::completion {

namespace {

constexpr const char* bash = R"script(# bash completion of kubectl-esi
_kubectl_esi() {
    local line files=
    local -a words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :0) files=1 ;;
            :*) ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o default
    fi
}
complete -F _kubectl_esi kubectl-esi
)script";

constexpr const char* zsh = R"script(#compdef kubectl-esi
# Read with `source` behind compinit, or put as _kubectl-esi into a folder of $fpath before it.
_kubectl-esi() {
    local line name
    local -a lines candidates
    lines=("${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    for line in $lines; do
        case $line in
            :0) _files; return ;;
            :*) ;;
            *$'\t'*) name=${line%%$'\t'*}; candidates+=("${name//:/\\:}:${line#*$'\t'}") ;;
            *) candidates+=("${line//:/\\:}") ;;
        esac
    done
    _describe 'kubectl esi' candidates
}
if [[ ${funcstack[1]} == _kubectl-esi ]]; then
    # zsh has loaded the file from $fpath for the first completion.
    _kubectl-esi "$@"
else
    compdef _kubectl-esi kubectl-esi
fi
)script";

constexpr const char* fish = R"script(# fish completion of kubectl-esi
function __kubectl_esi
    set -l words (commandline -opc)
    kubectl-esi __complete $words[2..-1] (commandline -ct) 2>/dev/null | string match -v -r '^:'
end
function __kubectl_esi_files
    set -l words (commandline -opc)
    kubectl-esi __complete $words[2..-1] (commandline -ct) 2>/dev/null | string match -q ':0'
end
complete -c kubectl-esi -f -n 'not __kubectl_esi_files' -a '(__kubectl_esi)'
complete -c kubectl-esi -F -n '__kubectl_esi_files'
)script";

constexpr const char* kubectl = R"script(#!/bin/sh
# kubectl asks this program what `kubectl esi ...` can go on with: it has to be in the PATH under the
# name kubectl_complete-esi, and its file has to be executable.
exec kubectl-esi __complete "$@"
)script";

const std::map<std::string, const char*>& scripts() {
    static const std::map<std::string, const char*> all{
        {"bash", bash}, {"zsh", zsh}, {"fish", fish}, {"kubectl", kubectl}};
    return all;
}

}  // namespace

const std::vector<std::string>& shells() {
    static const std::vector<std::string> names{"bash", "zsh", "fish", "kubectl"};
    return names;
}

std::string script_for(const std::string& shell) { return scripts().at(shell); }

}  // namespace esi::kubectl::completion
