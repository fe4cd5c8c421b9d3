"""Runs MLPerf's LoadGen with a system that answers after the given latencies, and prints what LoadGen measured and concluded.

The argument is a JSON object: "scenario", "latencies_us" (used in turn), "count" (queries, for Offline samples), "settings" (fields of
TestSettings) and, for streams, "streams": pairs of microseconds to the first token and number of tokens, used in turn. The output is a JSON
object: "results" (typed values of LoadGen's detail log), "latencies_ns" (LoadGen's latency of each sample, by query), "due_ns" (when each
query was due, or issued where nothing is due, since the first one) and "first_tokens_ns" (the latencies of first tokens; only of Server).
"""

import json
import pathlib
import queue
import re
import shutil
import sys
import tempfile
import threading
import time

import mlperf_loadgen as loadgen

task = json.loads(sys.argv[1])
settings = loadgen.TestSettings()
settings.scenario = getattr(loadgen.TestScenario, task["scenario"])
settings.mode = loadgen.TestMode.PerformanceOnly
settings.min_duration_ms = 0
settings.min_query_count = task["count"]
settings.max_query_count = 0 if task["scenario"] == "Offline" else task["count"]
settings.single_stream_expected_latency_ns = settings.multi_stream_expected_latency_ns = 1_000_000
for name, value in task["settings"].items():
    setattr(settings, name, value)

streams = task.get("streams", [])
settings.use_token_latencies = len(streams) > 0
issued = queue.SimpleQueue()


def answer():
    number = 0
    while (sample := issued.get()) is not None:
        latency_us = task["latencies_us"][number % len(task["latencies_us"])]
        if streams:
            first_us, tokens = streams[number % len(streams)]
            time.sleep(first_us / 1e6)
            loadgen.FirstTokenComplete([loadgen.QuerySampleResponse(sample, 0, 0)])
            time.sleep((latency_us - first_us) / 1e6)
            response = loadgen.QuerySampleResponse(sample, 0, 0, tokens)
        else:
            time.sleep(latency_us / 1e6)
            response = loadgen.QuerySampleResponse(sample, 0, 0)
        number += 1
        loadgen.QuerySamplesComplete([response])


def issue(samples):
    for sample in samples:
        issued.put(sample.id)


folder = pathlib.Path(tempfile.mkdtemp(prefix="loadgen-"))
output = loadgen.LogOutputSettings()
output.outdir = str(folder)
output.copy_summary_to_stdout = False
log = loadgen.LogSettings()
log.log_output = output
log.enable_trace = True
worker = threading.Thread(target=answer)
worker.start()
system = loadgen.ConstructSUT(issue, lambda: None)
library = loadgen.ConstructQSL(64, 64, lambda samples: None, lambda samples: None)
loadgen.StartTestWithLogSettings(system, library, settings, log, str(folder / "none.config"))
loadgen.DestroyQSL(library)
loadgen.DestroySUT(system)
issued.put(None)
worker.join()

results = {}
for line in (folder / "mlperf_log_detail.txt").read_text().splitlines():
    if line.startswith(":::MLLOG "):
        entry = json.loads(line.removeprefix(":::MLLOG "))
        results[entry["key"]] = entry["value"]
# Not all of its lines are valid JSON.
trace = (folder / "mlperf_log_trace.json").read_text()
# First tokens have the time when their query was due, and no number.
first_tokens = {}
token = re.compile(r'"name":"Token_Latency".*"ts":([\d.]+),.*"issue_delay":(\d+),"issue_to_done":(\d+)')
for due, delay, rest in token.findall(trace):
    first_tokens[due] = int(delay) + int(rest)
latencies = {}
due_us = {}
first_tokens_ns = []
sample = re.compile(r'"name":"Sample".*"ph":"b".*"ts":([\d.]+),.*"query_seq":(\d+),.*"complete_ns":(\d+)')
for due, query, latency in sample.findall(trace):
    latencies.setdefault(int(query), []).append(int(latency))
    due_us[int(query)] = float(due)
    if due in first_tokens:
        first_tokens_ns.append((int(query), first_tokens[due]))
kept = {key: value for key, value in results.items() if key.startswith(("result_", "early_stopping"))}
shutil.rmtree(folder)
print(
    json.dumps(
        {
            "results": kept,
            "latencies_ns": [latencies[key] for key in sorted(latencies)],
            "due_ns": [round((due_us[key] - due_us[min(due_us)]) * 1000) for key in sorted(due_us)],
            "first_tokens_ns": [latency for _, latency in sorted(first_tokens_ns)],
        }
    )
)
