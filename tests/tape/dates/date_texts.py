"""Date texts for the comparison with node: good, nearly good and hopeless ones, by a seed."""

import random
from collections.abc import Callable

ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin", "Australia/Lord_Howe")

MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    *("January", "February", "march", "APRIL", "june", "Sept", "September", "october"),
    *("Septembre", "Janfoo", "Mayo", "Ja", "marz"),
)
WEEKDAYS = ("Mon", "Tue", "Wed", "Sat,", "Sun,", "Thu,", "Monday", "mon.", "Sonntag")
ZONE_NAMES = (
    *("Z", "UT", "UTC", "GMT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"),
    *("z", "utc", "Gmt", "CET", "BST", "UTCX", "zz", "Etc/UTC"),
)
SPACES = (*"    \t\n", "  ", "\xa0", "\u3000", "\u2028", "\ufeff", "\x85", "\x1c")
BETWEEN = ("-", "/", ".", ",", ", ", " ", " ", "  ", "--", "- ", " -", "", ":", "_", "+")
JUNK = (
    *" \t\n\0()[]{}<>+-.:,;/\\'\"_@#*=?!~^`|&%$",
    *"0123456789TZtzWamAMpmPM",
    *("\xa0", "\x85", "\u200b", "\u2009", "\ufeff", "\u2028", "é", "日", "😀", "\ud800"),
    *("\u017f", "\u212a", "\u0661", "\uff11"),  # long s, Kelvin, an Arabic and a wide one
    *("am", "pm", "GMT", "Jan", "00", "(x)", "::", "+0"),
)
SMALLEST = (
    *("1", "5", "12", "31", "59", "60", "99", "2020", "0", "00", "010", "+", "-", ":", ".", " "),
    *("1", "5", "12", "31", "59", "60", "99", "2020", "0", "00", "010", "+", "-", ":", ".", " "),
    *("Jan", "x", "Z", "am", "PM", "GMT", "EST", "T", "(a)", ")", "/", ",", "000000"),
)
NIGHTS = (
    *("2024/3/10", "2024/11/3", "2025/3/9", "2025/11/2"),  # America/New_York
    *("2024/3/31", "2024/10/27", "2025/3/30", "2025/10/26"),  # Europe/Berlin
    *("2024/4/7", "2024/10/6", "2025/4/6", "2025/10/5"),  # Australia/Lord_Howe
)


def corpus(seed: int, size: int) -> list[str]:
    dice = random.Random(seed)
    forms: tuple[Callable[[random.Random], str], ...] = (
        *(iso, iso, iso, rfc_2822, asctime, named_month, named_month, american, american),
        *(browser, assembled, assembled, tokens, noise),
    )
    return [_perhaps_broken(dice, dice.choice(forms)(dice)) for _ in range(size)]


def local_times(seed: int, size: int) -> list[str]:
    """Without a zone: the years 1900 to 2100, and the hours around the changes of the clocks."""
    dice = random.Random(seed)
    texts = []
    for _ in range(size):
        month = dice.choice((3, 4, 10, 11, dice.randint(1, 12)))
        minute = dice.choice((0, 1, 29, 30, 31, 59, dice.randint(0, 59)))
        day = f"{dice.randint(1900, 2100)}-{month:02}-{dice.randint(1, 31):02}"
        texts.append(f"{day}T{dice.randint(0, 4):02}:{minute:02}:{dice.choice((0, 59)):02}")
    return texts


def changes_of_clocks() -> list[str]:
    """Every quarter of an hour in the nights when one of the ZONES changed its clocks."""
    return [
        f"{day} {hour}:{minute:02}"
        for day in NIGHTS
        for hour in range(5)
        for minute in (0, 15, 29, 30, 45, 59)
    ]


def iso(dice: random.Random) -> str:
    return iso_day(dice) + dice.choice(("", "T", "T", "T", "t", " ", "TT")) + iso_clock(dice)


def iso_day(dice: random.Random) -> str:
    year = dice.choice((f"{number(dice, 1900, 2100)}", f"{number(dice, 0, 9999):04}"))
    if dice.random() < 0.15:
        year = dice.choice("+-") + f"{number(dice, 0, 300000):06}"
    month = f"{number(dice, 1, 12):02}"
    day = f"{number(dice, 1, 31):02}"
    return "-".join((year, month, day)[: dice.choice((1, 2, 3, 3, 3, 3))])


def iso_clock(dice: random.Random) -> str:
    parts = [f"{number(dice, 0, 24):02}", f"{number(dice, 0, 59):02}", f"{number(dice, 0, 59):02}"]
    if dice.random() < 0.1:
        parts = ["24", "00", "00"]
    text = ":".join(parts[: dice.choice((0, 1, 2, 2, 3, 3, 3))])
    if dice.random() < 0.3:
        text += "." + digits(dice)
    return text + dice.choice(("", "", "Z", "z", offset(dice), offset(dice)))


def offset(dice: random.Random) -> str:
    hours, minutes = number(dice, 0, 23), dice.choice((0, 0, 30, 45, number(dice, 0, 59)))
    form = dice.choice(("{:02}:{:02}", "{:02}:{:02}", "{:02}{:02}", "{:02}", "{}", "{}:{}", "{}{}"))
    return dice.choice("+-") + form.format(hours, minutes)


def clock(dice: random.Random) -> str:
    hour, minute, second = number(dice, 0, 24), number(dice, 0, 59), number(dice, 0, 59)
    forms = (
        *(f"{hour:02}:{minute:02}:{second:02}", f"{hour}:{minute:02}:{second}", f"{hour}"),
        *(f"{hour}:{minute}", f"{hour}:{minute}:", f"{hour}:", f"{hour}::", f"{hour}::{minute}"),
    )
    text = dice.choice(forms)
    if dice.random() < 0.15:
        text += dice.choice(".:,") + digits(dice)
    if dice.random() < 0.25:
        text += dice.choice(("", " ")) + dice.choice(("AM", "PM", "am", "pm", "a.m.", "P"))
    return text


def zone(dice: random.Random) -> str:
    name = dice.choice(ZONE_NAMES)
    return dice.choice(
        (name, name, offset(dice), name + offset(dice), f"{name} {offset(dice)}", "")
    )


def comment(dice: random.Random) -> str:
    return dice.choice(
        ("(Eastern Standard Time)", "(a (b) c)", "((x)", "(x))", "()", "(12", ")", "(Jan) 3", "")
    )


def year(dice: random.Random) -> str:
    return str(
        dice.choice((number(dice, 1900, 2100), number(dice, 0, 99), number(dice, 0, 300000)))
    )


def rfc_2822(dice: random.Random) -> str:
    return _join(
        dice,
        *(dice.choice(WEEKDAYS), str(number(dice, 1, 31)), dice.choice(MONTHS), year(dice)),
        *(clock(dice), zone(dice), comment(dice)),
    )


def asctime(dice: random.Random) -> str:
    weekday, month = dice.choice(WEEKDAYS), dice.choice(MONTHS)
    return _join(dice, weekday, month, str(number(dice, 1, 31)), clock(dice), year(dice))


def browser(dice: random.Random) -> str:
    """What a Date prints in a browser."""
    day = f"{dice.choice(MONTHS)} {number(dice, 1, 31):02} {year(dice)}"
    return f"{dice.choice(WEEKDAYS)} {day} {clock(dice)} GMT{offset(dice)} {comment(dice)}"


def named_month(dice: random.Random) -> str:
    parts = [str(number(dice, 0, 33)), dice.choice(MONTHS), year(dice)]
    dice.shuffle(parts)
    day = dice.choice(BETWEEN).join(parts[: dice.choice((2, 3, 3, 3))])
    return _join(dice, day, dice.choice(("", clock(dice))), dice.choice(("", zone(dice))))


def american(dice: random.Random) -> str:
    parts = [str(number(dice, 0, 13)), str(number(dice, 0, 32)), year(dice)]
    if dice.random() < 0.4:
        dice.shuffle(parts)
    day = dice.choice(BETWEEN).join(parts[: dice.choice((1, 2, 3, 3, 3, 3))])
    return _join(dice, day, dice.choice(("", clock(dice))), dice.choice(("", zone(dice))))


def assembled(dice: random.Random) -> str:
    """Parts of dates in any order."""
    makers = (year, clock, zone, comment, iso_day, iso_clock, offset, digits, named_month)
    words = (*MONTHS, *WEEKDAYS, *ZONE_NAMES)
    parts = [
        dice.choice(words) if dice.random() < 0.3 else dice.choice(makers)(dice)
        for _ in range(dice.randint(1, 5))
    ]
    return dice.choice((" ", " ", "", "-", ",")).join(parts)


def tokens(dice: random.Random) -> str:
    """The smallest parts with nothing in mind: this finds the rules about neighbours."""
    return "".join(dice.choice(SMALLEST) for _ in range(dice.randint(1, 12)))


def noise(dice: random.Random) -> str:
    return "".join(dice.choice(JUNK) for _ in range(dice.randint(0, 8)))


def number(dice: random.Random, low: int, high: int) -> int:
    """Mostly in range, sometimes just outside."""
    return dice.choice((low, high + 1)) if dice.random() < 0.06 else dice.randint(low, high)


def digits(dice: random.Random) -> str:
    zeros = "0" * dice.choice((0, 0, 0, 1, 2, 5, 12))
    return zeros + str(dice.randint(0, 10 ** dice.choice((1, 2, 3, 3, 4, 6, 9, 10, 18, 25))))


def _join(dice: random.Random, *parts: str) -> str:
    joined = ""
    for part in parts:
        between = " " if dice.random() < 0.8 else dice.choice(SPACES + BETWEEN)
        joined += between + part if joined and part else part
    return joined


def _perhaps_broken(dice: random.Random, text: str) -> str:
    while dice.random() < 0.3:
        at = dice.randint(0, len(text))
        until = at + dice.choice((0, 0, 1, 1, 2))
        damage = dice.choice(("put", "put", "drop", "cut", "swap", "case", "double"))
        if damage == "put":
            text = text[:at] + dice.choice(JUNK) + text[until:]
        elif damage == "drop":
            text = text[:at] + text[at + 1 :]
        elif damage == "cut":
            text = dice.choice((text[:at], text[at:]))
        elif damage == "swap":
            text = text[:at] + text[at:until][::-1] + text[until:]
        elif damage == "case":
            text = dice.choice((text.upper(), text.lower()))
        else:
            text = text[:until] + text[at:]
    return text
