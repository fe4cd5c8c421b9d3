import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { describeDefect } from "../../src/cli/guarded-io.ts";
import { registerSecret } from "../../src/plan/secrets.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";
import { createFolder } from "./rampart-process.ts";
import { runInFolder } from "./run-in-folder.ts";
import { scenarioText } from "./scenario-files.ts";

/** What servers, models, files and scenarios say does not steer the terminal. */

/** Clears the screen, sets the title, colours, moves to the line's start, C1, and turns the text around. */
const EVIL = "\u001b[2J\u001b]0;owned\u0007\u001b[31m\r\u009b1A\u202eevil\u0085";
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

const json = { "Content-Type": "application/json" };
const failing = await startAnsweringServer((response) => {
  response.writeHead(400, json).end(JSON.stringify({ error: EVIL }));
});
const bare = await startAnsweringServer((response) => {
  response.writeHead(500, { "Content-Type": "text/plain" }).end(EVIL);
});
const talking = await startAnsweringServer((response) => {
  const choices = [{ index: 0, message: { role: "assistant", content: EVIL }, finish_reason: "stop" }];
  response
    .writeHead(200, json)
    .end(JSON.stringify({ choices }).replace(/\\u00(?:1b|07)/g, (text) => JSON.parse(`"${text}"`)));
});
const streaming = await startAnsweringServer((response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.end(`event: error\ndata: ${EVIL.replace("\r", "")}\n\n`);
});
const listing = await startAnsweringServer((response) => {
  response.writeHead(200, json).end(JSON.stringify({ data: [{ id: EVIL }, { id: `${EVIL}2` }] }));
});
after(() => {
  for (const server of [failing, bare, talking, streaming, listing]) server.close();
});

const PAYLOADS = JSON.stringify({ data: [{ payload: [{ model: "m", messages: [] }] }] });
const PERF = "perf_analyzer -m m --request-count 1 -v -v";
const OPENAI = `${PERF} --async --service-kind openai --endpoint v1/x --input-data in.json`;
const PROFILE = `genai-perf profile -m tiny --endpoint-type chat --osl 2 --request-count 1 -v --tokenizer ${TINY}`;
const target = (url: string, more = ""): string =>
  scenarioText({
    target: `openai("${url}", { model: "m", tokenizer: "none"${more} })`,
    inputs: 'input.payloads("./in.json")',
    load: "hold(1, { requests: 1 })",
  });

interface Case {
  readonly what: string;
  readonly args: string | readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = [
  { what: "an error, perf_analyzer", args: `${PERF} -u ${failing.url}` },
  { what: "a bare error, scenario", args: "run x.ts", files: { "x.ts": target(bare.url) } },
  { what: "an error, perf_analyzer's openai", args: `${OPENAI} -u ${failing.url}` },
  { what: "a response, perf_analyzer's openai", args: `${OPENAI} -u ${talking.url}` },
  { what: "an event, perf_analyzer's openai", args: `${OPENAI} --streaming -u ${streaming.url}` },
  { what: "an error, genai-perf", args: `${PROFILE} -u ${failing.url}` },
  { what: "a response, genai-perf", args: `${PROFILE} -u ${talking.url}` },
  { what: "an event, genai-perf", args: `${PROFILE} --streaming -u ${streaming.url}` },
  { what: "an error, scenario", args: "run x.ts", files: { "x.ts": target(failing.url) } },
  { what: "an event, scenario", args: "run x.ts", files: { "x.ts": target(streaming.url, ", streaming: true") } },
  { what: "a scenario's name", args: "run x.ts", files: { "x.ts": scenarioText({ name: JSON.stringify(EVIL) }) } },
  {
    what: "a scenario's mistake",
    args: "run x.ts",
    files: { "x.ts": scenarioText({ [`[${JSON.stringify(EVIL)}]`]: "1", load: JSON.stringify(EVIL) }) },
  },
  { what: "a file that is no JSON", args: `${OPENAI} -u ${talking.url}`, files: { "in.json": `[${EVIL}` } },
  { what: "a dry run", args: ["perf_analyzer", "-m", EVIL, "--dry-run"] },
  { what: "an unknown command", args: [EVIL] },
  { what: "a flag's value", args: ["perf_analyzer", "-m", "m", "-i", EVIL] },
  { what: "models of a wizard", args: `init --no-run --target openai --url ${listing.url} --save w.ts --yes` },
  {
    what: "models of a wizard, chosen",
    args: `init --no-run --target openai --url ${listing.url} --save w.ts --yes --model none`,
  },
  { what: "a wizard's error", args: `init --no-run --target triton --url ${failing.url} --save w.ts --yes` },
];

describe("control characters", () => {
  test("and descriptions of defects contain no secrets", () => {
    registerSecret("defect-key-1");
    const text = describeDefect(new Error(`no defect-key-1 ${EVIL}`));
    assert.match(text, /^rampart: internal error: .*no \*\*\* \\u001b\[2J/);
    assert.doesNotMatch(text, CONTROLS);
  });

  for (const { what, args, files } of CASES)
    test(`do not reach the terminal: ${what}`, LIMIT, async () => {
      using folder = createFolder({ "in.json": PAYLOADS, ...files });
      const { text } = await runInFolder(folder.path, typeof args === "string" ? args.split(" ") : args);
      // What follows a carriage return that ends a line, as in heads of HTTP, stays.
      const shown = text.replaceAll("\r\n", "\n");
      const at = shown.search(CONTROLS);
      assert.ok(at < 0, JSON.stringify(shown.slice(Math.max(0, at - 100), at + 50)));
      assert.match(shown, /\\u001b/);
    });
});
