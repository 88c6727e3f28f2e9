"""Searches over symmetries: which group, and in which layer, found while training."""

from isotropy.search.workers import Failed, Workers

__all__ = ["Failed", "Workers"]
