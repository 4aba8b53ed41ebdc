"""The table of metrics that compare an account with a benchmark."""

from tapeline.results.metrics import benchmark as formulas
from tapeline.results.metrics.benchmark import Benchmark
from tapeline.results.metrics.metric import Metric, measure
from tapeline.results.metrics.report_fields import Measured

BENCHMARK: tuple[Metric[Benchmark], ...] = (
    Metric(
        "benchmark_return",
        "Benchmark return",
        "percent",
        "What the benchmark gained over the days that are compared.",
        "last price / first price - 1",
        formulas.total,
    ),
    Metric(
        "excess_return",
        "Excess return",
        "percent",
        "The account's return over the days that are compared, less the benchmark's.",
        "return - benchmark return",
        formulas.excess,
    ),
    Metric(
        "alpha",
        "Alpha",
        "percent",
        "The yearly return that the benchmark's moves do not explain.",
        "(mean daily return - beta * mean daily return of the benchmark) * periods a year",
        formulas.alpha,
    ),
    Metric(
        "beta",
        "Beta",
        "number",
        "How much the account moves when the benchmark moves by one.",
        "covariance of both daily returns / variance of the benchmark's",
        formulas.beta,
    ),
    Metric(
        "correlation",
        "Correlation",
        "number",
        "How closely the account follows the benchmark, from -1 to 1.",
        "covariance of both daily returns / product of their standard deviations",
        formulas.correlation,
    ),
    Metric(
        "r_squared",
        "R²",
        "percent",
        "The share of the account's variation that the benchmark explains.",
        "correlation²",
        formulas.r_squared,
    ),
    Metric(
        "tracking_error",
        "Tracking error",
        "percent",
        "How much the difference between the two daily returns varies, annualised.",
        "standard deviation of (daily return - benchmark's) (n - 1) * √periods a year",
        formulas.tracking_error,
    ),
    Metric(
        "information_ratio",
        "Information ratio",
        "number",
        "The mean daily return above the benchmark's for each unit of its variation.",
        "mean / standard deviation of (daily return - benchmark's)",
        formulas.information_ratio,
    ),
    Metric(
        "up_capture",
        "Up capture",
        "percent",
        "The share of the benchmark's mean gain that the account made on days when it rose.",
        "geometric mean of the returns / that of the benchmark, on days on which it rose",
        formulas.up_capture,
    ),
    Metric(
        "down_capture",
        "Down capture",
        "percent",
        "The share of the benchmark's mean loss that the account made on days when it fell.",
        "geometric mean of the returns / that of the benchmark, on days on which it fell",
        formulas.down_capture,
    ),
)


def compute(pair: Benchmark) -> dict[str, Measured]:
    return {metric.name: measure(metric, pair) for metric in BENCHMARK}
