import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { listen } from "../servers/listen.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart, runWithReport } from "./command.ts";

/** Conversations for a time and at a rate, beside a server that sees which turns come, and when. */

const LATENCY_MS = 100;
const TURNS = 3;

interface Seen {
  /** Number of messages before the question: 0 for the first turn. */
  readonly before: number;
  readonly first: string;
  readonly arrivedMs: number;
  readonly openCount: number;
}

const folder = makeFolder();
let server: Server;
let url: string;
let seen: Seen[] = [];
let openCount = 0;
before(async () => {
  server = createServer(async (request, response) => {
    const arrivedMs = performance.now();
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { messages } = JSON.parse(Buffer.concat(pieces).toString()) as { messages: { content: string }[] };
    seen.push({ before: messages.length - 1, first: messages[0]?.content ?? "", arrivedMs, openCount: ++openCount });
    setTimeout(() => {
      openCount--;
      response.end(JSON.stringify({ object: "chat.completion", choices: [{ message: { content: "yes" } }] }));
    }, LATENCY_MS);
  });
  url = `127.0.0.1:${await listen(server)}`;
});
beforeEach(() => {
  seen = [];
});
after(() => {
  server.closeAllConnections();
  server.close();
});

function writeScenario(name: string, load: string, more = ""): string {
  const inputs = `input.prompts({ isl: 4, sessions: { count: 2, turns: ${TURNS}, delay: "10 ms" } })`;
  const text = `import { defineScenario, errorRate, input, openai, sessionRate, sessions } from "rampart";
export default defineScenario({
  name: "${name}", target: openai("${url}", { model: "m", tokenizer: "o200k_base" }), inputs: ${inputs}, load: ${load},
  assert: [errorRate().is(0)],${more}
});
`;
  return writeIn(folder, `${name}.ts`, text);
}

interface Level {
  readonly unit: string;
  readonly level: number;
  readonly completed: number;
  readonly durationSec: number;
}

const BOTH = [[], ["--workers", "2"]] as const;

describe("sessions", () => {
  for (const args of BOTH)
    test(
      `for a time begin again, after a warm-up, ${args.length === 0 ? "in one thread" : "in two"}`,
      LIMIT,
      async () => {
        const file = writeScenario("time", `sessions(2, { for: "2 s" })`, ` warmupFor: "500 ms"`);
        const { code, stdout, report } = await runWithReport(["run", file, ...args]);
        assert.equal(code, 0, stdout);
        // Two at a time, 2.5 s and more: far more than the two conversations of the data, which both come again.
        assert.equal(Math.max(...seen.map((one) => one.openCount)), 2);
        const begun = seen.filter((one) => one.before === 0);
        assert.ok(begun.length > 4, String(begun.length));
        assert.equal(new Set(begun.map(({ first }) => first)).size, 2);
        // Each turn has the ones before it with their responses, and follows its response by the pause.
        assert.deepEqual([...new Set(seen.map((one) => one.before))].sort(), [0, 2, 4]);
        const level = report.levels[0] as unknown as Level;
        assert.ok(level.durationSec > 1.9, `${level.durationSec} s`);
        assert.ok(level.completed < seen.length, "the warm-up is not measured");
      },
    );

  for (const args of BOTH)
    test(`at a rate begin when they are due, ${args.length === 0 ? "in one thread" : "in two"}`, LIMIT, async () => {
      const file = writeScenario("rate", `sessionRate(10, { for: "2 s" })`);
      const startMs = performance.now();
      const { code, stdout, report } = await runWithReport(["run", file, ...args]);
      assert.equal(code, 0, stdout);
      const begun = seen.filter((one) => one.before === 0);
      const begunCount = begun.length;
      // 10 each second, in 2 s and the time before it: more than two at a time could hold, which take 0.3 s each. A busy machine makes the
      // time before it longer, and sends the last ones late, and none early.
      const mostDue = 1 + (10 * ((begun.at(-1)?.arrivedMs ?? 0) - startMs)) / 1000;
      assert.ok(begunCount >= 14 && begunCount <= mostDue, `${begunCount} of ${mostDue}`);
      const secondCount = seen.filter((one) => one.before === 2).length;
      assert.ok(secondCount > begunCount / 2 && secondCount <= begunCount, `${secondCount} of ${begunCount}`);
      const level = report.levels[0] as unknown as Level & { readonly load: { readonly unit: string } };
      assert.deepEqual([level.load.unit, level.level], ["session-rate", 10]);
      assert.match(stdout, /sessions\/s/);
    });

  test("at a rate without a time are held once", LIMIT, async () => {
    const { code, stdout, report } = await runWithReport(["run", writeScenario("once", "sessionRate(20)")]);
    assert.equal(code, 0, stdout);
    assert.equal(seen.length, 2 * TURNS);
    assert.equal(report.requests.completed, 2 * TURNS);
  });

  test("of a whole are held once, and a warm-up is refused for them", LIMIT, async () => {
    const { code, stderr } = await runRampart(["run", writeScenario("warm", "sessions(2)", ` warmupFor: "1 s"`)]);
    assert.equal(code, 64);
    assert.match(
      stderr,
      /warmupFor: needs a load with a time: .*\(got 1 s\)\. Give the load a time, such as for: "1 min", or leave/,
    );
    assert.equal(seen.length, 0);
  });

  test("the scheduled latency of a first turn counts from its due time", LIMIT, async () => {
    const file = writeScenario("scheduled", `sessionRate(10, { for: "1 s", distribution: "poisson" })`);
    const { code, report } = await runWithReport(["run", file]);
    assert.equal(code, 0);
    assert.ok("scheduledLatencyUs" in (report.levels[0]?.metrics ?? {}));
  });
});
