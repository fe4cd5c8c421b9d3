import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { listen } from "../servers/listen.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart } from "./command.ts";

/** Loads of their own for targets, beside a server that sees which requests come, and when. */

const LATENCY_MS = 50;

interface Seen {
  readonly arrivedMs: number;
  readonly open: number;
}

const folder = makeFolder();
let server: Server;
let url: string;
const seen = new Map<string, Seen[]>();
const open = new Map<string, number>();
before(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? "";
    const count = (open.get(path) ?? 0) + 1;
    open.set(path, count);
    seen.set(path, [...(seen.get(path) ?? []), { arrivedMs: performance.now(), open: count }]);
    request.resume();
    setTimeout(() => {
      open.set(path, (open.get(path) ?? 1) - 1);
      response.statusCode = path === "/bad" ? 500 : 200;
      response.end("ok");
    }, LATENCY_MS);
  });
  url = `http://127.0.0.1:${await listen(server)}`;
});
beforeEach(() => seen.clear());
after(() => {
  server.closeAllConnections();
  server.close();
});

function writeScenario(name: string, load: string, more = "", member = ""): string {
  const text = `import { defineScenario, errorRate, hold, http, mix, p99, perTarget, rate } from "rampart";
export default defineScenario({
  name: "${name}",
  target: mix([
    { name: "chat", target: http("${url}/chat"), ${member} },
    { name: "search", target: http("${url}/search") },
  ]),
  load: ${load}, ${more}
});
`;
  return writeIn(folder, `${name}.ts`, text);
}

const BOTH = `perTarget({ chat: hold(3, { for: "2 s" }), search: rate(20, { for: "2 s" }) })`;

interface Report {
  readonly points: readonly {
    readonly values: { readonly target: string };
    readonly report: {
      readonly levels: readonly {
        readonly level: number;
        readonly load: { readonly unit: string };
        readonly completed: number;
      }[];
      readonly assertions: readonly { readonly text: string }[];
    };
  }[];
}

describe("perTarget(…)", () => {
  for (const args of [[], ["--workers", "2"]])
    test(`loads each target in its own way at the same time ${args.join(" ")}`, LIMIT, async () => {
      const json = join(folder, "report.json");
      const checks = `assert: [errorRate().is(0), p99("latency").where({ target: "chat" }).below("5 s")]`;
      const file = writeScenario("both", BOTH, checks);
      const startMs = performance.now();
      const { stdout, stderr } = await runRampart(["run", file, "--json", json, ...args]);
      const [chat = [], search = []] = ["/chat", "/search"].map((path) => seen.get(path));
      assert.equal(Math.max(...chat.map((one) => one.open)), 3);
      // 20 each second, in 2 s and the time before it, which a busy machine makes longer; it sends the last ones late, and none early.
      const mostDue = 1 + (20 * ((search.at(-1)?.arrivedMs ?? 0) - startMs)) / 1000;
      assert.ok(search.length >= 20 && search.length <= mostDue, `${search.length} of ${mostDue}`);
      // At the same time: each begins before the other has ended.
      const beginMs = Math.max(...[chat, search].map((seen) => seen[0]?.arrivedMs ?? Number.NaN));
      const endMs = Math.min(...[chat, search].map((seen) => seen.at(-1)?.arrivedMs ?? Number.NaN));
      assert.ok(beginMs < endMs, `${beginMs} to ${endMs} ms`);
      const { points } = JSON.parse(readFileSync(json, "utf8")) as Report;
      assert.deepEqual(
        points.map(({ values, report }) => [values.target, report.levels[0]?.load.unit, report.levels[0]?.level]),
        [
          ["chat", "concurrency", 3],
          ["search", "request-rate", 20],
        ],
      );
      assert.deepEqual(
        points.map(({ report }) => report.assertions.length),
        [2, 1],
      );
      assert.match(stderr, /at the same time: chat, search, expected to take 3 s at most/);
      assert.match(stdout, /^ *chat +concurrency 3 /m);
      assert.match(stdout, /^ *search +20 requests\/s /m);
    });

  test("judges each target, and ends with the gravest exit code", LIMIT, async () => {
    const checks = `assert: [p99("latency").where({ target: "search" }).below("1 ms"), errorRate().is(0)]`;
    const file = writeScenario(
      "judged",
      `perTarget({ chat: hold(1, { requests: 5 }), search: hold(4, { requests: 40 }) })`,
      checks,
    );
    const { code, stdout } = await runRampart(["run", file]);
    assert.equal(code, 65, stdout);
    assert.match(stdout, /FAIL +p99 latency < 1 ms +target search: \d/);
    assert.match(stdout, /1 of 2 targets passed/);
  });

  test("can be swept over users, which replace the loads, and over nothing else", LIMIT, async () => {
    const file = writeScenario("swept", BOTH);
    const refused = await runRampart(["run", file, "--sweep", "seed=1,2"]);
    assert.equal(refused.code, 64);
    assert.match(refused.stderr, /load: perTarget\(…\) already runs .* Leave out --sweep, or sweep users or rate, /);
    assert.equal(seen.size, 0);
    const { code, stdout, stderr } = await runRampart(["run", file, "--sweep", "users=1,2", "--requests", "10"]);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /2 of 2 points measured/);
  });

  test("refuses what is missing or too much, before it sends anything", LIMIT, async () => {
    const load = `perTarget({ chat: hold(1), other: hold(2) })`;
    const { code, stderr } = await runRampart(["run", writeScenario("wrong", load, "", "weight: 2,")]);
    assert.equal(code, 64);
    assert.match(stderr, /load\.search: this target has no load/);
    assert.match(stderr, /load\.other: is not a target/);
    assert.match(stderr, /target\[0\].weight: is a share of a load for all targets/);
    const wrong = writeScenario("wrong-load", `perTarget({ chat: hold(0), search: rate(-1) })`);
    const refused = await runRampart(["run", wrong, "--bus", "nats://localhost:4222"]);
    assert.match(refused.stderr, /load\.chat.*must be 1 or more/);
    assert.match(refused.stderr, /load\.search.*must be above 0/);
    assert.match(refused.stderr, /--bus: perTarget\(…\) makes several runs/);
    assert.equal(seen.size, 0);
  });
});
