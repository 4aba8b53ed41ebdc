"""When exchanges are open, by the rules and holidays that their calendar has."""

import exchange_calendars
import pandas as pd


def sessions(name: str, first: str, last: str) -> list[tuple[float, float]]:
    """Opening and closing times in order; a lunch break parts a day in two."""
    calendar = exchange_calendars.get_calendar(name, start=first, end=last)
    found: list[tuple[float, float]] = []
    for row in calendar.schedule.itertuples():
        opened, closed = row.open.timestamp(), row.close.timestamp()
        if pd.isna(row.break_start):
            found.append((opened, closed))
        else:
            found += [(opened, row.break_start.timestamp()), (row.break_end.timestamp(), closed)]
    return found


def is_known(name: str) -> bool:
    return name in exchange_calendars.get_calendar_names(include_aliases=True)


def known() -> list[str]:
    return sorted(exchange_calendars.get_calendar_names(include_aliases=False))
