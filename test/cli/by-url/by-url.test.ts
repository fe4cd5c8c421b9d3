import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { executePlan } from "../../../src/cli/execute.ts";
import { defineScenario, hold, input, openai } from "../../../src/index.ts";
import { SpareThreads } from "../../../src/measure/tokens/token-link.ts";
import { LOOPBACK, type MockServer, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK, type MockPlan } from "../../../src/plan/mock.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { findDeadPort } from "../../golden/dead-port.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { type LlmStub, startLlmStub } from "../../servers/llm-stub.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { createFolder, type ProcessResult, runRampart } from "../rampart-process.ts";
import { type ResultHere, runInFolder } from "../run-in-folder.ts";

/** `rampart llm URL` and `rampart triton URL`: what they find out, measure, refuse and report. */

/** Quick, but not so that a search of a second sends thousands of requests. */
const QUICK = {
  ...{ latency: { kind: "constant", ms: 1 }, errorRatio: 0, responseBytes: 0 },
  llm: { ...DEFAULT_MOCK.llm, firstToken: { kind: "constant", ms: 20 } },
} as const satisfies MockPlan;
const TOKENS = 10;
const MODEL = { id: "llama", object: "model" };

/** Speaks both APIs. */
let mock: MockServer;
/** A language model that answers one question at a time, whatever comes. */
let serial: AnsweringServer;
/** What it lists as its models. */
let models: readonly object[] = [MODEL];
/** The key that it asks for. */
let key: string | undefined;
let stub: LlmStub;

before(async () => {
  mock = await startMock(QUICK, LOOPBACK);
  stub = await startLlmStub({ ttftMs: 20, itlMs: 5, tokens: 50 });
  let last = Promise.resolve();
  serial = await startAnsweringServer((response, index) => {
    const { path = "", headers = {} } = serial.received[index] ?? {};
    if (key !== undefined && headers["authorization"] !== `Bearer ${key}`) {
      response.writeHead(401).end('{"error":{"message":"no key"}}');
      return;
    }
    if (!path.endsWith("/chat/completions")) {
      response.writeHead(path.endsWith("/models") ? 200 : 404);
      response.end(path.endsWith("/models") ? JSON.stringify({ object: "list", data: models }) : "no");
      return;
    }
    last = last.then(async () => {
      await new Promise((resolve) => setTimeout(resolve, 15));
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let token = 0; token < TOKENS; token++)
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: " the" } }] })}\n\n`);
      const usage = { prompt_tokens: 20, completion_tokens: TOKENS };
      response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
    });
  });
});

after(async () => {
  await mock.stop();
  await stub.stop();
  serial.close();
});

interface Report {
  readonly knee?: { readonly level: number; readonly isReached: boolean };
  readonly capacity?: {
    readonly level: number;
    readonly outputTokensPerSecPerGpu: { readonly value: number };
    readonly costPerMillionOutputTokens: { readonly value: number };
    readonly targetGpuCount: number;
  };
  readonly levels: readonly {
    readonly level: number;
    readonly durationSec: number;
    readonly metrics: Readonly<Record<string, { readonly mean?: number }>>;
  }[];
}

/** Runs a command in this process, in a folder of its own. @param use receives what it printed, and the folder */
async function here(
  args: readonly string[],
  use: (result: ResultHere, folder: string) => unknown = () => undefined,
): Promise<void> {
  using folder = createFolder({});
  await use(await runInFolder(folder.path, args), folder.path);
}

function readReport(folder: string): Report {
  return JSON.parse(readFileSync(join(folder, "r.json"), "utf8")) as Report;
}

const at = (port: number): string => `127.0.0.1:${port}`;
const mockUrl = (): string => at(mock.httpPort);

test("a run measures with the tokenizer that was loaded when the server was found, and reads no file again", async () => {
  using folder = createFolder({ "p.json": JSON.stringify({ data: [{ payload: [{ messages: [] }] }] }) });
  const tokenizer = join(folder.path, "tiny");
  cpSync(TINY, tokenizer, { recursive: true });
  const spare = new SpareThreads();
  await spare.start({ tokenizer, revision: "main" });
  rmSync(tokenizer, { recursive: true });
  const scenario = defineScenario({
    name: "x",
    target: openai(mockUrl(), { model: "mock-llm", tokenizer }),
    inputs: input.payloads("p.json"),
    load: hold(1, { requests: 3 }),
  });
  const io = { out: () => {}, err: () => {}, onInterrupt: () => () => {}, loadApi: async () => ({}) };
  const { result } = await executePlan(toPlan(scenario, folder.path), io, { spare });
  assert.equal(result.error, undefined);
  assert.equal(result.levels[0]?.window.tokens?.failedCount, 0);
  assert.equal(result.completedCount, 3);
});

describe("rampart llm", () => {
  test("reports what the server did: tokens per second, their cost, and GPUs for users", async () => {
    using folder = createFolder({});
    const args = ["llm", at(stub.port), "--model", "m", "--tokenizer", "o200k_base", "--isl", "20", "--osl", "50"];
    const measured = ["--users", "2", "--requests", "10", "--json", "r.json"];
    await stub.reset(true);
    const { code, out, err } = await runRampart(
      [...args, ...measured, "--gpus", "4", "--gpu-hour", "3.6", "--target-users", "9"],
      { cwd: folder.path },
    );
    assert.equal(code, 0, out + err);
    // The stub counts a request after it has sent its end.
    let counter = await stub.counter();
    while (counter.chunks < 500) counter = await stub.counter();
    assert.equal(counter.chunks, 500);
    const streams = (await stub.log()).filter(({ firstNs, lastNs }) => lastNs > firstNs);
    const firstNs = Math.min(...streams.map((stream) => stream.receivedNs));
    const lastNs = Math.max(...streams.map((stream) => stream.lastNs));
    const perSec = counter.chunks / ((lastNs - firstNs) / 1e9);
    const { capacity, levels } = readReport(folder.path);
    const tokensPerSec = 4 * (capacity?.outputTokensPerSecPerGpu.value ?? 0);
    assert.ok(Math.abs((tokensPerSec * (levels[0]?.durationSec ?? 0)) / counter.chunks - 1) < 1e-6, `${tokensPerSec}`);
    // A busy client sees the first and the last token later than they were sent.
    assert.ok(tokensPerSec <= 1.01 * perSec, `${tokensPerSec} tokens/s, the server sent ${perSec}`);
    const cost = ((3.6 * 4) / 3600 / tokensPerSec) * 1e6;
    assert.ok(Math.abs((capacity?.costPerMillionOutputTokens.value ?? 0) / cost - 1) < 1e-9);
    // Two users on 4 GPUs: nine need five such servers.
    assert.deepEqual([capacity?.level, capacity?.targetGpuCount], [2, 20]);
    assert.match(out, /^Capacity of 4 GPUs at 3\.6 per GPU hour$/m);
    assert.match(out, /users +tokens\/s per GPU +cost per 1M tokens +GPUs for 9 users\n +2 .* 20$/m);
  });

  test("raises the number of users until throughput stops growing, and says where", async () => {
    models = [MODEL];
    await here(
      ["llm", serial.url, "--isl", "20", "--osl", "10", "--for", "600ms", "--json", "r.json", "--save", "saved.ts"],
      async (result, folder) => {
        assert.equal(result.code, 0, result.text);
        assert.match(result.text, /^The run takes 2\.4 s to 6 s \(up to 9 levels of 600 ms and a warm-up\)\.$/m);
        assert.match(result.text, /is an OpenAI-compatible server over HTTP; model llama\.$/m);
        const { knee, levels } = readReport(folder);
        // It serves one at a time: a second user brings little, and eight nothing, unless the machine is busy with something else.
        assert.equal(knee?.isReached, true);
        assert.ok(
          (knee?.level ?? 99) <= 64 && levels.length < 9,
          JSON.stringify([knee, levels.map(({ level }) => level)]),
        );
        assert.match(result.text, /^throughput stops growing at \d+ users? \(/m);
        // The scenario does the same.
        assert.match(
          readFileSync(join(folder, "saved.ts"), "utf8"),
          /^ {2}\/\/ Throughput stops growing at the knee: ends two levels above it\.$/m,
        );
        const again = await runInFolder(folder, ["run", "saved.ts", "--dry-run"]);
        assert.equal(again.code, 0, again.text);
        assert.match(again.text, /"search": "knee"/);
      },
    );
  });

  test("takes the tokenizer that the server names", async () => {
    models = [{ ...MODEL, root: "o200k_base" }];
    await here(["llm", serial.url, "--users", "1", "--requests", "2", "--osl", "10"], ({ code, text }) => {
      assert.equal(code, 0, text);
      assert.match(text, /; model llama, tokenizer o200k_base\.$/m);
      assert.doesNotMatch(text, /approximate/);
    });
  });

  test("counts as the server does without one, and says that lengths of prompts are approximate", async () => {
    models = [MODEL];
    await here(["llm", serial.url, "--users", "1", "--requests", "2", "--json", "r.json"], ({ code, text }, folder) => {
      assert.equal(code, 0, text);
      assert.match(
        text,
        /the server counts tokens, and the lengths of prompts are approximate \(o200k_base\): give the model's .* --tokenizer/,
      );
      const [level] = readReport(folder).levels;
      assert.equal(level?.metrics["outputTokens"]?.mean, TOKENS);
    });
  });

  test("says so where nobody counts tokens", async () => {
    const args = ["llm", at(stub.port), "--model", "m", "--users", "1", "--requests", "1"];
    await here(args, ({ code, text }) => {
      assert.equal(code, 0, text);
      assert.match(
        text.replace(/\s+/g, " "),
        /The server reports no numbers of tokens, or not of all responses, so there are no tokens\/s: give the model's tokenizer as --tokenizer\./,
      );
    });
  });

  test("sends the key of a server that shows nothing without it", async () => {
    models = [{ ...MODEL, root: "o200k_base" }];
    key = "sesame";
    using folder = createFolder({});
    const args = ["llm", serial.url, "--users", "1", "--requests", "1"];
    const without = await runRampart(args, { cwd: folder.path });
    assert.equal(without.code, 69, without.out + without.err);
    assert.match(without.err, /requires a key \(401\).*--api-key-env NAME/);
    const env = { SERVER_KEY: "sesame" };
    const { code, out, err } = await runRampart([...args, "--api-key-env", "SERVER_KEY"], { cwd: folder.path, env });
    key = undefined;
    assert.equal(code, 0, out + err);
    assert.doesNotMatch(out + err, /sesame/);
  });

  test("finds the most users who keep limits, and writes the scenario that does it again", async () => {
    const slos = ["--slo", "ttft.p50=20s", "--slo", "p50=30s"];
    const search = ["llm", mockUrl(), "--isl", "20", "--osl", "4", "--users", "2", ...slos, "--for", "1s"];
    const args = [...search, "--save", "s/a.ts"];
    await here(args, async ({ code, text }, folder) => {
      // On a busy machine so few requests are independent that a second may not decide it, which is said.
      if (code === 66) assert.match(text, /measure each point longer/);
      else assert.deepEqual([code, /: at least 2 users$/m.test(text)], [0, true], text);
      // The report names no option of scenarios.
      assert.doesNotMatch(text, /\(over\)/);
      assert.doesNotMatch(text, /^\(--/m);
      assert.match(text, /^wrote s\/a\.ts; repeat it with: rampart run s\/a\.ts$/m);
      const written = readFileSync(join(folder, "s/a.ts"), "utf8");
      assert.match(written, /percentile\(50, "timeToFirstToken"\)\.atMost\("20 s"\)/);
      assert.match(written, /percentile\(50, "latency"\)\.atMost\("30 s"\)/);
      const planOf = async (command: readonly string[]): Promise<unknown> => {
        const { code, out, err } = await runInFolder(folder, [...command, "--dry-run"]);
        assert.equal(code, 0, err);
        return JSON.parse(out);
      };
      assert.deepEqual(await planOf(["run", "s/a.ts"]), await planOf(search));
      const twice = await runInFolder(folder, args);
      assert.deepEqual(
        [twice.code, twice.text.split("\n")[0]],
        [64, "rampart: --save: exists already (got s/a.ts). Give the name of a new file."],
      );
    });
  });

  test("exits with 65 where not even one user keeps the limits", async () => {
    await here(["llm", mockUrl(), "--osl", "4", "--slo", "ttft.p50=1us", "--for", "500ms"], ({ code, text }) => {
      assert.equal(code, 65, text);
      assert.match(text, /no load keeps the limit$/m);
      assert.match(text, /^\(--users MIN:MAX searches between them in single steps\)$/m);
    });
  });

  test("asks which model is meant, and knows them", async () => {
    models = [MODEL, { id: "mistral" }];
    const cases = [
      [[], /--model: is needed: the server has 2 models\. Give one of llama, mistral\./],
      [["--model", "gpt"], /--model: is not ready on the server \(got gpt\)\. Give one of llama, mistral\./],
    ] as const;
    for (const [args, message] of cases)
      await here(["llm", serial.url, ...args], ({ code, text }) => {
        assert.equal(code, 64, text);
        assert.match(text, message);
      });
    models = [];
    await here(["llm", serial.url], ({ code, text }) => {
      assert.equal(code, 64, text);
      assert.match(text, /--model: is needed: the server lists no models\. Give --model NAME\./);
    });
  });

  test("refuses a tokenizer that cannot be loaded, before anything is sent", async () => {
    models = [MODEL];
    const from = serial.received.length;
    await here(["llm", serial.url, "--tokenizer", "o200k_bas"], ({ code, text }) => {
      assert.equal(code, 64, text);
      assert.match(text, /--tokenizer: .*\(got o200k_bas\)\. Did you mean o200k_base\?/);
    });
    assert.ok(serial.received.slice(from).every(({ path }) => !path.includes("chat")));
  });

  test("refuses a limit of what the server does not report, in the words of its options", async () => {
    models = [MODEL];
    const limit = ["--fail-if", "gpuPower.max > 100"];
    await here(["llm", serial.url, "--tokenizer", "none", ...limit], ({ code, text }) => {
      assert.equal(code, 64, text);
      assert.match(text, /^rampart: --fail-if: gpuPower .* or add metrics: \{\} to the scenario that --save writes,/m);
    });
  });

  test("writes no key of a header into a scenario", async () => {
    const args = ["llm", mockUrl(), "-H", "Authorization: Bearer sesame-seed", "--save", "a.ts"];
    await here(args, ({ code, text }, folder) => {
      assert.equal(code, 64, text);
      assert.match(text, /--save: would write the key of -H into a file/);
      assert.throws(() => readFileSync(join(folder, "a.ts")));
    });
  });
});

describe("rampart triton", () => {
  test("finds the protocol and the model, and measures each number of users", async () => {
    for (const [port, protocol] of [
      [mock.httpPort, "HTTP"],
      [mock.grpcPort, "gRPC"],
    ] as const)
      await here(
        ["triton", at(port), "--users", "1,3", "--requests", "20", "--json", "r.json"],
        ({ code, text }, folder) => {
          assert.equal(code, 0, text);
          assert.match(text, new RegExp(`\\(KServe v2\\) over ${protocol}`));
          assert.match(text, /; model simple\.$/m);
          assert.deepEqual(
            readReport(folder).levels.map(({ level }) => level),
            [1, 3],
          );
        },
      );
  });

  test("has a range of users, and the cost of inferences", async () => {
    const args = ["triton", mockUrl(), "--users", "1:2", "--requests", "20", "--gpus", "1", "--gpu-hour", "2"];
    const files = ["--html", "r.html", "--markdown", "r.md", "--json", "r.json"];
    await here([...args, ...files], async ({ code, text }, folder) => {
      assert.equal(code, 0, text);
      assert.match(text, /^concurrency +infer\/s .*\n +1 .*\n +2 /m);
      assert.match(text, /concurrency +infer\/s per GPU +cost per 1M inferences\n +[12] /);
      for (const file of ["r.html", "r.md"])
        assert.match(readFileSync(join(folder, file), "utf8"), /Capacity of 1 GPU at 2 per GPU hour/);
      const shown = await runInFolder(folder, ["report", "r.json"]);
      assert.match(shown.text, /^Capacity of 1 GPU at 2 per GPU hour\n[\s\S]* +concurrency +infer\/s per GPU /m);
    });
  });

  test("refuses limits of tokens, in the words of its options", async () => {
    await here(["triton", mockUrl(), "--slo", "ttft=20ms"], ({ code, text }) => {
      assert.equal(code, 64, text);
      assert.match(text, /^rampart: --slo: responses of triton\(…\) are tensors, not tokens\./m);
    });
  });
});

describe("both", () => {
  test("measure the points of a sweep in one report, at a server that is asked once", async () => {
    const args = ["llm", mockUrl(), "--osl", "4", "--requests", "6", "--sweep", "isl=20,100"];
    await here([...args, "--sweep", "users=1,3", "--json", "r.json"], ({ code, text }, folder) => {
      assert.equal(code, 0, text);
      assert.match(text, /^isl +users .*\n *20 +1 .*\n *20 +3 .*\n *100 +1 .*\n *100 +3 /m);
      assert.equal(text.match(/is an OpenAI-compatible server/g)?.length, 1, text);
      assert.equal(text.match(/lengths of prompts are approximate/g)?.length, 1, text);
      const { points } = JSON.parse(readFileSync(join(folder, "r.json"), "utf8")) as {
        readonly points: readonly { readonly values: object; readonly report: Report }[];
      };
      const sent = points.map(({ values, report: { levels } }) => {
        const mean = levels[0]?.metrics["inputTokens"]?.mean ?? 0;
        return { ...values, level: levels[0]?.level, isLong: mean > 60 };
      });
      assert.deepEqual(sent, [
        { isl: 20, users: 1, level: 1, isLong: false },
        { isl: 20, users: 3, level: 3, isLong: false },
        { isl: 100, users: 1, level: 1, isLong: true },
        { isl: 100, users: 3, level: 3, isLong: true },
      ]);
    });
    const triton = ["triton", mockUrl(), "--requests", "5", "--sweep", "users=1,2"];
    await here(triton, ({ code, text }) => {
      assert.equal(code, 0, text);
      assert.match(text, /^users .*\n *1 .*\n *2 /m);
    });
  });

  test("refuse a sweep of nothing they know, and a file for one point", async () => {
    const wrong = ["--sweep", "bogus=1,4", "--sweep", "save=a.ts,b.ts", "--save", "x.ts"];
    await here(["llm", mockUrl(), ...wrong], ({ code, text }) => {
      assert.equal(code, 64, text);
      for (const line of [/^rampart: --sweep bogus: /m, /^rampart: --sweep save: /m, /^rampart: --save: /m])
        assert.match(text, line);
    });
    await here(["llm", mockUrl(), "--sweep", "isl=0,4"], ({ code, text }) => {
      assert.deepEqual([code, /--isl: is not a whole number of 1 or more/.test(text)], [64, true], text);
    });
  });

  test("report all wrong options at once", async () => {
    const wrong = ["--slo", "ttft", "--slo", "foo=1ms", "--slo", "p99=25", "--users", "x", "--gpu-hour", "3"];
    await here(["llm", mockUrl(), ...wrong, "--save", "x.txt", "--isl", "0", "--nope"], ({ code, text }) => {
      assert.equal(code, 64, text);
      for (const line of [
        /^rampart: --nope: is not a flag/m,
        /^rampart: --slo: must be METRIC=LIMIT \(got ttft\)/m,
        /^rampart: --slo: there is no metric foo/m,
        /^rampart: --slo: p99 latency .*\(got p99=25\)\. Write --slo p99=25ms\.$/m,
        /^rampart: --users: is not a number, START:END\[:STEP\] or a list of users \(got x\)/m,
        /^rampart: --gpus: is needed by --gpu-hour/m,
        /^rampart: --save: is not the name of a scenario/m,
        /^rampart: --isl: is not a whole number of 1 or more/m,
      ])
        assert.match(text, line);
    });
  });

  test("say how a limit is written that others write in another way", async () => {
    const wrong = ["ttft < 200ms", "ttft:200ms", "p90_ttft=200ms", "itl-p50=20ms"];
    const args = wrong.flatMap((limit) => ["--slo", limit]);
    await here(["llm", mockUrl(), ...args], ({ code, text }) => {
      const hints = [...text.matchAll(/Write --slo (\S+)\.$/gm)].map(([, hint]) => hint);
      const meant = ["ttft=200ms", "ttft=200ms", "ttft.p90=200ms", "itl.p50=20ms"];
      assert.deepEqual([code, hints], [64, meant], text);
    });
  });

  test("say how a range that falls is written", async () => {
    await here(["llm", mockUrl(), "--users", "4:1"], ({ code, text }) => {
      assert.equal(code, 64, text);
      assert.match(text, /^rampart: --users: is not a range that rises \(got 4:1\)\. Write --users 1:4\.$/m);
    });
  });

  test("end soon with one error when the server gives the same error to all requests", async () => {
    for (const [status, message, says] of [
      [
        400,
        "max_tokens is too large",
        / refuses the requests: HTTP status 400: max_tokens is too large\. Correct the requests/,
      ],
      [
        500,
        "the engine is dead",
        / refuses the requests: HTTP status 500: the engine is dead\. .* Set --max-error-rate to 100 %/,
      ],
      [
        404,
        "the model llama is gone",
        / refuses the requests: HTTP status 404: .* Correct --model, or load the model on/,
      ],
      [401, "no", / refuses the requests: HTTP status 401: no\. The server requires a key .* --api-key-env NAME/],
    ] as const) {
      let asked = 0;
      const failing: AnsweringServer = await startAnsweringServer((response, index) => {
        const { path = "" } = failing.received[index] ?? {};
        if (path.endsWith("/models")) {
          response.end(JSON.stringify({ object: "list", data: [MODEL] }));
          return;
        }
        if (path.endsWith("/chat/completions")) asked++;
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
      });
      try {
        const args = ["llm", failing.url, "--tokenizer", "none", "--isl", "5", "--osl", "2", "--for", "60s"];
        await here(args, ({ code, text }) => {
          assert.equal(code, 69, text);
          assert.equal(text.match(/^rampart: .*$/gm)?.filter((line) => says.test(line)).length, 1, text);
        });
        assert.ok(asked <= 40, `${asked} requests with ${status}`);
      } finally {
        failing.close();
      }
    }
  });

  test("say in one sentence what is at the address instead, and end with 69", async () => {
    const dead = at(await findDeadPort());
    const other = await startAnsweringServer((response) => response.end("hello"));
    models = [MODEL];
    const cases = [
      [["llm", dead], /^rampart: cannot connect to \S+ \(Connection refused\)\. [^\n]*\n$/],
      [["triton", dead], /^rampart: cannot connect to /],
      [["triton", `https://${mockUrl()}`], / does not speak TLS\. Write http:\/\/ before the address\.\n$/],
      [["llm", `https://${mockUrl()}`], / does not speak TLS\. Write http:\/\/ before the address\.\n$/],
      [
        ["llm", at(mock.grpcPort)],
        /KServe v2\) over gRPC, and not a server of OpenAI's API\. Write rampart triton \S+\.\n$/,
      ],
      [
        ["triton", serial.url],
        /OpenAI-compatible server over HTTP, and not a server of KServe v2, such as Triton\. Write rampart llm /,
      ],
      [["triton", other.url], /answers to none of the APIs that Rampart recognizes\. Write rampart http /],
      [["llm", other.url], /the response is not a list of models\. Give --model NAME, if it is such a server/],
    ] as const;
    for (const [args, message] of cases)
      await here(args, ({ code, text }) => {
        assert.equal(code, 69, text);
        assert.match(text, message);
      });
    other.close();
  });

  test("write JSON to standard output alone, and print a plan without sending", async () => {
    const run = (...args: readonly string[]): Promise<ProcessResult> => runRampart(["triton", mockUrl(), ...args]);
    const json = await run("--users", "1", "--requests", "5", "--json", "-");
    assert.equal(json.code, 0, json.err);
    assert.equal((JSON.parse(json.out) as { name: string }).name, "simple");
    assert.match(json.err, /\n\n--save FILE\.ts writes the scenario that repeats the run\n$/);
    const dry = await run("--gpus", "2", "--dry-run");
    const plan = JSON.parse(dry.out) as { load: { search: string }; capacity: object };
    assert.deepEqual([dry.code, plan.load.search, plan.capacity], [0, "knee", { gpuCount: 2 }]);
    const quiet = await run("--users", "1", "--requests", "5", "--quiet");
    assert.deepEqual([quiet.code, quiet.out, quiet.err], [0, "", ""]);
  });
});
