"""platform.json: every rule, and every error names its key."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.errors import InvalidManifest
from tapeline.models.archives.manifest import KEYS, Manifest, read

FILES = {"main.py", "requirements.txt", "src/run.py", "src/tests.py"}
FOLDERS = {"src"}


def manifest(**keys: Any) -> Manifest:
    content = json.dumps({"main_script": "main.py"} | keys).encode()
    return read(content, "platform.json", FILES, FOLDERS)


def test_a_main_script_is_enough() -> None:
    assert manifest() == Manifest(main_script="main.py")
    assert manifest(unknown=[1], another={"x": None}) == Manifest(main_script="main.py")


def test_everything_it_can_say_is_read() -> None:
    said = manifest(
        main_script="./run.py",
        requirements="../requirements.txt",
        working_directory="./src/",
        python_version="3.10",
        backtest_args={"to": "1y"},
        backtest="tests.py:backtest",
        type="screener",
        screener={"schedule": "@daily", "more": 1},
        plan="micro",
        network=False,
        model_id="m",
        project_id="p",
        model_name="n",
        ignore_files=[".git"],
    )
    assert said == Manifest(
        main_script="run.py",
        requirements="../requirements.txt",
        working_directory="src",
        python_version="3.10",
        backtest_args={"to": "1y"},
        backtest="tests.py:backtest",
        type="screener",
        schedule="@daily",
        plan="micro",
        network=False,
        model_id="m",
        project_id="p",
        model_name="n",
        ignore_files=[".git"],
    )


def test_every_key_has_a_sentence_for_the_docs() -> None:
    named = {key.rpartition(".")[2] for key, _, _ in KEYS}
    assert named == set(Manifest.__struct_fields__)
    assert len(KEYS) == len(named)


def test_null_and_an_empty_text_say_nothing() -> None:
    for nothing in (None, ""):
        keys = ("requirements", "python_version", "backtest", "type", "plan", "model_id")
        assert manifest(**dict.fromkeys(keys, nothing)) == Manifest(main_script="main.py")
    assert manifest(screener=None, backtest_args=None, network=None, ignore_files=None)


def test_a_byte_order_mark_is_no_reason_to_refuse() -> None:
    content = b"\xef\xbb\xbf" + b'{"main_script": "main.py"}'
    assert read(content, "platform.json", FILES, FOLDERS).main_script == "main.py"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("main_script", None), ("main_script", ""), ("main_script", 7), ("main_script", "none.py"),
        ("main_script", "/main.py"), ("main_script", "../main.py"), ("main_script", "src"),
        ("main_script", "src\\run.py"), ("main_script", "-c"), ("main_script", "a\0b"),
        ("main_script", "x" * 1001), ("main_script", "src/../../model/main.py"),
        ("requirements", "none.txt"), ("requirements", ["a"]), ("requirements", "/etc/passwd"),
        ("working_directory", "none"), ("working_directory", ".."),
        ("working_directory", "main.py"),
        ("working_directory", "/"), ("python_version", 3.9), ("python_version", "three"),
        ("python_version", "3"), ("python_version", "3.10.1"), ("backtest_args", "{}"),
        ("backtest_args", [1]), ("backtest_args", {"a": "\0"}), ("backtest", "tests.py"),
        ("backtest", "none.py:f"), ("backtest", "main.py:"), ("backtest", "main.py:a b"),
        ("backtest", ":f"), ("type", "robot"), ("type", 1), ("screener", "x"),
        ("screener", {"schedule": 5}), ("plan", 5), ("network", "no"), ("network", 0),
        ("model_id", 5), ("project_id", []), ("model_name", {}), ("ignore_files", "x"),
        ("ignore_files", [1]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_by_its_key(key: str, value: Any) -> None:
    with pytest.raises(InvalidManifest) as refused:
        manifest(**{key: value})
    assert f"`{key}" in refused.value.message
    assert "platform.json" in refused.value.message


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"a": NaN}', b"\xff", b'{"a":' * 5000, b"[" * 100_000]
)
def test_what_is_no_json_object_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidManifest) as refused:
        read(content, "blankly.json", FILES, FOLDERS)
    assert "blankly.json" in refused.value.message


def test_arguments_nested_too_deep_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"a": deep}
    with pytest.raises(InvalidManifest, match="deeper"):
        manifest(backtest_args=deep)


@pytest.mark.heavy
@given(
    st.dictionaries(
        st.sampled_from([*Manifest.__struct_fields__, "screener"]),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(),
            lambda some: st.lists(some) | st.dictionaries(st.text(), some),
            max_leaves=5,
        ),
    )
)
def test_whatever_it_says_it_is_read_or_refused(values: dict[str, Any]) -> None:
    with suppress(InvalidManifest):
        assert read(json.dumps(values).encode(), "platform.json", FILES, FOLDERS).main_script
