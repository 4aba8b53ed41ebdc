"""Fields that many bodies share, with their constraints for the OpenAPI document.

The constraints are only documented here. The rule's own module checks them, with its own message.
"""

from typing import Annotated, get_args

from msgspec import Meta

from tapeline.accounts import members, passwords, users
from tapeline.models import models, texts

Required = Annotated[str, Meta(extra_json_schema={"minLength": 1})]
Name = Annotated[str, Meta(extra_json_schema={"maxLength": texts.LONGEST_NAME, "pattern": r"\S"})]
Description = Annotated[str, Meta(extra_json_schema={"maxLength": texts.LONGEST_DESCRIPTION})]
Email = Annotated[
    str, Meta(extra_json_schema={"format": "email", "maxLength": users.LONGEST_EMAIL})
]
Password = Annotated[
    str, Meta(extra_json_schema={"minLength": passwords.SHORTEST, "maxLength": passwords.LONGEST})
]
RoleName = Annotated[str, Meta(extra_json_schema={"enum": list(members.ROLES)})]
ModelTypeName = Annotated[str, Meta(extra_json_schema={"enum": list(get_args(models.ModelType))})]
