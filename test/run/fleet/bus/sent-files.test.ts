// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import type { ToAgent } from "../../../../src/run/fleet/bus/agent-messages.ts";
import type { Link } from "../../../../src/run/fleet/bus/link.ts";
import { pack, unpack } from "../../../../src/run/fleet/bus/pack.ts";
import { noteRunFiles, ReceivedFiles, sendFiles } from "../../../../src/run/fleet/bus/sent-files.ts";
import { loadFileText, locate, readFileText, useFileMirror } from "../../../../src/runtime/files.ts";
import { makePlan } from "../../../plan/make-plan.ts";

/** The files of a run, on their way to the agents. */

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "rampart-sent-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A link whose other side takes everything at once. */
const link = { waitingBytes: 0, drain: async () => {} } as unknown as Link;

test("files arrive as they are, in a folder that only this user reads, and are read in place of those here", async () => {
  const [big, empty, small] = [
    write(
      "big.bin",
      Uint8Array.from({ length: 2_500_000 }, (_, index) => index % 253),
    ),
    write("empty.txt", ""),
    write("deep/er/small.txt", "from there"),
  ];
  const sent: ToAgent[] = [];
  const links = [{ path: join(folder, "linked"), target: join(folder, "deep") }];
  const files = { paths: [big, empty, small], links, folder, hubCache: "/hub" };
  await sendFiles(files, { link, send: (message) => sent.push(unpack(pack(message)) as ToAgent) });
  const [first, ...pieces] = sent;
  assert.deepEqual(first, { kind: "sending-files", folder, hubCache: "/hub", links, totalBytes: 2_500_010 });
  const received = new ReceivedFiles(2_500_010);
  for (const one of links) received.addLink(one);
  for (const piece of pieces) if (piece.kind === "file") received.add(piece);
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
  received.add({ ...again, bytes: Buffer.from("once") });
  assert.equal(readFileSync(join(received.root, small), "utf8"), "once");
  received.add({ kind: "file", path: "/../../escaped.txt", bytes: new Uint8Array(1), isFirst: true });
  assert.equal(statSync(join(received.root, "escaped.txt")).size, 1);
  received.remove();
  assert.throws(() => statSync(received.root));
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
