"""The main job, on top of evidence and search: what data's symmetries are, and what to build in."""

from isotropy.discovery.discover import discover
from isotropy.discovery.discovered import Discovery
from isotropy.discovery.plan import Plan as DiscoveryPlan
from isotropy.discovery.progress import Bar, Lines, Progress

__all__ = ["Bar", "Discovery", "DiscoveryPlan", "Lines", "Progress", "discover"]
