"""What zsh and fish make of a command line when Tab is pressed. A shell that is not installed skips the test."""
import os
import pty
import select
import shutil
import subprocess
import time

import pytest

from patience import PATIENCE

PROMPT = b"ready> "
TAB = b"\t"
TELL = b"\x18"
# zsh completes only at a terminal. Control-X tells the line as it stands then, and ends the shell.
ZSHRC = """
{start}
PS1='{prompt}'
LISTMAX=0
tell() {{ print -r -- "[[$BUFFER]]"; exit }}
zle -N tell
bindkey '^X' tell
"""


def program(name):
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed; scripts/setup.sh installs it")
    return found


def at_a_terminal(line, keys, environment):
    """All that a program shows until it ends; `keys` are pressed once it has shown its prompt."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(line[0], line, environment)
    shown, typed, ended = b"", False, False
    deadline = time.monotonic() + PATIENCE
    try:
        while not ended and time.monotonic() < deadline:
            if not select.select([terminal], [], [], 0.2)[0]:
                continue
            try:
                more = os.read(terminal, 65536)
            except OSError:
                # So Linux says that nobody is at the other side any more.
                more = b""
            shown += more
            ended = not more
            if not typed and PROMPT in shown:
                os.write(terminal, keys)
                typed = True
    finally:
        os.close(terminal)
        # Without its terminal the shell ends by itself.
        os.waitpid(child, 0)
    assert ended, f"{line[0]} has not ended: {shown!r}"
    return shown.decode()


def zsh(folder, start, keys, environment):
    (folder / ".zshrc").write_text(ZSHRC.format(start=start, prompt=PROMPT.decode()), "utf-8")
    environment = dict(environment, ZDOTDIR=str(folder), TERM="dumb", COLUMNS="200")
    return at_a_terminal([program("zsh"), "-d", "-i"], keys, environment)


def zsh_completes(folder, start, typed, environment):
    """The line after Tab. `start`: what .zshrc, which is written to `folder`, has for it."""
    shown = zsh(folder, start, typed.encode() + TAB + TELL, environment)
    return shown.rpartition("[[")[2].partition("]]")[0]


def zsh_offers(folder, start, typed, environment):
    """What is listed below the line."""
    return zsh(folder, start, typed.encode() + TAB + TELL, environment)


def fish_offers(command, environment):
    """What `complete -C` prints: {word: what it is}."""
    done = subprocess.run([program("fish"), "-c", command], capture_output=True, text=True, timeout=PATIENCE,
                          check=True, env=environment)
    assert not done.stderr, done.stderr
    return {word: text for word, _, text in (line.partition("\t") for line in done.stdout.splitlines())}
