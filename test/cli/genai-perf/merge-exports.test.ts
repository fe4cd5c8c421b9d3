import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder } from "../../make-folder.ts";
import { checkSchema } from "../../report/check-schema.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { golden } from "./read.ts";
import { readAll, runCaptured } from "./run-captured.ts";

/** `genai-perf process-export-files`: the requests of a recorded run, dealt to several hosts and merged again. */

interface Exported {
  experiments: {
    experiment: object;
    requests: { timestamp: bigint | number; response_timestamps: (bigint | number)[] }[];
    window_boundaries: number[];
  }[];
}

const RECORDED = new URL("../../report/genai-perf/goldens/chat-stream/", import.meta.url);
const recordedText = await readFile(new URL("profile_export.json", RECORDED), "utf8");

/** Time stamps have more digits than numbers keep. */
function parse(text: string): Exported {
  return JSON.parse(text.replace(/(?<=[[,:])\d{17,}/g, '"n$&"')) as Exported;
}

function format(value: Exported): string {
  return JSON.stringify(value).replace(/"n(\d+)"/g, "$1");
}

/** The real tool's report of such a run; its statistics are not read. */
const REPORT = golden("input-config-chat.txt")
  .replace(/"name": "[^"]*"/, `"name": ${JSON.stringify(TINY)}`)
  .replace('"goodput": ""', '"goodput": {"time_to_first_token": 50.8, "inter_token_latency": 10.01}');

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly results: ReadonlyMap<string, string>;
}

/** @param hosts the files of each host's folder, by name */
async function merge(
  hosts: Readonly<Record<string, Readonly<Record<string, string>>>>,
  ...more: string[]
): Promise<Ran> {
  const folder = makeFolder();
  for (const [host, files] of Object.entries(hosts)) {
    await mkdir(join(folder, "in", host), { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, "in", host, name), text);
  }
  const args = ["process-export-files", "-d", join(folder, "in"), "--artifact-dir", join(folder, "out"), ...more];
  const { err, ...ran } = await runCaptured(args);
  const results = [...(await readAll(join(folder, "out")))].filter(([, text]) => text !== "");
  return { ...ran, err: err.replaceAll(folder, ""), results: new Map(results) };
}

/** The requests of the recorded run whose number this takes; the n-th later by so many nanoseconds. */
function share(isRampart: (index: number) => boolean, laterNs = 0n): string {
  const document = parse(recordedText);
  const [experiment] = document.experiments;
  assert.ok(experiment !== undefined);
  const later = (stamp: bigint | number): number => `n${BigInt(String(stamp).slice(1)) + laterNs}` as unknown as number;
  experiment.requests = experiment.requests
    .filter((_, index) => isRampart(index))
    .map((request) => ({
      ...request,
      timestamp: later(request.timestamp),
      response_timestamps: request.response_timestamps.map(later),
    }));
  return format(document);
}

/** The odd requests with something wrong: the fourth sent later or its second response moved, or all without responses. */
function moved({
  timestamp = 0n,
  secondResponse = 0n,
  isUnanswered = false,
}: {
  timestamp?: bigint;
  secondResponse?: bigint;
  isUnanswered?: boolean;
}): string {
  const document = parse(share((index) => index % 2 === 1));
  const requests = document.experiments[0]?.requests as (Exported["experiments"][0]["requests"][0] & {
    response_outputs: unknown[];
  })[];
  const later = (stamp: bigint | number | undefined, byNs: bigint): number =>
    `n${BigInt(String(stamp).slice(1)) + byNs}` as unknown as number;
  const request = requests[3];
  assert.ok(request !== undefined);
  request.timestamp = later(request.timestamp, timestamp);
  request.response_timestamps[1] = later(request.response_timestamps[1], secondResponse);
  if (isUnanswered) for (const one of requests) Object.assign(one, { response_timestamps: [], response_outputs: [] });
  return format(document);
}

function withoutSetting(part: string): string {
  const report = JSON.parse(REPORT) as { input_config: Record<string, unknown> };
  const { [part]: _, ...others } = report.input_config;
  return JSON.stringify({ ...report, input_config: others });
}

const NAME = "tiny-openai-chat-concurrency2/profile_export";
const even = { "profile_export.json": share((index) => index % 2 === 0), "profile_export_genai_perf.json": REPORT };
const odd = { "profile_export.json": share((index) => index % 2 === 1), "profile_export_genai_perf.json": REPORT };

describe("genai-perf process-export-files", () => {
  test("a run that is split between two hosts equals the whole run, to the last digit", async () => {
    const { code, out, err, results } = await merge({ b: odd, a: even, "c/empty": {} });
    assert.equal(code, 0, err);
    assert.equal(
      results.get(`${NAME}_genai_perf.csv`),
      await readFile(new URL("profile_export_genai_perf.csv", RECORDED), "utf8"),
    );
    assert.equal(out, await readFile(new URL("console.txt", RECORDED), "utf8"));
    const json = JSON.parse(results.get(`${NAME}_genai_perf.json`) ?? "{}");
    assert.deepEqual([json.request_count.avg, json.input_config.subcommand], [20, "process"]);
    assert.deepEqual(json.input_config.perf_analyzer.stimulus, { concurrency: 2 });
    const own = JSON.parse(results.get(`${NAME}_genai_perf_rampart.json`) ?? "{}");
    checkSchema(own);
    const [level] = own.levels;
    assert.deepEqual([level.unit, level.level, level.completed, level.tokens.withContent], ["concurrency", 4, 20, 20]);
    const { latencyUs, throughputPerSec } = level.metrics;
    assert.equal(latencyUs.count, 20);
    const sameAs = (value: number, other: number): boolean => Math.abs(value / other - 1) < 1e-6;
    assert.ok(sameAs(latencyUs.p90, 1000 * json.request_latency.p90));
    assert.ok(sameAs(throughputPerSec.value, json.request_throughput.avg));
    const merged = parse(results.get(`${NAME}.json`) ?? "{}");
    const whole = parse(recordedText);
    assert.deepEqual(
      merged.experiments[0]?.requests.map(({ timestamp }) => timestamp).toSorted(),
      whole.experiments[0]?.requests.map(({ timestamp }) => timestamp).toSorted(),
    );
    assert.deepEqual({ ...merged, experiments: [] }, { ...whole, experiments: [] });
    assert.match(err, /\/in\/c is left out: it has no export/);
    assert.match(err, /2 exports are merged in/);
  });

  test("plots show the hosts over each other", async () => {
    const { code, err, results } = await merge({ b: odd, a: even }, "--generate-plots");
    assert.equal(code, 0, err);
    const page = results.get(join("tiny-openai-chat-concurrency2", "plots", "plots.html")) ?? "";
    const { options } = JSON.parse(/id="data">(.*?)<\/script>/.exec(page)?.[1] ?? "");
    assert.deepEqual(options[0].xAxis[0].data, ["a", "b"]);
    assert.deepEqual([options[0].series[1].data.length, options[0].series[2].data.length], [10, 10]);
    assert.match(page, /<span>Requests 20<\/span>/);
    const svg = await merge({ b: odd, a: even }, "--generate-plots", "--plot-formats", "svg");
    const names = [...svg.results.keys()].filter((name) => name.includes("plots"));
    assert.ok(names.length > 5 && names.every((name) => name.endsWith(".svg")), names.join());
    const alone = await merge({ b: odd, a: even }, "--plot-formats", "svg");
    assert.equal(alone.code, 1);
    assert.match(alone.err, /--plot-formats needs --generate-plots/);
  });

  test("a host's artifact folder may be copied whole, with its export one folder deeper", async () => {
    const flat = await merge({ b: odd, a: even });
    const deep = await merge({ "b/tiny-run": odd, "b/tiny-run/plots": {}, "a/tiny-run": even }, "--generate-plots");
    assert.equal(deep.code, 0, deep.err);
    assert.equal(deep.results.get(`${NAME}_genai_perf.csv`), flat.results.get(`${NAME}_genai_perf.csv`));
    assert.equal(deep.out, flat.out);
    const page = deep.results.get(join("tiny-openai-chat-concurrency2", "plots", "plots.html")) ?? "";
    const { options } = JSON.parse(/id="data">(.*?)<\/script>/.exec(page)?.[1] ?? "");
    assert.deepEqual(options[0].xAxis[0].data, ["a", "b"], "hosts, not artifact folders");
  });

  test("runs one after another: the gap between them is removed and reported", async () => {
    const hour = 3_600_000_000_000n;
    const later = { ...odd, "profile_export.json": share((index) => index % 2 === 1, hour) };
    const together = await merge({ a: even, b: odd });
    const apart = await merge({ b: even, a: later });
    assert.equal(apart.code, 0, apart.err);
    assert.match(apart.err, /in\/a\/profile_export\.json begins 359\d\.\d s after the others have ended/);
    assert.doesNotMatch(together.err, /begins|differ/);
    const rates = [together, apart].map(
      ({ results }) => JSON.parse(results.get(`${NAME}_genai_perf.json`) ?? "{}").request_throughput.avg as number,
    ) as [number, number];
    // Each took nearly as long as both together.
    assert.ok(rates[0] / rates[1] > 1.6 && rates[0] / rates[1] < 2, rates.join());
  });

  test("different loads are reported, because a sweep's points would be merged like hosts", async () => {
    const report = REPORT.replace('"concurrency": 2', '"concurrency": 4');
    const { code, err, results } = await merge({ a: even, b: { ...odd, "profile_export_genai_perf.json": report } });
    assert.equal(code, 0, err);
    assert.match(err, /the loads differ, such as those of .*in\/a\/.* and .*in\/b\//);
    assert.ok(results.has(`${NAME}.json`));
  });

  test("GPU metrics are means or maxima, like in GenAI-Perf; --profile-export-file names the files", async () => {
    const withGpu = (watts: number, memory: number): string => {
      const gpu = {
        gpu_power_usage: { unit: "W", gpu0: { avg: watts, p99: 9 } },
        gpu_memory_used: { unit: "GB", gpu0: { avg: memory } },
      };
      return REPORT.replace("{", `{ "telemetry_stats": ${JSON.stringify(gpu)},`);
    };
    const hosts = {
      a: { "x.json": even["profile_export.json"], "x_genai_perf.json": withGpu(100, 3), "inputs.json": "{}" },
      b: { "x.json": odd["profile_export.json"], "x_genai_perf.json": withGpu(200, 5) },
    };
    const { code, out, err, results } = await merge(hosts, "--profile-export-file", "all.json", "-v");
    assert.equal(code, 0, err);
    assert.match(out, /Power Metrics[\s\S]*gpu0 │ 150\.00/);
    const json = JSON.parse(results.get("tiny-openai-chat-concurrency2/all_genai_perf.json") ?? "{}");
    assert.deepEqual(json.telemetry_stats, {
      gpu_power_usage: { unit: "W", gpu0: { avg: 150 } },
      gpu_memory_used: { unit: "GB", gpu0: { avg: 5 } },
    });
    assert.ok(results.has("tiny-openai-chat-concurrency2/all.json"));
  });

  test("--tokenizer counts in place of the one that the reports name", async () => {
    const elsewhere = REPORT.replace(JSON.stringify(TINY), '"/nowhere/tokenizer"');
    const hosts = { a: { ...even, "profile_export_genai_perf.json": elsewhere } };
    const lost = await merge(hosts);
    assert.deepEqual([lost.code, lost.results.size], [1, 0]);
    assert.match(
      lost.err,
      /in\/a\/profile_export_genai_perf\.json, input_config\.tokenizer: was not found[\s\S]*--tokenizer/,
    );
    const found = await merge(hosts, "--tokenizer", TINY);
    assert.equal(found.code, 0, found.err);
  });

  const wrong: readonly (readonly [name: string, hosts: Parameters<typeof merge>[0], message: RegExp])[] = [
    ["nothing there", { a: { "inputs.json": "{}" } }, /--input-directory: holds no folder with a profile_export/],
    [
      "an export without its report",
      { a: even, b: { "profile_export.json": odd["profile_export.json"] } },
      /in\/b\/profile_export\.json: its report profile_export_genai_perf\.json with the settings is missing/,
    ],
    [
      "an export of another name without its report",
      { a: even, "b/run": { "x.json": odd["profile_export.json"] } },
      /in\/b\/run\/x\.json: its report x_genai_perf\.json with the settings is missing/,
    ],
    [
      "a report without its export",
      { a: even, b: { "x_genai_perf.json": REPORT } },
      /in\/b\/x_genai_perf\.json: its profile export x\.json is missing/,
    ],
    [
      "a response before its request",
      { a: even, b: { ...odd, "profile_export.json": moved({ timestamp: 50_000_000_000n }) } },
      /in\/b\/profile_export\.json, experiments\[0\]\.requests\[3\], byte \d+: response 0 came \d+ ns before the request/,
    ],
    [
      "responses out of order",
      { a: even, b: { ...odd, "profile_export.json": moved({ secondResponse: -10_000_000_000n }) } },
      /in\/b\/profile_export\.json, experiments\[0\]\.requests\[3\], byte \d+: response 1 came \d+ ns before response 0/,
    ],
    ...["model_names", "endpoint", "perf_analyzer", "input", "tokenizer"].map(
      (part) =>
        [
          `settings without ${part}`,
          { a: even, b: { ...odd, "profile_export_genai_perf.json": withoutSetting(part) } },
          new RegExp(`in/b/profile_export_genai_perf\\.json: input_config has no ${part}`),
        ] as const,
    ),
    [
      "settings without the endpoint's type",
      { a: even, b: { ...odd, "profile_export_genai_perf.json": REPORT.replace('"type":', '"custom":') } },
      /in\/b\/profile_export_genai_perf\.json: input_config has no endpoint\.type/,
    ],
    [
      "one host's export without requests",
      { a: even, b: { ...odd, "profile_export.json": share(() => false) } },
      /in\/b\/profile_export\.json: holds no request that was answered/,
    ],
    [
      "one host's export without responses",
      { a: even, b: { ...odd, "profile_export.json": moved({ isUnanswered: true }) } },
      /in\/b\/profile_export\.json: holds no request that was answered/,
    ],
    [
      "exports two folders deeper",
      { "a/b/c": even },
      /--input-directory: holds no folder with a profile_export.* \(got .*\)\n.*or its artifact folder/,
    ],
    [
      "several runs of a host in a folder each",
      { "a/run-1": even, "a/run-2": odd, b: odd },
      /\/in\/a: holds several runs.*: run-1\/profile_export\.json, run-2\/profile_export\.json/,
    ],
    [
      "several runs of a host in its folder",
      { a: { ...even, "other.json": recordedText, "other_genai_perf.json": REPORT } },
      /\/in\/a: holds several runs.*: other\.json, profile_export\.json/,
    ],
    [
      "other settings",
      {
        a: even,
        b: { ...odd, "profile_export_genai_perf.json": REPORT.replace('"streaming": true', '"streaming": false') },
      },
      /in\/b\/profile_export_genai_perf\.json: endpoint\.streaming is false, but true in .*in\/a\//,
    ],
    [
      "a report without settings",
      { a: { ...even, "profile_export_genai_perf.json": "{}" } },
      /in\/a\/profile_export_genai_perf\.json: input_config is missing/,
    ],
    [
      "a torn report",
      { a: { ...even, "profile_export_genai_perf.json": REPORT.slice(0, 300) } },
      /in\/a\/profile_export_genai_perf\.json, byte \d+: /,
    ],
    [
      "a torn export",
      { a: even, b: { ...odd, "profile_export.json": recordedText.slice(0, 5000) } },
      /in\/b\/profile_export\.json.*, byte \d+: /,
    ],
    [
      "an export without requests",
      { a: { ...even, "profile_export.json": share(() => false) } },
      /in\/a\/profile_export\.json: holds no request that was answered/,
    ],
  ];
  for (const [name, hosts, message] of wrong)
    test(`refused, with nothing written: ${name}`, async () => {
      const { code, err, out, results } = await merge(hosts);
      assert.deepEqual([code, out, results.size], [1, "", 0]);
      assert.match(err, message);
    });
});
