"""The routes of rules and incidents: more of the list in routes.py."""

from functools import partial

from tapeline.errors import Forbidden, Invalid, InvalidCursor, NoSuchModel, NoSuchProject
from tapeline.http.core.endpoint import Access, Endpoint
from tapeline.http.watch import incidents_api, rules_api
from tapeline.watch.incidents.incident import NoSuchIncident
from tapeline.watch.rules.invalid import InvalidRule
from tapeline.watch.rules.stored import (
    ExpectedByVersion,
    NoSuchRule,
    RuleNameTaken,
    TooManyRules,
)

get = partial(Endpoint, "GET")
post = partial(Endpoint, "POST", afterwards=rules_api.at_once)
patch = partial(Endpoint, "PATCH", afterwards=rules_api.at_once)
delete = partial(Endpoint, "DELETE", afterwards=rules_api.at_once)

READER, OPERATOR = Access.READER, Access.OPERATOR

of_new = (InvalidRule, RuleNameTaken, TooManyRules)
of_rule = (NoSuchRule, Forbidden)

WATCH_ROUTES: tuple[Endpoint, ...] = (
    get("/api/rules/conditions", flows=rules_api.list_conditions, access=READER),
    get(
        "/api/projects/{project}/rules",
        reads=rules_api.list_rules,
        access=READER,
        errors=(NoSuchProject, NoSuchModel),
    ),
    Endpoint(
        "POST",
        "/api/projects/{project}/rules/preview",
        prepares=rules_api.check_preview,
        reads=rules_api.preview_rule,
        computes=True,
        errors=(NoSuchProject, NoSuchModel, InvalidRule),
    ),
    post(
        "/api/projects/{project}/rules",
        prepares=rules_api.check_new,
        writes=rules_api.add_rule,
        errors=(NoSuchProject, NoSuchModel, Forbidden, *of_new),
    ),
    get("/api/rules", reads=rules_api.list_server_rules, access=OPERATOR, errors=(Forbidden,)),
    post(
        "/api/rules",
        prepares=rules_api.check_new,
        writes=rules_api.add_server_rule,
        access=OPERATOR,
        errors=(Forbidden, Invalid, *of_new),
    ),
    get("/api/rules/{rule}", reads=rules_api.show_rule, access=READER, errors=of_rule),
    patch(
        "/api/rules/{rule}",
        prepares=rules_api.check_change,
        writes=rules_api.change_rule,
        errors=(*of_rule, InvalidRule, RuleNameTaken, ExpectedByVersion),
    ),
    delete("/api/rules/{rule}", writes=rules_api.delete_rule, errors=(*of_rule, ExpectedByVersion)),
    post("/api/rules/{rule}/mute", writes=rules_api.mute_rule, errors=(*of_rule, Invalid)),
    get(
        "/api/incidents",
        reads=incidents_api.list_incidents,
        access=READER,
        errors=(NoSuchProject, NoSuchModel, InvalidCursor),
    ),
    get(
        "/api/incidents/{incident}",
        reads=incidents_api.show_incident,
        access=READER,
        errors=(NoSuchIncident,),
    ),
    post(
        "/api/incidents/{incident}/acknowledge",
        writes=incidents_api.acknowledge,
        errors=(NoSuchIncident, Forbidden, Invalid),
    ),
)
