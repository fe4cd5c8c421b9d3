import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import { RunError } from "../../../src/plan/problem.ts";
import type { TraceEvent } from "../../../src/result/observer.ts";
import { createAsk } from "../../../src/run/open/ask.ts";
import type { QueryClients } from "../../../src/run/open/query-clients.ts";
import { MissingCallError } from "../../../src/service/missing-call.ts";
import type { Ask, Query, ServiceAddress } from "../../../src/service/service.ts";
import { ControlError } from "../../../src/transport/control-client.ts";
import type { Failure } from "../../../src/transport/failure.ts";

/** Queries to a server, and the errors that their failures become. */

const encoder = new TextEncoder();
const ADDRESS: ServiceAddress = { url: "server", wire: "http", defaultPort: 8000, headers: [] };

function query(name: string): Query {
  return {
    request: { path: `/${name}`, method: "GET", headers: [], payload: new Uint8Array(0) },
    read: (body) => new TextDecoder().decode(body),
    format: () => `response to ${name}`,
  };
}

/** Returns an `Ask` whose queries are answered by `call`. */
function askThrough(call: (query: Query) => Promise<Uint8Array>, trace?: TraceEvent[], address = ADDRESS): Ask {
  const clients = { call } as QueryClients;
  const observer = trace === undefined ? {} : { onTrace: (event: TraceEvent) => void trace.push(event) };
  return createAsk({ control: clients, address, serverName: "a test server" }, observer, trace !== undefined);
}

/** Asks a server that fails, and returns the error. */
async function errorOf(failure: Failure, body?: string, address: ServiceAddress = ADDRESS): Promise<RunError> {
  const error = new ControlError(failure, body === undefined ? undefined : encoder.encode(body));
  const ask = askThrough(() => Promise.reject(error), undefined, address);
  const found = await ask(query("x"), "the model").catch((thrown: unknown) => thrown);
  assert.ok(found instanceof RunError);
  return found;
}

test("a response is read, and responses are shown in the order of their queries", async () => {
  const trace: TraceEvent[] = [];
  const late = Promise.withResolvers<Uint8Array>();
  const ask = askThrough(
    ({ request }) => (request.path === "/late" ? late.promise : Promise.resolve(encoder.encode("early"))),
    trace,
  );
  const responses = [ask(query("late"), ""), ask(query("early"), "")];
  await new Promise(setImmediate);
  assert.equal(trace.length, 0);
  late.resolve(encoder.encode("late"));
  assert.deepEqual(await Promise.all(responses), ["late", "early"]);
  assert.deepEqual(
    trace,
    ["late", "early"].map((name) => ({ kind: "reply", text: `response to ${name}` })),
  );
});

const HTTP: Failure = { kind: "http", status: 400, message: "HTTP status 400" };
for (const [name, failure, body, code, message] of [
  ["the error in JSON", HTTP, '{"error":"unknown model"}', "refused", "unknown model"],
  ["the message in JSON with a code", HTTP, '{"code":7,"message":"no such model"}', "refused", "no such model"],
  ["the status when the message has no code", HTTP, '{"message":"hello"}', "refused", "HTTP status 400"],
  ["the status of a response that is no JSON", HTTP, "<html>", "refused", "HTTP status 400"],
  ["a server that stalls", { kind: "stalled", message: "60 s" }, undefined, "stalled", /did not answer: 60 s$/],
  ["a refused connection", { kind: "connect", message: "refused" }, undefined, "unreachable", /Couldn't connect/],
  ["a failed handshake", { kind: "tls", message: "expired" }, undefined, "unreachable", /SSL connect error/],
  ["a response that is too long", { kind: "limit", message: "too long" }, undefined, "refused", "too long"],
  ["other bytes than the protocol's", { kind: "protocol", message: "bad" }, undefined, "refused", "bad"],
] as const)
  test(`an error says ${name}`, async () => {
    const error = await errorOf(failure, body);
    assert.equal(error.code, code);
    assert.match(error.message, /^failed to get the model: /);
    if (typeof message === "string") assert.equal(error.message, `failed to get the model: ${message}`);
    else assert.match(error.message, message);
  });

test("a call that the server does not have is an error of its own", async () => {
  assert.ok((await errorOf({ ...HTTP, status: 404 })) instanceof MissingCallError);
  assert.ok(!((await errorOf(HTTP)) instanceof MissingCallError));
});

test("an address without a port is reported with the port that was tried", async () => {
  const failure: Failure = { kind: "connect", message: "refused" };
  const { hint } = await errorOf(failure);
  assert.match(word(hint), /is server \([^()]* port 8000 is used\) its HTTP address\?$/);
  const given = await errorOf(failure, undefined, { ...ADDRESS, url: "server:1", wire: "grpc" });
  assert.match(word(given.hint), /is server:1 its gRPC address\?$/);
});

test("a response that cannot be read names what the server should be", async () => {
  const ask = askThrough(() => Promise.resolve(new Uint8Array(0)));
  const unreadable: Query = {
    ...query("x"),
    read: () => {
      throw new Error("no name");
    },
  };
  await assert.rejects(ask(unreadable, ""), { message: "no name", hint: "Is this a test server?" });
});
