// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createAccount, createOperator, createUser, type KeyPair } from "@nats-io/nkeys";
import type { BusPlan } from "../../../../src/plan/plan.ts";
import { RunError, UserError } from "../../../../src/plan/problem.ts";
import { openNatsBus } from "../../../../src/run/fleet/bus/nats-bus.ts";
import { sleepMs } from "../../../../src/runtime/clock.ts";
import { makeFolder, writeIn } from "../../../make-folder.ts";
import { type Nats, type NatsOptions, startNats } from "../../../servers/nats.ts";
import { type Certificates, makeCertificates } from "../../../servers/tls.ts";
import { LIMIT } from "../../../time-limit.ts";

/** Who gets in at a real NATS server, and what a connection does. */

let certificates: Certificates;
const folder = makeFolder();
before(async () => {
  certificates = await makeCertificates();
});
after(() => certificates?.remove());

async function withNats<T>(options: NatsOptions, use: (nats: Nats) => Promise<T>): Promise<T> {
  await using nats = await startNats(options);
  return await use(nats);
}

/** Asks itself over the bus. */
async function opens(plan: BusPlan): Promise<boolean> {
  const bus = await openNatsBus(plan, "test");
  try {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const other = await openNatsBus(plan, "other");
    other.subscribe("a", (message, reply) => other.publish(reply, message));
    await sleepMs(20);
    const inbox = bus.createInbox();
    bus.subscribe(inbox, resolve);
    await sleepMs(20);
    bus.publish("a", { values: new Float64Array([1, Number.NaN]), none: undefined }, inbox);
    assert.deepEqual(await promise, { values: new Float64Array([1, Number.NaN]), none: undefined });
    await other.close();
    return bus.isGuarded;
  } finally {
    await bus.close();
  }
}

async function refusal(plan: BusPlan): Promise<RunError> {
  const error: unknown = await openNatsBus(plan, "test").then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RunError, String(error));
  return error;
}

test("a user with a password, a token and an NKey get in, and others do not", LIMIT, async () => {
  await withNats({ login: "user" }, async ({ port }) => {
    assert.equal(await opens({ url: `nats://alice:s3cret@127.0.0.1:${port}` }), true);
    const { message, code } = await refusal({ url: `nats://alice:wrong@127.0.0.1:${port}` });
    assert.equal(code, "unreachable");
    assert.match(message, new RegExp(`^the bus at 127\\.0\\.0\\.1:${port} cannot be used: .*uthorization`));
    assert.ok(!message.includes("wrong"), message);
  });
  await withNats({ login: "token" }, async ({ port }) => {
    assert.equal(await opens({ url: `nats://s3cret@127.0.0.1:${port}` }), true);
    assert.match((await refusal({ url: `nats://127.0.0.1:${port}` })).message, /uthorization/);
  });
  const user = createUser();
  const nkeyFile = writeIn(folder, "user.nk", `${new TextDecoder().decode(user.getSeed())}\n`);
  await withNats({ login: { nkey: user.getPublicKey() } }, async ({ port }) => {
    assert.equal(await opens({ url: `nats://127.0.0.1:${port}`, nkeyFile }), true);
    const other = writeIn(folder, "other.nk", createUser().getSeed());
    assert.match((await refusal({ url: `nats://127.0.0.1:${port}`, nkeyFile: other })).message, /uthorization/);
  });
});

/** A JWT as NATS has them: signed by an NKey. https://docs.nats.io/running-a-nats-service/nats_admin/security/jwt */
function makeJwt(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const sub = subject.getPublicKey();
  const claims = { jti: sub, iat: Math.floor(Date.now() / 1000), iss: issuer.getPublicKey(), sub, name: "test", nats };
  const parts = [{ typ: "JWT", alg: "ed25519-nkey" }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${text}.${Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString("base64url")}`;
}

test("the user of a credentials file gets in, and one of another account does not", LIMIT, async () => {
  const [operator, account] = [createOperator(), createAccount()];
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const writeCreds = (name: string, issuer: KeyPair): string => {
    const user = createUser();
    const jwt = makeJwt(issuer, user, { type: "user", version: 2, pub: {}, sub: {}, ...unlimited });
    const seed = new TextDecoder().decode(user.getSeed());
    const block = (what: string, text: string): string => `-----BEGIN ${what}-----\n${text}\n------END ${what}------\n`;
    return writeIn(folder, name, `${block("NATS USER JWT", jwt)}\n${block("USER NKEY SEED", seed)}`);
  };
  const settings = [
    `operator: ${makeJwt(operator, operator, { type: "operator", version: 2 })}`,
    "resolver: MEMORY",
    `resolver_preload: { ${account.getPublicKey()}: ${makeJwt(operator, account, { type: "account", version: 2, limits })} }`,
  ].join("\n");
  await withNats({ login: { settings } }, async ({ port }) => {
    const url = `nats://127.0.0.1:${port}`;
    assert.equal(await opens({ url, credsFile: writeCreds("user.creds", account) }), true);
    const other = await refusal({ url, credsFile: writeCreds("other.creds", createAccount()) });
    assert.match(other.message, /cannot be used: .*uthorization/);
    assert.match((await refusal({ url })).message, /cannot be used: .*uthorization/);
  });
});

test("with TLS, the server's certificate is checked, and the client has one where it is asked", LIMIT, async () => {
  const { caFile, otherCaFile, clientCertFile: certFile, clientKeyFile: keyFile } = certificates;
  await withNats({ tls: { ...certificates, asksClient: false } }, async ({ port }) => {
    const url = `tls://alice:s3cret@127.0.0.1:${port}`;
    assert.equal(await opens({ url, caFile }), true);
    assert.match((await refusal({ url, caFile: otherCaFile })).message, /cannot be used: .*certificate/i);
  });
  await withNats({ login: "nobody-asked", tls: { ...certificates, asksClient: true } }, async ({ port }) => {
    const url = `tls://127.0.0.1:${port}`;
    // The certificate is the login.
    assert.equal(await opens({ url, caFile, certFile, keyFile }), true);
    assert.match((await refusal({ url, caFile })).message, /cannot be used/);
  });
});

test("a server that lets everybody in is seen, and one that is not there is one error", LIMIT, async () => {
  const port = await withNats({ login: "nobody-asked" }, async (nats) => {
    assert.equal(await opens({ url: `nats://127.0.0.1:${nats.port}` }), false);
    return nats.port;
  });
  assert.match((await refusal({ url: `nats://127.0.0.1:${port}` })).message, /cannot be used: .*refused/i);
});

test("a file that cannot be read is named", LIMIT, async () => {
  const plan = { url: "nats://127.0.0.1:1", credsFile: join(folder, "none.creds") };
  await assert.rejects(openNatsBus(plan, "test"), (error) => {
    assert.ok(error instanceof UserError);
    assert.deepEqual(
      error.problems.map(({ code, path }) => [code, path]),
      [["unreadable", plan.credsFile]],
    );
    return true;
  });
});
