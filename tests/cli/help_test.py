"""Runs what mete says about itself: help, the manual page, completions in shells that are installed. Standard library only."""
import os
import pathlib
import pty
import shlex
import shutil
import subprocess
import threading

import cli_testing
from cli_testing import OK, Cli, mete


def fish_completions(script, line):
    """What fish offers at the end of the line."""
    command = ["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line]
    done = subprocess.run(command, capture_output=True, text=True, timeout=cli_testing.LONG_S)
    assert not done.stderr, done.stderr
    return [offer.split("\t")[0] for offer in done.stdout.splitlines()]


def drain(terminal):
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # the other end is closed
        pass


ZSHRC = r"""
PS1='' LISTMAX=10000  # no question before a long list
autoload -Uz compinit && compinit -u -D
{load}
compadd() {{  # keeps what is offered; those that only ask (-O, -A, -D) offer nothing
  local -a offered
  [[ " ${{(j: :)@[1,(i)(-|--)]}}" == *\ -[OAD]* ]] || {{ builtin compadd -O offered "$@"; print -rl -- $offered >> {out} }}
  builtin compadd "$@"
}}
zle-line-init() {{ BUFFER={line}; CURSOR=$#BUFFER; zle list-choices; exit }}
zle -N zle-line-init
"""


def zsh_completions(folder, load, line):
    """What zsh offers at the end of the line: the completion system needs a line editor, and that a terminal."""
    out = folder / "offered"
    out.write_text("")
    (folder / ".zshrc").write_text(ZSHRC.format(load=load, out=shlex.quote(str(out)), line=shlex.quote(line)))
    ours, theirs = pty.openpty()
    reader = threading.Thread(target=drain, args=(ours,))  # a full terminal would block the shell
    reader.start()
    try:
        env = {**os.environ, "ZDOTDIR": str(folder), "TERM": "xterm"}
        subprocess.run(["zsh", "-d", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=env, timeout=cli_testing.LONG_S, start_new_session=True)
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return sorted(set(out.read_text().split()))


class Help(Cli):
    def test_every_command_teaches(self):
        for words in ([], ["run"], ["bench"], ["compare"], ["inspect"], ["machine"], ["plan"], ["profile"], ["quantize"], ["simulate"], ["zoo"],
                      ["zoo", "list"], ["zoo", "make"], ["completion"], ["devices"], ["keys"], ["keys", "make"], ["keys", "show"],
                      ["keys", "token"]):
            done = mete(*words, "--help")
            self.assertEqual(done.returncode, OK)
            self.assertIn("\n\nExamples:\n  ", done.stdout, words)
            self.assertGreaterEqual(done.stdout.split("Examples:")[1].count("mete "), 2, words)
        self.assertIn("Exit codes:", mete("--help").stdout)
        self.assertIn("METE_TARGET", mete("--help").stdout)
        self.assertIn("mete ", mete("--version").stdout)

    def test_what_is_printed_about_mete_has_a_json_form(self):
        self.assertEqual(mete("--version").stdout, f"mete {self.answer('--version')['version']}\n")
        self.assertEqual(mete("--man").stdout, self.answer("--man")["man"])
        for words in ([], ["zoo", "make"]):
            self.assertEqual(mete(*words, "--help").stdout, self.answer(*words, "--help")["help"])

    def test_help_is_a_command_too(self):
        for words in ([], ["run"], ["zoo", "make"], ["help"]):
            self.assertEqual(mete("help", *words).stdout, mete(*words, "--help").stdout, words)
        self.assertIn("  simulate ", mete("help").stdout)

    def test_manual_page_names_every_flag(self):
        page = mete("--man").stdout
        self.assertTrue(page.startswith(".TH METE 1"))
        for word in ("EXIT STATUS", "mete bench", "\\-\\-resize\\-shorter", "\\-\\-save\\-plan", "METE_TARGET"):
            self.assertIn(word, page)

    def test_completions_are_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            script = mete("completion", shell).stdout
            self.assertIn("disable-pass", script)
            path = self.path(shell, script.encode())
            try:
                checked = subprocess.run([shell, "-n", path], capture_output=True, text=True)
            except FileNotFoundError:
                continue
            self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_bash_completes_commands_and_flags(self):
        script = self.path("bash", mete("completion", "bash").stdout.encode())
        def complete(*words):
            line = " ".join(f"'{w}'" for w in words)
            text = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _mete; echo \"${{COMPREPLY[@]}}\""
            return subprocess.run(["bash", "-c", text], capture_output=True, text=True).stdout.split()
        self.assertEqual(complete("mete", "ben"), ["bench"])
        self.assertEqual(complete("mete", "zoo", "ma"), ["make"])
        self.assertEqual(complete("mete", "zoo", "make", "squeezenet1.1"), ["squeezenet1.1"])
        self.assertEqual(complete("mete", "completion", "z"), ["zsh"])
        self.assertEqual(complete("mete", "run", "net.onnx", "--disable-pass", "fold-ba"), ["fold-batchnorm"])
        self.assertIn("--save-plan", complete("mete", "run", "net.onnx", "--sa"))
        self.assertNotIn("--warmup", complete("mete", "run", "--"))


    def test_fish_completes_commands_flags_and_values(self):
        self.completes("fish", lambda line: fish_completions(self.path("fish", mete("completion", "fish").stdout.encode()), line))

    def test_zsh_completes_commands_flags_and_values(self):
        folder = self.path("zsh")
        folder.mkdir()
        (folder / "_mete").write_text(mete("completion", "zsh").stdout)
        self.completes("zsh", lambda line: zsh_completions(folder, f"source {folder}/_mete", line))
        # As a file of $fpath, which is what the script's first lines advise.
        self.assertEqual(zsh_completions(folder, f"autoload -Uz {folder}/_mete; compdef _mete mete", "mete ben"), ["bench"])

    def completes(self, shell, complete):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        self.assertEqual(complete("mete ben"), ["bench"])
        self.assertEqual(sorted(complete("mete zoo ")), ["list", "make"])
        self.assertEqual(sorted(complete("mete zoo make squeezenet")), ["squeezenet1.0", "squeezenet1.1"])
        self.assertEqual(complete("mete completion z"), ["zsh"])
        self.assertEqual(complete("mete run net.onnx --save-p"), ["--save-plan"])
        self.assertEqual(complete("mete run net.onnx --disable-pass fold-b"), ["fold-batchnorm"])
        self.assertNotIn("--warmup", complete("mete run net.onnx --"))
        self.assertIn("--warmup", complete("mete bench net.onnx --"))
        self.assertEqual([pathlib.Path(f).name for f in complete(f"mete run {self.root}/net.on")], ["net.onnx"])


if __name__ == "__main__":
    cli_testing.main()
