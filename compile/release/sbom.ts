import { spawnSync } from "node:child_process";

/** A component of a CycloneDX document. */
export interface Component {
  readonly "bom-ref": string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly object[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly [more: string]: unknown;
}

/** A CycloneDX document, as far as it is used. */
export interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly metadata: { readonly component: Component; readonly [more: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  readonly [more: string]: unknown;
}

/** The runtime inside the executables. */
export interface BundledRuntime {
  readonly version: string;
}

/**
 * Makes the software bill of materials of the executables: `npm sbom` of the lock file, reduced to the packages whose files are bundled, and
 * Bun, which is the runtime in each executable.
 * @param root the repository
 * @param sources paths of the bundled files
 * @throws when a bundled package has no version or licence there
 */
export function makeSbom(root: string, sources: readonly string[], { version }: BundledRuntime): Sbom {
  const all = readNpmSbom(root);
  const bundled = new Set(packagesOf(sources));
  const components = all.components.filter(({ name }) => bundled.has(name));
  const known = new Set(components.filter(isComplete).map(({ name }) => name));
  const missing = [...bundled].filter((name) => !known.has(name));
  if (missing.length > 0) throw new Error(`npm sbom has no version or no licence of ${missing.join(", ")}`);
  const bun = describeBun(version);
  const { component } = all.metadata;
  const refs = new Set([component["bom-ref"], ...components.map((one) => one["bom-ref"])]);
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }))
    .map((entry) =>
      entry.ref === component["bom-ref"] ? { ...entry, dependsOn: [...entry.dependsOn, bun["bom-ref"]] } : entry,
    );
  return {
    ...all,
    // npm takes the name of the folder.
    metadata: { ...all.metadata, component: { ...component, name: "rampart" } },
    components: [...components, bun],
    dependencies: [...dependencies, { ref: bun["bom-ref"], dependsOn: [] }],
  };
}

function readNpmSbom(root: string): Sbom {
  const args = ["sbom", "--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx", "--sbom-type=application"];
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  return JSON.parse(stdout) as Sbom;
}

/** Returns the names of the packages of bundled files. */
export function packagesOf(sources: readonly string[]): string[] {
  const names = sources.flatMap((path) => {
    const inside = path.replaceAll("\\", "/").split("node_modules/").at(-1) as string;
    return path.includes("node_modules") ? [/^(@[^/]+\/)?[^/]+/.exec(inside)?.[0] as string] : [];
  });
  return [...new Set(names)].sort();
}

function isComplete({ version, licenses = [] }: Component): boolean {
  return version !== "" && licenses.length > 0;
}

/** Bun is a development dependency, and nevertheless part of each executable. */
function describeBun(version: string): Component {
  return {
    "bom-ref": `bun@${version}`,
    type: "platform",
    name: "bun",
    version,
    scope: "required",
    purl: `pkg:npm/bun@${version}`,
    licenses: [{ license: { id: "MIT" } }],
  };
}
