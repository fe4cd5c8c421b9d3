import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFolder } from "./rampart-process.ts";
import { runInFolder } from "./run-in-folder.ts";

/** Wrong command lines, as a new user writes them: one error each, which names the option, its value and what to write. */

const SCENARIO = `import { defineScenario, embedded, hold, param } from "rampart";
export default defineScenario({
  name: "x",
  params: { users: param.integer(2) },
  target: embedded(),
  load: ({ users }) => hold(users, { requests: 50 }),
});
`;
const WITH_SERVER = SCENARIO.replaceAll("embedded", "http").replace("http(),", 'http("h:1"),');
const FILES = {
  "ok.ts": SCENARIO,
  "server.ts": WITH_SERVER,
  "run.json": '{"version": 7, "name": "x", "target": {}, "levels": []}',
  "odd.json": '{"a": 1}',
  "typed.yaml": "name: x\ntarget: { type: triton, url: h, model: m }\nload: { hold: 1 }\n",
  "k6.yaml": "name: x\ntarget: embedded\nvus: 10\n",
  "called.ts":
    'import { defineScenario, embedded, hold } from "rampart";\nexport default defineScenario({\n  target: embedded(),\n  load: hold,\n});\n',
  "outside.ts":
    'import { defineScenario, embedded, hold } from "rampart";\nexport default defineScenario({\n  target: embedded(),\n  load: hold(1),\n  for: "1 s",\n});\n',
  "port.ts":
    'import { defineScenario, hold, http } from "rampart";\nexport default defineScenario({\n  name: "x",\n  target: http(8000),\n  load: hold(1),\n});\n',
  "key.ts":
    'import { defineScenario, hold, http } from "rampart";\nexport default defineScenario({\n  name: "x",\n  target: http("h:1", { apiKeyEnv: "sk-12345678-90" }),\n  load: hold(1),\n});\n',
  "grpc.ts":
    'import { defineScenario, hold, http } from "rampart";\nexport default defineScenario({\n  target: http("grpc://h:1"),\n  load: hold(1),\n});\n',
  "data.ts":
    'import { defineScenario, hold, input, triton } from "rampart";\nexport default defineScenario({\n  target: triton("h:1", { model: "m" }),\n  load: hold(1),\n  inputs: input.json("./none.json"),\n});\n',
  "grpc.yaml": "name: x\ntarget: { triton: { url: 'grpc://h', model: m } }\nload: { hold: 1 }\n",
  "data.yaml": "name: x\ntarget: { triton: { url: h, model: m } }\nload: { hold: 1 }\ninputs: { json: none.json }\n",
  "llm.yaml": "name: x\ntarget: { openai: { url: h, model: m } }\nload: { hold: 1 }\n",
  "unit.yaml": "name: x\ntarget: embedded\nload: { hold: 1 }\nassert: [throughput > 5 req/s]\n",
  "comma.ts":
    'import { defineScenario, embedded, hold } from "rampart";\nexport default defineScenario({\n  target: embedded()\n   load: hold(1, { for: "1 s" }),\n});\n',
  "end.yaml": "name: x\ntarget: embedded\nload: { ramp: { from: 1, end: 8 } }\n",
  "bare.yaml": `name: x\ntarget: embedded\nload: { hold: ${"$"}{users} }\n`,
  "passwd.ts": Array.from({ length: 20 }, (_, id) => `user${id}:x:${id}:/home/user:/bin/sh`).join("\n"),
  "empty/readme.txt": "",
};

const CASES: readonly (readonly [args: string, error: RegExp])[] = [
  ["run", /^SCENARIO: no scenario is given\. Write rampart run FILE/],
  ["run nosuch.ts", /^nosuch\.ts: there is no such file\. .* rampart init/],
  ["run empty", /^empty: has no scenario\. A scenario is a \.ts file/],
  ["run run.json", /^run\.json: is the report of a run, not a scenario\. Print it with rampart report/],
  ["run typed.yaml", /^typed\.yaml:2:1, target: .* Write options inside of it: \{ triton: \{ … \} \}/],
  ["run k6.yaml", /^k6\.yaml:3:1, vus: .*\. Write load: \{ hold: \{ concurrency: 16, for: 30 s \} \}\.$/],
  ["run ok.ts --set users", /^--set users: needs a value\. Write --set users=N/],
  ["run ok.ts --set user=3", /^--set user: is not a parameter of the scenario\. Did you mean users\?/],
  ["run ok.ts --set users=0", /^ok\.ts:6:3, load\.concurrency: must be 1 or more \(got 0\)/],
  ["run ok.ts --for 30", /^--for: is not a duration \(got 30\)\. Add the unit: "30 s"/],
  ["run ok.ts --users many", /^--users: is not a whole number of 1 or more \(got many\)/],
  ["run ok.ts --vus 10", /^--vus: is not a flag of this command\. Did you mean --users\?/],
  ["http h:1 -u 4", /^-u: is not a flag of this command\. Did you mean -c or --users\?/],
  ["http h:1 -q 100", /^100: is an unexpected argument\. Did you mean -r 100\?/],
  ["http -q 100 h:1", /^100: is an unexpected argument\. Did you mean -r 100\?/],
  ["triton h:1 --isl 128", /^--isl: is not a flag of this command\. It is an option of rampart llm\.$/],
  ["triton --isl 128 h:1", /^--isl: is not a flag of this command\. It is an option of rampart llm\.$/],
  ["llm h:1 --itll 20ms", /^--itll: is not a flag of this command\. Write --slo itl=20ms\.$/],
  ["http h:1 -t12", /^-t12: is not a flag of this command\. Leave it out\.$/],
  ["http -t 5 h:1", /^-t: is not a flag of this command\. Leave it out\.$/],
  ["run -i 100 ok.ts", /^-i: is not a flag of this command\. Leave it out\.$/],
  ["run -d 10s ok.ts", /^-d: is not a flag of this command\. Did you mean -z or --for\?$/],
  ["run ok.ts -q 100", /^100: is an unexpected argument\. Did you mean -r 100\?/],
  ["http h:1 -d 30", /^-d: is a number \(got 30\)\. Write --for 30s, or -d @FILE\.$/],
  [
    "http://h:1/x",
    /^http:\/\/h:1\/x is an address without a command\. Write rampart http http:\/\/h:1\/x, rampart llm /,
  ],
  ["h:1", /^h:1 is an address without a command\. Write rampart http h:1, rampart llm h:1 or rampart triton h:1\.$/],
  ["run ok.ts -u10", /^-u10: is not a flag of this command\. Did you mean -c or --users\?$/],
  ["http h:1 -d 30s", /^-d: is a time \(got 30s\)\. Write --for 30s, or -d @FILE\.$/],
  ["http h:1 --method post", /^--method: does not accept this value \(got post\)\. Did you mean POST\?$/],
  ["run ok.ts --users 1:4", /^--users: is not a whole number .* Write --sweep users=1:4\.$/],
  ["run ok.ts --sweep seed=1..5", /^--sweep seed: is not a range \(got 1\.\.5\)\. Write seed=1:5\.$/],
  [
    "run ok.ts --sweep seed=5:1",
    /^--sweep seed: is not a range START:END:STEP that rises \(got 5:1\)\. Write seed=1:5/,
  ],
  ["run ok.ts --sweep seed=1:5:0", /^--sweep seed: is not a range START:END:STEP that rises \(got 1:5:0\)/],
  ["run ok.ts --sweep seed=1:20000", /^--sweep seed: has 20,000 points, above the limit of 10,000\. Give fewer values/],
  ["run ok.ts --sweep users=1:3,2", /^--sweep users: has a value twice \(got 2\)\. Give each value once/],
  ["run ok.ts --users 3 --sweep users=1,4", /^--sweep users: --users gives it one value\. Give only one of them\.$/],
  ["run ok.ts -r 3 --sweep rate=1,4", /^--sweep rate: -r gives it one value\. Give only one of them\.$/],
  ["run ok.ts --set users=3 --sweep users=1,4", /^--sweep users: --set users gives it one value\. Give only/],
  ["run ok.ts --set users=3 --set users=4", /^--set users: is given twice, as 3 and as 4\. Give one\.$/],
  ["run called.ts", /^called\.ts:4:3, load: is a function that is not called\. Write hold\(…\)\.$/],
  ["run end.yaml", /^end\.yaml:3:26, load\.ramp\.end: is not an option here\. Write to: 8\.$/],
  [
    "run bare.yaml",
    /^bare\.yaml:3:15: a parameter's value needs quotes in YAML \(got \$\{users\}\)\. Write "\$\{users\}"\.$/,
  ],
  [
    "triton h:1 --shapes IN=3",
    /^--shapes: is not NAME:SIZE,SIZE for each input \(got IN=3\)\. Write --shapes "INPUT0:/,
  ],
  ["triton h:1 --users 8:1:2", /^--users: is not a range that rises \(got 8:1:2\)\. Write --users 1:8:2\./],
  ["mock --error-rate 200%", /^--error-rate: is more than 100 % \(got 200%\)\. Give 100% at most\.$/],
  ["run ok.ts --sweep vus=1,4", /^--sweep vus: is neither a parameter nor an option\. Write --sweep users=1,4\.$/],
  ["run ok.ts --model m", /^--model: is not a flag of this command\. Write model: "NAME" in the target/],
  ["chat h:1 hi --seed 5", /^--seed: is not a flag of this command\. It is an option of rampart run\.$/],
  ["run ok.ts --api-key k", /^--api-key: is not a flag of this command\. Did you mean --api-key-env of rampart llm\?$/],
  ["llm h:1 --goodput ttft:200", /^--goodput: is not a flag of this command\. Did you mean --slo\?$/],
  ["triton h:1 -u h:2", /^-u: is not a flag of this command\. Did you mean --url\?$/],
  [
    "http h:1 --fail-if http_req_duration>1s",
    /^--fail-if: there is no metric http_req_duration .* Did you mean latency\.p99\?/,
  ],
  ["attack -rate=100", /^there is no command 'attack'\. Did you mean http\?/],
  ["http h:1 -duration=5s", /^-duration: is not a flag of this command\. Did you mean -z or --for\?$/],
  ["http h:1 -rate 100", /^-rate: is not a flag of this command\. Did you mean -r or --rate\?$/],
  ["llm h:1 --ttft 200ms", /^--ttft: is not a flag of this command\. Write --slo ttft=200ms\./],
  ["init --goal limt", /^--goal: must be one of .* Did you mean limit\?/],
  ["agent --bus h:4222", /^--bus: must be the address of a NATS server \(got h:4222\)\. Write nats:\/\/h:4222\.$/],
  ["llm h:1 --slo tftt=200ms", /^--slo: there is no metric tftt .*\. Write --slo ttft=200ms\.$/],
  ["run outside.ts", /^outside\.ts:5:3, for: is not an option here\. Write for: "30 s" in the load\.$/],
  ["run port.ts", /^port\.ts:4:3, target\.url: must be host:port or a URL \(got 8000\)\. Write "localhost:8000"\.$/],
  ["run grpc.ts", /^grpc\.ts:3:3, the target's address: is not an address \(got grpc:\/\/h:1\)\. Write h:1, /],
  ["check grpc.ts", /^grpc\.ts:3:3, the target's address: /],
  ["run data.ts", /^data\.ts:5:23: \S+\/none\.json: cannot be read: /],
  ["run grpc.yaml", /^grpc\.yaml:2:26, the target's address: is not an address \(got grpc:\/\/h\)/],
  ["run data.yaml", /^data\.yaml:4:17: \S+\/none\.json: cannot be read: /],
  ["run comma.ts", /^comma\.ts:4:4: does not load: [^\n]*\. Correct the file\.$/],
  [
    "run key.ts",
    /^key\.ts:4:25, target\.apiKeyEnv: must be the name of a variable \(got "\*\*\*"\)\. .* apiKeyEnv: "LLM_KEY"\.$/,
  ],
  ["init --goal limt --yes", /^--goal: must be one of .* Did you mean limit\?/],
  [
    "run ok.ts --fail-if p99>25",
    /^--fail-if: p99 latency is limited by a time, with its unit \(got p99>25\)\. Write p99 > 25ms\./,
  ],
  ["run --concurency 10 ok.ts", /^--concurency: is not a flag of this command\. Did you mean --users\?/],
  ["http h:1 --fail-if goodput>10", /^--fail-if: goodput needs the limits of a good request.* Write a scenario with/],
  ["http h:1 --fail-if highestLoad>10", /^--fail-if: this metric is of reports, .*\. Write METRIC > VALUE/],
  ["llm h:1 --slo goodput=10", /^--slo: goodput needs the limits of a good request/],
  ["run ok.ts --assert p99<10ms", /^--assert: is not a flag of this command\. Did you mean --fail-if\?/],
  ["run ok.ts --out x.json", /^--out: is not a flag of this command\. Did you mean --json\?/],
  ["run ok.ts --fail-if errorRate>1", /^--fail-if: .* Write "1 %"/],
  ["run ok.ts --json", /^--json: needs a value\. Write --json FILE/],
  ["run server.ts --url ftp://h", /^--url: is not an address \(got ftp:\/\/h\)/],
  ["run ok.ts --json a --html a", /^--(?:json|html): is also the file of --(?:html|json) \(got a\)/],
  ["version 2", /^2: is an unexpected argument\. Leave it out\./],
  ["run server.ts --for 0", /^--for: is not a duration \(got 0\)\. Write a time with its unit, such as "1 s"\./],
  ["llm h:1 --slo ttft=-1s", /^--slo: a time cannot be negative \(got ttft=-1s\)/],
  ["run ok.ts --repeat 5", /^--repeat: is not a flag of this command\. Write repeat: 5 in the scenario\./],
  ["run ok.ts --warmup 5s", /^--warmup: is not a flag of this command\. Write warmupFor: "10 s" in the scenario\./],
  ["run ok.ts --url h:1", /^--url: the scenario's target is embedded\(…\) and has no address \(got h:1\)/],
  ["http", /^URL: is not given\. Write rampart http http:/],
  ["http h:1 -c 0", /^-c: is not a whole number of 1 or more \(got 0\)/],
  ["http h:1 --body {}", /^--body: is not a flag of this command\. Did you mean --data\?/],
  ["http h:1 -d @empty", /^-d: cannot be read: it is a folder \(got empty\)/],
  ["types --out x", /^--out: is not a flag of this command\. Leave it out\.$/],
  ["types --json x", /^--json: is not a flag of this command\. It is an option of rampart run, http, llm, triton\.$/],
  ["check ok.ts --vus 3", /^--vus: is not a flag of this command\. Leave it out\.$/],
  ["types ok.ts", /^ok\.ts: is a file\. Give the folder that it is in\.$/],
  ["doctor --url ftp://h", /^--url: is not an address \(got ftp:\/\/h\)/],
  ["run llm.yaml", /^llm\.yaml:1:1, inputs: .*\. Write inputs: \{ prompts: \{ isl: 550, osl: 128 \} \}\.$/],
  ["run unit.yaml", /^unit\.yaml:4:10, assert\[0\]: must be a number \(got "5 req\/s"\)\. Write 5\.$/],
  ["http h:1 -d @nofile", /^-d: cannot be read: there is no such file \(got nofile\)\. Check the path\./],
  [
    "http h:1 --fail-if serverQueue>1ms",
    /^--fail-if: serverQueue needs .* Leave it out, or measure a Triton server with rampart triton\.$/,
  ],
  ["http h:1 --fail-if timeToFirstToken.p99>1s", /^--fail-if: metrics of tokens need a target whose tokens are/],
  [
    "http h:1 --fail-if gpuPower.max>1",
    /^--fail-if: gpuPower needs .* Leave it out, or add metrics: \{\} to a scenario, /,
  ],
  ["http ftp://h/x", /^the URL: is not an address \(got ftp:\/\/h\)/],
  ["http h:99999", /^the URL: is not an address \(got h:99999\)\. .* with a port from 1 to 65535\.$/],
  ["llm h:1 --user 4", /^--user: is not a flag of this command\. Did you mean --users\?$/],
  ["llm h:1 --user me:key", /^--user: .* Write -H "Authorization: Basic …"\.$/],
  ["llm h:1 --users 0", /^--users: is not a whole number of 1 or more \(got 0\)\. Write --users 16, /],
  ["llm h:1 --users -1", /^--users: is not a whole number of 1 or more \(got -1\)/],
  ["triton h:1 --users 1,0,4", /^--users: has 0, which is not a whole number of 1 or more \(got 1,0,4\)/],
  ["llm h:1 --users 1:8:0", /^--users: has 0, which is not a whole number of 1 or more \(got 1:8:0\)/],
  ["llm h:1 --users 4:4", /^--users: is not a range that rises \(got 4:4\)/],
  ["llm h:1 --users 1:2,4", /^--users: is not a number, START:END\[:STEP\] or a list of users \(got 1:2,4\)/],
  ["llm h:1 --users 1 --slo ttft=1s", /^--users: leaves nothing to search \(got 1\)\. Write --users 64, /],
  ["llm h:1 --rate 10", /^--rate: .* Write rampart init --yes --run --target openai --url URL --rate 10\.$/],
  [
    "triton h:1 --request-rate-range=1:9:2",
    /^--request-rate-range: .* Write rampart init --yes --run --target triton --url URL --rate 1:9:2\.$/,
  ],
  ["llm h:1 --ttft 500", /^--ttft: is not a flag of this command\. Write --slo ttft=500ms\.$/],
  ["llm h:1 --ttft 2s", /^--ttft: is not a flag of this command\. Write --slo ttft=2s\.$/],
  ["llm h:1 --percentile 90", /^--percentile: is not a flag of this command\. Write --slo p90=25ms\.$/],
  ["llm h:1 --batch-size many", /^--batch-size: .* Write batchSize: 8 in the scenario that --save writes\.$/],
  ["llm h:1 --users 2000000000", /^--users: must be 1,000,000,000 at most \(got 2000000000\)/],
  [
    "run ok.ts --users 4 --users 8",
    /^--users: is given twice, as 4 and as 8\. Give one; to measure each: --sweep users=4,8\.$/,
  ],
  ["run ok.ts -c 4 --users 8", /^-c: is given twice, as 4 and as --users 8\. Give one; to measure each: --sweep users/],
  ["llm h:1 -c 4 -c 8", /^-c: is given twice, as 4 and as 8\. Give one; to measure each: --users 4,8\.$/],
  [
    "http h:1 --for 1s -z 2s",
    /^--for: is given twice, as 1s and as -z 2s\. Give one; to measure each: --sweep for=1s,2s/,
  ],
  ["run ok.ts --json a --json b", /^--json: is given twice, as a and as b\. Give one\.$/],
  ["mock --latency 5ms --latency 6ms", /^--latency: is given twice, as 5ms and as 6ms\. Give one\.$/],
  ["http h:1 -c four", /^-c: is not a whole number of 1 or more \(got four\)/],
  ["http h:1 -z 10", /^-z: is not a duration \(got 10\)\. Add the unit: "10 s"/],
  ["http h:1 -X post", /^-X: does not accept this value \(got post\)\. Did you mean POST\?/],
  ["http h:1 -H nocolon", /^-H: is not a header \(got nocolon\)/],
  ["llm h:1 -z 5s -n 5", /^-z: -n already says when to end\. Give only one of them\.$/],
  ["run ok.ts server.ts -c x", /^-c: is not a whole number of 1 or more \(got x\)/],
  ["compare run.json", /^NEW: is missing\. Write rampart compare BASE NEW/],
  [
    "compare run.json odd.json --fail-if p98.latency>+5%",
    /there is no metric p98\.latency .* Did you mean latency\.p98\?/,
  ],
  ["mock --port 80", /^--port: is not a flag of this command\. Did you mean --http-port\?/],
  ["mock --latency 5", /^--latency: is not a latency \(got 5\)\. Write for example 5ms/],
  ["mock --error-rate 0.01", /^--error-rate: is not a percentage .* Give it with its sign: 1%/],
  ["init --target vllm --yes", /^--target: must be one of .*: a language model is openai \(got vllm\)/],
  ["init --yes --users 4,x", /^--users: must be START:END, .* \(got 4,x\)/],
  [
    "init --url h:1 --model m --no-server --goal limit --yes",
    /^--p99-limit: has no default here\. Give --p99-limit DURATION/,
  ],
  ["chat", /^URL: no address is given\. Write rampart chat localhost:8000/],
  ["runn ok.ts", /^there is no command 'runn'\. Did you mean run\?/],
];

describe("a mistake in a command line is one error", () => {
  for (const [args, error] of CASES)
    test(args, async () => {
      using folder = createFolder(FILES);
      const { code, text } = await runInFolder(folder.path, args.split(" "));
      assert.equal(code, 64, text);
      const [first = "", ...more] = text.split("\n").filter((line) => line.startsWith("rampart: "));
      assert.match(first.replace("rampart: ", ""), error);
      assert.deepEqual(more, []);
    });

  test("a sweep has a limit of points, whose number is a product", async () => {
    using folder = createFolder(FILES);
    const values = Array.from({ length: 100 }, (_, index) => index + 1).join(",");
    const sweeps = ["users", "seed", "workers", "max-response-bytes"].map((name) => `--sweep=${name}=${values}`);
    const { code, text } = await runInFolder(folder.path, ["run", "ok.ts", ...sweeps]);
    assert.equal(code, 64, text);
    assert.match(text, /^rampart: --sweep: has 100,000,000 points, above the limit of 10,000\. Give fewer values/);
  });

  test("a file that is no scenario has the first errors only", async () => {
    using folder = createFolder(FILES);
    const { code, text } = await runInFolder(folder.path, ["run", "passwd.ts"]);
    assert.equal(code, 64, text);
    const lines = text.split("\n").filter((line) => line.startsWith("rampart: "));
    assert.ok(lines.length >= 1 && lines.length <= 3, text);
  });

  test("a name that is no command is one line, which says what lists them", async () => {
    using folder = createFolder({});
    const { code, text } = await runInFolder(folder.path, ["help", "nonsense"]);
    assert.equal(code, 64);
    assert.equal(text, "rampart: there is no command or topic 'nonsense'. rampart --help-all lists them.\n");
  });
});
