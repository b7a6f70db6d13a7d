"""The PostgreSQL type ulid: a module for each driver and ORM, and two functions for values that enter an application."""

from ._codec import canonical, to_uuid

__all__ = ["canonical", "to_uuid"]
