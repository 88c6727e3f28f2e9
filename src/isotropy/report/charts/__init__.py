"""Charts as SVG text, made from numbers alone: no state, no outside address, no library."""

from isotropy.report.charts.areas import Panel, areas
from isotropy.report.charts.glyph import glyph
from isotropy.report.charts.intervals import Estimate, Row, intervals
from isotropy.report.charts.lineage import Individual, lineage
from isotropy.report.charts.scatter import Point, scatter
from isotropy.report.charts.shares import Share, shares
from isotropy.report.charts.spark import spark

__all__ = [
    "Estimate",
    "Individual",
    "Panel",
    "Point",
    "Row",
    "Share",
    "areas",
    "glyph",
    "intervals",
    "lineage",
    "scatter",
    "shares",
    "spark",
]
