"""The routes of channels: more of the list in routes.py."""

from functools import partial

from tapeline.errors import Forbidden, Invalid, NoSuchProject
from tapeline.http.core.endpoint import Access, Endpoint
from tapeline.http.watch import channels_api
from tapeline.watch.telling.channels import (
    ChannelNameTaken,
    NoSuchChannel,
    TooManyChannels,
    TooManyTests,
)

get = partial(Endpoint, "GET")
post = partial(Endpoint, "POST")
patch = partial(Endpoint, "PATCH")
delete = partial(Endpoint, "DELETE")

of_new = (Invalid, ChannelNameTaken, TooManyChannels)

CHANNEL_ROUTES: tuple[Endpoint, ...] = (
    get(
        "/api/projects/{project}/channels",
        reads=channels_api.list_channels,
        access=Access.READER,
        errors=(NoSuchProject,),
    ),
    post(
        "/api/projects/{project}/channels",
        prepares=channels_api.check_new,
        writes=channels_api.add_channel,
        errors=(NoSuchProject, Forbidden, *of_new),
    ),
    get(
        "/api/channels",
        reads=channels_api.list_server_channels,
        access=Access.OPERATOR,
        errors=(Forbidden,),
    ),
    post(
        "/api/channels",
        prepares=channels_api.check_new_of_server,
        writes=channels_api.add_server_channel,
        access=Access.OPERATOR,
        errors=(Forbidden, *of_new),
    ),
    patch(
        "/api/channels/{channel}",
        prepares=channels_api.check_change,
        writes=channels_api.change_channel,
        errors=(NoSuchChannel, Forbidden, Invalid, ChannelNameTaken),
    ),
    delete(
        "/api/channels/{channel}",
        writes=channels_api.delete_channel,
        errors=(NoSuchChannel, Forbidden),
    ),
    post(
        "/api/channels/{channel}/test",
        prepares=channels_api.send_test,
        writes=channels_api.note_test,
        errors=(NoSuchChannel, Forbidden, TooManyTests),
    ),
)
