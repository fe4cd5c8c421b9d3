import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { runCaptured } from "./run-captured.ts";

/** How long is measured, what goes before it, what is cancelled, and several servers: each flag by what it does. */

const BODY = '{"choices":[{"message":{"content":"the"}}]}';

type Answer = (response: ServerResponse, index: number) => void;

const answerAtOnce: Answer = (response) => {
  response.writeHead(200).end(BODY);
};

function answerAfter(ms: number): Answer {
  return (response) => {
    // In two steps: a client in this process whose timer is due at the same moment closes its connection before the second.
    setTimeout(() => setTimeout(() => response.end(BODY), 1), ms);
  };
}

/** A server that counts its requests, and remembers which of them were given up by the client. */
class ChatServer {
  requestCount = 0;
  readonly givenUp: number[] = [];
  private readonly server = createServer((request, response) => {
    const index = this.requestCount++;
    // Told after the response's end too.
    response.on("close", () => {
      if (!response.writableEnded) this.givenUp.push(index);
    });
    request.resume();
    request.on("end", () => this.answer(response, index));
  });
  private readonly answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
  }

  get url(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

interface Ran {
  readonly code: number;
  readonly err: string;
  /** Answered requests in the JSON report; undefined without one. */
  readonly reported: number | undefined;
  readonly files: readonly string[];
  /** The lines of `records.jsonl`, and the profile export; empty without them. */
  readonly records: readonly string[];
  readonly exported: string;
  readonly servers: readonly ChatServer[];
}

/** @param makeArgs what follows `genai-perf`, given the servers' addresses and a folder for files */
async function run(
  responses: readonly Answer[],
  makeArgs: (urls: readonly string[], folder: string) => Promise<string[]> | string[],
): Promise<Ran> {
  const folder = makeFolder();
  const servers = await Promise.all(responses.map((answer) => new ChatServer(answer).start()));
  try {
    const args = await makeArgs(
      servers.map(({ url }) => url),
      folder,
    );
    const { code, err } = await runCaptured(args);
    const files = await readdir(join(folder, "artifacts"), { recursive: true }).catch(() => []);
    const report = files.find((name) => name.endsWith("_genai_perf.json"));
    const text = report === undefined ? "{}" : await readFile(join(folder, "artifacts", report), "utf8");
    const records = await readFile(join(folder, "records.jsonl"), "utf8").catch(() => "");
    const exportFile = files.find((name) => name.endsWith("profile_export.json")) ?? "none";
    const exported = await readFile(join(folder, "artifacts", exportFile), "utf8").catch(() => "");
    const written = { files, records: records.split("\n").filter((line) => line !== ""), exported };
    return { code, err, ...written, reported: JSON.parse(text).request_count?.avg, servers };
  } finally {
    for (const server of servers) await server.stop();
  }
}

function profile(...more: readonly string[]): (urls: readonly string[], folder: string) => string[] {
  return ([url = "", ...others], folder) => [
    ..."profile -m tiny --endpoint-type chat --isl 12 --num-dataset-entries 2 --random-seed 7".split(" "),
    ...["--tokenizer", TINY, "--url", url, "--artifact-dir", join(folder, "artifacts"), ...more],
    ...(others.length === 0 ? [] : ["--more-urls", ...others]),
  ];
}

describe("--benchmark-duration", () => {
  test("measures for the duration, and awaits and reports what is in flight then", LIMIT, async () => {
    const { code, err, reported, servers } = await run(
      [answerAfter(60)],
      profile("--concurrency", "3", "--benchmark-duration", "0.02"),
    );
    assert.equal(code, 0, err);
    assert.ok((reported ?? 0) >= 3, String(reported));
    assert.deepEqual([reported, servers[0]?.givenUp], [servers[0]?.requestCount, []]);
    // Without the flag there would be ten.
    const longer = await run([answerAtOnce], profile("--concurrency", "12", "--benchmark-duration", "0.3"));
    assert.ok((longer.reported ?? 0) >= 12, String(longer.reported));
  });

  test(
    "--benchmark-grace-period: slower requests are cancelled and reported, but are not failures",
    LIMIT,
    async () => {
      const answer: Answer = (response, index) => {
        if (index !== 1) answerAtOnce(response, index);
      };
      const { code, err, reported, servers } = await run(
        [answer],
        profile("--concurrency", "2", "--benchmark-duration", "0.05", "--benchmark-grace-period", "3"),
      );
      assert.equal(code, 0, err);
      assert.equal(reported, (servers[0]?.requestCount ?? 0) - 1);
      assert.deepEqual(servers[0]?.givenUp, [1]);
      assert.match(err, /1 of \d+ requests was cancelled; /);
      assert.match(err, /1 x unfinished: cancelled without a response at the end of the grace period of 3 s/);
    },
  );
});

test("--warmup-duration: precedes the measurement, and its failures are reported separately", LIMIT, async () => {
  const answer: Answer = (response, index) => {
    if (index < 2) response.writeHead(503).end();
    else answerAfter(2)(response, index);
  };
  const { code, err, reported, servers } = await run(
    [answer],
    profile("--warmup-duration", "0.1", "--warmup-request-count", "30", "--request-count", "6"),
  );
  assert.equal(code, 0, err);
  assert.equal(reported, 6);
  assert.ok((servers[0]?.requestCount ?? 0) >= 36, String(servers[0]?.requestCount));
  assert.match(
    err,
    /2 of \d+ requests of the warm-up failed; the statistics exclude them:\n.*2 x http: HTTP status 503/,
  );
  assert.doesNotMatch(err, /requests failed;/);
});

describe("--request-cancellation-rate", () => {
  const cancel = (pct: string, seed: string): ReturnType<typeof profile> =>
    profile(
      ...["--request-count", "12", "--random-seed", seed],
      ...["--request-cancellation-rate", pct, "--request-cancellation-delay", "0.02"],
    );

  test("the seed's share is cancelled, the server sees it, and the exit code stays 0", LIMIT, async () => {
    // Long enough for a busy server to see that a request was cancelled.
    const first = await run([answerAfter(300)], cancel("50", "1"));
    assert.equal(first.code, 0, first.err);
    const given = first.servers[0]?.givenUp ?? [];
    assert.ok(given.length > 0 && given.length < 12, String(given));
    assert.deepEqual([first.reported, first.servers[0]?.requestCount], [12 - given.length, 12]);
    assert.match(first.err, new RegExp(`${given.length} of 12 requests were cancelled`));
    assert.match(first.err, new RegExp(`${given.length} x cancelled: cancelled 20 ms after it was sent`));
    const second = await run([answerAfter(300)], cancel("50", "1"));
    assert.deepEqual(second.servers[0]?.givenUp, given);
    const other = await run([answerAfter(300)], cancel("50", "2"));
    assert.notDeepEqual(other.servers[0]?.givenUp, given);
  });

  test("all of them: there are no results, and nothing failed", LIMIT, async () => {
    const { code, err, reported, servers, files } = await run([() => {}], cancel("100", "1"));
    assert.deepEqual([code, reported, servers[0]?.givenUp.length], [0, undefined, 12], err);
    assert.match(err, /12 x cancelled[\s\S]*nothing was measured/);
    assert.ok(!files.some((name) => name.endsWith("profile_export.json")));
  });
});

describe("--more-urls", () => {
  test("each request goes to the next server, and -v prints the counts", LIMIT, async () => {
    const { code, err, reported, servers } = await run(
      [answerAtOnce, answerAtOnce, answerAtOnce],
      profile("--request-count", "12", "-v"),
    );
    assert.equal(code, 0, err);
    assert.deepEqual([reported, servers.map(({ requestCount }) => requestCount)], [12, [4, 4, 4]]);
    assert.equal(err.match(/127\.0\.0\.1:\d+: 4 of them\n/g)?.length, 3);
  });

  test("records and the profile export name the server of each request", LIMIT, async () => {
    const records = (folder: string): string[] => ["--records", join(folder, "records.jsonl")];
    const failing: Answer = (response) => response.writeHead(500).end();
    const ran = await run([answerAtOnce, failing, answerAtOnce], (urls, folder) =>
      profile("--request-count", "9", ...records(folder))(urls, folder),
    );
    const urls = ran.records.map((line) => (JSON.parse(line) as { metadata: { server?: string } }).metadata.server);
    const failed = ran.records.filter((line) => "error" in (JSON.parse(line) as object));
    assert.equal(new Set(urls).size, 3, ran.err);
    assert.ok(urls.every((url) => /^127\.0\.0\.1:\d+$/.test(url ?? "")));
    assert.equal(new Set(failed.map((line) => /"server":"([^"]+)"/.exec(line)?.[1])).size, 1);
    assert.equal(ran.exported.match(/"server":"127\.0\.0\.1:\d+"/g)?.length, 6);
    const alone = await run([answerAtOnce], (one, folder) =>
      profile("--request-count", "4", ...records(folder))(one, folder),
    );
    assert.doesNotMatch(alone.records.join() + alone.exported, /"server"/);
  });

  test("a failing server is named, and the others continue", LIMIT, async () => {
    const { code, err, reported } = await run(
      [answerAtOnce, (response) => response.writeHead(500).end()],
      profile("--request-count", "10"),
    );
    assert.deepEqual([code, reported], [1, 5], err);
    assert.match(err, /5 of 10 requests failed[\s\S]*5 x http: 127\.0\.0\.1:\d+: HTTP status 500/);
  });
});

test("a YAML file has them all", LIMIT, async () => {
  const { code, err, reported, servers } = await run([answerAfter(2), answerAfter(2)], async ([url, more], folder) => {
    const file = join(folder, "run.yaml");
    const lines = [
      "model_name: tiny",
      `endpoint: { type: chat, url: "${url}" }`,
      "input: { num_dataset_entries: 2, synthetic_tokens: { mean: 12 } }",
      `output: { artifact_directory: "${join(folder, "artifacts")}" }`,
      `tokenizer: { name: "${TINY}" }`,
      "rampart:",
      "  duration: 2",
      "  grace_period: 5",
      "  warmup_duration: 0.1",
      "  cancel_percentage: 50",
      "  cancel_delay: 0",
      `  more_urls: ["${more}"]`,
    ];
    await writeFile(file, `${lines.join("\n")}\n`);
    return ["config", "-f", file];
  });
  assert.equal(code, 0, err);
  const [, cancelled = 0, measured = 0] = (/(\d+) of (\d+) requests were cancelled/.exec(err) ?? []).map(Number);
  assert.ok(cancelled > 0, err);
  assert.match(err, /x cancelled: cancelled as soon as it was sent/);
  assert.equal(reported, measured - cancelled);
  // The warm-up's are more.
  const counts = servers.map(({ requestCount }) => requestCount);
  assert.ok(counts.every((count) => count > 5) && (counts[0] ?? 0) + (counts[1] ?? 0) > measured, String(counts));
});

const refused: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [["--more-urls", "a b", "http://x:0"], /--more-urls: a b is not an address[\s\S]*--more-urls: http:\/\/x:0 is not/],
  [["--url", "http://:80"], /--url: http:\/\/:80 is not an address/],
  [["--warmup-duration", "-1"], /--warmup-duration: .*-1/],
  [["--benchmark-duration", "0"], /--benchmark-duration: .*0/],
  [["--request-cancellation-rate", "101"], /--request-cancellation-rate: .*101/],
  [["--request-cancellation-delay", "1"], /--request-cancellation-delay needs --request-cancellation-rate/],
];
for (const [args, message] of refused) {
  test(`refused before anything is sent or written: ${args.join(" ")}`, LIMIT, async () => {
    const { code, err, servers, files } = await run([answerAtOnce], profile(...args));
    assert.equal(code, 1);
    assert.match(err, message);
    assert.deepEqual([servers[0]?.requestCount, files.length], [0, 0]);
  });
}

test("a duration and the options that it excludes", LIMIT, async () => {
  const together = await run([answerAtOnce], async ([url = ""], folder) => {
    const file = join(folder, "run.yaml");
    const lines = [
      "model_name: tiny",
      `endpoint: { type: chat, url: "${url}" }`,
      "perf_analyzer: { measurement: { mode: request_count, num: 6 } }",
      "rampart: { duration: 1 }",
    ];
    await writeFile(file, `${lines.join("\n")}\n`);
    return ["config", "-f", file];
  });
  assert.equal(together.code, 1);
  assert.match(together.err, /run\.yaml:4:\d+: a duration cannot be given together with a number of requests/);
  const scheduled = await run([answerAtOnce], async (urls, folder) => {
    const file = writeIn(folder, "trace.jsonl", '{"timestamp":0,"text_input":"x"}\n');
    const more = ["--fixed-schedule", "true", "--input-file", `payload:${file}`, "--warmup-duration", "1"];
    return profile(...more, "--benchmark-duration", "1")(urls, folder);
  });
  assert.equal(scheduled.code, 1);
  assert.match(scheduled.err, /--benchmark-duration is not possible with --fixed-schedule/);
  assert.match(scheduled.err, /--warmup-duration is not possible with --fixed-schedule/);
  const conversing = ["--session-concurrency", "2", "--num-sessions", "2", "--benchmark-duration", "1"];
  const sessions = await run([answerAtOnce], profile(...conversing));
  assert.equal(sessions.code, 1);
  assert.match(sessions.err, /--benchmark-duration is not possible with --session-concurrency/);
});
