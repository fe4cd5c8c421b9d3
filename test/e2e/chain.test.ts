import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { startNats } from "../servers/nats.ts";
import { startTokenServer, TOKEN_TEXT, type TokenServer } from "../servers/token-server.ts";
import { LIMIT } from "../time-limit.ts";
import { withAgentProcesses } from "./agent-process.ts";
import { runRampart, runWithReport } from "./command.ts";

/** Chains of requests, beside a server that gives a token with each login, refuses calls without one of them, and has a log. */

const folder = makeFolder();
let server: TokenServer;
before(async () => {
  server = await startTokenServer();
});
beforeEach(() => server.clear());
after(() => {
  server.close();
});

const LOGIN = `name: "log in", path: "/login", body: { user: "{{user}}" }, extract: { token: "session.token" }`;
const TOKEN = `headers: { Authorization: "Bearer {{token}}" }`;
/** A login, and two calls with its token in all places. */
const CALLS = `{ ${LOGIN} },
  { name: "call", path: "/call/{{token}}", ${TOKEN}, body: { token: "{{ token }}" } },
  { name: "look", path: "/look", ${TOKEN} }`;
/** The same with one login of each user. */
const ONCE = CALLS.replace("} },", "}, once: true },");
const USERS = `users: [{ user: "ann" }, { user: "bob" }, { user: "cy" }]`;
const NO_ERRORS = "assert: [errorRate().is(0)],";

interface Given {
  readonly target?: string;
  /** All of the inputs. Default: a chain. */
  readonly inputs?: string;
  readonly calls?: string;
  /** Options of the chain. */
  readonly options?: string;
  readonly load?: string;
  /** Other fields of the scenario. */
  readonly more?: string;
}

function writeScenario(given: Given): string {
  const {
    calls = CALLS,
    options = "",
    load = "sessions(4)",
    more = NO_ERRORS,
    target = `http("${server.url}")`,
  } = given;
  const {
    inputs = `inputs: input.chain([${calls}], { ${options.includes("count") ? "" : "count: 20,"} ${USERS}, ${options} }),`,
  } = given;
  const text = `import { defineScenario, errorRate, fileBody, hold, http, input, mix, multipart, openai, p50, p90, sessionRate, sessions, triton } from "rampart";
export default defineScenario({
  name: "chain", target: ${target}, load: ${load},
  ${inputs}
  ${more}
});
`;
  return writeIn(folder, "chain.ts", text);
}

/** Checks that each login is followed by calls with its token in their order, and none was refused. */
function checkOrder(calls: readonly string[] = ["call", "look"]): void {
  assert.deepEqual(
    server.log.filter(({ isRefused }) => isRefused),
    [],
  );
  for (const [token, names] of server.byToken()) {
    assert.equal(names[0], "login", token);
    for (const [index, name] of names.slice(1).entries()) assert.equal(name, calls[index % calls.length], token);
  }
}

describe("a chain of requests", () => {
  for (const args of [[], ["--workers", "2"]])
    test(`has the values of its own responses ${args.join(" ")}`, LIMIT, async () => {
      const more = `assert: [errorRate().is(0), p50("latency").where({ call: "call" }).below("30 s")],`;
      const { code, report, stdout } = await runWithReport(["run", writeScenario({ more }), ...args]);
      assert.equal(code, 0, stdout);
      checkOrder();
      assert.deepEqual(["login", "call", "look"].map(server.count), [20, 20, 20]);
      assert.deepEqual(
        server.log.map(({ what, method }) => (what === "look" ? method : "")).filter((text) => text !== ""),
        Array(20).fill("GET"),
      );
      assert.deepEqual([report.requests.completed, report.requests.failed], [60, 0]);
      for (const call of ["log in", "call", "look"]) assert.match(stdout, new RegExp(`^ *${call} `, "m"));
      assert.match(stdout, /p50 latency where call is call < 30 s/);
      assert.match(stdout, /^PASSED +chain: a chain of 3 calls, http:\/\/127\.0\.0\.1:\d+/m);
    });

  test("sends the cookies of its responses, and none that a call gives itself", LIMIT, async () => {
    const own = `{ name: "look", path: "/look", headers: { Authorization: "Bearer {{token}}", Cookie: "sid={{sid}}" } }`;
    const calls = `{ ${LOGIN.replace("extract: {", 'extract: { sid: { cookie: "sid" },')} },
  { name: "call", path: "/call/{{token}}", ${TOKEN} }, ${own}`;
    const { code, stdout } = await runWithReport(["run", writeScenario({ calls })]);
    assert.equal(code, 0, stdout);
    checkOrder();
    const sent = (what: string): string[] =>
      server.log.flatMap((one) => (one.what === what ? [(one.request.headers.cookie ?? "").replace(/\d+/, "N")] : []));
    assert.deepEqual(
      [...new Set(sent("login")), ...new Set(sent("call")), ...new Set(sent("look"))],
      ["", "theme=dark; sid=sN", "sid=sN"],
    );
  });

  for (const args of [[], ["--workers", "2"]])
    test(`is counted as often as it began, where the time ends the load ${args.join(" ")}`, LIMIT, async () => {
      const calls = CALLS.replace('name: "call",', 'name: "call", thinkTime: "100 ms",');
      const file = writeScenario({ calls, options: "count: 500", load: `sessions(4, { for: "1500 ms" })` });
      const { code, report, stdout } = await runWithReport(["run", file, ...args]);
      assert.equal(code, 0, stdout);
      const begun = server.count("login");
      assert.ok(begun > 4 && begun < 500, `${begun}`);
      assert.deepEqual([report.sessions?.sessionCount, report.sessions?.isChain], [begun, true]);
      assert.match(stdout, new RegExp(`^${begun} chains, `, "m"));
    });

  for (const args of [[], ["--workers", "2"], ["--agents", "2"]])
    test(`is repeated by users who log in once ${args.join(" ")}`, LIMIT, async () => {
      const file = writeScenario({
        calls: ONCE,
        load: `sessions(4, { for: "1 s" })`,
        more: `warmupFor: "300 ms", ${NO_ERRORS}`,
      });
      const run = async (...more: readonly string[]): Promise<void> => {
        const { code, stdout, stderr } = await runRampart(["run", file, ...args, ...more], { cwd: folder });
        assert.equal(code, 0, stdout + stderr);
      };
      if (args[0] === "--agents") {
        await using nats = await startNats();
        await withAgentProcesses({ count: 2, folder, busUrl: nats.url }, () => run("--bus", nats.url));
      } else await run();
      checkOrder();
      assert.equal(server.count("login"), 4);
      // Four users have three logins in turn, and each user continues to the end.
      const names = server.log.flatMap(({ what, user }) => (what === "login" ? [user] : []));
      assert.deepEqual(names.sort(), ["ann", "ann", "bob", "cy"]);
      for (const [token, requests] of server.byToken()) assert.ok(requests.length > 3, `${token}: ${requests.length}`);
    });

  test("of a fixed number is complete when each user has logged in once", LIMIT, async () => {
    const { report, stdout } = await runWithReport(["run", writeScenario({ calls: ONCE }), "-v"]);
    checkOrder();
    assert.deepEqual(["login", "call", "look"].map(server.count), [4, 20, 20]);
    assert.equal(report.requests.completed, 44);
    assert.match(stdout, /^20 chains$/m);
  });

  test("of no number is sent by each user, however many there are", LIMIT, async () => {
    const inputs = `inputs: input.chain([${CALLS}], { ${USERS} }),`;
    const { report, code, stdout } = await runWithReport(["run", writeScenario({ inputs, load: "sessions(120)" })]);
    assert.equal(code, 0, stdout);
    checkOrder();
    assert.deepEqual([server.count("login"), report.requests.completed], [120, 360]);
  });

  for (const args of [[], ["--workers", "3"]])
    for (const [name, calls] of [
      ["each arrival logs in", CALLS],
      ["users keep their logins", ONCE],
    ] as const)
      test(`begins at a rate, its users in turn: ${name} ${args.join(" ")}`, LIMIT, async () => {
        const file = writeScenario({ calls, options: "count: 30", load: "sessionRate(40)" });
        const { code, stdout } = await runRampart(["run", file, ...args]);
        assert.equal(code, 0, stdout);
        if (calls === CALLS) checkOrder();
        const sentBy = (user: string, what: string): number =>
          server.log.filter((one) => one.user === user && one.what === what).length;
        for (const user of ["ann", "bob", "cy"]) {
          assert.deepEqual([sentBy(user, "call"), sentBy(user, "look")], [10, 10], user);
          if (calls === CALLS) assert.equal(sentBy(user, "login"), 10, user);
        }
        if (calls === ONCE) assert.ok(server.count("login") < 30, String(server.count("login")));
      });

  for (const more of ["", `client: "undici",`])
    test(`takes headers, cookies, numbers and URLs ${more}`, LIMIT, async () => {
      const extract = `{ token: "session.token", number: "session.number", sid: { cookie: "sid" }, job: { header: "location" } }`;
      const calls = `{ path: "/login", body: {}, extract: ${extract} },
        { path: "{{job}}", headers: { Authorization: "Bearer {{token}}", Cookie: "sid={{sid}}" },
          method: "PUT", body: { number: "{{number}}" } }`;
      const file = writeScenario({ calls, more: `${more} ${NO_ERRORS}` });
      const { code, stdout } = await runRampart(["run", file]);
      assert.equal(code, 0, stdout);
      checkOrder(["jobs"]);
      const { request } = server.log.at(-1) ?? {};
      assert.match(request?.text ?? "", /^\{"number":\d+\}$/);
      assert.match(request?.headers.cookie ?? "", /^sid=s\d+$/);
      assert.equal(server.count("jobs"), 20);
    });

  test("whose response lacks a value has failed and ends, and the report says why", LIMIT, async () => {
    for (const load of ["sessions(2)", `sessions(2, { for: "300 ms" })`, `sessionRate(50, { for: "300 ms" })`]) {
      server.clear();
      const calls = `{ name: "ask", path: "/silent", extract: { token: "a.token", id: { header: "X-Id" } } },
        { path: "/call/{{token}}", headers: { "X-Id": "{{id}}" } }`;
      const { code, report } = await runWithReport(["run", writeScenario({ calls, load })]);
      assert.equal(code, 65);
      assert.equal(server.count("call"), 0);
      const [failure] = report.failures;
      assert.equal(report.failures.length, 1);
      assert.match(
        failure?.example ?? "",
        /^call "ask": no value for {{token}}: a\.token .*; no value for {{id}}: .* X-Id$/,
      );
      assert.deepEqual([report.requests.completed, report.requests.failed], [0, failure?.count]);
      if (load === "sessions(2)") assert.equal(failure?.count, 20);
    }
  });

  test("without a response in time has failed and ends, and the user continues", LIMIT, async () => {
    const calls = `{ name: "wait", path: "/hang", extract: { token: "token" } }, { path: "/call/{{token}}" }`;
    const more = `timeout: "200 ms",`;
    const { report } = await runWithReport(["run", writeScenario({ calls, more, load: "sessions(10)" })]);
    assert.deepEqual([server.count("hang"), server.count("call")], [20, 0]);
    assert.deepEqual([report.requests.completed, report.requests.failed], [0, 20]);
    assert.deepEqual(
      report.failures.map(({ kind }) => kind),
      ["timeout"],
    );
  });

  test("whose token is refused begins with another login", LIMIT, async () => {
    server.mostUses = 3;
    const { report } = await runWithReport(["run", writeScenario({ calls: ONCE, load: "sessions(1)" })]);
    // call, look, call, and the next look is refused.
    const requests = [...server.byToken().values()];
    for (const names of requests.slice(0, -1)) assert.deepEqual(names, ["login", "call", "look", "call", "look"]);
    assert.equal(report.requests.failed, server.log.filter(({ isRefused }) => isRefused).length);
    assert.deepEqual([requests.length, report.requests.failed], [10, 10]);
  });

  test("has its think times, after the last call too", LIMIT, async () => {
    const calls = ONCE.replace(`path: "/look"`, `path: "/look", thinkTime: { mean: "60 ms", stddev: "0 ms" }`);
    const { code, stdout } = await runRampart([
      "run",
      writeScenario({ calls, load: `sessions(2, { for: "1500 ms" })` }),
    ]);
    assert.equal(code, 0, stdout);
    checkOrder();
    const last = new Map<string, number>();
    let waits = 0;
    for (const { token, what, arrivedMs } of server.log) {
      const before = last.get(token);
      if (what === "call" && before !== undefined) {
        assert.ok(arrivedMs - before >= 59, `${arrivedMs - before} ms`);
        waits++;
      }
      if (what === "look") last.set(token, arrivedMs);
    }
    assert.ok(waits >= 2, String(waits));
  });

  for (const [shows, ...more] of [[false], [true], [false, "--workers", "2"]] as const)
    test(`${shows ? "shows" : "hides"} its values in exports and messages ${more.join(" ")}`, LIMIT, async () => {
      server.mostUses = 3;
      const paths = ["records.jsonl", "report.json", "requests.json"].map((name) => join(folder, name));
      const [records = "", report = "", requests = ""] = paths;
      const file = writeScenario({ calls: ONCE, options: shows ? "showValues: true" : "" });
      const args = ["--records", records, "--json", report, "--profile-export-file", requests, "-v", ...more];
      const { stdout, stderr } = await runRampart(["run", file, ...args]);
      assert.ok(server.log.some(({ isRefused }) => isRefused));
      const texts = paths.map((path) => readFileSync(path, "utf8"));
      const hasSecret = [stdout + stderr, ...texts].map((text) => text.includes("secret"));
      // Records have the message of the server, and the export has the requests and responses.
      assert.deepEqual(hasSecret, [shows, shows, shows, shows]);
      assert.match(texts[2] ?? "", shows ? /Bearer|session/ : /session.*\*{9}/);
      // Sizes are those of what was sent.
      const call = server.log.find(({ what }) => what === "call");
      assert.match(texts[0] ?? "", new RegExp(`"request_content_size":\\{"value":${call?.request.bytes.length},`));
      assert.match(TOKEN_TEXT, /secret/);
    });

  test("is checked before anything is sent", LIMIT, async () => {
    const call = `{ path: "/call/{{token}}" }`;
    const cases: readonly (readonly [given: Given, message: RegExp])[] = [
      [
        { load: "hold(2)" },
        /chain\.ts:3:\d+, load: the inputs are a chain of requests, which needs a load of users.*sessions\(8/,
      ],
      [
        { calls: `{ path: "/a/{{token}}" } as never` },
        /chain\.ts:4:\d+, inputs\.calls\[0\]\.path: needs \{\{token\}\}/,
      ],
      [
        { calls: `{ ${LOGIN} }, { path: "/a/{{tokn}}" } as never` },
        /chain\.ts:4:\d+, inputs\.calls\[1\]\.path: needs \{\{tokn\}\}.*Write \{\{token\}\}\./,
      ],
      [
        { calls: `{ ${LOGIN} }, { path: "/a", headers: { A: "{{a}}" }, body: multipart({ b: "{{b}}" }) } as never` },
        /calls\[1\]\.headers: needs \{\{a\}\}[\s\S]*calls\[1\]\.body: needs \{\{b\}\}/,
      ],
      [
        { calls: `{ path: "/a", extract: { token: "a[" } }, ${call}` },
        /inputs\.calls\[0\]\.extract\.token: is not a JMESPath expression/,
      ],
      [{ calls: `{ path: "/a", verb: "GET" } as never` }, /inputs\.calls\[0\]\.verb: is not an option here/],
      [{ calls: `{ path: "/a{{#if}}" }` }, /inputs\.calls\[0\]\.path: must begin with a slash and have no space, no #/],
      [{ calls: `{ path: "a" }` }, /inputs\.calls\[0\]\.path: must begin with a slash/],
      [{ calls: `{ path: "/a", once: true }` }, /inputs\.calls: must have a call that is sent in each chain/],
      [{ calls: "" }, /inputs\.calls: must have a call/],
      [
        { options: "count: 3" },
        /chain\.ts:3:\d+, load: has more users than the inputs have chains, which is 3.*\(got 4\)\. Raise count/,
      ],
      [
        { target: `http("${server.url}", { method: "PUT" })` },
        /target\.method: has no effect with input\.chain\(…\), whose calls have their own \(got PUT\)/,
      ],
      [{ options: "count: 0" }, /inputs\.count: must be 1 or more/],
      [{ calls: `{ path: "/a", thinkTime: "0 ms" }` }, /inputs\.calls\[0\]\.thinkTime: must be longer than 0/],
      [{ more: `assert: [p90("latency").where({ call: "cal" }).below("1 s")],` }, /assert\[0\]: .*log in, call, look/],
      [
        { more: `assert: [p90("latency").where({ step: "look" }).below("1 s")],` },
        /assert\[0\]: .*\(got step is look\)\. Did you mean the tag call\? The tags are call:/,
      ],
    ];
    for (const [given, message] of cases) {
      const { code, stderr } = await runRampart(["run", writeScenario(given)]);
      assert.equal(code, 64, stderr);
      assert.match(stderr, message);
    }
    assert.deepEqual(server.log, []);
  });

  test("is for the target http, alone", LIMIT, async () => {
    const targets: readonly (readonly [target: string, message: RegExp])[] = [
      [`openai("h:1", { model: "m" })`, /inputs: input\.chain\(…\) is for the target http\(…\) \(got openai\(…\)\)/],
      [`triton("h:1", { model: "m" })`, /input\.chain\(…\) is for the target http\(…\) \(got triton\(…\)\)/],
      [
        `mix([{ name: "a", target: http("h:1"), inputs: input.chain([{ path: "/a" }]) }, { name: "b", target: http("h:1") }])`,
        /target\[0\]\.inputs: input\.chain\(…\) cannot be a part of mix/,
      ],
    ];
    for (const [target, message] of targets) {
      const file = writeScenario({ target, more: "", ...(target.startsWith("mix") ? { inputs: "" } : {}) });
      const { code, stderr } = await runRampart(["run", file]);
      assert.equal(code, 64, stderr);
      assert.match(stderr, message);
    }
  });

  test("can be written in YAML", LIMIT, async () => {
    const text = `name: chain
target: { http: "${server.url}" }
inputs:
  chain:
    count: 6
    users: [{ user: ann }, { user: bob }]
    calls:
      - { name: log in, path: /login, body: { user: "{{user}}" }, extract: { token: session.token, sid: { cookie: sid } }, once: true }
      - { name: look, path: /look, headers: { Authorization: "Bearer {{token}}", Cookie: "sid={{sid}}" } }
load: { sessions: 2 }
assert: ["errorRate == 0"]
`;
    const file = writeIn(folder, "chain.yaml", text);
    const { code, stdout, stderr } = await runRampart(["run", file]);
    assert.equal(code, 0, stdout + stderr);
    checkOrder(["look"]);
    assert.deepEqual([server.count("login"), server.count("look")], [2, 6]);
    assert.deepEqual([...new Set(server.log.map(({ user }) => user))].sort(), ["ann", "bob"]);
    writeFileSync(file, readFileSync(file, "utf8").replace("{{token}}", "{{tokn}}"));
    const wrong = await runRampart(["run", file]);
    assert.equal(wrong.code, 64);
    assert.match(wrong.stderr, /chain\.yaml:9:\d+, inputs\.chain\.calls.*needs \{\{tokn\}\}/);
  });
});
