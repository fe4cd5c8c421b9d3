import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { FLAGS } from "../../../src/cli/k8s/manifest.ts";
import { openKubernetesCheck } from "../../servers/k8s-check.ts";
import { LIMIT } from "../../time-limit.ts";
import { createFolder, runRampart } from "../rampart-process.ts";
import { expandReferences, Manifest } from "./cluster.ts";

/** `rampart k8s manifest`: what it prints, checked with the code by which Kubernetes's API server checks objects. */

const checkManifest = await openKubernetesCheck();

const scenario = (
  fields: string,
): string => `import { defineScenario, hold, http, input, param, triton } from "rampart";
export default defineScenario({
  name: "Résumé & co: a load",
  target: triton("gpu-host:8000", { model: "simple" }),
  load: hold(1, { requests: 10 }),
  ${fields}
});
`;
const NEEDED = ["--agents", "3", "--image", "registry.example/rampart:1"];

/** Prints the manifest of a scenario in a folder with these files. */
async function manifestOf(
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Manifest> {
  using folder = createFolder(files);
  const { code, out, err } = await runRampart(["k8s", "manifest", "load.ts", ...NEEDED, ...args], {
    cwd: folder.path,
    env,
  });
  assert.deepEqual([code, err], [0, ""]);
  return new Manifest(out);
}

/** Returns the problems with a scenario or options. */
async function problemsOf(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<string[]> {
  using folder = createFolder(files);
  const { code, out, err } = await runRampart(["k8s", "manifest", ...args], { cwd: folder.path });
  assert.deepEqual([code, out], [64, ""], err);
  return await err.split("\n").filter((line) => line !== "" && !line.startsWith("See "));
}

describe("rampart k8s manifest", LIMIT, () => {
  test("prints objects that an API server takes, with a NATS server or for one that is there", async () => {
    const files = { "load.ts": scenario(""), "ca.pem": "a certificate" };
    const own = await manifestOf(files, ["--namespace", "perf", "--name", "load-7"]);
    const kinds = own.objects.map(({ kind, metadata: { name, namespace } }) => [kind, name, namespace]);
    assert.deepEqual(kinds, [
      ["ConfigMap", "load-7", "perf"],
      ["Secret", "load-7", "perf"],
      ["Deployment", "load-7-nats", "perf"],
      ["Service", "load-7-nats", "perf"],
      ["Service", "load-7", "perf"],
      ["Job", "load-7", "perf"],
    ]);
    const there = await manifestOf(files, ["--bus", "tls://a:b@bus.example", "--bus-ca", "ca.pem"]);
    assert.deepEqual(
      there.objects.map(({ kind, metadata: { name } }) => [kind, name]),
      ["ConfigMap", "Secret", "Service", "Job"].map((kind) => [kind, "resume-co-a-load"]),
    );
    assert.equal(there.secret["bus-url"], "tls://a:b@bus.example");
    assert.ok(there.podOf("Job").container.args.includes("--bus-ca=/rampart/bus/bus-ca"));
    for (const { text, objects } of [own, there]) {
      const checked = checkManifest(text);
      assert.deepEqual(
        checked,
        Object.fromEntries(objects.map(({ kind, metadata: { name } }) => [`${kind}/${name}`, []])),
      );
    }
  });

  test("is checked by what would refuse a wrong one", async () => {
    const { text } = await manifestOf({ "load.ts": scenario("") });
    const wrong = checkManifest(
      text
        .replace("backoffLimit:", "backofLimit:")
        .replace("completionMode: Indexed", "completionMode: Sideways")
        .replace("port: 4222", "port: 99999")
        .replaceAll("runAsNonRoot: true", "runAsNonRoot: false"),
    );
    const problems = Object.fromEntries(Object.entries(wrong).filter(([, found]) => found.length > 0));
    const name = "resume-co-a-load";
    assert.deepEqual(Object.keys(problems), [`Deployment/${name}-nats`, `Job/${name}`, `Service/${name}-nats`]);
    const [deployment = "", job = "", service = ""] = Object.values(problems).map((found) => found.join());
    assert.match(deployment, /^spec.template: Forbidden: runAsNonRoot/);
    assert.match(job, /unknown field "spec.backofLimit",.*Unsupported value: "Sideways".*Forbidden: runAsNonRoot/);
    assert.match(service, /^spec.ports\[0\].port: Invalid value: 99999/);
  });

  test("has a Job with a pod for each agent and one more, which may do little and ends at the first failure", async () => {
    const manifest = await manifestOf({ "load.ts": scenario("workers: 4,") }, ["--memory", "2Gi", "-q", "--seed", "7"]);
    const { spec } = manifest.find<{ readonly spec: Readonly<Record<string, unknown>> }>("Job");
    const { completionMode, completions, parallelism, backoffLimit } = spec;
    assert.deepEqual([completionMode, completions, parallelism, backoffLimit], ["Indexed", 4, 4, 0]);
    const { container, ...pod } = manifest.podOf("Job");
    const partial = { ...pod, containers: undefined, volumes: undefined, topologySpreadConstraints: undefined };
    assert.deepEqual(JSON.parse(JSON.stringify(partial)), {
      ...{ restartPolicy: "Never", subdomain: "resume-co-a-load" },
      ...{ automountServiceAccountToken: false, enableServiceLinks: false },
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 },
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    const { args, resources, securityContext, volumeMounts } = container as typeof container & Record<string, unknown>;
    assert.deepEqual(resources, { requests: { cpu: "4", memory: "2Gi" } });
    const security = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
    assert.deepEqual(securityContext, security);
    const mounted = (volumeMounts as { readonly mountPath: string }[]).map(({ mountPath }) => mountPath);
    assert.deepEqual(mounted, ["/rampart", "/dev/shm", "/tmp"]);
    const first = ["k8s", "pod", "/rampart/files/load.ts", "--bus=$(BUS_URL)", "--agents=3", "--agents-wait=300s"];
    assert.deepEqual(args, [...first, "--seed=7", "--quiet"]);
  });

  test("gives the bus a login of its own each time, in the Secret alone", async () => {
    const both = [await manifestOf({ "load.ts": scenario("") }), await manifestOf({ "load.ts": scenario("") })];
    const passwords = both.map(({ secret }) => secret["bus-password"] ?? "");
    assert.notEqual(passwords[0], passwords[1]);
    for (const [index, { objects, secret }] of both.entries()) {
      assert.match(passwords[index] ?? "", /^[\w-]{32}$/);
      assert.equal(secret["bus-url"], `nats://rampart:${passwords[index]}@resume-co-a-load-nats:4222`);
      const others = JSON.stringify(objects.filter(({ kind }) => kind !== "Secret"));
      assert.ok(!others.includes(passwords[index] ?? "-"));
    }
  });

  test("keeps keys and secret parameters in the Secret, and other values in the arguments", async () => {
    const params = 'params: { first: param.text("a"), second: param.text("b"), key: param.text({ secret: true }) },';
    const target = 'target: http("http://gpu-host/x", { apiKeyEnv: "SOME_KEY" }),';
    const files = { "load.ts": scenario(`${params} ${target}`).replace(/\n {2}target: triton.*/, "") };
    const set = ["--set", "first=$(HOME) $$", "--set", "key=hidden-word", "--env", "OTHER"];
    const env = { SOME_KEY: "some-key", OTHER: "some-other", RAMPART_SECOND: "of the shell" };
    const manifest = await manifestOf(files, set, env);
    const { container } = manifest.podOf("Job");
    const variables = manifest.environmentOf(container);
    const { SOME_KEY, OTHER, RAMPART_SECOND, RAMPART_KEY, RAMPART_FIRST, HOME } = variables;
    assert.deepEqual(
      [SOME_KEY, OTHER, RAMPART_SECOND, RAMPART_KEY, RAMPART_FIRST, HOME],
      ["some-key", "some-other", "of the shell", "hidden-word", undefined, "/tmp"],
    );
    const args = container.args.map((one) => expandReferences(one, variables));
    assert.deepEqual(
      args.filter((one) => one.startsWith("--set")),
      ["--set=first=$(HOME) $$"],
    );
    const others = JSON.stringify(manifest.objects.filter(({ kind }) => kind !== "Secret"));
    for (const word of ["some-key", "some-other", "hidden-word", "of the shell"])
      assert.ok(!others.includes(word), word);
  });
});

describe("the files of a manifest", LIMIT, () => {
  test("are mounted as they are here: modules, data, folders, odd texts, keys of TLS in the Secret", async () => {
    const odd = [
      "yes",
      "0o17",
      "a\r\nb",
      "\ttab \n\n\n",
      "#!x\n  : - [",
      "\u0007bell",
      "é\u2028\ufeff",
      "",
      "x\n",
      "1: 2",
    ];
    const files: Record<string, string> = { "in/limit.ts": "export const one = 1;\n", "in/key.pem": "a key\n" };
    for (const [index, text] of odd.entries()) files[`data/${index}.txt`] = text;
    files["in/load.ts"] = scenario(`inputs: input.json("../rows.json"), check: () => (one === 1 ? undefined : "no"),`)
      .replace("\n", '\nimport { one } from "./limit.ts";\n')
      .replace('{ model: "simple" }', '{ model: "simple", tls: { key: "./key.pem", cert: "./key.pem" } }')
      .replace('"gpu-host', '"https://gpu-host')
      .replace("../rows.json", "../data");
    using folder = createFolder({});
    for (const name of ["in", "data", "mounted"]) mkdirSync(join(folder.path, name));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
    const bytes = Buffer.from([0, 255, 10, 128]);
    writeFileSync(join(folder.path, "data", "bytes"), bytes);
    const { code, out, err } = await runRampart(["k8s", "manifest", "in/load.ts", ...NEEDED], { cwd: folder.path });
    assert.deepEqual([code, err], [0, ""]);
    // The parser of kubectl takes no block whose first line begins with a tab.
    assert.doesNotMatch(out, /\|[-+\d]*\n\s*\t/);
    const manifest = new Manifest(out);
    manifest.mount(join(folder.path, "mounted"));
    const read = (name: string): Buffer => readFileSync(join(folder.path, "mounted", "files", name));
    for (const [name, text] of Object.entries(files)) assert.equal(read(name).toString(), text, name);
    assert.deepEqual(read("data/bytes"), bytes);
    assert.ok(Object.values(manifest.secret).includes("a key\n"));
    assert.ok(!JSON.stringify(manifest.find("ConfigMap")).includes("a key"));
  });

  test("are those of the image where the scenario names them by an absolute path", async () => {
    using folder = createFolder({ "rows.json": "{}" });
    const file = scenario(`inputs: input.json(${JSON.stringify(join(folder.path, "rows.json"))}),`);
    const manifest = await manifestOf({ "load.ts": file });
    const { data } = manifest.find<{ readonly data: object }>("ConfigMap");
    assert.deepEqual(Object.keys(data), ["0-load.ts"]);
  });

  test("that are too large for a ConfigMap are one error, which names the largest", async () => {
    const files = { "load.ts": scenario('inputs: input.json("a.json", "b.json"),') };
    const large = { ...files, "a.json": " ".repeat(300_000), "b.json": " ".repeat(900_000) };
    const [only, ...others] = await problemsOf(large, ["load.ts", ...NEEDED]);
    assert.deepEqual(others, []);
    assert.match(
      only ?? "",
      /^rampart: load\.ts: needs 1\.1 MiB of files, and a ConfigMap holds at most 1 MiB; the largest are \S+b\.json \(879 KiB\), \S+a\.json \(293 KiB\), \S+load\.ts \(1 KiB\)\. Copy them into the image, and name them in the scenario by their absolute path there\.$/,
    );
  });
});

describe("a wrong command line", LIMIT, () => {
  for (const [what, args, expected] of [
    ["nothing", [], [/SCENARIO: is needed/, /--agents: is needed/, /--image: is needed/]],
    [
      "values, with those of the scenario",
      [
        ...["load.ts", "--agents", "0", "--image", "a b", "--name", "7up", "--namespace", "A_b", "--cpu", "many"],
        ...["--memory", "1GB", "--bus", "http://x", "--html", "r.html", "--set", "x=1", "--env", "NO_SUCH_KEY"],
      ],
      [/--image/, /--namespace/, /--name/, /--cpu/, /--memory/, /--bus/, /--agents: .* 1 to 1000/, /--set x/],
    ],
    [
      "files that end with their pod, and a variable that is not set",
      ["load.ts", ...NEEDED, "--html", "r.html", "--env", "NO_SUCH_KEY"],
      [/--html: would be a file of a pod/, /NO_SUCH_KEY: the pods need/],
    ],
    [
      "an image of NATS that is not used",
      ["load.ts", ...NEEDED, "--bus", "nats://x", "--nats-image", "y"],
      [/--nats-image/],
    ],
    ["a scenario that is not there", ["other.ts", "--image", "x"], [/--agents: is needed/, /other\.ts: there is no/]],
    ["an option of run that says nothing here", ["load.ts", ...NEEDED, "--dry-run"], [/--dry-run: is not a flag/]],
  ] as const)
    test(what, async () => {
      const found = await problemsOf({ "load.ts": scenario("") }, args);
      for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? "", pattern);
      assert.equal(found.length, expected.length, found.join("\n"));
    });

  test("a scenario that pods cannot share is refused by name", async () => {
    const embedded = scenario("")
      .replace(/target: triton.*/, "target: embedded(),")
      .replace("hold,", "embedded, hold,");
    assert.match((await problemsOf({ "load.ts": embedded }, ["load.ts", ...NEEDED])).join(), /target: runs inside/);
    const late = scenario("setup: () => 5,").replace("load: hold(1", "load: (_: object, five: number) => hold(five");
    assert.match((await problemsOf({ "load.ts": late }, ["load.ts", ...NEEDED])).join(), /load: depends on what setup/);
    const files = {
      "load.ts": `import "pack";\n${scenario("")}`,
      "node_modules/pack/package.json": '{ "name": "pack", "type": "module", "main": "index.js" }',
      "node_modules/pack/index.js": "",
      "node_modules/pack/addon.node": "",
    };
    assert.match((await problemsOf(files, ["load.ts", ...NEEDED])).join(), /imports a package with a native addon/);
  });
});

test("every option of the conductor's run is there", () => {
  const names = FLAGS.map(({ name }) => name);
  assert.deepEqual([...new Set(names)], names);
  for (const name of ["workers", "set", "url", "seed", "json", "bus-creds"]) assert.ok(names.includes(name), name);
});
