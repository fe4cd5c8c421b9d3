import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suffixOf, type Target } from "./targets.ts";

const root = join(import.meta.dirname, "..", "..");

/** A package of `package-lock.json`. */
interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
}

/** A target's runtime. */
export interface TargetRuntime {
  readonly path: string;
  readonly version: string;
  /** Checksum of its package, as in `package-lock.json`. */
  readonly integrity: string;
}

/**
 * Downloads a target's Bun runtime from the package registry to `.cache`, unless it is there.
 * @throws when the package is not the one that `package-lock.json`, or the target, names by its checksum
 */
export function installRuntime(target: Target): TargetRuntime {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const version = lock.packages["node_modules/bun"]?.version;
  const integrity = target.integrity ?? lock.packages[`node_modules/${target.package}`]?.integrity;
  if (version === undefined || integrity === undefined)
    throw new Error(`package-lock.json has no checksum of ${target.package}`);
  // The checksum is part of the name: another package is another folder.
  const digest = createHash("sha256").update(integrity).digest("hex").slice(0, 12);
  const folder = join(root, ".cache", "bun", `${version}-${target.name}-${digest}`);
  const path = join(folder, "package", "bin", `bun${suffixOf(target)}`);
  if (!existsSync(path)) download(`${target.package}@${version}`, integrity, folder);
  return { path, version, integrity };
}

function download(spec: string, integrity: string, folder: string): void {
  const parent = join(folder, "..");
  mkdirSync(parent, { recursive: true });
  const work = mkdtempSync(join(parent, "installing-"));
  try {
    const packed = spawnSync("npm", ["pack", "--loglevel=error", "--json", spec], {
      cwd: work,
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    if (packed.status !== 0) throw new Error(`${spec} cannot be downloaded: ${packed.stderr}`);
    const [{ filename = "" } = {}] = JSON.parse(packed.stdout) as readonly { readonly filename?: string }[];
    checkIntegrity(spec, readFileSync(join(work, filename)), integrity);
    const unpacked = spawnSync("tar", ["xzf", filename], { cwd: work, encoding: "utf8" });
    if (unpacked.status !== 0) throw new Error(`${filename} cannot be unpacked: ${unpacked.stderr}`);
    rmSync(join(work, filename));
    rmSync(folder, { recursive: true, force: true });
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @param integrity `sha512-` and the digest in base64 @throws when the bytes have another checksum */
export function checkIntegrity(name: string, bytes: Buffer, integrity: string): void {
  const found = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  if (found !== integrity) throw new Error(`${name} has the checksum ${found}, expected ${integrity}`);
}
