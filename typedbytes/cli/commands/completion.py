"""The command completion: the scripts of three shells, made of the parsers of all commands."""

from __future__ import annotations

from typedbytes.cli import _arguments as arguments
from typedbytes.cli._arguments import OUTPUT, option
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._parser import takes_value, value_name
from typedbytes.cli.registry import COMMANDS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from typedbytes.cli._output.files import CommandOutput
    from typedbytes.cli._parser import Parser


class Settings(arguments.Settings):
    """The options of completion."""

    files: list[str] = option(
        nargs="*", default=[], metavar="SHELL", help="bash, zsh or fish", words=("bash", "zsh", "fish")
    )
    output: str | None = OUTPUT


def run(settings: Settings, output: CommandOutput, parsers: dict[str, Parser]) -> int | None:
    """Write the script that makes a shell complete commands, options and their values.

    examples:
      source <(typedbytes completion bash)
      typedbytes completion bash -o ~/.local/share/bash-completion/completions/typedbytes
      typedbytes completion zsh -o ~/.zfunc/_typedbytes
      typedbytes completion fish -o ~/.config/fish/completions/typedbytes.fish
    """
    if len(settings.files) != 1 or settings.files[0] not in SHELLS:
        raise Failure(USAGE, "a shell is bash, zsh or fish (see typedbytes completion --help)")
    output.write(SHELLS[settings.files[0]](parsers).encode())


def _first(parser):
    """Return (metavar, allowed words) of the first positional argument of a command, or None if it is a file."""
    for action in parser.positionals():
        words = getattr(action, "words", ())
        return (action.metavar, words) if words or action.metavar == "PATTERN" else None
    return None


def _takes_file(action):
    return action.metavar in ("OUT", "FOLDER")


def _bash(parsers):
    values, words = [], []
    for name, parser in parsers.items():
        actions = parser.options()
        words.append(
            f"            {name}) words='{' '.join(each for action in actions for each in action.option_strings)}' ;;"
        )
        for action in actions:
            for flag in action.option_strings:
                if action.choices:
                    values.append(_bash_value(name, flag, action.choices))
                elif takes_value(action) and not _takes_file(action):
                    values.append(_bash_value(name, flag, ()))
        if _first(parser):
            values.append(_bash_value(name, name, _first(parser)[1]))
    return BASH.format(commands=" ".join(COMMANDS), values="\n".join(values), words="\n".join(words))


def _bash_value(name, before, words):
    return f"            '{name} {before}') " + (f"words='{' '.join(words)}' ;;" if words else "return ;;")


BASH = """\
# Completion of typedbytes for bash.
_typedbytes() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]}} words=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W '{commands} --help --version' -- "$word"))
        return
    fi
    if [[ $word == -* ]]; then
        case $command in
{words}
        esac
    else
        case "$command $before" in
{values}
        esac
    fi
    if [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _typedbytes typedbytes
"""


def _zsh(parsers):
    def spec(action):
        value = ""
        if action.choices:
            value = f":{action.dest}:({' '.join(action.choices)})"
        elif takes_value(action):
            value = f":{value_name(action)}:{'_files' if _takes_file(action) else ''}"
        help_text = action.help.replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
        return " ".join(_quoted(f"{each}[{help_text}]{value}") for each in action.option_strings)

    def first(parser):
        metavar, words = _first(parser) or (None, ())
        return f"'1:{metavar}:{'(' + ' '.join(words) + ')' if words else ''}' " if metavar else ""

    cases = (
        f"        {name}) _arguments {' '.join(map(spec, parser.options()))} {first(parser)}'*:file:_files' ;;"
        for name, parser in parsers.items()
    )
    commands = " ".join(_quoted(f"{name}:{summary}") for name, summary in COMMANDS.items())
    return ZSH.format(commands=commands, cases="\n".join(cases))


ZSH = """\
#compdef typedbytes
_typedbytes() {{
    local -a commands=({commands})
    if ((CURRENT == 2)); then
        if [[ $PREFIX == -* ]]; then
            compadd -- --help --version
        else
            _describe command commands
        fi
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{cases}
    esac
}}
# Zsh runs a file of its fpath when the first completion is wanted.
if [[ $funcstack[1] == _typedbytes ]]; then
    _typedbytes "$@"
else
    compdef _typedbytes typedbytes
fi
"""


def _fish(parsers):
    lines = [FISH]
    for name, summary in COMMANDS.items():
        lines.append(f"complete -c typedbytes -f -n '__typedbytes_is \"\"' -a {name} -d {_fish_quoted(summary)}")
    for name, parser in parsers.items():
        of_command = f"complete -c typedbytes -n '__typedbytes_is {name}'"
        if _first(parser):
            lines.append(
                f"complete -c typedbytes -f -n '__typedbytes_ends_with {name}' -a '{' '.join(_first(parser)[1])}'"
            )
        for action in parser.options():
            flags = " ".join(
                f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in action.option_strings
            )
            value = ""
            if action.choices:
                value = f" -x -a {_fish_quoted(' '.join(action.choices))}"
            elif takes_value(action):
                value = " -r" if _takes_file(action) else " -x"
            lines.append(f"{of_command} {flags}{value} -d {_fish_quoted(action.help)}")
    return "\n".join(lines) + "\n"


FISH = """\
# Completion of typedbytes for fish.
function __typedbytes_is
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
function __typedbytes_ends_with
    set -l words (commandline -opc)
    test (count $words) = 2; and test $words[2] = $argv[1]
end
complete -c typedbytes -f -n '__typedbytes_is ""' -l help -d 'show the commands'
complete -c typedbytes -f -n '__typedbytes_is ""' -l version -d 'show the version'"""


def _quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[dict[str, Parser]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
