"""The last line of a failed installation names the package and the cause, whatever came last."""

import sys
from pathlib import Path

import pytest

# Not installed: it runs next to uv, on the model's Python.
sys.path.insert(0, str(Path(__file__).parents[2] / "runtime"))
import install
from install_words import what_failed

BUILD = """error: Failed to build `tulip==1.0`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)

         [stdout]
         running build_ext
         error: nothing of the kind

         [stderr]
         {}
           File "<string>", line 333, in run_setup
             self.build_extensions()
             ^^^^^^^^^^^^^^^^^^^^^^^

hint: Build failures usually indicate a problem with the package or the build environment
"""


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (
            "ModuleNotFoundError: No module named 'numpy'",
            "ModuleNotFoundError: No module named 'numpy'",
        ),
        (
            "x.c:1:10: fatal error: ta_defs.h: No such file or directory\n"
            "         compilation terminated.\n"
            "         error: command '/usr/bin/gcc' failed with exit code 1",
            "fatal error: ta_defs.h: No such file or directory",
        ),
        (
            "x.c:3:1: error: unknown type name 'PyObject'\n         x.c:9:1: error: more\n"
            "         error: command 'gcc' failed with exit code 1",
            "error: unknown type name 'PyObject'",
        ),
        (
            "error: command 'gcc' failed: No such file or directory",
            "it needs gcc, which this machine does not have",
        ),
        ("ERROR: ta-lib is missing", "ta-lib is missing"),
        ("just words", "just words"),
    ],
)
def test_a_build_is_named_with_the_line_that_says_why(said: str, cause: str) -> None:
    sentence = what_failed(BUILD.format(said), "Resolving", "3.13")
    assert sentence == f"tulip==1.0 could not be built: {cause}."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "error: No solution found when resolving dependencies\n  cause: Because all versions of"
            " basket depend on apple>=2 and you require apple<2, we can conclude that your"
            " requirements and all versions of basket are incompatible.\n         And because you"
            " require basket, we can conclude that your requirements are unsatisfiable.",
            "The requirements cannot be met on Python 3.13: all versions of basket depend on"
            " apple>=2 and you require apple<2.",
        ),
        (
            "error: No solution found when resolving dependencies\n  cause: Because there is no"
            " version of apple==3 and you require apple==3, we can conclude that your requirements"
            " are unsatisfiable.",
            "The requirements cannot be met on Python 3.13: there is no version of apple==3.",
        ),
        (
            "error: Failed to install: evil-1.0-py3-none-any.whl (evil==1.0)\n  cause: The wheel is"
            " invalid: Script path must resolve to a file",
            "Installing failed: Failed to install: evil-1.0-py3-none-any.whl (evil==1.0): The wheel"
            " is invalid: Script path must resolve to a file.",
        ),
        ("", "Installing failed."),
    ],
)
def test_every_other_failure_is_a_sentence_too(words: str, sentence: str) -> None:
    assert what_failed(words, "Installing", "3.13") == sentence


def test_what_a_build_says_about_its_network_is_not_about_the_index() -> None:
    uv = install.Uv({"build": True, "version": "3.13"}, "")
    failure = uv.failure(BUILD.format("OSError: connection refused"), "Resolving", 1)
    assert str(failure) == "tulip==1.0 could not be built: OSError: connection refused."
