import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadTokenizer } from "../../../src/tokenize/load-tokenizer.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { type Answer, answerChat, type Bench, type ReceivedBody, withBench } from "./analyze-server.ts";

/** `genai-perf analyze` against a small server: what is sent at each point, the summary, checkpoints, and the search. */

function analyze({ url, folder }: Bench, type: string, ...more: readonly string[]): string[] {
  return [
    ..."analyze -m tiny --endpoint-type chat --streaming --num-dataset-entries 4 --isl 12 --random-seed 7".split(" "),
    ...["--tokenizer", TINY, "--url", url, "--artifact-dir", join(folder, "artifacts"), "--sweep-type", type],
    ...["--checkpoint-dir", join(folder, "kept"), ...more],
  ];
}

/** Rows of the CSV's first block, best first, each as cells. */
async function readRows(bench: Bench): Promise<string[][]> {
  const text = await bench.read("artifacts", "analyze_export_genai_perf.csv");
  const [, ...rows] = (text.split("\r\n\r\n")[0] ?? "").split("\r\n");
  return rows.map((row) => row.split(","));
}

function texts(received: readonly ReceivedBody[]): string[] {
  return received.map(({ messages }) => messages?.[0]?.content ?? "");
}

describe("genai-perf analyze", () => {
  test("a list of input lengths is run value by value, each in its folder, and summed up", LIMIT, async () => {
    await withBench(answerChat, async (bench) => {
      const args = analyze(bench, "input_sequence_length", "--sweep-list", "20,60", "--request-count", "5");
      const { code, out, err, received } = await bench.run(args);
      assert.equal(code, 0, err);
      const tokenizer = await loadTokenizer(TINY);
      const lengths = texts(received).map((text) => tokenizer.count(text));
      assert.deepEqual(lengths, [...Array(5).fill(20), ...Array(5).fill(60)]);
      assert.deepEqual(await bench.list("artifacts"), [
        "analyze_export_genai_perf.csv",
        "analyze_export_rampart.json",
        "tiny-openai-chat-input_sequence_length20",
        "tiny-openai-chat-input_sequence_length60",
      ]);
      const rows = await readRows(bench);
      assert.deepEqual(rows.map(([name, load, isl]) => [name, load, isl]).toSorted(), [
        ["tiny_run_config_0", "1", "20"],
        ["tiny_run_config_1", "1", "60"],
      ]);
      assert.ok(Number(rows[0]?.at(-1)) >= Number(rows[1]?.at(-1)));
      assert.match(out, /Rampart \| Sweep[\s\S]*┃ input_sequence_length ┃/);
      const { points } = JSON.parse(await bench.read("artifacts", "analyze_export_rampart.json"));
      assert.deepEqual(
        points.map(({ parameters }: { parameters: object }) => parameters),
        [{ input_sequence_length: 20 }, { input_sequence_length: 60 }],
      );
      assert.equal(points[0].metrics.request_count.avg, 5);
      assert.ok(points.some((point: { is_pareto_optimal: boolean }) => point.is_pareto_optimal));
      const report = await bench.read(
        "artifacts",
        "tiny-openai-chat-input_sequence_length60/profile_export_genai_perf.json",
      );
      assert.equal(JSON.parse(report).input_config.input.synthetic_tokens.mean, 60);
    });
  });

  test("plots: the sweep's beside its summary, each point's beside its results; old ones go", LIMIT, async () => {
    await withBench(answerChat, async (bench) => {
      const args = [
        ...analyze(bench, "concurrency", "--sweep-list", "1,2", "--request-count", "4"),
        "--generate-plots",
      ];
      const { code, err } = await bench.run(args);
      assert.equal(code, 0, err);
      assert.deepEqual(await bench.list("artifacts", "plots"), ["plots.html"]);
      assert.deepEqual(await bench.list("artifacts", "tiny-openai-chat-concurrency2", "plots"), ["plots.html"]);
      const page = await bench.read("artifacts", "plots", "plots.html");
      assert.match(page, /<h1>tiny: concurrency<\/h1>[\s\S]*<span>Points 2<\/span>/);
      const { options } = JSON.parse(/id="data">(.*?)<\/script>/.exec(page)?.[1] ?? "");
      const labels = options[0].series.flatMap(({ data }: { data: { name: string }[] }) =>
        data.map(({ name }) => name),
      );
      assert.deepEqual(labels.toSorted(), ["1", "2"], "both points stand in the Pareto plot");
      const again = await bench.run(analyze(bench, "concurrency", "--sweep-list", "1,2", "--request-count", "4"));
      assert.equal(again.code, 0, again.err);
      assert.deepEqual(await bench.list("artifacts", "plots"), []);
    });
  });

  test("concurrency, request rate, batch size and number of entries are varied too", LIMIT, async () => {
    let mostInFlight = 0;
    const answer: Answer = (response, request) => {
      mostInFlight = Math.max(mostInFlight, request.inFlight);
      // Held back for a moment, so that all that are outstanding are seen together.
      if (request.body.input === undefined) setTimeout(() => answerChat(response, request), 5);
      else response.end('{"object":"list","data":[{"embedding":[0.5]}]}');
    };
    await withBench(answer, async (bench) => {
      const load = await bench.run(analyze(bench, "concurrency", "--sweep-range", "2:4"));
      assert.equal(load.code, 0, load.err);
      assert.deepEqual([load.received.length, mostInFlight], [20, 4]);
      assert.deepEqual((await readRows(bench)).map((row) => row[1]).toSorted(), ["2", "4"]);
      const rate = await bench.run(analyze(bench, "request_rate", "--sweep-list", "40.5"));
      assert.equal(rate.code, 0, rate.err);
      // Two seconds' worth, where nothing else is said.
      assert.equal(rate.received.length, 81);
      assert.match(await bench.read("artifacts", "analyze_export_genai_perf.csv"), /^Config Name,Request Rate,/);
      const entries = await bench.run(
        analyze(bench, "num_dataset_entries", "--sweep-list", "3", "--request-count", "9"),
      );
      assert.equal(new Set(texts(entries.received)).size, 3);
      assert.equal((await readRows(bench))[0]?.[3], "3");
      const batches = analyze(bench, "batch_size", "--sweep-list", "1,3", "--request-count", "2");
      const batch = await bench.run([
        ...batches.filter((arg) => arg !== "--streaming"),
        "--endpoint-type",
        "embeddings",
      ]);
      assert.equal(batch.code, 0, batch.err);
      assert.deepEqual(
        batch.received.map(({ input }) => input?.length),
        [1, 1, 3, 3],
      );
    });
  });

  test("several sweeps of a file are combined, the last fastest", LIMIT, async () => {
    await withBench(answerChat, async (bench) => {
      const file = join(bench.folder, "sweep.yaml");
      const lines = [
        "model_name: tiny",
        "analyze: { input_sequence_length: [10, 20], concurrency: { start: 1, stop: 2 } }",
        `endpoint: { type: chat, streaming: True, url: "${bench.url}" }`,
        "input: { num_dataset_entries: 2 }",
        `output: { artifact_directory: "${join(bench.folder, "artifacts")}" }`,
        `tokenizer: { name: "${TINY}" }`,
      ];
      await writeFile(file, `${lines.join("\n")}\n`);
      const { code, err } = await bench.run(["config", "-f", file]);
      assert.equal(code, 0, err);
      const order = [...err.matchAll(/point \d of 4: (.*)/g)].map(([, point]) => point);
      assert.deepEqual(order, [
        "input_sequence_length 10, concurrency 1",
        "input_sequence_length 10, concurrency 2",
        "input_sequence_length 20, concurrency 1",
        "input_sequence_length 20, concurrency 2",
      ]);
      assert.ok((await bench.list("artifacts")).includes("tiny-openai-chat-input_sequence_length20-concurrency2"));
      assert.equal((await readRows(bench)).length, 4);
    });
  });

  test("a failed point is reported, the others are measured, and the exit code is 1", LIMIT, async () => {
    const answer: Answer = (response, request) => {
      if ((texts([request.body])[0] ?? "").length < 100) answerChat(response, request);
      else response.writeHead(500).end('{"error":{"message":"too long"}}');
    };
    await withBench(answer, async (bench) => {
      const args = analyze(bench, "input_sequence_length", "--sweep-list", "5,90,6", "--request-count", "3");
      const { code, out, err, received } = await bench.run(args);
      assert.equal(code, 1);
      assert.equal(received.length, 9);
      assert.match(
        err,
        /input_sequence_length 90 failed: 3 of 3 requests failed, such as http: HTTP status 500: too long/,
      );
      assert.deepEqual((await readRows(bench)).map((row) => row[2]).toSorted(), ["5", "6"]);
      assert.match(out, /Sweep/);
      const { failed } = JSON.parse(await bench.read("artifacts", "analyze_export_rampart.json"));
      assert.deepEqual(failed[0].parameters, { input_sequence_length: 90 });
    });
  });

  test("a problem of every point is reported once, and an earlier summary is kept", LIMIT, async () => {
    await withBench(answerChat, async (bench) => {
      const file = join(bench.folder, "bad.jsonl");
      await writeFile(file, '{"text":"x"}\nnot json\n');
      await bench.run(analyze(bench, "concurrency", "--sweep-list", "1"));
      const { code, err, received } = await bench.run(
        analyze(bench, "concurrency", "--sweep-list", "1,2", "--input-file", file),
      );
      assert.deepEqual([code, received.length], [1, 0]);
      assert.equal(err.split("bad.jsonl").length, 2, err);
      assert.equal((await readRows(bench)).length, 1);
    });
  });
});

describe("checkpoints", () => {
  test("after Ctrl-C the same command continues; other settings are measured again", LIMIT, async () => {
    await withBench(answerChat, async (bench) => {
      const args = analyze(bench, "concurrency", "--sweep-list", "1,2,3", "--enable-checkpointing");
      const first = await bench.run(args, (index, interrupt) => {
        if (index === 12) interrupt();
      });
      assert.equal(first.code, 1);
      assert.match(first.err, /the sweep was interrupted at concurrency 2/);
      assert.deepEqual(
        (await readRows(bench)).map((row) => row[1]),
        ["1"],
      );
      const second = await bench.run(args);
      assert.equal(second.code, 0, second.err);
      assert.match(second.err, /concurrency 1: tiny_run_config_0 of .*checkpoint\.json has been measured/);
      assert.equal(second.received.length, 20);
      assert.deepEqual((await readRows(bench)).map((row) => row[0]).toSorted(), [
        "tiny_run_config_0",
        "tiny_run_config_1",
        "tiny_run_config_2",
      ]);
      const third = await bench.run(args);
      assert.deepEqual([third.code, third.received.length], [0, 0]);
      assert.match(third.out, /Sweep/);
      const other = await bench.run([...args, "--osl", "2"]);
      assert.equal(other.received.length, 30);
      assert.deepEqual(
        (await readRows(bench))
          .map((row) => row[0])
          .toSorted()
          .at(-1),
        "tiny_run_config_5",
      );
    });
  });

  test("the file has the original's layout, and a report that another run replaced does not count", LIMIT, async () => {
    await withBench(answerChat, async (bench) => {
      const profile = analyze(bench, "", "--enable-checkpointing").filter(
        (arg) => arg !== "" && arg !== "--sweep-type" && arg !== "analyze",
      );
      const first = await bench.run(["profile", ...profile]);
      assert.deepEqual([first.code, first.received.length], [0, 10], first.err);
      const again = await bench.run(["profile", ...profile]);
      assert.deepEqual([again.code, again.received.length, again.out], [0, 0, ""]);
      assert.match(again.err, /not measured again/);
      const [entry] = JSON.parse(await bench.read("kept", "checkpoint.json")).Results.run_configs;
      assert.deepEqual(Object.keys(entry), [
        "name",
        "genai_perf_config",
        "perf_analyzer_config",
        "measurement",
        "rampart",
      ]);
      assert.equal(entry.genai_perf_config._parameters.endpoint.url, undefined);
      assert.deepEqual(entry.perf_analyzer_config._parameters, { concurrency: 1 });
      const records = entry.measurement._model_config_measurements.tiny._perf_metrics;
      const report = JSON.parse(
        await bench.read("artifacts/tiny-openai-chat-concurrency1/profile_export_genai_perf.json"),
      );
      assert.equal(records.request_latency_p99[1]._value, report.request_latency.p99 * 1e6);
      // Other settings with the same folder.
      await bench.run(["profile", ...profile, "--osl", "2"]);
      const replaced = await bench.run(["profile", ...profile]);
      assert.equal(replaced.received.length, 10);
    });
  });

  test(
    "failed requests are not stored, and a file that is not a checkpoint is rejected and left unchanged",
    LIMIT,
    async () => {
      const answer: Answer = (response, request) =>
        request.index === 3 ? response.writeHead(500).end() : answerChat(response, request);
      await withBench(answer, async (bench) => {
        const args = analyze(bench, "concurrency", "--sweep-list", "1,2", "--enable-checkpointing");
        const first = await bench.run(args);
        assert.equal(first.code, 1);
        const second = await bench.run(args);
        // The first point again, and not the second.
        assert.equal(second.received.length, 10);
        const path = join(bench.folder, "kept", "checkpoint.json");
        await writeFile(path, '{"Results": 3}');
        const third = await bench.run(args);
        assert.deepEqual([third.code, third.received.length], [1, 0]);
        assert.match(third.err, /checkpoint\.json: is not a checkpoint[\s\S]*--checkpoint-dir/);
        assert.equal(await readFile(path, "utf8"), '{"Results": 3}');
      });
    },
  );
});

describe("the search", () => {
  /** Fast up to four requests at once, slow beyond. Not so fast that those of one moment miss each other. */
  const SLOW_MS = 2500;
  const knee: Answer = (response, request) => {
    setTimeout(() => answerChat(response, request), request.inFlight > 4 ? SLOW_MS : 30);
  };

  test("finds the knee, shows every point, and names the broken limits", LIMIT, async () => {
    await withBench(knee, async (bench) => {
      const search = [
        "--sweep-range",
        "1:16",
        "--search-limits",
        "request_latency.max:2000",
        "time_to_first_token.p99:20000",
      ];
      const { code, out, err } = await bench.run(analyze(bench, "concurrency", ...search));
      assert.equal(code, 0, err);
      assert.match(
        out,
        /Highest concurrency that keeps request_latency\.max <= 2,000\.00 ms and .*: 4 \(5 does not.*\), in 2 of 2 measurements and 2 of 2 measurements\.$/m,
      );
      const tried = [...err.matchAll(/search: concurrency (\d+)/g)].map(([, load]) => Number(load));
      assert.deepEqual(tried, [1, 2, 4, 8, 6, 5]);
      // One noisy measurement must not decide.
      const confirmed = [...err.matchAll(/search, to confirm: concurrency (\d+)/g)].map(([, load]) => Number(load));
      assert.deepEqual(confirmed, [4, 5]);
      assert.ok((await bench.list("artifacts")).includes("tiny-openai-chat-concurrency5-repeat1"));
      // Points share the seed, as in GenAI-Perf; a measurement that confirms another one has data of its own.
      const inputsOf = (point: string): Promise<string> =>
        bench.read("artifacts", `tiny-openai-chat-concurrency${point}`, "inputs.json");
      assert.equal(await inputsOf("4"), await inputsOf("5"));
      assert.notEqual(await inputsOf("5-repeat1"), await inputsOf("5"));
      assert.match(err, /concurrency 8 breaks request_latency\.max <= 2,000\.00 ms: \d/);
      assert.deepEqual((await readRows(bench)).map((row) => Number(row[1])).toSorted(), [1, 2, 4, 4, 5, 5, 6, 8]);
      const json = JSON.parse(await bench.read("artifacts", "analyze_export_rampart.json"));
      const [{ is_client_limited: isClientLimited, ...found }] = json.search.answers;
      assert.deepEqual(found, {
        ...{ parameter: "concurrency", fixed: {}, highest: 4, lowest_broken: 5 },
        ...{ highest_votes: { kept: 2, broken: 0 }, lowest_broken_votes: { kept: 0, broken: 2 } },
      });
      assert.deepEqual(
        json.points.map(({ repeat }: { repeat?: number }) => repeat ?? 0),
        [0, 0, 0, 0, 0, 0, 1, 1],
      );
      assert.equal(typeof isClientLimited, "boolean");
      assert.equal(json.points[2].broken_limits.length, 0);
      assert.equal(json.points[3].broken_limits.length, 1);
    });
  });

  test("is made for each combination of what else is varied, also from a file", LIMIT, async () => {
    await withBench(answerChat, async (bench) => {
      const file = join(bench.folder, "search.yaml");
      const lines = [
        "model_name: tiny",
        "analyze: { concurrency: [1, 2], input_sequence_length: [10, 20] }",
        `endpoint: { type: chat, streaming: True, url: "${bench.url}" }`,
        "input: { num_dataset_entries: 2 }",
        `output: { artifact_directory: "${join(bench.folder, "artifacts")}" }`,
        `tokenizer: { name: "${TINY}" }`,
        "rampart: { search_limits: { request_latency.p99: 20000 } }",
      ];
      await writeFile(file, `${lines.join("\n")}\n`);
      const { code, out, err } = await bench.run(["config", "-f", file]);
      assert.equal(code, 0, err);
      for (const length of [10, 20])
        assert.match(
          out,
          new RegExp(`Highest concurrency with input_sequence_length ${length} that keeps .*: 2 \\(the end`),
        );
      assert.ok((await bench.list("artifacts")).includes("tiny-openai-chat-concurrency2-input_sequence_length20"));
    });
  });

  test("exits with 1 when even the lowest load breaks the limits, failed requests included", LIMIT, async () => {
    const answer: Answer = (response) => response.writeHead(503).end();
    await withBench(answer, async (bench) => {
      const search = ["--sweep-list", "2,3", "--search-limits", "request_latency:80"];
      const failing = await bench.run(analyze(bench, "concurrency", ...search));
      assert.equal(failing.code, 1);
      assert.match(failing.err, /concurrency 2 fails: 10 of 10 requests failed/);
    });
    await withBench(knee, async (bench) => {
      const search = ["--sweep-list", "6,7", "--search-limits", "request_latency.max:350"];
      const slow = await bench.run(analyze(bench, "concurrency", ...search));
      assert.equal(slow.code, 1);
      assert.match(slow.out, /No tested concurrency keeps request_latency\.max <= 350\.00 ms: the lowest, 6, does not/);
    });
  });

  test("warns when the client may be the limit", LIMIT, async () => {
    // The server is in the same process: while it is busy, so is the client.
    const busy: Answer = (response, request) => {
      const end = performance.now() + 60;
      while (performance.now() < end);
      answerChat(response, request);
    };
    await withBench(busy, async (bench) => {
      const search = ["--sweep-list", "2", "--search-limits", "request_latency:20"];
      const { code, out } = await bench.run(analyze(bench, "concurrency", ...search));
      assert.equal(code, 1);
      assert.match(out, /the lowest, 2, does not, where the client .*, in 2 of 2/);
    });
  });
});
