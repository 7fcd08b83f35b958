"""The command `nat`."""

import sys

import pytest

from nat.export import command

COMMANDS = ("translate", "pack", "export", "compare", "fairseq-command", "doctor", "completion")


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)])
def test_every_command_has_help(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["nat", *words, "--help"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(" ".join(["usage: nat", *words]))
