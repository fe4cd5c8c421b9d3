import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readFormat } from "../../compile/release/file-format.ts";
import { checkIntegrity } from "../../compile/release/runtimes.ts";
import { makeSbom, packagesOf } from "../../compile/release/sbom.ts";
import { executableName, TARGETS } from "../../compile/release/targets.ts";

/** The parts of `npm run release`. `npm test -- --release` builds one and runs what can run here. */

const root = join(import.meta.dirname, "..", "..");
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: Record<string, { version: string; license: string; integrity?: string }>;
};

/** Headers as small as they can be. */
function elf(machine: number, loader: string): Buffer {
  const file = Buffer.alloc(160);
  file.write("\x7fELF\x02\x01", "latin1");
  file.writeUInt16LE(machine, 18);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(1, 56);
  file.writeUInt32LE(3, 64);
  file.writeBigUInt64LE(120n, 72);
  file.write(`${loader}\0`, 120);
  return file;
}

function macho(machine: number): Buffer {
  const file = Buffer.alloc(64);
  file.writeUInt32LE(0xfeedfacf);
  file.writeUInt32LE(machine, 4);
  return file;
}

function pe(machine: number): Buffer {
  const file = Buffer.alloc(256);
  file.write("MZ");
  file.writeUInt32LE(128, 0x3c);
  file.write("PE\0\0", 128);
  file.writeUInt16LE(machine, 132);
  return file;
}

describe("the format of an executable", () => {
  for (const [name, file, expected] of [
    ["ELF, x64", elf(62, "/lib/ld-musl-x86_64.so.1"), { format: "ELF", machine: "x64", loader: "ld-musl-x86_64.so.1" }],
    ["ELF, arm64", elf(183, "/lib/a.so"), { format: "ELF", machine: "arm64", loader: "a.so" }],
    ["Mach-O, x64", macho(0x01000007), { format: "Mach-O", machine: "x64" }],
    ["Mach-O, arm64", macho(0x0100000c), { format: "Mach-O", machine: "arm64" }],
    ["PE, x64", pe(0x8664), { format: "PE", machine: "x64" }],
  ] as const)
    test(`${name} is read from its header`, () => assert.deepEqual(readFormat(file), expected));

  test("of anything else is an error", () => {
    assert.throws(
      () => readFormat(Buffer.from("#!/bin/sh\necho this is a script, not an executable\n")),
      /not a 64-bit/,
    );
    assert.throws(() => readFormat(elf(3, "/lib/ld-linux.so.2")), /unknown machine: 3/);
  });
});

describe("the targets of a release", () => {
  test("have names of their own, and a checksum of their runtime", () => {
    assert.equal(new Set(TARGETS.map(executableName)).size, TARGETS.length);
    for (const { name, package: packageName, integrity } of TARGETS)
      assert.match(integrity ?? lock.packages[`node_modules/${packageName}`]?.integrity ?? "", /^sha512-/, name);
  });

  test("a package with another checksum is refused", () => {
    const bytes = Buffer.from("a package");
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    checkIntegrity("a package", bytes, integrity);
    assert.throws(() => checkIntegrity("a package", Buffer.from("another"), integrity), /a package has the checksum/);
  });
});

describe("the bill of materials", () => {
  test("takes the packages of bundled files, nested ones too", () => {
    const paths = [
      "src/main.ts",
      "node_modules/yaml/a.js",
      "node_modules/@a/b/c.js",
      "node_modules/x/node_modules/y/z.js",
    ];
    assert.deepEqual(packagesOf(paths), ["@a/b", "y", "yaml"]);
  });

  test("has exactly the bundled packages and the runtime, with the version and licence of the lock file", () => {
    const bundled = ["yaml", "@grpc/grpc-js", "@js-sdsl/ordered-map"];
    const sources = ["src/main.ts", ...bundled.map((name) => `node_modules/${name}/index.js`)];
    const sbom = makeSbom(root, sources, { version: "1.2.3" });
    assert.deepEqual(sbom.components.map(({ name }) => name).sort(), [...bundled, "bun"].sort());
    for (const name of bundled) {
      const component = sbom.components.find((one) => one.name === name);
      const locked = lock.packages[`node_modules/${name}`];
      assert.equal(component?.version, locked?.version);
      assert.deepEqual(component?.licenses, [{ license: { id: locked?.license } }]);
      const digest = Buffer.from(locked?.integrity?.slice("sha512-".length) ?? "", "base64").toString("hex");
      assert.deepEqual(component?.hashes, [{ alg: "SHA-512", content: digest }]);
    }
    const grpc = sbom.dependencies.find(({ ref }) => ref.startsWith("@grpc/grpc-js@"));
    assert.deepEqual(
      grpc?.dependsOn?.map((ref) => ref.replace(/@[^@]*$/, "")),
      ["@js-sdsl/ordered-map"],
    );
    assert.ok(
      sbom.dependencies.find(({ ref }) => ref === sbom.metadata.component["bom-ref"])?.dependsOn?.includes("bun@1.2.3"),
    );
  });

  test("is refused when a bundled package is not known", () => {
    assert.throws(() => makeSbom(root, ["node_modules/not-in-the-lock/i.js"], { version: "1" }), /not-in-the-lock/);
  });
});
