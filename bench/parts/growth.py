"""What becomes of a cost as a history grows: a column for each size."""

import statistics

Took = dict[str, dict[str, list[float]]]
"""Seconds by what was done and by the model it was done to, the smallest first."""


def print_table(sizes: list[int], counted: str, took: Took) -> None:
    rounds = min(len(seconds) for by_model in took.values() for seconds in by_model.values())
    heads = " | ".join(f"{size:,} {counted}" for size in sizes)
    print(f"| median of {rounds} | {heads} | slowest beside quickest |")
    print("|---" * (len(sizes) + 2) + "|")
    for what, by_model in took.items():
        medians = [statistics.median(seconds) for seconds in by_model.values()]
        shown = " | ".join(f"{1000 * seconds:.2f} ms" for seconds in medians)
        print(f"| {what} | {shown} | {max(medians) / min(medians):.2f} |")
