"""Drawings of charts: labels of the time axis leave each other room."""

import itertools
import re

from tapeline.results.charts import svg
from tapeline.results.charts.tear_sheet_charts import LAYOUT, NARROW, WIDE

DAY = 86_400.0
LABEL = re.compile(r'<text class="tick" x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)">')
SHARE = {"start": 0.0, "middle": 0.5, "end": 1.0}


def test_labels_of_the_time_axis_do_not_lie_over_each_other() -> None:
    wide = svg.TEXT * LAYOUT.tick_width
    for days, width in itertools.product(range(3, 1500, 7), (WIDE, NARROW)):
        start = 1_640_995_200.0
        plot = svg.Plot(LAYOUT, width, 260.0, start, start + days * DAY, 0.0, 1.0)
        lefts = [
            float(x) - wide * SHARE[anchor] for x, anchor in LABEL.findall(svg.time_axis(plot))
        ]
        assert lefts, days
        assert all(after - before >= wide - 0.2 for before, after in itertools.pairwise(lefts)), (
            days
        )
