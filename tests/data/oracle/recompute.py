#!/usr/bin/env python3
"""Recomputes the closed-form values of stats-oracle.json with NumPy and SciPy and compares them.

Usage: recompute.py [stats-oracle.json]; needs numpy and scipy, prints what differs.
"""
import json
import pathlib
import sys

import numpy as np
from scipy import stats

PATH = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("stats-oracle.json")
ORACLE = json.loads(pathlib.Path(PATH).read_text())
checked, differing = 0, 0


def same(what, got, expected, tolerance=1e-9):
    global checked, differing
    checked += 1
    if (got is None) != (expected is None) or (
        got is not None and abs(got - expected) > max(tolerance * abs(expected), 1e-15)
    ):
        differing += 1
        print(f"{what}: {got} is not {expected}")


def ranks(n, q, level):
    tail = (1 - level) / 2 + 1e-12
    low = [l for l in range(1, n + 1) if stats.binom.cdf(l - 1, n, q) <= tail]
    high = [u for u in range(1, n + 1) if stats.binom.sf(u - 1, n, q) <= tail]
    return (low[-1], high[0]) if low and high else None


def critical(law, level):
    return int(np.searchsorted(2 * np.cumsum(law), 1 - level + 1e-12, side="right")) - 1


def signed_rank_law(n):
    law = np.zeros(n * (n + 1) // 2 + 1)
    law[0] = 1
    for k in range(1, n + 1):
        shifted = np.zeros_like(law)
        shifted[k:] = law[:-k]
        law = (law + shifted) / 2
    return law


def rank_sum_law(m, n):
    law = np.zeros((m + 1, m * n + 1))  # law[i]: i of the runs seen so far belong to the first
    law[0, 0] = 1
    for k in range(1, m + n + 1):  # the rank k goes to the first command or not
        for i in range(min(k, m), 0, -1):
            step = k - i
            if step <= n:
                law[i, step:] += law[i - 1, : law.shape[1] - step]
    return law[m] / law[m].sum()


def hodges_lehmann(what, logs, c, expected):
    logs = np.sort(logs)
    same(what, float(np.exp(np.median(logs))), expected["estimate"])
    same(what + " critical", c, expected["crit"])
    limits = (logs[c], logs[len(logs) - 1 - c]) if c >= 0 else (None, None)
    for key, limit in zip(("lo", "hi"), limits):
        same(f"{what} {key}", None if limit is None else float(np.exp(limit)), expected[key])


for entry in ORACLE["order_statistic_ranks"]:
    if entry["n"] <= 1000:
        found = ranks(entry["n"], entry["q"], entry["conf"])
        same(f"ranks {entry}", found and found[0], entry["lo"] if found else None)
        same(f"ranks {entry}", found and found[1], entry["hi"] if found else None)

for data in ORACLE["datasets"]:
    x, name, expected = np.array(data["values"]), data["name"], data["expected"]
    n = len(x)
    same(f"{name} mean", float(np.mean(x)), expected["mean"])
    for key, value in expected["quantile_type7"].items():
        same(f"{name} {key}", float(np.percentile(x, float(key[1:]))), value)
    if n > 1:
        same(f"{name} sd", float(np.std(x, ddof=1)), expected["sd"], 1e-6)
        half = stats.t.ppf(0.975, n - 1) * np.std(x, ddof=1) / np.sqrt(n)
        same(f"{name} t", float(np.mean(x) - half), expected["mean_t_ci"]["lo"])
        s = sum(np.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n))
        same(f"{name} S", float(s), expected["drift"]["mann_kendall"]["S"])

for pair in ORACLE["pairs"]:
    a, b, name, expected = np.array(pair["a"]), np.array(pair["b"]), pair["name"], pair["expected"]
    c = critical(rank_sum_law(len(a), len(b)), 0.95)
    hodges_lehmann(name, (np.log(b)[:, None] - np.log(a)).ravel(), c, expected["unpaired_hl"])
    if pair["paired"]:
        logs = np.log(b / a)
        i, j = np.triu_indices(len(a))
        c = critical(signed_rank_law(len(a)), 0.95)
        hodges_lehmann(name + " paired", (logs[i] + logs[j]) / 2, c, expected["paired_hl"])

for data in ORACLE["wall_cpu"]:
    w, c, expected = np.array(data["wall"]), np.array(data["cpu"]), data["expected"]
    if c.sum() > 0:
        r, n = w.sum() / c.sum(), len(w)
        se = np.sqrt(((w - r * c) ** 2).sum() / (n - 1) / n) / c.mean()
        half = stats.t.ppf(0.975, n - 1) * se / r
        same(data["name"], float(r * np.exp(-half)), expected["log_delta_t"]["lo"])
        same(data["name"], float(r * np.exp(half)), expected["log_delta_t"]["hi"])

print(f"{checked} values checked, {differing} differ (numpy {np.__version__})")
sys.exit(differing > 0)
