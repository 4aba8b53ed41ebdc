"""The routes of uploads, runs and all that belongs to them: the rest of the list in routes.py."""

from functools import partial

from tapeline.errors import (
    CannotRunModels,
    Forbidden,
    Invalid,
    InvalidArchive,
    InvalidManifest,
    NoSuchFile,
    NoSuchModel,
    NoSuchProject,
    NoSuchRun,
    NoSuchSecret,
    NoSuchStarter,
    NoSuchVersion,
    NotSupervised,
    QuotaExceeded,
    RunHasEnded,
    StarterNameTaken,
    UnknownPlan,
    UnknownPython,
)
from tapeline.http.core.endpoint import Access, Endpoint
from tapeline.http.deployment import halts_api, model_api, source_api, uploads_api, version_files
from tapeline.http.view import health_api, runs_api
from tapeline.runs.described_hosts import NoSuchHost
from tapeline.watch.halts.declaring import Halted, NotHalted
from tapeline.watch.incidents.expecting import NameOfPerson
from tapeline.watch.rules.stored import TooManyRules

get = partial(Endpoint, "GET")
post = partial(Endpoint, "POST")
put = partial(Endpoint, "PUT")
delete = partial(Endpoint, "DELETE")

of_model = (NoSuchProject, NoSuchModel, Forbidden)
of_version = (
    *of_model, NoSuchVersion, UnknownPlan, UnknownPython, CannotRunModels, NotSupervised,
    Halted, InvalidManifest, TooManyRules, NameOfPerson,
)  # fmt: skip
of_upload = (
    *of_model, InvalidArchive, InvalidManifest, UnknownPlan, UnknownPython, CannotRunModels,
    NotSupervised, Halted, TooManyRules, NameOfPerson, QuotaExceeded,
)  # fmt: skip
in_project = (NoSuchProject, Forbidden)
of_halts = partial(post, afterwards=halts_api.at_once, moves_runs=True)
of_resuming = (NotHalted, Halted, CannotRunModels, NotSupervised)
# Texts of 100,000 characters as arguments of a backtest, each written as up to nine in a form.
of_arguments = partial(post, most_bytes=1_000_000)
with_archive = partial(of_arguments, attaches=True, errors=of_upload)

DEPLOY_ROUTES: tuple[Endpoint, ...] = (
    with_archive(
        "/model/deploy",
        prepares=uploads_api.prepare_live,
        writes=uploads_api.deploy,
        moves_runs=True,
    ),
    with_archive(
        "/model/backtest",
        prepares=uploads_api.prepare_backtest,
        writes=uploads_api.backtest,
        moves_runs=True,
    ),
    with_archive(
        "/model/upload",
        prepares=uploads_api.prepare_upload,
        writes=uploads_api.upload,
        moves_models=True,
    ),
    post("/model/run", writes=uploads_api.run_model, moves_runs=True, errors=of_version),
    of_arguments(
        "/model/backtest-uploaded-model",
        writes=uploads_api.backtest_uploaded,
        moves_runs=True,
        errors=of_version,
    ),
    of_arguments(
        "/model/backtestUploadedModel",
        writes=uploads_api.backtest_uploaded_model,
        moves_runs=True,
        errors=of_version,
    ),
    post(
        "/model/kill",
        writes=uploads_api.kill_model,
        afterwards=uploads_api.admit_unsupervised,
        moves_runs=True,
        errors=(*of_model, NotSupervised),
    ),
    post("/model/status", reads=model_api.model_status, errors=of_model),
    get("/model/status", reads=model_api.model_statuses),
    get("/model/starter-models", flows=version_files.list_starters, access=Access.PUBLIC),
    get(
        "/model/starter-models/{starter}.zip",
        responds=version_files.download_starter,
        access=Access.PUBLIC,
        errors=(NoSuchStarter,),
    ),
    post("/project/plans", reads=model_api.list_plans),
    get("/api/pythons", reads=model_api.list_pythons, access=Access.READER),
    get(
        "/api/projects/{project}/runs",
        reads=runs_api.list_deployed,
        access=Access.READER,
        errors=(NoSuchProject,),
    ),
    Endpoint(
        "PATCH",
        "/api/models/{model}",
        writes=model_api.change_model,
        moves_models=True,
        errors=of_model,
    ),
    get(
        "/api/models/{model}/versions",
        reads=model_api.list_versions,
        access=Access.READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/versions/{version}/archive",
        responds=version_files.download_version,
        errors=(*of_model, NoSuchVersion),
    ),
    get(
        "/api/models/{model}/versions/{version}/files",
        responds=source_api.list_files,
        errors=(*of_model, NoSuchVersion),
    ),
    get(
        "/api/models/{model}/versions/{version}/files/text",
        responds=source_api.show_file,
        errors=(*of_model, NoSuchVersion, NoSuchFile),
    ),
    get(
        "/api/models/{model}/versions/{version}/files/content",
        responds=source_api.download_file,
        errors=(*of_model, NoSuchVersion, NoSuchFile),
    ),
    post(
        "/api/models/{model}/starters",
        writes=version_files.publish_starter,
        errors=(*of_model, NoSuchVersion, StarterNameTaken),
    ),
    delete(
        "/api/models/{model}/starters/{starter}",
        writes=version_files.withdraw_starter,
        errors=(*of_model, NoSuchStarter),
    ),
    get(
        "/api/models/{model}/runs",
        reads=runs_api.list_runs,
        access=Access.READER,
        errors=(NoSuchModel,),
    ),
    get(
        "/api/models/{model}/runs/{run}",
        reads=runs_api.show_run,
        access=Access.READER,
        errors=(NoSuchModel, NoSuchRun),
    ),
    get(
        "/api/models/{model}/runs/{run}/usage",
        reads=runs_api.show_usage,
        access=Access.READER,
        errors=(NoSuchModel, NoSuchRun),
    ),
    post(
        "/api/models/{model}/runs/{run}/stop",
        writes=runs_api.stop_run,
        afterwards=runs_api.admit_unsupervised,
        moves_runs=True,
        errors=(*of_model, NoSuchRun, RunHasEnded, NotSupervised),
    ),
    get("/api/models/{model}/secrets", reads=model_api.list_secrets, errors=of_model),
    get(
        "/api/models/{model}/secrets/{secret}",
        reads=model_api.show_secret,
        errors=(*of_model, NoSuchSecret),
    ),
    put("/api/models/{model}/secrets/{secret}", writes=model_api.put_secret, errors=of_model),
    delete(
        "/api/models/{model}/secrets/{secret}",
        writes=model_api.delete_secret,
        errors=(*of_model, NoSuchSecret),
    ),
    # Stopping everything
    get(
        "/api/projects/{project}/halt",
        reads=halts_api.show_halt_of_project,
        access=Access.READER,
        errors=(NoSuchProject,),
    ),
    of_halts(
        "/api/projects/{project}/halt",
        writes=halts_api.halt_project,
        errors=(*in_project, Invalid),
    ),
    of_halts(
        "/api/projects/{project}/resume",
        writes=halts_api.resume_project,
        errors=(*in_project, *of_resuming),
    ),
    get("/api/halt", reads=halts_api.show_halt, access=Access.OPERATOR, errors=(Forbidden,)),
    of_halts(
        "/api/halt",
        writes=halts_api.halt_all,
        access=Access.OPERATOR,
        errors=(Forbidden, Invalid),
    ),
    of_halts(
        "/api/resume",
        writes=halts_api.resume_all,
        access=Access.OPERATOR,
        errors=(Forbidden, *of_resuming),
    ),
    post(
        "/api/hosts/{host}/drain",
        writes=health_api.drain_host,
        access=Access.OPERATOR,
        errors=(Forbidden, NoSuchHost),
    ),
    post(
        "/api/hosts/{host}/undrain",
        writes=health_api.undrain_host,
        access=Access.OPERATOR,
        errors=(Forbidden, NoSuchHost),
    ),
)
