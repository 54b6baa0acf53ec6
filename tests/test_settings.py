"""Numbers in the environment."""

from __future__ import annotations

import pytest

from tfreel.settings import byte_count, number

NAME = "TFREEL_HELD_BYTES"


@pytest.mark.parametrize("text", [None, ""])
def test_what_is_not_set_is_the_default(text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    if text is not None:
        monkeypatch.setenv(NAME, text)
    assert number(NAME) is None
    assert byte_count(NAME, 7) == 7


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), (" 12 ", 12), ("8_000", 8000), (str(2**63 - 1), 2**63 - 1)]
)
def test_whole_numbers_are_taken(text: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, text)
    assert number(NAME) == byte_count(NAME, 7) == value


@pytest.mark.parametrize("text", ["many", "1.5", "1GB", "-"])
def test_what_is_no_number_names_the_variable(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, text)
    with pytest.raises(ValueError, match=f"{NAME} must be a whole number, not '{text}'"):
        byte_count(NAME, 7)


def test_more_bytes_than_there_can_be_are_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, str(2**70))
    assert byte_count(NAME, 7) == 2**63 - 1


def test_there_are_no_fewer_than_no_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "-1")
    assert number(NAME) == -1
    with pytest.raises(ValueError, match="at least 0, not -1"):
        byte_count(NAME, 7)
