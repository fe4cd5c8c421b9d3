import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, describe, test } from "node:test";
import { loadClient } from "../../../src/run/open/create-client.ts";
import { QueryClients } from "../../../src/run/open/query-clients.ts";
import type { Query } from "../../../src/service/service.ts";
import { ControlClient } from "../../../src/transport/control-client.ts";
import { listen } from "../../servers/listen.ts";

/** Two servers, each of which answers its own name. */
async function serve(name: string): Promise<{ url: string; port: number; stop(): void }> {
  const server = createServer((_request, response) => response.end(name));
  const port = await listen(server);
  return { url: `127.0.0.1:${port}`, port, stop: () => server.close() };
}

const first = await serve("first");
const second = await serve("second");
after(() => {
  first.stop();
  second.stop();
});

async function open(port: number): Promise<ControlClient> {
  const endpoint = { host: "127.0.0.1", port, authority: `127.0.0.1:${port}`, pathPrefix: "", headers: [] };
  return new ControlClient(5e9, await loadClient("own", "http", endpoint));
}

function query(url?: string): Query {
  return {
    request: { path: "/", method: "GET", headers: [], payload: new Uint8Array(0) },
    ...(url === undefined ? {} : { url }),
    read: (body) => body,
    format: () => "",
  };
}

async function ask(clients: QueryClients, url?: string): Promise<string> {
  return new TextDecoder().decode(await clients.call(query(url)));
}

describe("queries", () => {
  test("go to the target's server, or to the one that they name, with one client for each", async () => {
    const opened: string[] = [];
    const clients = new QueryClients(await open(first.port), (url) => {
      opened.push(url);
      return open(Number(url.split(":")[1]));
    });
    const responses = [await ask(clients), await ask(clients, second.url), await ask(clients, second.url)];
    clients.close();
    assert.deepEqual(responses, ["first", "second", "second"]);
    assert.deepEqual(opened, [second.url]);
  });

  test("fail where the other server cannot be opened, which does not keep the first one from closing", async () => {
    const clients = new QueryClients(await open(first.port), () => Promise.reject(new Error("no such place")));
    await assert.rejects(ask(clients, "nowhere"), /no such place/);
    clients.lowerTimeout(1e9);
    assert.equal(await ask(clients), "first");
    clients.close();
  });
});
