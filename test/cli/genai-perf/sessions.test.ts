import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder } from "../../make-folder.ts";
import { closing, listen } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { readAll, readBody, runCaptured } from "./run-captured.ts";

/** What the flags of sessions do to what is sent, and what is written of it. */

const FOLDER = "tiny-openai-chat-session_concurrency2";

interface Received {
  readonly questions: readonly string[];
  readonly roles: readonly string[];
  readonly atMs: number;
  readonly outstanding: number;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly received: readonly Received[];
  /** The folder's files, JSON parsed; empty when there is no folder. */
  readonly files: Readonly<Record<string, string>>;
}

interface Exported {
  readonly experiments: readonly {
    readonly requests: readonly { readonly timestamp: number; readonly response_timestamps: readonly number[] }[];
  }[];
}

interface InputEntry {
  readonly payload: readonly { readonly messages: readonly { readonly content: string }[] }[];
  readonly session_id?: readonly string[];
  readonly delay?: readonly number[];
}

/** @param lines of a file `given.jsonl`, which `FILE` in an argument stands for. @param failAt which requests fail, from 0 */
function profile(args: string, lines: readonly object[] = [], failAt: readonly number[] = []): Promise<Ran> {
  const base = "profile -m tiny --endpoint-type chat --synthetic-input-tokens-mean 12 --random-seed 7";
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const makeArgs = (url: string, folder: string, file: string): string[] => [
    ...base.split(" "),
    ...["--tokenizer", TINY, "--url", url, "--artifact-dir", join(folder, "artifacts")],
    ...args.split(" ").map((arg) => arg.replace("FILE", file)),
  ];
  return run(() => text, makeArgs, failAt);
}

/** @param makeText of the given file. @param makeArgs what follows `genai-perf` */
async function run(
  makeText: (url: string, folder: string) => string,
  makeArgs: (url: string, folder: string, file: string) => string[],
  failAt: readonly number[] = [],
): Promise<Ran> {
  const folder = makeFolder();
  const file = join(folder, "given.jsonl");
  const received: Received[] = [];
  let outstanding = 0;
  using server = closing(
    createServer(async (request, response) => {
      const { messages } = JSON.parse(await readBody(request)) as { messages: { role: string; content: string }[] };
      const questions = messages.filter(({ role }) => role === "user").map(({ content }) => content);
      const roles = messages.map(({ role }) => role);
      const index = received.push({ questions, roles, atMs: performance.now(), outstanding: ++outstanding }) - 1;
      response.once("close", () => outstanding--);
      const choices = [{ message: { role: "assistant", content: "the king" } }];
      if (failAt.includes(index)) response.writeHead(500).end('{"error":{"message":"boom"}}');
      else response.end(JSON.stringify({ object: "chat.completion", choices }));
    }),
  );
  const url = `http://127.0.0.1:${await listen(server)}`;
  await writeFile(file, makeText(url, folder));
  const all = makeArgs(url, folder, file);
  const ran = await runCaptured(all);
  const artifacts = join(folder, "artifacts");
  const found = existsSync(artifacts) ? { ".": "", ...Object.fromEntries(await readAll(artifacts)) } : {};
  return { ...ran, received, files: found };
}

function inputsOf({ files }: Ran): readonly InputEntry[] {
  const [, text = "{}"] = Object.entries(files).find(([path]) => path.endsWith("inputs.json")) ?? [];
  return JSON.parse(text).data;
}

/** Entries by session, in the file's order. */
function sessionsOf(ran: Ran): InputEntry[][] {
  return [...Map.groupBy(inputsOf(ran), ({ session_id }) => session_id?.[0]).values()];
}

const MADE_UP = "--num-sessions 4 --session-concurrency 2 --session-turns-mean 3";

describe("genai-perf profile with sessions", () => {
  test(
    "--num-sessions, --session-concurrency and --session-turns-mean: synthetic sessions are held",
    LIMIT,
    async () => {
      const ran = await profile(MADE_UP);
      assert.equal(ran.code, 0, ran.err);
      assert.equal(ran.received.length, 12);
      const sessions = sessionsOf(ran);
      assert.equal(sessions.length, 4);
      const asked = sessions.map((turns) => turns.map(({ payload }) => payload[0]?.messages[0]?.content ?? ""));
      for (const { questions, roles } of ran.received) {
        const session = asked.find(([first]) => first === questions[0]) ?? [];
        assert.deepEqual(questions, session.slice(0, questions.length));
        assert.deepEqual(
          roles,
          questions.flatMap((_, index) => (index === 0 ? ["user"] : ["assistant", "user"])),
        );
      }
      assert.ok(Math.max(...ran.received.map(({ outstanding }) => outstanding)) <= 2);
      for (const turns of sessions) {
        assert.deepEqual(
          turns.map((turn) => Object.keys(turn).join()),
          [...Array.from({ length: 2 }, () => "payload,session_id,delay"), "payload,session_id"],
        );
      }
      const report = JSON.parse(ran.files[join(FOLDER, "profile_export_genai_perf.json")] ?? "{}");
      assert.equal(report.request_count.avg, 12);
      assert.deepEqual(Object.keys(report.sessions).sort(), sessions.map(([turn]) => turn?.session_id?.[0]).sort());
      for (const session of Object.values(report.sessions) as { request_count: { avg: number } }[])
        assert.equal(session.request_count.avg, 3);
      assert.deepEqual(report.input_config.perf_analyzer.stimulus, { session_concurrency: 2 });
      // What was said before counts as input.
      assert.ok(report.input_sequence_length.max > 3 * 12);
    },
  );

  test("--session-turns-stddev and --session-turn-delay-stddev spread turns and pauses", LIMIT, async () => {
    const ran = await profile(
      "--num-sessions 12 --session-concurrency 12 --session-turns-mean 4 --session-turns-stddev 2 --session-turn-delay-mean 4 --session-turn-delay-stddev 2",
    );
    assert.equal(ran.code, 0, ran.err);
    const sessions = sessionsOf(ran);
    assert.ok(new Set(sessions.map((turns) => turns.length)).size > 2);
    assert.ok(sessions.every((turns) => turns.length > 0));
    const delays = inputsOf(ran).flatMap(({ delay = [] }) => delay);
    assert.ok(
      new Set(delays).size > 2 && delays.every((delay) => delay >= 0 && Number.isInteger(delay)),
      delays.join(),
    );
    assert.equal(ran.received.length, inputsOf(ran).length);
  });

  test("--session-turn-delay-mean: a turn waits this long after the previous response", LIMIT, async () => {
    const ran = await profile(
      "--num-sessions 1 --session-concurrency 1 --session-turns-mean 3 --session-turn-delay-mean 50",
    );
    const [first, second, third] = ran.received.map(({ atMs }) => atMs) as [number, number, number];
    assert.ok(second - first >= 45 && third - second >= 45, `${second - first} ${third - second}`);
    const text = ran.files["tiny-openai-chat-session_concurrency1/profile_export.json"] ?? "{}";
    const { requests } = (JSON.parse(text) as Exported).experiments[0] as Exported["experiments"][number];
    // The pause lies between requests: it is no part of a latency.
    for (const [index, { timestamp }] of requests.slice(1).entries()) {
      const pauseMs = (timestamp - (requests[index]?.response_timestamps.at(-1) ?? Number.NaN)) / 1e6;
      assert.ok(pauseMs >= 49, `${pauseMs} ms`);
    }
  });

  test(
    "--session-delay-ratio scales a payload file's pauses; its sessions are held in their own turns",
    LIMIT,
    async () => {
      const line = (session_id: string, text: string, delay: number): object => ({
        session_id,
        text,
        delay,
        priority: 1,
      });
      const lines = [line("a", "one", 4000), line("b", "three", 0), line("a", "two", 10)];
      const ran = await profile("--input-file payload:FILE --session-concurrency 2 --session-delay-ratio 0.01", lines);
      assert.equal(ran.code, 0, ran.err);
      assert.deepEqual(
        inputsOf(ran).map(({ session_id, delay }) => [session_id?.[0], delay?.[0]]),
        [
          ["a", 40],
          ["b", 0],
          ["a", 0],
        ],
      );
      assert.deepEqual(ran.received.map(({ questions }) => questions.join()).sort(), ["one", "one,two", "three"]);
      const exported = JSON.parse(ran.files[join(FOLDER, "profile_export.json")] ?? "{}").experiments[0];
      assert.deepEqual(exported.experiment, { mode: "request_rate", value: 0 });
      const last = exported.requests.at(-1).request_inputs;
      assert.deepEqual([Object.keys(last).join(), last.session_id, last.delay], ["delay,session_id,payload", "a", 0]);
    },
  );

  test(
    "conversations:FILE holds conversations, and without --session-concurrency asks their first turns",
    LIMIT,
    async () => {
      const message = (from: string, value: string): object => ({ from, value });
      const talk = (id: string): object => ({
        id,
        conversations: [message("human", `${id} 1`), message("gpt", "the lord"), message("human", `${id} 2`)],
      });
      const held = await profile("--input-file conversations:FILE --session-concurrency 2", [talk("a"), talk("b")]);
      assert.equal(held.code, 0, held.err);
      assert.deepEqual(held.received.map(({ questions }) => questions.join()).sort(), [
        "a 1",
        "a 1,a 2",
        "b 1",
        "b 1,b 2",
      ]);
      const single = await profile("--input-file conversations:FILE --request-count 4", [talk("a"), talk("b")]);
      assert.equal(single.code, 0, single.err);
      assert.deepEqual(
        single.received.map(({ questions }) => questions.join()),
        ["a 1", "b 1", "a 1", "b 1"],
      );
    },
  );

  test("a YAML file has the same effect", LIMIT, async () => {
    const makeText = (url: string, folder: string): string =>
      JSON.stringify({
        model_name: "tiny",
        endpoint: { type: "chat", url },
        perf_analyzer: { stimulus: { session_concurrency: 2 } },
        input: {
          synthetic_tokens: { mean: 12 },
          sessions: { num: 3, turns: { mean: 2, stddev: 0 }, turn_delay: { mean: 7, stddev: 0, ratio: 1 } },
        },
        output: { artifact_directory: join(folder, "artifacts") },
        tokenizer: { name: TINY },
      });
    const ran = await run(makeText, (_url, _folder, file) => ["config", "-f", file]);
    assert.equal(ran.code, 0, ran.err);
    assert.equal(ran.received.length, 6);
    assert.deepEqual(
      inputsOf(ran).map(({ delay }) => delay?.[0]),
      [7, undefined, 7, undefined, 7, undefined],
    );
  });

  test("a failed turn ends its session: unsent turns are reported, and the exit code is 1", LIMIT, async () => {
    const ran = await profile("--num-sessions 2 --session-concurrency 1 --session-turns-mean 3", [], [1]);
    assert.equal(ran.code, 1);
    assert.equal(ran.received.length, 5);
    assert.match(ran.err, /1 of 5 requests failed/);
    assert.match(ran.err, /1 of 2 sessions ended early.*; 1 turn was not sent\n/);
  });

  test("flags without effect on sessions are reported", LIMIT, async () => {
    const ran = await profile(
      `${MADE_UP} --request-count 50 --num-warmup-requests 2 -s 5 --session-delay-ratio 2 --num-dataset-entries 3`,
    );
    assert.equal(ran.code, 0);
    assert.equal(ran.received.length, 12);
    for (const what of ["the length of the measurement", "--warmup-request-count", "--stability-percentage"])
      assert.match(ran.err, new RegExp(`${what} .*--session-concurrency`));
    assert.match(ran.err, /--session-delay-ratio has no effect on pauses that are generated/);
    assert.match(ran.err, /--num-dataset-entries has no effect on sessions/);
  });

  test("timestamps that only a schedule follows are reported", LIMIT, async () => {
    const lines = [{ session_id: "a", text: "one", timestamp: 5000 }];
    const held = await profile("--input-file payload:FILE --session-concurrency 1", lines);
    assert.equal(held.code, 0, held.err);
    assert.match(held.err, /timestamps.*--fixed-schedule/);
  });

  const held = { session_id: "a", text: "one" };
  const refused: readonly (readonly [args: string, lines: readonly object[], message: RegExp])[] = [
    ["--num-sessions 2", [], /--num-sessions: sessions need --session-concurrency as the load/],
    ["--session-concurrency 2", [], /--session-concurrency: there are no sessions/],
    [
      "--session-concurrency 2 --input-file FILE",
      [{ text: "a" }],
      /there are no sessions in [\s\S]*leave out --input-file/,
    ],
    ["--num-sessions 2 --session-concurrency 3", [], /more than the 2 that are generated/],
    [
      "--num-sessions 2 --session-concurrency 1 --endpoint-type kserve",
      [],
      /the endpoint type kserve has no conversations/,
    ],
    ["--input-file payload:FILE", [held], /--input-file: request 1 has a session, which only --session-concurrency/],
    ["--input-file payload:FILE", [{ text: "a", delay: 5 }], /request 1 has a delay/],
    ["--input-file payload:FILE --fixed-schedule", [{ ...held, timestamp: 0 }], /a fixed schedule does not support/],
    ["--input-file payload:FILE --session-concurrency 1", [held, { text: "b" }], /request 2 belongs to no session/],
    ["--input-file payload:FILE --session-concurrency 2", [held], /contains 1 unique session IDs/],
    ["--input-file conversations:nowhere --session-concurrency 1", [], /invalid file_or_directory/],
  ];
  for (const [args, lines, message] of refused)
    test(`refused, and nothing is sent or left behind: ${args} ${JSON.stringify(lines)}`, LIMIT, async () => {
      const ran = await profile(args, lines);
      assert.ok(ran.code === 1 || ran.code === 2, `${ran.code}`);
      assert.match(ran.err, message);
      assert.deepEqual([ran.received.length, ran.files], [0, {}]);
    });
});
