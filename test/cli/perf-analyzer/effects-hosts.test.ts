import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createUser } from "@nats-io/nkeys";
import type { BusPlan } from "../../../src/plan/plan.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { KserveServer } from "../../run/kserve-server.ts";
import { ensureOpenMpi } from "../../servers/open-mpi.ts";
import { type Certificates, makeCertificates } from "../../servers/tls.ts";
import { LIMIT } from "../../time-limit.ts";
import { rampartCommand, startProcess } from "../rampart-process.ts";
import { asAlice, withAgents } from "../with-agents.ts";
import { runCommand } from "./run-command.ts";

/** Options by which other hosts send: against a real NATS server and under a real mpirun, and a server that counts. */

const COUNTED = ["-m", "simple", "--concurrency-range", "4", "--request-count", "40"];

let certificates: Certificates;
const folder = makeFolder();
before(async () => {
  certificates = await makeCertificates();
});
after(() => certificates?.remove());

test("--bus and --agents: agents send the load, and the server gets each request once", LIMIT, async () => {
  await withAgents(2, {}, asAlice, async (url) => {
    await using server = await new KserveServer({}).start();
    const { code, out, err } = await runCommand([...COUNTED, "-u", server.url, "--bus", url, "--agents", "2"]);
    assert.equal(code, 0, err);
    assert.match(out, /^ {4}Request count: 40$/m);
    assert.equal(server.successCount, 40);
  });
});

test("--agents-wait and --allow-lost: too few agents, and more to lose than there are, are errors", LIMIT, async () => {
  await withAgents(1, {}, asAlice, async (url) => {
    await using server = await new KserveServer({}).start();
    const line = [...COUNTED, "-u", server.url, "--bus", url, "--agents", "2"];
    const few = await runCommand([...line, "--agents-wait", "300ms"]);
    assert.equal(few.code, 99);
    assert.match(few.err, /2 agents are needed, and 1 came within 0\.3 s/);
    const none = await runCommand([...line, "--allow-lost", "2"]);
    assert.equal(none.code, 99);
    assert.match(none.err, /must be below the number of agents/);
    const alone = await runCommand([...COUNTED, "-u", server.url, "--agents", "2"]);
    assert.match(alone.err, /: --bus: /);
    assert.equal(server.infers.length, 0);
  });
});

test("--bus-ca, --bus-cert and --bus-key: the bus over TLS, with a certificate as the login", LIMIT, async () => {
  const { caFile, clientCertFile: certFile, clientKeyFile: keyFile } = certificates;
  const tls = { ...certificates, asksClient: true };
  const busOf = (port: number): BusPlan => ({ url: `tls://127.0.0.1:${port}`, caFile, certFile, keyFile });
  await withAgents(1, { login: "nobody-asked", tls }, busOf, async (url) => {
    await using server = await new KserveServer({}).start();
    const line = [...COUNTED, "-u", server.url, "--bus", url, "--bus-ca", caFile];
    const { code, err } = await runCommand([...line, "--bus-cert", certFile, "--bus-key", keyFile]);
    assert.equal(code, 0, err);
    assert.equal(server.successCount, 40);
    assert.equal((await runCommand(line)).code, 99, "without a certificate");
  });
});

test("--bus-nkey and --bus-creds: files with the login", LIMIT, async () => {
  const user = createUser();
  const nkeyFile = writeIn(folder, "user.nk", user.getSeed());
  const busOf = (port: number): BusPlan => ({ url: `nats://127.0.0.1:${port}`, nkeyFile });
  await withAgents(1, { login: { nkey: user.getPublicKey() } }, busOf, async (url) => {
    await using server = await new KserveServer({}).start();
    const line = [...COUNTED, "-u", server.url, "--bus", url];
    const { code, err } = await runCommand([...line, "--bus-nkey", nkeyFile]);
    assert.equal(code, 0, err);
    assert.equal(server.successCount, 40);
    const creds = await runCommand([...line, "--bus-creds", join(folder, "none.creds")]);
    assert.equal(creds.code, 99);
    assert.match(creds.err, /none\.creds: cannot be read: /);
  });
});

test("--fleet mpi: the ranks send one load, which rank 0 reports; without it each has its own", LIMIT, async () => {
  const mpirun = ensureOpenMpi();
  await using server = await new KserveServer({}).start();
  const line = [...rampartCommand(), "perf_analyzer", ...COUNTED, "-u", server.url];
  const one = await startProcess([...mpirun, "-n", "3", ...line, "--fleet", "mpi"]).result;
  assert.equal(one.code, 0, one.err);
  assert.equal(server.successCount, 40);
  assert.equal(one.out.match(/Request count: 40$/gm)?.length, 1, one.out);
  assert.match(one.out, /^\[1,0\]<stdout>: {4}Request count: 40$/m);
  const each = await startProcess([...mpirun, "-n", "2", ...line]).result;
  assert.equal(each.code, 0, each.err);
  assert.equal(server.successCount, 40 + 80);
});
