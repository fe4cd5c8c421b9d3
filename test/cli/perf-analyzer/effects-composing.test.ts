import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../make-folder.ts";
import { type KserveCalled, type KserveOptions, KserveServer } from "../../run/kserve-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { runCommand } from "./run-command.ts";

/** Models that the measured one calls: whose statistics are told, where from, and what is refused. Their names say which flags. */

const LEAF: KserveCalled = { name: "leaf", version: "3", timesPerRequest: 2 };
const IDLE: KserveCalled = { name: "idle", version: "1", timesPerRequest: 0 };

/** An ensemble's configuration. */
function calling(...steps: readonly [name: string, version: number][]): object {
  return {
    ensemble_scheduling: { step: steps.map(([model_name, model_version]) => ({ model_name, model_version })) },
  };
}

/** The composing models on stdout, indentation and all, with how often each ran. */
function composingOf(out: string): string[] {
  return [...out.matchAll(/^( +\S+), version: (\S+)\n +(?:Request|Inference) count: (\d+)$/gm)].map(
    ([, name, version, count]) => `${name}:${version} ${count}`,
  );
}

async function measure(
  options: KserveOptions,
  flags: readonly string[],
): Promise<{ out: string; err: string; code: number; asked: string[] }> {
  await using server = await new KserveServer(options).start();
  const result = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "5", ...flags]);
  return { ...result, asked: server.requests.map(({ path }) => path) };
}

test("--bls-composing-models reports the server times of models that the model calls", LIMIT, async () => {
  const flags = ["--bls-composing-models", " leaf : 3 ,idle", "--bls-composing-models", "leaf:3"];
  const { code, out, err, asked } = await measure({ called: [LEAF, IDLE] }, flags);
  assert.equal(code, 0, err);
  assert.deepEqual(composingOf(out), ["  idle:1 0", "  leaf:3 10"]);
  assert.match(out, /^ {4}Avg request latency: 100 usec \(overhead 30 usec \+ queue 10 usec \+ compute 60 usec\)$/m);
  assert.match(err, /^rampart: composing model 'idle' answered no request: does 'simple' call it\?$/m);
  assert.ok(asked.includes("/v2/models/leaf/versions/3/config"));
  assert.ok(asked.includes("/v2/models/idle/config"));
  assert.ok(asked.includes("/v2/models/stats") && !asked.includes("/v2/models/simple/stats"));
  const plain = await measure({ called: [LEAF] }, []);
  assert.doesNotMatch(plain.out, /Composing/);
  assert.ok(plain.asked.includes("/v2/models/simple/stats") && !plain.asked.includes("/v2/models/stats"));
});

test("an ensemble's models are found by themselves, those of ensembles it calls too", LIMIT, async () => {
  const inner: KserveCalled = { name: "inner", version: "1", timesPerRequest: 1, config: calling(["leaf", 3]) };
  const { code, out, err, asked } = await measure(
    { called: [inner, LEAF], config: calling(["inner", -1], ["leaf", -1], ["leaf", 3]) },
    [],
  );
  assert.equal(code, 0, err);
  assert.deepEqual(composingOf(out), ["  inner:1 5", "    leaf:3 10", "  leaf:3 10"]);
  // Each is asked for once, wherever it is called from.
  assert.deepEqual(
    asked.filter((path) => path.includes("leaf")),
    ["/v2/models/leaf/versions/3/config", "/v2/models/leaf/config"],
  );
});

test("a cache anywhere adds its lines and columns", LIMIT, async () => {
  const cached: KserveCalled = { ...LEAF, config: { response_cache: { enable: true } } };
  const folder = makeFolder();
  const csv = join(folder, "out.csv");
  const { code, out } = await measure({ called: [cached] }, ["--bls-composing-models", "leaf", "-f", csv]);
  assert.equal(code, 0);
  assert.equal([...out.matchAll(/^ +Cache hit count: 0$/gm)].length, 2);
  assert.match(out, /\+ cache hit\/miss 60 usec\)$/m);
  for (const file of ["out.csv", "leaf_v3.out.csv"])
    assert.match(readFileSync(join(folder, file), "utf8"), /,Server Cache Hit,Server Cache Miss,Client Recv/);
});

test("each model has a CSV file beside the measured one's", LIMIT, async () => {
  const folder = makeFolder();
  const csv = join(folder, "out.csv");
  const flags = ["--bls-composing-models", "leaf,idle", "-f", csv];
  const { code } = await measure({ called: [LEAF, IDLE] }, flags);
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(folder).sort(), ["idle_v1.out.csv", "leaf_v3.out.csv", "out.csv"]);
  const [header, row = ""] = readFileSync(join(folder, "leaf_v3.out.csv"), "utf8").split("\n");
  assert.equal(
    header,
    "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv",
  );
  const [level, rate, ...times] = row.split(",");
  assert.deepEqual([level, times], ["1", ["0", "30", "10", "5", "50", "5", "0"]]);
  const own = readFileSync(csv, "utf8").split("\n")[1]?.split(",")[1];
  assert.ok(Math.abs(Number(rate) / Number(own) - 2) < 1e-4, `${rate} is not twice ${own}`);
  assert.match(readFileSync(join(folder, "idle_v1.out.csv"), "utf8"), /\n1,0,0,0,0,0,0,0,0\n$/);
});

test("the requested version is reported", LIMIT, async () => {
  const older = { ...LEAF, version: "2", timesPerRequest: 1 };
  const { out, err } = await measure({ called: [older, LEAF] }, ["--bls-composing-models", "leaf:2"]);
  assert.deepEqual(composingOf(out), ["  leaf:2 5"]);
  assert.doesNotMatch(err, /Multiple versions/);
  const newest = await measure({ called: [older, LEAF] }, ["--bls-composing-models", "leaf"]);
  assert.deepEqual(composingOf(newest.out), ["  leaf:3 10"]);
  assert.match(newest.err, /^WARNING: Multiple versions of model leaf are loaded/m);
});

for (const [value, said] of [
  ["nosuch", "error: failed to get config of composing model 'nosuch': Request for unknown model"],
  ["leaf:9", "error: failed to get config of composing model 'leaf' version 9: Request for unknown model"],
  ["simple", "error: composing model 'simple' is the measured model itself"],
  ["", "Error: Failed to parse --bls-composing-models. '' is not NAME or NAME:VERSION of a model"],
  ["leaf,,idle", "Error: Failed to parse --bls-composing-models. '' is not NAME or NAME:VERSION of a model"],
  ["leaf:x", "Error: Failed to parse --bls-composing-models. 'leaf:x' is not NAME or NAME:VERSION of a model"],
  ["leaf:1:2", "Error: Failed to parse --bls-composing-models. 'leaf:1:2' is not NAME or NAME:VERSION of a model"],
] as const) {
  test(`--bls-composing-models '${value}' is refused`, LIMIT, async () => {
    const { code, out, err } = await measure({ called: [LEAF, IDLE] }, ["--bls-composing-models", value]);
    assert.deepEqual([code, out], [99, ""]);
    assert.ok(err.startsWith(said), err);
    assert.match(err, /--bls-composing-models/);
  });
}
