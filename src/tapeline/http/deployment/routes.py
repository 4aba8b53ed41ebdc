"""The routes of uploads, runs and all that belongs to them: the rest of the list in routes.py."""

from functools import partial

from tapeline.errors import (
    CannotRunModels,
    Forbidden,
    InvalidArchive,
    InvalidManifest,
    NoSuchModel,
    NoSuchProject,
    NoSuchRun,
    NoSuchSecret,
    NoSuchStarter,
    NoSuchVersion,
    NotSupervised,
    RunHasEnded,
    StarterNameTaken,
    UnknownPlan,
    UnknownPython,
)
from tapeline.http.core.answers import Done, Listed
from tapeline.http.core.endpoint import Access, Endpoint
from tapeline.http.deployment import model_api, projects_api, uploads_api, version_files
from tapeline.http.view import runs_api
from tapeline.models.secrets import Secret

get = partial(Endpoint, method="GET")
post = partial(Endpoint, method="POST")
put = partial(Endpoint, method="PUT")
delete = partial(Endpoint, method="DELETE")

of_model = (NoSuchProject, NoSuchModel, Forbidden)
of_version = (
    *of_model, NoSuchVersion, UnknownPlan, UnknownPython, CannotRunModels, NotSupervised
)  # fmt: skip
of_upload = (
    *of_model, InvalidArchive, InvalidManifest, UnknownPlan, UnknownPython, CannotRunModels,
    NotSupervised,
)  # fmt: skip
with_archive = partial(post, attaches=True, errors=of_upload)

DEPLOY_ROUTES: tuple[Endpoint, ...] = (
    with_archive(
        path="/model/deploy",
        moves_runs=True,
        prepares=uploads_api.prepare_live,
        writes=uploads_api.deploy,
        takes=uploads_api.NewVersion,
        gives=uploads_api.Deployed,
    ),
    with_archive(
        path="/model/backtest",
        moves_runs=True,
        prepares=uploads_api.prepare_backtest,
        writes=uploads_api.backtest,
        takes=uploads_api.NewBacktest,
        gives=uploads_api.Backtested,
    ),
    with_archive(
        path="/model/upload",
        moves_models=True,
        prepares=uploads_api.prepare_backtest,
        writes=uploads_api.upload,
        takes=uploads_api.NewVersion,
        gives=uploads_api.Uploaded,
    ),
    post(
        path="/model/run",
        moves_runs=True,
        writes=uploads_api.run_model,
        takes=uploads_api.StoredVersion,
        gives=uploads_api.Deployed,
        errors=of_version,
    ),
    post(
        path="/model/backtest-uploaded-model",
        moves_runs=True,
        writes=uploads_api.backtest_uploaded,
        takes=uploads_api.StoredBacktest,
        gives=uploads_api.Backtested,
        errors=of_version,
    ),
    post(
        path="/model/backtestUploadedModel",
        moves_runs=True,
        writes=uploads_api.backtest_uploaded_model,
        takes=uploads_api.StoredBacktest,
        gives=uploads_api.Backtested,
        errors=of_version,
    ),
    post(
        path="/model/kill",
        moves_runs=True,
        writes=uploads_api.kill_model,
        afterwards=uploads_api.admit_unsupervised,
        takes=uploads_api.ModelInProject,
        gives=Done,
        errors=(*of_model, NotSupervised),
    ),
    post(
        path="/model/status",
        reads=model_api.model_status,
        takes=uploads_api.ModelInProject,
        gives=model_api.ModelStatus,
        errors=of_model,
    ),
    get(path="/model/status", reads=model_api.model_statuses, gives=model_api.ModelStatuses),
    get(
        path="/model/starter-models",
        flows=version_files.list_starters,
        gives=list[version_files.StarterModel],
        access=Access.PUBLIC,
    ),
    get(
        path="/model/starter-models/{starter}.zip",
        responds=version_files.download_starter,
        gives=str,
        access=Access.PUBLIC,
        errors=(NoSuchStarter,),
        media="application/zip",
    ),
    post(
        path="/project/plans",
        reads=model_api.list_plans,
        takes=model_api.PlanUse,
        gives=dict[str, model_api.PlanSize],
    ),
    get(
        path="/api/pythons",
        reads=model_api.list_pythons,
        gives=Listed[model_api.ShownPython],
        access=Access.READER,
    ),
    get(
        path="/api/projects/{project}/runs",
        reads=runs_api.list_deployed,
        gives=Listed[runs_api.DeployedRun],
        access=Access.READER,
        errors=(NoSuchProject,),
    ),
    Endpoint(
        method="PATCH",
        moves_models=True,
        path="/api/models/{model}",
        writes=model_api.change_model,
        takes=model_api.ModelChange,
        gives=projects_api.ListedModel,
        errors=of_model,
    ),
    get(
        path="/api/models/{model}/versions",
        reads=model_api.list_versions,
        gives=Listed[model_api.ShownVersion],
        query=model_api.VersionPage,
        access=Access.READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/versions/{version}/archive",
        responds=version_files.download_version,
        gives=str,
        errors=(*of_model, NoSuchVersion),
        media="application/zip",
    ),
    post(
        path="/api/models/{model}/starters",
        writes=version_files.publish_starter,
        takes=version_files.NewStarter,
        gives=version_files.ShownStarter,
        errors=(*of_model, NoSuchVersion, StarterNameTaken),
    ),
    delete(
        path="/api/models/{model}/starters/{starter}",
        writes=version_files.withdraw_starter,
        gives=Done,
        errors=(*of_model, NoSuchStarter),
    ),
    get(
        path="/api/models/{model}/runs",
        reads=runs_api.list_runs,
        gives=Listed[runs_api.ShownRun],
        query=runs_api.RunPage,
        access=Access.READER,
        errors=(NoSuchModel,),
    ),
    get(
        path="/api/models/{model}/runs/{run}",
        reads=runs_api.show_run,
        gives=runs_api.CurrentRun,
        access=Access.READER,
        errors=(NoSuchModel, NoSuchRun),
    ),
    get(
        path="/api/models/{model}/runs/{run}/usage",
        reads=runs_api.show_usage,
        gives=runs_api.Usage,
        access=Access.READER,
        errors=(NoSuchModel, NoSuchRun),
    ),
    post(
        path="/api/models/{model}/runs/{run}/stop",
        moves_runs=True,
        writes=runs_api.stop_run,
        afterwards=runs_api.admit_unsupervised,
        gives=Done,
        errors=(*of_model, NoSuchRun, RunHasEnded, NotSupervised),
    ),
    get(
        path="/api/models/{model}/secrets",
        reads=model_api.list_secrets,
        gives=Listed[Secret],
        errors=of_model,
    ),
    get(
        path="/api/models/{model}/secrets/{secret}",
        reads=model_api.show_secret,
        gives=Secret,
        errors=(*of_model, NoSuchSecret),
    ),
    put(
        path="/api/models/{model}/secrets/{secret}",
        writes=model_api.put_secret,
        takes=model_api.SecretValue,
        gives=Secret,
        errors=of_model,
    ),
    delete(
        path="/api/models/{model}/secrets/{secret}",
        writes=model_api.delete_secret,
        gives=Done,
        errors=(*of_model, NoSuchSecret),
    ),
)
