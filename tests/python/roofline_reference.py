#!/usr/bin/env python3
"""A plain reference of the continuous-batching engine, for checking and timing the Rust one.

    roofline_reference.py TRACE.csv OUT.csv [name=value ...]     replay a trace, write its outcomes
    roofline_reference.py --speed RATE REQUESTS [name=value ...] time a Poisson run of 1,024 in, 256 out

TRACE.csv has the columns arrival_s, input_tokens, output_tokens; OUT.csv gets first_token_s and
finish_s beside them. The settings are those of Settings below, in SI units.

Every step walks over every request. The rules:
  * all requests that run are served in the order in which they were admitted: one token for a
    request whose prompt is read, else as much of its prompt as the token budget still allows;
  * a decode takes its token even from an empty budget, a prompt ends the step's work there;
  * then waiting requests are admitted, first come, first served, while there is budget, a place
    in the batch and memory for all the tokens they will ever hold;
  * a step lasts as long as the slower of arithmetic and memory traffic, plus a fixed overhead;
  * the step that reads the last piece of a prompt also yields the first token.
"""

import csv
import random
import sys
import time
from collections import deque


class Settings:
    """Qwen2.5-7B in BF16 on one H100, unless told otherwise."""

    params = 7.6e9
    weight_bytes = 15.2e9
    kv_bytes_per_token = 57344.0
    kv_capacity_tokens = 959123
    peak_flops = 989e12
    bandwidth = 3.35e12
    mfu = 0.5
    step_overhead = 0.5e-3
    max_num_batched_tokens = 8192
    max_num_seqs = 256

    def __init__(self, pairs):
        for pair in pairs:
            name, _, value = pair.partition("=")
            if not hasattr(Settings, name):
                sys.exit(f"unknown setting {name!r}")
            setattr(self, name, type(getattr(Settings, name))(float(value)))


class Request:
    __slots__ = ("arrival_s", "prompt", "answer", "read", "written", "first_token_s", "finish_s")

    def __init__(self, arrival_s, prompt, answer):
        self.arrival_s, self.prompt, self.answer = arrival_s, prompt, answer
        self.read = self.written = 0
        self.first_token_s = self.finish_s = None


def share_out(settings, running, waiting, reserved):
    """Tokens of this step by request, admitting whoever can be; and the memory then reserved."""
    left = settings.max_num_batched_tokens
    plan = []
    for request in running:
        unread = request.prompt - request.read
        tokens = min(unread, left) if unread else 1
        if tokens <= 0:
            break
        plan.append((request, tokens))
        left -= tokens
    while waiting and left > 0 and len(running) < settings.max_num_seqs:
        request = waiting[0]
        if reserved + request.prompt + request.answer > settings.kv_capacity_tokens:
            break
        running.append(waiting.popleft())
        reserved += request.prompt + request.answer
        tokens = min(request.prompt, left)
        plan.append((request, tokens))
        left -= tokens
    return plan, reserved


def simulate(settings, requests):
    """Serve the requests, which are in order of arrival; their times are filled in."""
    coming, waiting, running = deque(requests), deque(), []
    now_s, reserved = 0.0, 0
    while coming or waiting or running:
        while coming and coming[0].arrival_s <= now_s:
            waiting.append(coming.popleft())
        if not waiting and not running:
            now_s = coming[0].arrival_s
            continue
        plan, reserved = share_out(settings, running, waiting, reserved)
        tokens = sum(share for _, share in plan)
        context = sum(request.read + request.written for request in running)
        compute_s = 2 * settings.params * tokens / (settings.peak_flops * settings.mfu)
        traffic = settings.weight_bytes + settings.kv_bytes_per_token * context
        now_s += max(compute_s, traffic / settings.bandwidth) + settings.step_overhead
        finished = False
        for request, share in plan:
            if request.read < request.prompt:
                request.read += share
                if request.read < request.prompt:
                    continue
            request.written += 1
            if request.written == 1:
                request.first_token_s = now_s
            if request.written == request.answer:
                request.finish_s = now_s
                reserved -= request.prompt + request.answer
                finished = True
        if finished:
            running = [request for request in running if request.finish_s is None]


def replay(trace_path, out_path, settings):
    with open(trace_path, newline="") as file:
        requests = [
            Request(float(row["arrival_s"]), int(row["input_tokens"]), int(row["output_tokens"]))
            for row in csv.DictReader(file)
        ]
    simulate(settings, requests)
    with open(out_path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["arrival_s", "input_tokens", "output_tokens", "first_token_s", "finish_s"]
        )
        for r in requests:
            writer.writerow([repr(r.arrival_s), r.prompt, r.answer,
                             repr(r.first_token_s), repr(r.finish_s)])


def measure_speed(rate_per_s, count, settings):
    """Print simulated requests per second of computing."""
    draw, arrival_s, requests = random.Random(0), 0.0, []
    for _ in range(count):
        arrival_s += draw.expovariate(rate_per_s)
        requests.append(Request(arrival_s, 1024, 256))
    started = time.perf_counter()
    simulate(settings, requests)
    print(count / (time.perf_counter() - started))


def main(words):
    if len(words) >= 3 and words[0] == "--speed":
        measure_speed(float(words[1]), int(words[2]), Settings(words[3:]))
    elif len(words) >= 2:
        replay(words[0], words[1], Settings(words[2:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
