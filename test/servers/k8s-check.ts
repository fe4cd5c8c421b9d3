import { spawnSync } from "node:child_process";
import { buildGo } from "./build-go.ts";

/** Checks a manifest, and returns what is wrong with each object, by `KIND/NAME`. */
export type KubernetesCheck = (manifest: string) => Readonly<Record<string, readonly string[]>>;

/** Builds the program that checks manifests as an API server does, see k8s-check/main.go. */
export async function openKubernetesCheck(): Promise<KubernetesCheck> {
  const program = await buildGo("k8s-check");
  return (manifest) => {
    const { stdout, stderr, status } = spawnSync(program, { input: manifest, encoding: "utf8" });
    if (status !== 0) throw new Error(`the manifest cannot be read: ${stderr}`);
    return JSON.parse(stdout) as Readonly<Record<string, readonly string[]>>;
  };
}
