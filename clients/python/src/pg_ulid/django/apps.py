from django.apps import AppConfig


class UlidConfig(AppConfig):  # type: ignore[misc]
    name = "pg_ulid.django"
    label = "pg_ulid"
