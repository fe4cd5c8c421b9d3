// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  GeneratorError,
  type GeneratorLimits,
  runMessageGenerator,
} from "../../../src/inputs/messages/message-generator.ts";
import { makeFolder } from "../../make-folder.ts";
import { untilEnded } from "../../servers/until-ended.ts";
import { LIMIT } from "../../time-limit.ts";

/** Commands that write messages: what they may do wrong is reported, and they never outlive the run. */

const folder = makeFolder();

/** A length in this machine's byte order, for printf. */
const length = (count: number): string =>
  [...new Uint8Array(new Uint32Array([count]).buffer)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
const framed = (...texts: string[]): string =>
  `printf '${texts.map((text) => `${length(text.length)}${text}`).join("")}'`;

async function failureOf(command: string, limits?: GeneratorLimits): Promise<GeneratorError> {
  const error: unknown = await runMessageGenerator(command, limits, folder).then(
    () => assert.fail("it succeeded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GeneratorError, String(error));
  return error;
}

describe("a message generator", () => {
  const good: readonly (readonly [name: string, command: string, texts: readonly string[]])[] = [
    ["one message", framed("hello"), ["hello"]],
    ["several messages, one of them empty", framed("a", "", "ccc"), ["a", "", "ccc"]],
    ["a message in pieces", `printf '${length(4)}ab'; sleep 0.05; printf cd`, ["abcd"]],
    ["a length in pieces", `printf '\\002'; sleep 0.05; printf '\\000\\000\\000xy'`, ["xy"]],
    ["warnings on stderr", `echo careful >&2; ${framed("ok")}`, ["ok"]],
  ];
  for (const [name, command, texts] of good)
    test(`may write ${name}`, LIMIT, async () => {
      const messages = await runMessageGenerator(command, {}, folder);
      assert.deepEqual(
        messages.map((message) => Buffer.from(message).toString()),
        texts,
      );
    });

  test("may write a message of many megabytes", LIMIT, async () => {
    const size = 20_000_000;
    const [message] = await runMessageGenerator(`printf '${length(size)}'; head -c ${size} /dev/zero`);
    assert.equal(message?.length, size);
  });

  const bad: readonly (readonly [
    name: string,
    command: string,
    expected: RegExp,
    stderr: string,
    limits?: GeneratorLimits,
  ])[] = [
    ["fails", "echo 'no such model' >&2; exit 3", /ended with exit code 3$/, "no such model"],
    ["fails after its messages", `${framed("a")}; exit 1`, /ended with exit code 1$/, ""],
    ["does not exist", "./not-there", /ended with exit code 127$/, "not-there"],
    ["is killed", "kill -9 $$", /was ended by SIGKILL$/, ""],
    ["writes nothing", "true", /wrote no message$/, ""],
    ["ends within a length", "printf '\\001\\000'", /ended early: message 1 has 2 of the 4 bytes of its length$/, ""],
    ["ends within a message", `${framed("a")}; printf '${length(9)}xy'`, /ended early: message 2 has 2 of 9 bytes/, ""],
    [
      "writes text instead of a length",
      "echo 'hello world'",
      /message 1 .*which is the text "hell"/,
      "",
      { maxBytes: 1_000_000 },
    ],
    ["never stops writing", "cat /dev/zero", /wrote more than 100000 bytes$/, "", { maxBytes: 100_000 }],
    ["hangs silently", "echo waiting >&2; sleep 600", /wrote nothing for 3 s$/, "waiting", { silenceMs: 3000 }],
    [
      "dribbles for ever",
      "while :; do printf '\\000'; sleep 0.01; done",
      /did not end within 300 ms$/,
      "",
      { totalMs: 300 },
    ],
    [
      "leaves a process that holds its output",
      `sleep 600 & ${framed("a")}`,
      /did not end within 300 ms$/,
      "",
      { totalMs: 300 },
    ],
  ];
  for (const [name, command, expected, stderr, limits] of bad)
    test(`that ${name} is reported with its stderr`, LIMIT, async () => {
      const error = await failureOf(command, limits);
      assert.match(error.message, expected);
      assert.ok(error.message.includes(`\`${command}\``));
      assert.ok(error.stderr.includes(stderr), error.stderr);
    });

  test("and all that it started have ended when it is cancelled", LIMIT, async () => {
    const pids = join(folder, "pids");
    await failureOf(`sleep 600 & echo $$ $! > ${pids}; wait`, { silenceMs: 3000 });
    assert.ok(existsSync(pids));
    for (const pid of readFileSync(pids, "utf8").trim().split(" ")) await untilEnded(Number(pid));
  });
});
