import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { checkCodeSignature } from "../../compile/release/code-signature.ts";
import { readFormat } from "../../compile/release/file-format.ts";
import type { Sbom } from "../../compile/release/sbom.ts";
import { executableName, TARGETS, type Target } from "../../compile/release/targets.ts";
import { isRunnable, makeRoot, type Root } from "./roots.ts";

/** dist/release, as `npm run release` wrote it: every file, and the executables that can run here in empty root directories. */

const root = join(import.meta.dirname, "..", "..");
const folder = join(root, "dist", "release");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

test("SHA256SUMS has the checksum of every other file", () => {
  const lines = readFileSync(join(folder, "SHA256SUMS"), "utf8").trim().split("\n");
  const sums = new Map(lines.map((line) => line.split("  ").reverse() as [string, string]));
  const names = readdirSync(folder).filter((name) => name !== "SHA256SUMS");
  assert.deepEqual([...sums.keys()].sort(), names.sort());
  for (const [name, sum] of sums)
    assert.equal(
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
      sum,
      name,
    );
});

describe("the executable for", () => {
  for (const target of TARGETS)
    test(`${target.name} has that platform's format and contains the program`, () => {
      const file = readFileSync(join(folder, executableName(target)));
      const { format, machine, loader } = target;
      assert.deepEqual(readFormat(file), { format, machine, ...(loader === undefined ? {} : { loader }) });
      if (format === "Mach-O") assert.ok(checkCodeSignature(file) === (machine === "arm64" ? "valid" : "none"));
      // A sentence of the scenario guide, which `rampart help` prints.
      assert.ok(file.includes("defineScenario"), "the guides are missing");
      assert.ok(file.includes("Perf Analyzer Version"), "perf_analyzer mode is missing");
    });
});

test("the bill of materials names npm's packages with version and licence, and the runtime", () => {
  const sbom = JSON.parse(readFileSync(join(folder, "rampart.cdx.json"), "utf8")) as Sbom;
  assert.equal(sbom.bomFormat, "CycloneDX");
  assert.equal(sbom.metadata.component.version, version);
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version: string; license: string }>;
  };
  for (const component of sbom.components) {
    const locked = lock.packages[`node_modules/${component.name}`];
    assert.equal(component.version, locked?.version, component.name);
    assert.ok(JSON.stringify(component.licenses).includes(locked?.license ?? "no licence"), component.name);
  }
  const refs = new Set([sbom.metadata.component["bom-ref"], ...sbom.components.map((one) => one["bom-ref"])]);
  for (const { ref, dependsOn = [] } of sbom.dependencies)
    for (const one of [ref, ...dependsOn]) assert.ok(refs.has(one), one);
});

const SCENARIO = `import { defineScenario, errorRate, hold, triton } from "rampart";
const count: number = 60;
export default defineScenario({
  name: "in an empty root",
  target: triton("127.0.0.1:PORT", { protocol: "grpc", model: "simple" }),
  load: hold(2, { requests: count }),
  assert: [errorRate().is(0)],
});
`;

const linux = TARGETS.find(({ name }) => name === "linux-x64") as Target;
for (const target of TARGETS.filter(isRunnable))
  describe(`in a root directory with nothing but its libraries, the executable for ${target.name}`, () => {
    let place: Root;
    let server: Root;
    let mock: ChildProcess;
    let ports: { http: string; grpc: string };
    before(async () => {
      place = await makeRoot(join(folder, executableName(target)), target);
      // Programs in Wine do not run beside each other here: their server is Linux's.
      server = target.format === "PE" ? await makeRoot(join(folder, executableName(linux)), linux) : place;
      mock = server.start(["mock", "--http-port", "0", "--grpc-port", "0"]);
      ports = await readPorts(mock);
    });
    after(async () => {
      if (mock?.exitCode === null) {
        mock.kill("SIGINT");
        await new Promise((resolve) => mock.once("exit", resolve));
      }
      server?.remove();
      place?.remove();
    });
    const run = (...args: string[]): Promise<Outcome> => finish(place.start(args));

    test("prints its version and help", async () => {
      const { err, ...rest } = await run("version");
      assert.deepEqual(rest, { code: 0, out: `rampart ${version}\n` });
      // Wine says that it has no fonts.
      if (target.format !== "PE") assert.equal(err, "");
      const { code, out } = await run("help", "scenarios");
      assert.equal(code, 0);
      assert.match(out, /defineScenario/);
    });

    for (const protocol of ["http", "grpc"] as const)
      test(`counts over ${protocol} as many requests as the server`, async () => {
        const where = ["-i", protocol, "-u", `127.0.0.1:${ports[protocol]}`];
        const report = `/tmp/${protocol}.json`;
        const countBefore = await readServerCount(ports.http);
        const flags = ["--request-count", "80", "--concurrency-range", "2", "--json", report];
        const { code, out, err } = await run("perf_analyzer", "-m", "simple", ...where, ...flags);
        assert.equal(code, 0, out + err);
        const { requests } = JSON.parse(readFileSync(join(place.folder, report), "utf8")) as {
          requests: { sent: number; completed: number; failed: number };
        };
        assert.deepEqual(requests, { ...requests, sent: 80, completed: 80, failed: 0 });
        assert.equal((await readServerCount(ports.http)) - countBefore, 80);
      });

    test("runs a scenario in TypeScript", async () => {
      writeFileSync(join(place.folder, "tmp", "x.ts"), SCENARIO.replace("PORT", ports.grpc));
      const { code, out, err } = await run("run", "/tmp/x.ts");
      assert.equal(code, 0, out + err);
      assert.match(out, / 60 requests$/m);
    });

    test("profiles a generative model", async () => {
      const flags = ["--endpoint-type", "chat", "--streaming", "--tokenizer", "none", "--request-count", "12"];
      const places = [
        "-u",
        `127.0.0.1:${ports.http}`,
        "--artifact-dir",
        "/tmp/artifacts",
        "--input-file",
        "/tmp/in.jsonl",
      ];
      writeFileSync(join(place.folder, "tmp", "in.jsonl"), '{"text": "one two three"}\n');
      const { code, out, err } = await run("genai-perf", "profile", "-m", "simple", ...flags, ...places);
      assert.equal(code, 0, out + err);
      assert.match(out, /Time To First Token/);
    });
  });

/** The number of successful requests, as the server counts them. */
async function readServerCount(port: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/v2/models/simple/stats`);
  const { model_stats } = (await answer.json()) as {
    model_stats: readonly { inference_stats: { success: { count: number } } }[];
  };
  return Number(model_stats[0]?.inference_stats.success.count);
}

interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function finish(child: ChildProcess): Promise<Outcome> {
  let [out, err] = ["", ""];
  child.stdout?.on("data", (bytes: Buffer) => (out += bytes));
  child.stderr?.on("data", (bytes: Buffer) => (err += bytes));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out, err }));
  });
}

function readPorts(mock: ChildProcess): Promise<{ http: string; grpc: string }> {
  return new Promise((resolve, reject) => {
    let text = "";
    mock.stderr?.on("data", (bytes: Buffer) => (text += bytes));
    mock.stdout?.on("data", (bytes: Buffer) => {
      const [, http, grpc] = /http 127\.0\.0\.1:(\d+), grpc 127\.0\.0\.1:(\d+)/.exec(bytes.toString()) ?? [];
      if (http !== undefined && grpc !== undefined) resolve({ http, grpc });
    });
    mock.once("error", reject);
    mock.once("exit", (code) => reject(new Error(`the mock ended with ${code}: ${text}`)));
  });
}
