"""The server, project and model that a command is about: where nearly every command starts."""

import re
import sys
import time
from functools import cached_property
from pathlib import Path
from typing import Any

import typer

from tapeline import settings
from tapeline.cli.folder import manifest_file
from tapeline.cli.server import profiles
from tapeline.cli.server.profiles import Profile, Profiles
from tapeline.cli.server.wire import Missing, Wire, json_of
from tapeline.cli.terminal.command import Choices
from tapeline.cli.terminal.failures import Failure, Misused, NotFound, NotSignedIn
from tapeline.cli.terminal.screen import Screen

IN_TIME = 60  # seconds before its end at which a token is exchanged for a new one
ID = re.compile(r"[a-z0-9]{8,32}")


class Session:
    def __init__(self, choices: Choices) -> None:
        self._variables = settings.client_variables()
        self.choices = choices
        self.screen = Screen(as_json=choices.as_json)
        self.profiles = profiles.load(self._variables.folder)
        self.name, self.profile = self._chosen(self.profiles, choices.server)
        self.wire = Wire(self.profile.url, debug=is_debugging())

    @classmethod
    def of(cls, context: typer.Context) -> "Session":
        """Signed in, or an error that says how."""
        session = cls(context.obj)
        session.sign_in()
        return session

    def _chosen(self, known: Profiles, asked: str | None) -> tuple[str, Profile]:
        """--server, else TAPELINE_URL, else the one signed in to last, else this computer's."""
        wanted = asked or self._variables.url
        if wanted:
            found = known.find(wanted)
            if found is None and asked and not profiles.is_url(asked) and not _is_host(asked):
                names = ", ".join(known.servers) or "none yet"
                raise Misused(f"There is no server {asked} here (known: {names}). Use its address")
            return found or ("", Profile(profiles.normal_url(wanted)))
        if known.current in known.servers:
            return known.current, known.servers[known.current]
        return "", Profile(profiles.USUAL)

    @property
    def is_signed_in(self) -> bool:
        """Whether there is anything to sign in with; the server may still refuse it."""
        return bool(self._variables.token or self.profile.refresh_token)

    def sign_in(self) -> None:
        given = self._variables.token
        if given.count(".") == 2:  # an idToken, which needs no exchange
            self.wire.token = given
        elif given:
            self.wire.token = exchange(self.wire, given)["idToken"]
        elif not self.profile.refresh_token:
            where = f" --server {self.profile.url}" if self.choices.server else ""
            raise NotSignedIn(
                f"You are not signed in to {self.profile.url}. Run: tapeline login{where}"
            )
        elif self.profile.id_token and self.profile.id_token_until > time.time() + IN_TIME:
            self.wire.token = self.profile.id_token
            # It may have expired early: its keys were rotated, or the server is a new one.
            self.wire.renew = self.renew
        else:
            self.renew()

    def renew(self) -> str:
        """A new idToken, kept for the next commands."""
        self.wire.token = ""
        answer = exchange(self.wire, self.profile.refresh_token)
        self.profile.id_token = self.wire.token = answer["idToken"]
        self.profile.id_token_until = time.time() + answer["expiresIn"]
        self.profile.user_id = answer["data"]["user_id"]
        self.profiles.save()
        return self.profile.id_token

    @cached_property
    def me(self) -> dict[str, Any]:
        found: dict[str, Any] = self.wire.get("/api/me")
        return found

    @cached_property
    def project(self) -> dict[str, Any]:
        """--project, else TAPELINE_PROJECT_ID, else the one in use, else the personal one."""
        asked = self.choices.project or self._variables.project
        if asked:
            return self.find_project(asked)
        # A project that was deleted must not block every command.
        own = {one["id"]: one for one in self.me["projects"]}
        found: dict[str, Any] = own.get(self.profile.project_id) or own[self.me["id"]]
        return found

    def find_project(self, wanted: str) -> dict[str, Any]:
        return one_of(self.me["projects"], wanted, "project", "tapeline projects list")

    def models(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.wire.post("/model/list", projectId=self.project["id"])
        return found

    def model(self, wanted: str | None) -> dict[str, Any]:
        """A model of the current project by id or name, any other by id; else this folder's."""
        if wanted is None:
            return self._model_of_folder()
        own = self.models()
        if not any(wanted in {one["id"], one["name"]} for one in own) and ID.fullmatch(wanted):
            try:
                return self.find_model(wanted)
            except Missing:
                pass
        return one_of(own, wanted, "model", "tapeline ps")

    def find_model(self, model_id: str) -> dict[str, Any]:
        found = self.wire.get(f"/api/models/{model_id}")
        return {**found, "projectId": found["project_id"]}

    def _model_of_folder(self) -> dict[str, Any]:
        found = manifest_file.find(Path())
        model_id = found.values.get("model_id") if found else None
        if not model_id:
            raise Misused("Which model? Name it, or run this in a folder that was deployed before.")
        try:
            return self.find_model(str(model_id))
        except Missing:
            assert found is not None
            raise NotFound(
                f"{found.file.name} here names the model {model_id}, which does not exist on"
                f" {self.profile.url} or is not visible to you."
            ) from None

    def page_of(self, model: dict[str, Any], rest: str = "overview") -> str:
        return f"{self.profile.url}/{model['projectId']}/{model['id']}/{rest}"

    def everything(self, path: str, limit: int | None, **query: Any) -> list[dict[str, Any]]:
        """The items of a list, page after page, at most `limit`."""
        items: list[dict[str, Any]] = []
        cursor = None
        while limit is None or len(items) < limit:
            size = 1000 if limit is None else min(1000, limit - len(items))
            answer = self.wire.get(path, limit=size, cursor=cursor, **query)
            items += answer["items"]
            cursor = answer["next"]
            if cursor is None:
                break
        return items


def one_of(own: list[dict[str, Any]], wanted: str, what: str, lists: str) -> dict[str, Any]:
    """By id, by name, or by a name that differs only in case; it must be the only one."""
    by_id = [one for one in own if one["id"] == wanted]
    by_name = [one for one in own if one["name"] == wanted]
    by_sound = [one for one in own if one["name"].casefold() == wanted.casefold()]
    found = by_id or by_name or by_sound
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(one["id"] for one in found)
        raise Failure(f"There are {len(found)} {what}s named {wanted}. Use an id: {ids}")
    raise NotFound(f"There is no {what} {wanted} here. List them with: {lists}")


def exchange(wire: Wire, refresh_token: str) -> dict[str, Any]:
    try:
        body = json_of({"refreshToken": refresh_token})
        answer: dict[str, Any] = wire.ask("POST", "/auth/token", body)
    except NotSignedIn:
        raise NotSignedIn(
            f"The token for {wire.url} is invalid or was revoked. Run: tapeline login"
        ) from None
    return answer


def is_debugging() -> bool:
    return "--debug" in sys.argv


def _is_host(text: str) -> bool:
    return ":" in text or "." in text or text == "localhost"
