"""Runs a backtest inside a model's sandbox and reports how it ended. Python 3.7 or newer.

`python bootstrap.py [--out DIR] main_script.py ["file.py:function"]`

Where the script defines a function `backtest`, or a function was named, the script is imported and
the function called. Otherwise the script is run as `python script.py` would run it. How it ended is
written when everything has: after the last thread that is not a daemon and the model's own exit
handlers. A process that is killed, or ends by `os._exit`, leaves no status; its exit code says why.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import importlib.util
import json
import os
import signal
import sys
import threading
import time
import traceback
import types
from typing import Any, Callable

THIS_FILE = os.path.abspath(__file__)
FUNCTION = "backtest"
LONGEST_SUMMARY = 300


class Backtest:
    """The outcome: filled in as it happens, written at the very end."""

    def __init__(self, out: str, mode: str) -> None:
        self.out = out
        self.mode = mode
        self.started = time.monotonic()
        self.process = os.getpid()
        self.failure: tuple[str, str] | None = None
        self.exit_code = 0
        self.interrupted = False
        self.when_the_script_ended: list[Callable[[], object]] = []
        """Called in the main thread, unless the script failed: the reporter's way in."""

    def fail(self, summary: str, details: str = "", exit_code: int = 1) -> None:
        """Only the first failure counts: the others follow from it, or come after it."""
        if self.failure is None:
            self.failure = summary[:LONGEST_SUMMARY], details
            self.exit_code = exit_code or 1

    def fail_by(self, error: BaseException, thread: str | None = None) -> None:
        details = "".join(_formatted(error))
        where = f" (in thread {thread})" if thread else ""
        self.fail(f"{_sentence(error)}{where}", details)
        sys.stderr.write(details)

    def write_result(self, result: dict[str, Any]) -> None:
        from tapeline_client.encoding import to_json

        kept = dict(result)
        backtest_id = os.environ.get("TAPELINE_BACKTEST_ID") or os.environ.get("BACKTESTING_ID")
        if backtest_id:
            kept["backtest_id"] = backtest_id
        _write(os.path.join(self.out, "result.json"), to_json(kept))

    def write_status(self) -> None:
        if self.interrupted:
            self.fail("Interrupted", exit_code=130)
        summary, details = self.failure or ("Completed", "")
        status = {
            "successful": self.failure is None,
            "status_summary": summary,
            "status_details": details,
            "time_elapsed": time.monotonic() - self.started,
            "mode": self.mode,
        }
        _write(os.path.join(self.out, "status.json"), json.dumps(status))


def main() -> None:
    options = _options()
    script, named = options.script, options.function
    file, _, function = named.rpartition(":") if named else (script, "", FUNCTION)
    mode = "function" if named or defines(script, FUNCTION) else "script"
    run = Backtest(options.out, mode)
    # The reporter for older models looks for us by this name; `__main__` will be the script's.
    door = types.ModuleType("tapeline_bootstrap")
    door.__dict__["current"] = run
    sys.modules[door.__name__] = door
    atexit.register(_finish, run)  # registered first, so called last
    _watch_threads(run)
    _watch_interrupts(run)
    sys.argv = [script]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    guard(run, _call if mode == "function" else _run_script, run, file or script, function)
    if run.failure is None:
        for act in run.when_the_script_ended:
            guard(run, act)
    sys.exit(run.exit_code)


def defines(script: str, function: str) -> bool:
    """Found by reading: running a script to look at it would already trade."""
    try:
        with open(script, "rb") as file:
            tree = ast.parse(file.read(), script)
    except (OSError, SyntaxError, ValueError):
        return False  # running it says what is wrong
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(node, kinds) and node.name == function for node in tree.body)


def guard(run: Backtest, act: Callable[..., object], *args: Any) -> None:
    """Call it, and record every way in which it can end."""
    try:
        act(*args)
    except SystemExit as leaving:
        _left(run, leaving.code)
    except KeyboardInterrupt:
        run.interrupted = True
        run.fail("Interrupted", "".join(traceback.format_exc()), 130)
    except BaseException as error:
        run.fail_by(error)


def _left(run: Backtest, code: Any) -> None:
    """The exit status as Python interprets it."""
    if code is None or code == 0:
        return
    if isinstance(code, int):
        run.fail(f"Exited with status {code}", exit_code=code & 0xFF)
        return
    sys.stderr.write(f"{code}\n")
    run.fail(str(code))


def _run_script(_run: Backtest, script: str, _function: str) -> None:
    """As `python script.py`: the module stays `__main__`, threads and pickles find it there."""
    with open(script, "rb") as file:
        source = file.read()
    module = types.ModuleType("__main__")
    path = os.path.abspath(script)
    module.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module
    exec(compile(source, path, "exec"), module.__dict__)


def _call(run: Backtest, file: str, function: str) -> None:
    folder = os.path.dirname(os.path.abspath(file))
    if folder != sys.path[0]:
        sys.path.insert(0, folder)
    act = getattr(_imported(file), function, None)
    if not callable(act):
        raise LookupError(f"{file} has no function {function}.")
    result = act(**_arguments())
    if hasattr(result, "__await__"):
        import asyncio  # most backtests need none, and it takes longer than starting Python

        result = asyncio.run(_awaited(result))
    if isinstance(result, dict):
        run.write_result(result)


async def _awaited(result: Any) -> Any:
    return await result


def _imported(file: str) -> types.ModuleType:
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, os.path.abspath(file))
    if spec is None or spec.loader is None or not os.path.exists(file):
        raise FileNotFoundError(f"{file} does not exist, or is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _arguments() -> dict[str, Any]:
    text = os.environ.get("TAPELINE_BACKTEST_ARGS") or "{}"
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"TAPELINE_BACKTEST_ARGS must be a JSON object, not {text[:100]}.")
    return found


def _watch_threads(run: Backtest) -> None:
    """A thread that fails would otherwise leave exit status 0 behind."""
    if hasattr(threading, "excepthook"):
        before = threading.excepthook

        def hook(args: Any) -> None:
            before(args)
            if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
                _note(run, args.exc_value, args.thread)

        threading.excepthook = hook
        return
    start = threading.Thread.start  # Python 3.7 has no hook: each thread's `run` is wrapped

    def start_watched(thread: threading.Thread) -> None:
        inner = thread.run

        def watched() -> None:
            try:
                inner()
            except SystemExit:
                raise
            except BaseException as error:
                _note(run, error, thread)
                raise

        thread.run = watched  # type: ignore[method-assign]
        start(thread)

    threading.Thread.start = start_watched  # type: ignore[method-assign,assignment]


def _note(run: Backtest, error: BaseException, thread: threading.Thread | None) -> None:
    """Only threads that Python itself would wait for: daemon threads are up to the model."""
    if thread is not None and not thread.daemon:
        details = "".join(_formatted(error))
        run.fail(f"{_sentence(error)} (in thread {thread.name})", details)


def _watch_interrupts(run: Backtest) -> None:
    """While Python waits for threads at the end, an interrupt would pass unnoticed."""

    def interrupted(number: int, frame: Any) -> None:
        run.interrupted = True
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupted)


def _finish(run: Backtest) -> None:
    """The last thing this process does."""
    if os.getpid() != run.process:
        return  # a child of the model's, by fork
    code = run.exit_code
    try:
        run.write_status()
        code = run.exit_code
    except Exception as error:
        sys.stderr.write(f"tapeline: the status could not be written: {error}\n")
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            code = code or 1
    if code:
        if "logging" in sys.modules:
            sys.modules["logging"].shutdown()
        os._exit(code)  # Python settled on its exit code before the threads ended


def _sentence(error: BaseException) -> str:
    said = traceback.format_exception_only(type(error), error)
    return said[-1].strip() if said else type(error).__name__


def _formatted(error: BaseException) -> list[str]:
    """The traceback without frames of this file and of the importer."""
    trace = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return traceback.format_exception(type(error), error, trace)


def _is_ours(file: str) -> bool:
    return os.path.abspath(file) == THIS_FILE or file.startswith("<frozen importlib")


def _write(path: str, text: str) -> None:
    """All of it or nothing, even if this process dies."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="/out", help="where result.json and status.json go")
    parser.add_argument("script")
    parser.add_argument("function", nargs="?", default="")
    return parser.parse_args()


if __name__ == "__main__":
    main()
