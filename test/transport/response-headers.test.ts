import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientOptions, LoadClient, ResponseNeeds } from "../../src/transport/client.ts";
import { UndiciClient } from "../../src/transport/general/undici-client.ts";
import { Http1Client } from "../../src/transport/http1/client.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { Driver, endpointAt, getRequest } from "./drive.ts";

/** The headers of responses, for runs that read them. */

const CLIENTS: readonly (readonly [name: string, create: (port: number, options: ClientOptions) => LoadClient])[] = [
  ["own client", (port, options) => new Http1Client(endpointAt(port), options)],
  ["general client", (port, options) => new UndiciClient(endpointAt(port), options)],
];

for (const [name, create] of CLIENTS)
  test(`${name}: the headers of each response are kept when they are needed, also on a connection that is older`, async () => {
    using server = await startAnsweringServer((response, index) => {
      response.setHeader("X-Number", `no. ${index}: a`);
      response.setHeader("Set-Cookie", ["a=1", "b=2; Path=/"]);
      response.statusCode = index === 2 ? 404 : 200;
      response.end("{}");
    });
    const responses: ResponseNeeds = { keepBodies: true };
    using driver = new Driver((options) => create(Number(new URL(server.url).port), options), { responses });
    const ask = async (): Promise<readonly string[]> => {
      await driver.request(0, getRequest("/"));
      const headers = driver.client.calls[0]?.headers ?? [];
      return headers.flatMap(([key, value]) => (/^(x-number|set-cookie)$/i.test(key) ? [value] : []));
    };
    await driver.client.reserve(1);
    assert.deepEqual(await ask(), []);
    responses.keepHeaders = true;
    assert.deepEqual(await ask(), ["no. 1: a", "a=1", "b=2; Path=/"]);
    assert.deepEqual(await ask(), ["no. 2: a", "a=1", "b=2; Path=/"]);
    assert.equal(driver.client.connectionCount, 1);
    responses.keepHeaders = false;
    assert.deepEqual(await ask(), [], "those of the response before are gone");
  });
