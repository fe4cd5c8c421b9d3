import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAllDocuments } from "yaml";

/** What a cluster makes of a manifest, as far as the tests need it: arguments, environments and mounted files. */

/** An object of a manifest. */
export type KubeObject = Readonly<Record<string, unknown>> & {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

interface EnvEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

/** A container of a pod. */
export interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly env: readonly EnvEntry[];
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly securityContext: { readonly runAsUser: number };
  readonly volumes?: readonly {
    readonly projected?: {
      readonly sources: readonly { readonly configMap?: KeyedSource; readonly secret?: KeyedSource }[];
    };
  }[];
}

interface KeyedSource {
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string }[];
}

interface WithPods {
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}

/** Reads a manifest as kubectl does. */
export class Manifest {
  readonly text: string;
  readonly objects: readonly KubeObject[];

  constructor(text: string) {
    this.text = text;
    this.objects = parseAllDocuments(text, { version: "1.1" }).map((document) => {
      if (!("toJS" in document) || document.errors.length > 0) throw new Error("it is no YAML");
      return document.toJS() as KubeObject;
    });
  }

  /** Returns the only object of a kind, or the one with this name. */
  find<T = KubeObject>(kind: string, name?: string): T {
    const found = this.objects.filter((one) => one.kind === kind && (name ?? one.metadata.name) === one.metadata.name);
    if (found.length !== 1) throw new Error(`${found.length} of ${kind}`);
    return found[0] as T;
  }

  /** The pods of a Job or a Deployment. */
  podOf(kind: "Job" | "Deployment"): PodSpec & { readonly container: Container } {
    const { spec } = this.find<WithPods>(kind).spec.template;
    const [container] = spec.containers;
    if (container === undefined) throw new Error("there is no container");
    return { ...spec, container };
  }

  /** The texts of the Secret. */
  get secret(): Readonly<Record<string, string>> {
    return this.find<{ readonly stringData: Readonly<Record<string, string>> }>("Secret").stringData;
  }

  /** Returns the environment of a container. */
  environmentOf({ env }: Container): Record<string, string> {
    return Object.fromEntries(
      env.map(({ name, value, valueFrom }) => [name, value ?? this.secret[valueFrom?.secretKeyRef.key ?? ""] ?? ""]),
    );
  }

  /** Mounts the files of the Job's pods into a folder, with links like the kubelet. */
  mount(folder: string): void {
    const data = join(folder, "..2026_01_01");
    const names = new Set<string>();
    for (const { configMap, secret } of this.podOf("Job").volumes?.[0]?.projected?.sources ?? [])
      for (const { key, path } of (configMap ?? secret)?.items ?? []) {
        const place = join(data, path);
        mkdirSync(dirname(place), { recursive: true });
        writeFileSync(place, this.contentOf(configMap === undefined ? "Secret" : "ConfigMap", key));
        names.add(path.split("/")[0] ?? "");
      }
    symlinkSync("..2026_01_01", join(folder, "..data"));
    for (const name of names) symlinkSync(join("..data", name), join(folder, name));
  }

  private contentOf(kind: "ConfigMap" | "Secret", key: string): string | Buffer {
    const object = this.find<Readonly<Record<string, Readonly<Record<string, string>> | undefined>>>(kind);
    const text = object[kind === "Secret" ? "stringData" : "data"]?.[key];
    if (text !== undefined) return text;
    const base64 = object[kind === "Secret" ? "data" : "binaryData"]?.[key];
    if (base64 === undefined) throw new Error(`there is no ${key}`);
    return Buffer.from(base64, "base64");
  }
}

/** Replaces references to variables in an argument, by the rules of Kubernetes. */
export function expandReferences(argument: string, variables: Readonly<Record<string, string>>): string {
  return argument.replace(/\$\$|\$\((\w+)\)/g, (all, name?: string) =>
    name === undefined ? "$" : (variables[name] ?? all),
  );
}
