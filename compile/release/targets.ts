/** A platform for which an executable is built. */
export interface Target {
  /** Name of the executable after `rampart-`. */
  readonly name: string;
  /** Bun's name of the target. */
  readonly bun: string;
  /** npm package of Bun's runtime, of the version of the package `bun`. */
  readonly package: string;
  /** Checksum of the package as in `package-lock.json`, for a package that does not stand there. It changes with Bun's version. */
  readonly integrity?: string;
  /** What the executable must be. `loader`: the dynamic loader that it names. */
  readonly format: "ELF" | "Mach-O" | "PE";
  readonly machine: "x64" | "arm64";
  readonly loader?: string;
}

/** All platforms of a release. `baseline` is for x64 processors without AVX2. */
export const TARGETS: readonly Target[] = [
  linux("linux-x64", "x64", "ld-linux-x86-64.so.2"),
  {
    ...linux("linux-x64-baseline", "x64", "ld-linux-x86-64.so.2"),
    integrity: "sha512-s8yMwYcFnnrA178gji0gZbkE2WVDej/Ti1x770oPfihxyRxSMNhGhiAQNXV53aDeraZxksdvKV/RAdQBCd0qPA==",
  },
  linux("linux-x64-musl", "x64", "ld-musl-x86_64.so.1"),
  linux("linux-arm64", "arm64", "ld-linux-aarch64.so.1"),
  linux("linux-arm64-musl", "arm64", "ld-musl-aarch64.so.1"),
  { name: "macos-x64", bun: "bun-darwin-x64", package: "@oven/bun-darwin-x64", format: "Mach-O", machine: "x64" },
  {
    name: "macos-arm64",
    bun: "bun-darwin-arm64",
    package: "@oven/bun-darwin-aarch64",
    format: "Mach-O",
    machine: "arm64",
  },
  { name: "windows-x64", bun: "bun-windows-x64", package: "@oven/bun-windows-x64", format: "PE", machine: "x64" },
];

function linux(name: string, machine: Target["machine"], loader: string): Target {
  const packageName = `@oven/bun-${name.replace("arm64", "aarch64")}`;
  return { name, bun: `bun-${name}`, package: packageName, format: "ELF", machine, loader };
}

/** Returns the ending of executables of a target. */
export function suffixOf({ format }: Target): string {
  return format === "PE" ? ".exe" : "";
}

/** Returns the name of a target's executable in a release. */
export function executableName(target: Target): string {
  return `rampart-${target.name}${suffixOf(target)}`;
}
