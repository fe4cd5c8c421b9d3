// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { SentPiece, ToAgent } from "../../../../src/run/fleet/bus/agent-messages.ts";
import { pack, unpack } from "../../../../src/run/fleet/bus/pack.ts";
import {
  type FileReceiver,
  noteRunFiles,
  ReceivedFiles,
  type SentFiles,
  sendFiles,
} from "../../../../src/run/fleet/bus/sent-files.ts";
import { loadFileText, locate, readFileText, useFileMirror } from "../../../../src/runtime/files.ts";
import { makeFolder } from "../../../make-folder.ts";
import { makePlan } from "../../../plan/make-plan.ts";

/** The files of a run, on their way to the agents. */

const folder = makeFolder();

function write(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** An agent that gets what is sent to all, and what is sent to it alone. */
class TestAgent implements FileReceiver {
  readonly sent: ToAgent[] = [];
  files: ReceivedFiles | undefined;
  /** Numbers of the broadcast pieces that get lost. */
  loses: (number: number) => boolean = () => false;

  send(message: ToAgent): void {
    const received = unpack(pack(message)) as ToAgent;
    this.sent.push(received);
    if (received.kind === "sending-files") this.files = new ReceivedFiles(received.totalBytes);
    if (received.kind === "file") this.files?.add(received);
  }

  hear(piece: SentPiece): void {
    if (!this.loses(piece.number)) this.files?.add(unpack(pack(piece)) as SentPiece);
  }

  async findMissing(count: number): Promise<readonly number[]> {
    return this.files?.findMissing(count) ?? [];
  }

  async drain(): Promise<void> {}
}

/** Sends files to agents, and returns the numbers of the pieces that all were sent. */
async function castTo(agents: readonly TestAgent[], files: SentFiles, mostBytes = 1024 * 1024): Promise<number[]> {
  const numbers: number[] = [];
  const publish = (piece: SentPiece): void => {
    assert.ok(pack(piece).length <= mostBytes);
    numbers.push(piece.number);
    for (const agent of agents) agent.hear(piece);
  };
  await sendFiles(files, agents, { mostBytes, publish });
  return numbers;
}

test("files arrive as they are, in a folder that only this user reads, and are read in place of those here", async () => {
  const [big, empty, small] = [
    write(
      "big.bin",
      Uint8Array.from({ length: 2_500_000 }, (_, index) => index % 253),
    ),
    write("empty.txt", ""),
    write("deep/er/small.txt", "from there"),
  ];
  const agent = new TestAgent();
  const links = [{ path: join(folder, "linked"), target: join(folder, "deep") }];
  const files = { paths: [big, empty, small], links, folder, hubCache: "/hub" };
  const numbers = await castTo([agent], files);
  assert.deepEqual(agent.sent, [{ kind: "sending-files", folder, hubCache: "/hub", links, totalBytes: 2_500_010 }]);
  const received = agent.files as ReceivedFiles;
  for (const one of links) received.addLink(one);
  assert.equal(statSync(received.root).mode & 0o077, 0);
  assert.deepEqual(readFileSync(join(received.root, big)), readFileSync(big));
  writeFileSync(small, "from here");
  try {
    useFileMirror({ root: received.root, folder, hubCache: "/hub" });
    assert.equal(readFileText(small), "from there");
    assert.equal(await loadFileText("deep/er/small.txt"), "from there");
    assert.equal(readFileText("empty.txt"), "");
    assert.equal(locate("none.txt"), "none.txt");
  } finally {
    useFileMirror(undefined);
  }
  assert.equal(readFileText(small), "from here");
  assert.equal(readFileSync(join(received.root, folder, "linked", "er", "small.txt"), "utf8"), "from there");
  const again = { kind: "file", path: join(folder, "linked", "er", "small.txt"), isFirst: true } as const;
  received.add({ ...again, number: numbers.length, bytes: Buffer.from("once") });
  assert.equal(readFileSync(join(received.root, small), "utf8"), "once");
  const escaped = { path: "/../../escaped.txt", bytes: new Uint8Array(1), isFirst: true } as const;
  received.add({ kind: "file", number: numbers.length + 1, ...escaped });
  assert.equal(statSync(join(received.root, "escaped.txt")).size, 1);
  received.remove();
  assert.throws(() => statSync(received.root));
});

test("a piece that an agent misses comes once more, to this agent alone, and all are written in their order", async () => {
  const big = write(
    "missed.bin",
    Uint8Array.from({ length: 20_000_000 }, (_, index) => (index * 7) % 251),
  );
  const [whole, lossy, deaf] = [new TestAgent(), new TestAgent(), new TestAgent()];
  lossy.loses = (number) => number % 3 === 0;
  deaf.loses = () => true;
  const agents = [whole, lossy, deaf];
  try {
    const files = { paths: [big, write("last.txt", "last")], links: [], folder, hubCache: "/hub" };
    const numbers = await castTo(agents, files, 128 * 1024);
    assert.deepEqual(numbers, [...Array(numbers.length).keys()]);
    const again = agents.map(({ sent }) => sent.flatMap((one) => (one.kind === "file" ? [one.number] : [])));
    assert.deepEqual(again, [[], numbers.filter((number) => number % 3 === 0), numbers]);
    for (const { files: received } of agents) {
      const root = received?.root ?? "";
      assert.deepEqual(readFileSync(join(root, big)), readFileSync(big));
      assert.equal(readFileSync(join(root, folder, "last.txt"), "utf8"), "last");
    }
  } finally {
    for (const { files } of agents) files?.remove();
  }
});

test("what killed agents left is removed after an hour", () => {
  const place = "/dev/shm";
  const folderOf = (pid: number, ageMs: number): string => {
    const path = mkdtempSync(join(place, `rampart-agent-${pid}-`));
    const then = new Date(Date.now() - ageMs);
    utimesSync(path, then, then);
    return path;
  };
  // No process has this id.
  const [old, fresh, running] = [folderOf(4_194_304, 4e6), folderOf(4_194_304, 1e6), folderOf(process.pid, 4e6)];
  const received = new ReceivedFiles(10);
  try {
    assert.deepEqual([old, fresh, running].map(existsSync), [false, true, true]);
  } finally {
    received.remove();
    for (const path of [fresh, running]) rmSync(path, { recursive: true });
  }
});

test("the files that a run opens are noted, each once, and no others", async () => {
  const [one, two] = [write("one.txt", "1"), write("two.txt", "2")];
  readFileText(two);
  const noted = noteRunFiles({ paths: ["/scenario.ts"], links: [] });
  readFileText(one);
  await loadFileText(one);
  assert.throws(() => readFileText(join(folder, "missing.txt")));
  const { paths, folder: base } = await noted.end(makePlan({}));
  assert.deepEqual([paths, base], [[one], process.cwd()]);
  readFileText(two);
});
