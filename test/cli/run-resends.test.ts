import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { readCsv } from "../report/read-csv.ts";
import { createFolder, inFolder } from "./rampart-process.ts";
import { runInFolder } from "./run-in-folder.ts";

/** Reports on connections that a server does not keep as it should: those that it closes, and those with a response too many. */

const RESPONSE = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
const EVERY = 20;

/** A server that answers nothing and closes the connection at every `EVERY`th request, and counts both. */
async function startClosing(): Promise<{ url: string; counts: { received: number; closed: number }; stop(): void }> {
  const counts = { received: 0, closed: 0 };
  const server = await startServer((socket) => {
    if (++counts.received % EVERY !== 0) socket.write(RESPONSE);
    else {
      counts.closed++;
      socket.end();
    }
  });
  return { ...server, counts };
}

/** A server that answers each request as `answer` does. */
async function startServer(answer: (socket: Socket) => void): Promise<{ url: string; stop(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const stop = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/`, stop };
}

interface JsonReport {
  readonly connections: number;
  readonly requests: { readonly sent: number; readonly completed: number; readonly failed: number; resent: number };
  readonly levels: readonly { readonly resent: number }[];
  readonly notes: readonly { readonly code: string; readonly text: string }[];
}

test("console, JSON, CSV, Markdown, page and records count requests that were sent again", async () => {
  const server = await startClosing();
  try {
    using folder = createFolder({});
    const files = ["--json", "r.json", "--csv", "r.csv", "--markdown", "r.md", "--html", "r.html"];
    const args = ["http", server.url, "-n", "200", "-c", "1", ...files, "--records", "r.jsonl"];
    const { text } = await runInFolder(folder.path, args);
    const read = (name: string): string => readFileSync(join(folder.path, name), "utf8");
    const { requests, levels, notes } = JSON.parse(read("r.json")) as JsonReport;
    const { resent } = requests;
    // The server's own counts are the truth: every request that it received is one of these.
    assert.equal(requests.sent, 200);
    assert.equal(requests.completed + requests.failed, 200);
    assert.equal(200 + resent, server.counts.received);
    assert.equal(resent + requests.failed, server.counts.closed);
    assert.ok(resent > 0, text);
    const note = new RegExp(
      `^${resent} requests? w\\w+ sent again, because the server closed the kept connection`,
      "m",
    );
    const words = text.replaceAll(/\s+/g, " ");
    assert.match(words, new RegExp(` failed ${requests.failed} .*${resent} requests? w\\w+ sent again, because`));
    assert.ok(notes.some(({ code, text: said }) => code === "sent-again" && note.test(said)));
    assert.equal(levels[0]?.resent, resent);
    const [load] = readCsv(read("r.csv")).find(([first]) => first?.["section"] === "load") ?? [];
    assert.equal(load?.["resent"], String(resent));
    assert.match(read("r.md"), new RegExp(`${requests.failed} failed, ${resent} sent again`));
    assert.match(read("r.md"), /the server closed the kept connection/);
    assert.match(read("r.html"), new RegExp(`${requests.failed} failed, ${resent} sent again`));
    assert.match(read("r.html"), /the server closed the kept connection/);
    const lines = read("r.jsonl").trim().split("\n");
    const marked = lines.filter((line) => (JSON.parse(line) as RecordLine).metadata.was_resent === true);
    assert.deepEqual([lines.length, marked.length], [200, resent]);
  } finally {
    server.stop();
  }
});

/** Returns the JSON report of a run against a server that answers as `answer` does. */
async function reportOf(answer: (socket: Socket) => void, ...args: string[]): Promise<JsonReport> {
  const server = await startServer(answer);
  try {
    return await inFolder({}, async (folder) => {
      await runInFolder(folder, ["http", server.url, ...args, "--json", "r.json"]);
      return JSON.parse(readFileSync(join(folder, "r.json"), "utf8")) as JsonReport;
    });
  } finally {
    server.stop();
  }
}

test("a server that closes each connection after its response is noted with the number of connections", async () => {
  let closed = 0;
  const close = (socket: Socket): void => {
    closed++;
    socket.end(RESPONSE.replace("\r\n", "\r\nConnection: close\r\n"));
  };
  const { notes } = await reportOf(close, "-n", "100", "-c", "2");
  const { text = "" } = notes.find(({ code }) => code === "reconnected") ?? {};
  assert.match(text, new RegExp(`between requests: ${closed} were opened for 100 requests`));
});

test("a server that keeps its connections is not said to close them where most requests are in flight together", async () => {
  const sockets = new Set<Socket>();
  const answer = (socket: Socket): void => {
    sockets.add(socket);
    setTimeout(() => socket.write(RESPONSE), 400);
  };
  const { connections, notes } = await reportOf(answer, "-n", "40", "-r", "200");
  assert.ok(sockets.size > 20 && sockets.size <= connections, `${sockets.size} of ${connections}`);
  assert.ok(!notes.some(({ code }) => code === "reconnected"));
});

test("a response that no request asked for fails the request before it, or costs its connection with a note", async () => {
  let received = 0;
  let extra = 0;
  const answer = (socket: Socket): void => {
    socket.write(RESPONSE);
    if (++received % EVERY !== 0) return;
    extra++;
    setTimeout(() => socket.write(RESPONSE), 5);
  };
  const { requests, notes } = await reportOf(answer, "-n", "100", "-r", "40");
  const { text = "" } = notes.find(({ code }) => code === "unasked-response") ?? {};
  const dropped = Number(/^(\d+) connections? w\w+ dropped/.exec(text)?.[1]);
  assert.equal(requests.completed + requests.failed, received);
  // On a busy machine the next request may already be in flight.
  assert.ok(dropped > 0 && dropped + requests.failed <= extra, `${dropped} + ${requests.failed} of ${extra}`);
  assert.ok(!notes.some(({ code }) => code === "reconnected"));
});

interface RecordLine {
  readonly metadata: { readonly was_resent?: boolean };
}
