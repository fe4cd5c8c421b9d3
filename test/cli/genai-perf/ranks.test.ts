import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../make-folder.ts";
import { closing } from "../../servers/listen.ts";
import { ensureOpenMpi } from "../../servers/open-mpi.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { rampartCommand, startProcess } from "../rampart-process.ts";
import { answerChat } from "./chat-server.ts";
import { readAll, runCaptured } from "./run-captured.ts";

/** `--enable-mpi` after `--`: profiles of several ranks under Open MPI's own mpirun. */

const RANKS = 2;
const REQUESTS = 6;

/** A chat server that answers nobody before each rank has sent a request. */
async function startMeetingServer() {
  const waiting: ServerResponse[] = [];
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const rank = String(request.headers["x-rank"]);
      counts.set(rank, (counts.get(rank) ?? 0) + 1);
      waiting.push(response);
      if (counts.size === RANKS) for (const one of waiting.splice(0)) answerChat(one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `127.0.0.1:${(server.address() as AddressInfo).port}`, counts, close };
}

const CHAT = ["-m", "tiny", "--tokenizer", TINY, "--endpoint-type", "chat", "--streaming"];
const SMALL = ["--synthetic-input-tokens-mean", "5", "--request-count", String(REQUESTS)];

test(
  "the ranks measure at the same time, each into a folder of its own, and the folders can be merged",
  LIMIT,
  async () => {
    const folder = makeFolder();
    const server = await startMeetingServer();
    try {
      const args = [...CHAT, ...SMALL, "-u", server.url, "--artifact-dir", folder];
      const rankArgs = (rank: number): string[] => {
        const command = [...rampartCommand(), "genai-perf", "profile", ...args, "-H", `X-Rank:${rank}`];
        return ["-n", "1", ...command, "--", "--enable-mpi"];
      };
      const job = [...ensureOpenMpi(), ...rankArgs(0), ":", ...rankArgs(1)];
      const { code, out, err } = await startProcess(job).result;
      assert.equal(code, 0, `${out}\n${err}`);
      assert.doesNotMatch(err, /no effect/);
      assert.deepEqual([...server.counts.values()], Array(RANKS).fill(REQUESTS));
      const files = await readAll(folder);
      for (const rank of [0, 1]) {
        const report = files.get(`tiny-openai-chat-concurrency1-rank${rank}/profile_export_genai_perf.json`) ?? "{}";
        assert.equal(JSON.parse(report).request_count?.avg, REQUESTS);
      }
      const merged = await runCaptured([
        "process-export-files",
        "-d",
        folder,
        "--artifact-dir",
        join(folder, "merged"),
      ]);
      assert.equal(merged.code, 0, merged.err);
      assert.match(merged.out, new RegExp(`Request Count \\(count\\) │ +${RANKS * REQUESTS}\\.00 `));
    } finally {
      server.close();
    }
  },
);

test("without mpirun a profile measures alone, and says so", LIMIT, async () => {
  const folder = makeFolder();
  using server = closing(createServer((request, response) => request.resume().on("end", () => answerChat(response))));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = [...CHAT, ...SMALL, "-u", url, "--artifact-dir", folder, "--", "--enable-mpi"];
  const { code, err } = await runCaptured(["profile", ...args]);
  assert.equal(code, 0, err);
  assert.match(err, /--enable-mpi after -- has no effect: /);
  assert.ok([...(await readAll(folder)).keys()].includes("tiny-openai-chat-concurrency1"));
});

for (const [name, args] of [
  ["a sweep", ["analyze", ...CHAT, ...SMALL, "--sweep-type", "concurrency", "--sweep-list", "1,2"]],
  ["a checkpoint", ["profile", ...CHAT, ...SMALL, "--enable-checkpointing"]],
] as const)
  test(`--enable-mpi is refused with ${name}, which can have another number of runs on each rank`, LIMIT, async () => {
    const { code, err } = await runCaptured([...args, "--", "--enable-mpi"]);
    assert.equal(code, 1);
    assert.match(err, /^Error: -- --enable-mpi: --enable-mpi after -- is for one run on all ranks, and .* can have/m);
  });
