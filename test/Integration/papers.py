"""The families as loops, one sequence and one head at a time, from their papers' equations.

Nothing here knows what a preset expands to. A state is written as its paper writes
it, mostly V x K (a value for each key direction), the transpose of the compiler's.
Each loop takes the arrays of one head, x[name][t], and the state before the first
token, and gives the outputs [T, ...] and the state after the last one.
docs/Families.md names the sources.
"""

import math

import numpy as np

erf = np.vectorize(math.erf)


def outer(a, b):
    return np.outer(a, b)


def softplus(x):
    return np.logaddexp(0.0, x)


def run(x, S, step):
    """step(t, S) -> (S, output), over the tokens of any array with time."""
    outputs = []
    for t in range(x["T"]):
        S, o = step(t, S)
        outputs.append(o)
    return np.array(outputs), S


def rows(x, S, step):
    """run() for a state that is one vector of V."""
    outputs, h = run(x, S[:, 0], step)
    return outputs, h[:, None]


def linear_attention(x, S):
    def step(t, S):
        S = S + outer(x["v"][t], x["k"][t])
        return S, S @ x["q"][t]
    return run(x, S, step)


def retnet(x, S):
    gamma = math.exp(x["log_gamma"])

    def step(t, S):
        S = gamma * S + outer(x["v"][t], x["k"][t])
        return S, S @ x["q"][t]
    return run(x, S, step)


def gla(x, S):
    def step(t, S):
        S = S @ np.diag(np.exp(x["log_alpha"][t])) + outer(x["v"][t], x["k"][t])
        return S, S @ x["q"][t]
    return run(x, S, step)


def mamba2(x, S):
    """h is N x P in the paper; here P x N, so that all states are V x K."""
    A = -math.exp(x["A_log"])

    def step(t, S):
        delta = softplus(x["dt"][t])
        S = math.exp(delta * A) * S + outer(delta * x["x"][t], x["B"][t])
        return S, S @ x["C"][t]
    return run(x, S, step)


def mamba(x, S):
    """h is D x N in the paper: a state of N for each channel."""
    A = -np.exp(x["A_log"]).T

    def step(t, h):
        delta = softplus(x["dt"][t])
        h = np.exp(delta[:, None] * A) * h + outer(delta * x["x"][t], x["B"][t])
        return h, h @ x["C"][t]
    return run(x, S, step)


def mlstm(x, S):
    """xLSTM eqs. 19 to 27: gates as they are, divided by exp(m) only where a state is handed over."""
    scale = math.exp(S["m"])
    S = {"C": scale * S["C"], "n": scale * S["n"], "log_m": S["m"]}

    def step(t, S):
        i, f = math.exp(x["log_i"][t]), math.exp(x["log_f"][t])
        C = f * S["C"] + i * outer(x["v"][t], x["k"][t])
        n = f * S["n"] + i * x["k"][t]
        m = max(x["log_f"][t] + S["log_m"], x["log_i"][t])
        return {"C": C, "n": n, "log_m": m}, C @ x["q"][t] / max(abs(n @ x["q"][t]), 1.0)
    outputs, S = run(x, S, step)
    scale = math.exp(-S["log_m"])
    return outputs, {"C": scale * S["C"], "n": scale * S["n"], "m": S["log_m"]}


def gated_rfa(x, S):
    """Random feature attention with gates: q and k are feature vectors here."""
    def step(t, S):
        g = math.exp(x["log_g"][t])
        S = {"S": g * S["S"] + (1 - g) * outer(x["v"][t], x["k"][t]), "z": g * S["z"] + (1 - g) * x["k"][t]}
        return S, S["S"] @ x["q"][t] / (x["q"][t] @ S["z"])
    return run(x, S, step)


def hgrn(x, S):
    def step(t, h):
        f = np.exp(x["log_f"][t])
        h = f * h + (1 - f) * x["i"][t]
        return h, h
    return rows(x, S, step)


def mingru(x, S):
    def step(t, h):
        z = 1 / (1 + np.exp(-x["z_logit"][t]))
        h = (1 - z) * h + z * x["h_tilde"][t]
        return h, h
    return rows(x, S, step)


def rg_lru(x, S):
    """Griffin eqs. 1 to 4, c = 8."""
    def sigmoid(y):
        return 1 / (1 + np.exp(-y))

    def step(t, h):
        a = sigmoid(x["Lambda"]) ** (8 * sigmoid(x["r_logit"][t]))
        h = a * h + np.sqrt(1 - a**2) * (sigmoid(x["i_logit"][t]) * x["x"][t])
        return h, h
    return rows(x, S, step)


def first_order(x, S):
    def step(t, y):
        y = np.exp(x["log_a"][t]) * y + x["x"][t]
        return y, y
    return rows(x, S, step)


def deltanet(x, S):
    identity = np.eye(S.shape[1])

    def step(t, S):
        k, v, beta = x["k"][t], x["v"][t], x["beta"][t]
        S = S @ (identity - beta * outer(k, k)) + beta * outer(v, k)
        return S, S @ x["q"][t]
    return run(x, S, step)


def gated_deltanet(x, S):
    identity = np.eye(S.shape[1])

    def step(t, S):
        k, v, beta = x["k"][t], x["v"][t], x["beta"][t]
        S = S @ (math.exp(x["log_alpha"][t]) * (identity - beta * outer(k, k))) + beta * outer(v, k)
        return S, S @ x["q"][t]
    return run(x, S, step)


def gated_deltanet2(x, S):
    identity = np.eye(S.shape[1])

    def step(t, S):
        k = x["k"][t]
        kept = identity - outer(x["erase_gate"][t] * k, k)
        S = S @ np.diag(np.exp(x["log_alpha"][t])) @ kept + outer(x["write_gate"][t] * x["v"][t], k)
        return S, S @ x["q"][t]
    return run(x, S, step)


def kda(x, S):
    """The paper's S is K x V."""
    S = S.T
    identity = np.eye(S.shape[0])

    def step(t, S):
        k, v, beta = x["k"][t], x["v"][t], x["beta"][t]
        S = (identity - beta * outer(k, k)) @ np.diag(np.exp(x["log_alpha"][t])) @ S + beta * outer(k, v)
        return S, S.T @ x["q"][t]
    outputs, S = run(x, S, step)
    return outputs, S.T


def gated_deltaproduct(x, S):
    identity = np.eye(S.shape[1])

    def step(t, S):
        S = math.exp(x["log_alpha"][t]) * S
        for k, v, beta in zip(x["k"][t], x["v"][t], x["beta"][t]):
            S = S @ (identity - beta * outer(k, k)) + beta * outer(v, k)
        return S, S @ x["q"][t]
    return run(x, S, step)


def rwkv7(x, S):
    def step(t, S):
        kappa, a = x["kappa"][t], x["a"][t]
        S = S @ (np.diag(np.exp(x["log_w"][t])) - outer(kappa, a * kappa)) + outer(x["v"][t], x["k"][t])
        return S, S @ x["r"][t]
    return run(x, S, step)


def dplr(x, S):
    def step(t, S):
        S = S @ (np.diag(np.exp(x["log_w"][t])) + outer(x["a"][t], x["b"][t])) + outer(x["v"][t], x["k"][t])
        return S, S @ x["r"][t]
    return run(x, S, step)


def refined(v, u, gains):
    """PRISM eqs. 14 to 16: the residual's deltas."""
    r, deltas = v - u, []
    for p in gains:
        y = p * r
        deltas.append(0.5 * y * (1 + erf(y / math.sqrt(2))))
        r = r - deltas[-1]
    return deltas


def prism_v3(x, S):
    """Base write and erase along k, and L further writes along c."""
    identity = np.eye(S.shape[1])

    def step(t, S):
        k, v, beta = x["k"][t], x["v"][t], x["beta"][t]
        S = math.exp(x["log_alpha"][t]) * S @ (identity - beta * outer(k, k)) + beta * outer(v, k)
        if "u" in x:
            for b, delta, c in zip(x["b"][t], refined(v, x["u"][t], x["p"][t]), x["c"][t]):
                S = S + b * outer(delta, c)
        return S, S @ x["q"][t]
    return run(x, S, step)


def prism_v2(x, S):
    """Eq. 18: the erase has key and strength of the first write."""
    identity = np.eye(S.shape[1])

    def step(t, S):
        b, c = x["b"][t], x["c"][t]
        S = math.exp(x["log_alpha"][t]) * S @ (identity - b[0] * outer(c[0], c[0]))
        for strength, delta, key in zip(b, refined(x["v"][t], x["u"][t], x["p"][t]), c):
            S = S + strength * outer(delta, key)
        return S, S @ x["q"][t]
    return run(x, S, step)
