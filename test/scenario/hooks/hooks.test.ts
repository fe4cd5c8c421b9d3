// Runs on: executable.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code of scenarios.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { run, START } from "./hook-scenario.ts";

/** `setup` and `teardown` of scenarios: what they can do, and that nothing stays behind whatever happens. */

const LONG = { target: 'embedded({ latency: "1 ms" })', load: 'hold(1, { for: "60 s" })' };

describe("hooks", () => {
  test("end with the run, and a failed assertion keeps its exit code", async () => {
    const { code, log } = await run({ target: "embedded({ errorRate: '100 %' })" });
    assert.equal(code, 69);
    assert.equal(log, "teardown 7");
  });

  test("are not called for a wrong scenario, nor for a dry run that does not need them", async () => {
    const wrong = await run({ load: "hold(-1)", target: "(params, { port }) => http(port)" });
    assert.equal(wrong.code, 64);
    assert.match(wrong.err, /load\.concurrency: must be 1 or more/);
    assert.doesNotMatch(wrong.err, /target/);
    const dry = await run({}, { args: ["--dry-run"] });
    assert.equal(dry.code, 0, dry.err);
    assert.deepEqual([wrong.log, dry.log], ["", ""]);
    const needed = await run({ target: "(params, { port }) => http('localhost:' + port)" }, { args: ["--dry-run"] });
    assert.equal((JSON.parse(needed.out) as { target: { url: string } }).target.url, "localhost:7");
    assert.equal(needed.log, "teardown 7");
  });

  const failing: readonly (readonly [
    name: string,
    parts: Record<string, string>,
    code: number,
    err: RegExp,
    log: RegExp,
  ])[] = [
    [
      "a setup that throws",
      { setup: `async ({ start }) => { ${START}; throw new Error("no luck"); }` },
      64,
      /x\.mjs:6(:\d+)?: setup fails: no luck/,
      /^teardown undefined$/,
    ],
    [
      "a command that fails",
      { setup: `async ({ $, start }) => { ${START}; await $\`echo broken >&2; exit 3\`; }` },
      64,
      /setup fails: .* exit code 3: broken/,
      /^teardown undefined$/,
    ],
    [
      "a server that ends before it is ready",
      { setup: 'async ({ start }) => { await start("echo no model >&2; exit 4", { ready: "localhost:1" }); }' },
      69,
      /exit 4 ended with exit code 4 before it was ready\. It printed:\s+no model/,
      /^teardown undefined$/,
    ],
    [
      "a server that ends while another address is waited for",
      {
        setup:
          'async ({ start, waitUntilReady, freePort }) => { await start("echo out of memory; exit 1"); await waitUntilReady("localhost:" + (await freePort())); }',
      },
      69,
      /ended with exit code 1 before it was ready\. It printed:\s+out of memory/,
      /^teardown undefined$/,
    ],
    [
      "an address that is never ready",
      {
        setup: `async ({ start, waitUntilReady, freePort }) => { ${START}; await waitUntilReady(\`127.0.0.1:\${await freePort()}\`, { timeout: "300 ms" }); }`,
      },
      69,
      /127\.0\.0\.1:\d+ is not ready after 300 ms: .*(refused|connect)/i,
      /^teardown undefined$/,
    ],
    [
      "an address that is none",
      { setup: 'async ({ waitUntilReady }) => { await waitUntilReady("http://h:1,/"); }' },
      64,
      /setup: cannot wait for this address \(got "http:\/\/h:1,\/"\)/,
      /^teardown undefined$/,
    ],
    [
      "a program that is not there",
      { setup: 'async ({ start }) => { await start(["/no/such/program"]); }' },
      69,
      /\/no\/such\/program cannot be started: .*ENOENT/,
      /^teardown undefined$/,
    ],
    [
      "a timer of setup that throws during the run",
      {
        ...LONG,
        setup: `async ({ start }) => { ${START}; setTimeout(() => { throw new Error("later"); }, 300); }`,
      },
      64,
      /x\.mjs:6(:\d+)?: throws while it runs: later/,
      /^teardown undefined$/,
    ],
    [
      "a field that throws after setup",
      { load: "(params, { port }) => { throw new Error('no load on ' + port); }" },
      64,
      /the function of load throws: no load on 7/,
      /^teardown 7$/,
    ],
    [
      "a teardown that throws",
      { teardown: '() => { throw new Error("not down"); }' },
      64,
      /x\.mjs:9(:\d+)?: teardown fails: not down/,
      /^$/,
    ],
  ];
  for (const [name, parts, code, message, logged] of failing) {
    test(`${name} leaves nothing behind`, async () => {
      const ended = await run(parts);
      assert.equal(ended.code, code, ended.out + ended.err);
      assert.match(ended.err, message);
      assert.doesNotMatch(ended.err, /internal error/);
      assert.match(ended.log, logged);
    });
  }

  test("a server that ends during the run is reported with what it printed", async () => {
    const { code, err } = await run({
      setup: 'async ({ start }) => { await start("echo ready; echo crashed; exit 9", { ready: /crashed/ }); }',
      load: 'hold(1, { for: "1 s" })',
    });
    assert.equal(code, 0);
    assert.match(err, /exit 9, which setup started, ended with exit code 9\. It printed:\s+ready\s+crashed/);
  });

  test("without bash, only $ is missing, and the error says so", async () => {
    const env = { PATH: "/nowhere" };
    const without = await run({ setup: "async ({ $ }) => { await $`true`; }" }, { env });
    assert.equal(without.code, 64);
    assert.match(
      without.err,
      /setup: \$ needs bash, and this host has none\. Install bash, or start programs with start/,
    );
    const other = await run(
      {
        setup:
          'async ({ start }) => { await start(["/bin/sh", "-c", "echo $$ > pids; echo up; /bin/sleep 300"], { ready: /up/ }); }',
      },
      { env },
    );
    assert.equal(other.code, 0, other.err);
    assert.equal(other.log, "teardown undefined");
  });
});

describe("Ctrl-C", () => {
  test("during setup stops what it started, and calls teardown", async () => {
    const setup = `async ({ start, $ }) => { ${START}; log("started"); console.error("waiting"); await $\`sleep 300\`; }`;
    const { code, err, log } = await run({ setup }, {}, async ({ waitFor, interrupt }) => {
      await waitFor(/waiting/);
      interrupt();
    });
    assert.equal(code, 130, err);
    assert.match(err, /interrupted by SIGINT/);
    assert.equal(log, "started\nteardown undefined");
  });

  test("during the run prints the partial report, and calls teardown", async () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const { code, out, err, log } = await run(LONG, {}, async ({ waitFor, interrupt }) => {
        await waitFor(/measuring/);
        interrupt(signal);
      });
      assert.equal(code, 130, out + err);
      assert.match(out, /^PARTIAL {2}/);
      assert.equal(log, "teardown 7");
    }
  });

  test("a second time does not wait for the run, but for teardown", async () => {
    const slow = { target: 'embedded({ latency: "60 s" })', load: 'hold(1, { for: "60 s" })' };
    const { code, out, log } = await run(slow, {}, async ({ waitFor, interrupt }) => {
      await waitFor(/measuring/);
      interrupt();
      await waitFor(/waiting for requests in flight/);
      interrupt();
    });
    assert.equal(code, 130, out);
    assert.equal(log, "teardown 7");
  });

  test("during a teardown that hangs says so, and a second time does not wait for it", async () => {
    const teardown = '() => { console.error("hanging"); return new Promise(() => {}); }';
    const { code, err } = await run({ teardown }, {}, async ({ waitFor, interrupt }) => {
      await waitFor(/hanging/);
      interrupt();
      await waitFor(/waiting for teardown/);
      interrupt();
    });
    assert.equal(code, 130, err);
    assert.match(err, /teardown fails: it was not waited for/);
  });

  test("a third time ends at once", async () => {
    const slow = { target: 'embedded({ latency: "60 s" })', load: 'hold(1, { for: "60 s" })' };
    const teardown = '() => { console.error("hanging"); return new Promise(() => {}); }';
    const { code, err } = await run({ ...slow, teardown }, {}, async ({ waitFor, interrupt }) => {
      await waitFor(/measuring/);
      interrupt();
      await waitFor(/waiting for requests in flight/);
      interrupt();
      await waitFor(/hanging/);
      interrupt();
    });
    assert.equal(code, 130, err);
  });
});
