import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { endLater, startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { ROOT, rampartCommand, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** What a run shows on a terminal, in a pipe and in a CI system. `script` of util-linux gives the terminal. */

const hasTerminal = spawnSync("script", ["--version"]).status === 0;

interface Terminal {
  readonly child: ChildProcess;
  /** All that was printed. */
  readonly text: () => string;
  waitFor(pattern: RegExp): Promise<void>;
  readonly code: Promise<number | null>;
}

/** Runs a command line of rampart on a terminal of 80 columns. */
function startOnTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): Terminal {
  const command = [...rampartCommand(), ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", `stty cols 80 rows 24; exec ${command}`, "/dev/null"], {
    cwd: ROOT,
    env: { ...process.env, TERM: "xterm", CI: "", NO_COLOR: "1", ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let text = "";
  const checks = new Set<() => void>();
  child.stdout.on("data", (piece: Buffer) => {
    text += piece;
    for (const check of [...checks]) check();
  });
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  const waitFor = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (pattern.test(text)) resolve();
      };
      checks.add(check);
      check();
      void code.then(() => reject(new Error(`ended without printing ${pattern}:\n${text}`)));
    });
  return { child, text: () => text, waitFor, code };
}

describe("what a run shows while it lasts", LIMIT, () => {
  let server: Awaited<ReturnType<typeof startAnsweringServer>>;
  let release = Promise.withResolvers<void>();

  before(async () => {
    // All but the first two requests wait.
    server = await startAnsweringServer((response, index) => {
      if (index < 2) response.end();
      else void release.promise.then(() => response.end());
    });
  });
  after(() => server.close());

  test("on a terminal the state is there without being asked for, in 80 columns, and gone at the end", {
    skip: !hasTerminal,
  }, async () => {
    const { code, text, waitFor } = startOnTerminal(["http", server.url, "-n", "4", "--watch-port", "0"]);
    await waitFor(/completed 2 of 4, failed 0, in flight 1/);
    release.resolve();
    assert.equal(await code, 0, text());
    const lines = text().split(/\r?\n|\r/);
    for (const line of lines.filter((one) => /^(requests|progress|recent|client) /.test(one)))
      assert.ok(line.replace(/\u001b\[[?\d]*[A-Za-z]/g, "").length < 80, line);
    const [hidden, shown] = [text().lastIndexOf("\u001b[?25l"), text().lastIndexOf("\u001b[?25h")];
    assert.ok(hidden >= 0 && shown > hidden, "the cursor is back");
    const report = text().slice(shown);
    assert.match(report, /^\u001b\[\?25h\u001b\[Jhttp {2}GET [^\u001b]* status 200: 4 [^\u001b]*$/);
    assert.doesNotMatch(text(), /\u001b\[3\dm/, "NO_COLOR");
  });

  test("on a terminal, progress is not red", { skip: !hasTerminal }, async () => {
    release.resolve();
    const { code, text } = startOnTerminal(["http", server.url, "-n", "4", "--no-live"], { NO_COLOR: "" });
    assert.equal(await code, 0, text());
    assert.match(text(), /measuring concurrency 1/);
    assert.doesNotMatch(text(), /\u001b\[31m/);
  });

  test("Ctrl-C removes the state and shows the cursor", { skip: !hasTerminal }, async () => {
    release = Promise.withResolvers();
    const { child, code, text, waitFor } = startOnTerminal(["http", server.url, "-n", "4"]);
    await waitFor(/completed 0 of 4, failed 0, in flight 1/);
    child.stdin?.write("\u0003");
    assert.equal(await code, 130, text());
    const [, rest = ""] = text().split("\u001b[?25h\u001b[J");
    assert.match(rest, /interrupted by SIGINT/);
    assert.doesNotMatch(rest, /\u001b/);
  });

  test("a language model's users, tokens and times to them are in the table of the report", {
    skip: !hasTerminal,
  }, async () => {
    const waiting = Promise.withResolvers<void>();
    // All but the first two responses wait.
    using model = await startAnsweringServer((response, index) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: "a" } }] })}\n\n`);
      const usage = { prompt_tokens: 1, completion_tokens: 2 };
      const rest = `data: ${JSON.stringify({ choices: [{ delta: { content: "b" } }], usage })}\n\ndata: [DONE]\n\n`;
      if (index < 2) endLater(response, rest);
      else void waiting.promise.then(() => response.end(rest));
    });
    const folder = makeFolder();
    const scenario = scenarioText({
      target: `openai("${model.url}", { model: "m", tokenizer: "none", streaming: true })`,
      inputs: 'input.payloads("./in.json")',
      load: "hold(1, { requests: 4 })",
    });
    const payload = [{ model: "m", stream: true, messages: [{ role: "user", content: "hi" }] }];
    writeFileSync(join(folder, "in.json"), JSON.stringify({ data: [{ payload }] }));
    writeFileSync(join(folder, "x.ts"), scenario);
    const { code, text, waitFor } = startOnTerminal(["run", join(folder, "x.ts")]);
    const row = String.raw` +[\d.]+ +[\d.]+( +[\d.,]+ (us|ms|s)){3,5} +0\u001b`;
    await waitFor(
      new RegExp(String.raw`\nusers +req/s +tokens/s +TTFT p50 +TTFT p99 +(ITL .*)?e2e p99 .*\r\n +1${row}`),
    );
    waiting.resolve();
    assert.equal(await code, 0, text());
    assert.doesNotMatch(text(), /^recent /m);
  });

  for (const [what, args, env] of [
    ["--no-live", ["--no-live"], {}],
    ["--quiet", ["--quiet"], {}],
    ["in a CI system", [], { CI: "true" }],
    ["TERM=dumb", [], { TERM: "dumb" }],
  ] as const) {
    test(`a terminal gets nothing that moves the cursor: ${what}`, { skip: !hasTerminal }, async () => {
      release.resolve();
      const { code, text } = startOnTerminal(["http", server.url, "-n", "4", ...args], env);
      assert.equal(await code, 0, text());
      assert.doesNotMatch(text(), /\u001b|in flight 1/);
      if (what === "--quiet") assert.equal(text().trim(), "");
    });
  }

  test("in a pipe a short run prints the report alone on standard output, and one line on its way", async () => {
    release.resolve();
    const { code, out, err } = await runRampart(["http", server.url, "-n", "4"], { env: { CI: "true" } });
    assert.deepEqual([code, err], [0, "  measuring concurrency 1 …\n"]);
    assert.match(out, /status 200: 4 {3}failed 0 /);
    assert.doesNotMatch(out, /\u001b|event loop late by|…$/m);
  });
});
