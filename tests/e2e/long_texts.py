"""A project in which everything that people write is long, or in another script."""

import random
import time
from contextlib import ExitStack
from typing import Any

from tapeline.accounts import users
from tapeline.models import projects
from tests.archives import zipped
from tests.conftest import Person, Service
from tests.e2e.backtesting import DAY, simulated
from tests.pushing import Model, pushing
from tests.watch.watching import add, fires

START = 1_700_000_000
WORD = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft"
SENTENCE = "A model that follows the trend of the last twenty days and leaves when it breaks"
ARABIC = "نموذج يتبع اتجاه العشرين يوما الأخيرة ويخرج عندما ينكسر الاتجاه"
HEBREW = "מודל שעוקב אחר המגמה של עשרים הימים האחרונים ויוצא כשהיא נשברת"
CHINESE = "跟随最近二十天趋势并在趋势破裂时离场的模型以及一个非常长的没有空格的名字"
JAPANESE = "過去二十日間のトレンドに従いトレンドが崩れたときに撤退するモデルの名前"
TEXTS = (WORD, ARABIC, CHINESE, SENTENCE, HEBREW, JAPANESE)
SYMBOLS = ("BTC-USD", f"{WORD[:60].upper()}-USD", "比特币永续合约-USD", "الذهب-USD")
HUGE, TINY = 987_654_321.123_456_78, 0.000_000_012_3
TRACEBACK = f"Traceback (most recent call last):\n  File {WORD!r}\nValueError: {ARABIC}"


class Project:
    """Models with long names that trade at long prices, their backtests, and links to them."""

    def __init__(self, service: Service, owner: Person, stack: ExitStack) -> None:
        self._service, self._stack, self.owner = service, stack, owner
        user = service.store.read_now(users.get, owner.id)
        project = service.store.write_now(projects.create, owner.actor, user, WORD, CHINESE * 4)
        self.id = project.id
        self.model = self.add(f"{WORD} {ARABIC}"[:120])
        self.others = [self.add(text) for text in TEXTS[1:]]
        self.links: dict[str, str] = {}
        self.incident = ""

    def add(self, name: str) -> Model:
        model = self._stack.enter_context(pushing(self._service, self.owner, self.id))
        said = {"name": name, "description": f"{CHINESE} {WORD} {HEBREW}"}
        self.ask("PATCH", f"/api/models/{model.id}", json=said)
        return model

    def ask(self, method: str, path: str, **more: Any) -> Any:
        answer = self.owner.client.request(method, path, **more)
        assert answer.is_success, answer.text
        return answer.json()

    def versions(self) -> dict[str, str]:
        """The ids of its two versions."""
        newer, older = self.ask("GET", f"/api/models/{self.model.id}/versions")["items"]
        return {"newer": newer["version_id"], "older": older["version_id"]}

    def fill(self) -> None:
        trade(self.model)
        for other in self.others:
            trade(other, days=3)
        for model in (self.model, self.others[0], self.others[1]):
            capital = {"capital": {"amount": 123_456_789_012.34, "currency": "USD"}}
            self.ask("PATCH", f"/api/models/{model.id}/account", json=capital)
        talk(self.model)
        test(self.model)
        self._administer()
        self._watch()
        own = f"/api/models/{self.model.id}/shares"
        for name, said in {"live": {}, "tested": {"backtest_id": "first"}}.items():
            made = self.ask("POST", own, json={"title": f"{CHINESE} {WORD}"[:120], **said})
            self.links[name] = made["token"]

    def _watch(self) -> None:
        """Rules with long names, one of which has fired, and one that is muted with many words."""
        crashed = {"condition": "crashed", "within": "1s"}
        add(self.model, crashed, of_project=True, do=[], name=f"{WORD} {ARABIC}"[:100])
        for when, limit in {
            "drawdown": 10,
            "account-below": 123_456_789,
            "profit-target": 5,
        }.items():
            add(self.model, when, limit=limit, do=[], name=f"{when} {SENTENCE}")
        muted = add(self.model, "restarting", name=CHINESE, do=["tell", "stop", "halt"])
        said = {"until": time.time() + DAY, "why": f"{WORD} {HEBREW}"}
        self.ask("POST", f"/api/rules/{muted}/mute", json=said)
        channel = {"name": f"{WORD[:40]} {ARABIC}"[:60], "address": f"https://example.com/{WORD}"}
        quiet = {"zone": "America/Argentina/ComodRivadavia", "from": "22:00", "to": "07:00"}
        self.ask("POST", f"/api/projects/{self.id}/channels", json={**channel, "quiet": quiet})
        rule = add(self.others[0], crashed, do=[], name=WORD, severity="critical")
        self.others[0].push("/v1/live/lifecycle", {"message": "Crashed", "running": False})
        self.incident = fires(self.others[0], rule)["incident_id"]
        path = f"/api/incidents/{self.incident}/acknowledge"
        self.ask("POST", path, json={"note": f"{WORD} {ARABIC}"})

    def _administer(self) -> None:
        """Versions, secrets, keys, members and invitations."""
        for place, text in enumerate((WORD, ARABIC)):
            source = f"print(1)\n# {text} {place}\n"
            arguments = {WORD: CHINESE, "fast": 5 + place}
            archive = zipped({"main.py": source, f"{WORD}.py": ""}, backtest_args=arguments)
            said = {"modelId": self.model.id, "versionDescription": text * 2}
            self.ask("POST", "/model/upload", data=said, files={"model": ("m.zip", archive)})
        secret = f"/api/models/{self.model.id}/secrets/{WORD[:60].upper()}"
        self.ask("PUT", secret, json={"value": "x"})
        for text in (WORD, CHINESE):
            said = {"projectId": self.id, "name": text[:80]}
            self.ask("POST", "/project/generate-project-token", data=said)
        invitation = f"/api/projects/{self.id}/invitations"
        self.ask("POST", invitation, json={"role": "viewer"})


def trade(model: Model, days: int = 40) -> None:
    """Orders with long numbers and long notes, in symbols of several scripts."""
    dice = random.Random(7)
    batch = []
    for day in range(days):
        symbol, text = SYMBOLS[day % 4], TEXTS[day % len(TEXTS)]
        price = (HUGE, TINY, 12_345.678_9, 0.5)[day % 4] * dice.uniform(0.9, 1.1)
        body = {
            "id": f"{text[:30]}{day}", "symbol": symbol, "exchange": WORD, "annotation": text,
            "side": "buy" if day % 8 < 4 else "sell", "size": (0.1, 1e9, 12_345.678_9, 7)[day % 4],
            "executionPrice": price, "fee": price / 1e4, "status": "partially_filled",
        }  # fmt: skip
        at = START + day * DAY
        batch.append({"path": "/v1/live/spot-market", "time": at, "body": body})
        mark = {"symbol": symbol, "price": price * 1.01}
        batch.append({"path": "/v1/live/mark-price", "time": at + 60, "body": mark})
    model.push("/v1/batch", batch)


def talk(model: Model) -> None:
    """Lines, events, metrics, a screener's result and the state of a model."""
    for text in TEXTS:
        model.push("/v1/live/log", {"line": text * 3, "type": "stdout"})
        model.push("/v1/live/event", {"type": text[:40], "what": text, WORD: HUGE})
    model.push("/v1/live/log", {"line": TRACEBACK, "type": "stderr"})
    metrics = {text: {"value": HUGE, "display_name": text} for text in TEXTS}
    model.push("/v1/live/set-custom-metric", {"metrics": metrics})
    values = {
        WORD: HUGE,
        "volume": TINY,
        "spread": HUGE,
        "signal": True,
        "reason": SENTENCE,
        "說明": CHINESE,
    }
    model.push("/v1/live/screener-result", {"result": dict.fromkeys(SYMBOLS, values)})
    model.push("/v1/model/lifecycle", {"message": f"{WORD} {ARABIC}", "running": True})


def test(model: Model) -> None:
    """Two backtests with long descriptions, labels and metrics of their own."""
    for place, (name, text) in enumerate({"first": WORD, "second": CHINESE}.items()):
        found = simulated(name, seed=place, days=400)
        for each in found["trades"]:
            each["symbol"], each["annotation"] = SYMBOLS[1 + place], text
        found["account_values"] = [
            {"time": one["time"], "value": one["value"] * 1e7} for one in found["account_values"]
        ]
        found |= {"symbols": list(SYMBOLS), "exchange": WORD}
        found["metrics"] = {one: {"value": HUGE, "display_name": one} for one in TEXTS}
        model.push("/v1/backtest/result", found)
        said = {
            "backtest_id": name, "successful": True, "status_summary": text, "status_details": "",
            "time_elapsed": 123_456.7, "description": text, "label": text[:40],
        }  # fmt: skip
        model.push("/v1/backtest/status", said)
        model.push("/v1/backtest/log", {"line": text, "backtest_id": name})
