import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { listen } from "../servers/listen.ts";
import { runRampart } from "./rampart-process.ts";
import { runGenaiPerf, runPerfAnalyzer, runScenario } from "./three-doors.ts";

/** The addresses that connections come from, on every front door. */

const ON_LINUX = { skip: process.platform !== "linux" };
const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: "assistant", content: "y" }, finish_reason: "stop" }],
});
const MODELS = JSON.stringify({ object: "list", data: [{ id: "m" }] });
const server = createServer((request, response) => {
  const isPage = request.url === "/metrics";
  (isPage ? scraped : seen).add(request.socket.remoteAddress ?? "");
  const answer = isPage ? "a_metric 1\n" : request.url === "/v1/models" ? MODELS : ANSWER;
  request.resume().on("end", () => response.setHeader("content-type", "application/json").end(answer));
});
const seen = new Set<string>();
/** Who has read the page of metrics. */
const scraped = new Set<string>();
let url = "";
before(async () => {
  url = `http://127.0.0.1:${await listen(server)}`;
});
after(() => server.close());

const TWO = ["127.0.0.2", "127.0.0.3"].flatMap((address) => ["--source-address", address]);
const FOREIGN = ["--source-address", "127.0.0.1", "--source-address", "198.51.100.7"];
/** Asks the server what it is, and measures nothing. */
const llm = (more: readonly string[]) => runRampart(["llm", url, "--tokenizer", "none", "--dry-run", ...more]);
const http = (more: readonly string[]) => runRampart(["http", url, "--requests", "4", "-c", "2", ...more]);

const DOORS = [
  ["perf_analyzer", () => runPerfAnalyzer(url, [...TWO, "--concurrency-range", "2"])],
  ["genai-perf", () => runGenaiPerf(url, [...TWO, "--concurrency", "2"])],
  ["a scenario", () => runScenario(url, "", ', sourceAddresses: ["127.0.0.2", "127.0.0.3"]')],
  ["http", () => http(TWO)],
  ["llm", () => llm(TWO)],
] as const;
for (const [name, run] of DOORS)
  test(`${name} connects from the source addresses`, ON_LINUX, async () => {
    seen.clear();
    const { code, err: stderr } = await run();
    assert.equal(code, 0, stderr);
    // A single user of the scenario may have one connection.
    assert.deepEqual(
      [...seen].filter((one) => !["127.0.0.2", "127.0.0.3"].includes(one)),
      [],
    );
    assert.ok(seen.size === 2 || name === "a scenario", [...seen].join(", "));
  });

const PAGES = [
  ["perf_analyzer", (page: string) => runPerfAnalyzer(url, [...TWO, "--collect-metrics", "--metrics-url", page])],
  ["genai-perf", (page: string) => runGenaiPerf(url, [...TWO, "--server-metrics-url", page])],
] as const;
for (const [name, run] of PAGES)
  test(`${name} reads a page of metrics from them at the host of the server only`, ON_LINUX, async () => {
    scraped.clear();
    const { code, err: stderr } = await run(`${url}/metrics`);
    assert.equal(code, 0, stderr);
    // A page that is read once is read from the first.
    assert.match([...scraped].sort().join(), /^127\.0\.0\.2(,127\.0\.0\.3)?$/);
    scraped.clear();
    await run(`${url.replace("127.0.0.1", "localhost")}/metrics`);
    assert.deepEqual([...scraped], ["127.0.0.1"]);
  });

const FAULTS = [
  ["perf_analyzer", 99, "--source-address", () => runPerfAnalyzer(url, FOREIGN)],
  ["genai-perf", 1, "--source-address", () => runGenaiPerf(url, FOREIGN)],
  ["a scenario", 64, "sourceAddresses", () => runScenario(url, "", ', sourceAddresses: ["198.51.100.7"]')],
  ["http", 64, "--source-address", () => http(FOREIGN)],
  ["llm", 64, "--source-address", () => llm(FOREIGN)],
] as const;
for (const [name, exit, word, run] of FAULTS)
  test(`${name} refuses an address of another host before the run`, async () => {
    seen.clear();
    const { code, err: stderr } = await run();
    assert.equal(code, exit, stderr);
    assert.match(stderr, new RegExp(`${word}.*: .*\\(got '?198\\.51\\.100\\.7`));
    assert.equal(seen.size, 0);
  });

test("what is no address is a mistake of the command line or the scenario", async () => {
  const bad = await http(["--source-address", "eth0"]);
  assert.equal(bad.code, 64);
  assert.match(bad.err, /--source-address: is not an IP address \(got eth0\)/);
  const scenario = await runScenario(url, "", ', sourceAddresses: ["eth0"]');
  assert.equal(scenario.code, 64);
  assert.match(scenario.err, /sourceAddresses\[0\]: must be an IP address of this host, such as 10\.0\.0\.5/);
});

test("a client that cannot choose its address is refused", async () => {
  const args = ["perf_analyzer", "-m", "simple", "-i", "grpc", "-u", "127.0.0.1:1", "--client", "grpc-js", ...TWO];
  const { code, err: stderr } = await runRampart(args);
  assert.equal(code, 99);
  assert.match(stderr, /--source-address: grpc-js cannot choose the address that its connections come from/);
});
