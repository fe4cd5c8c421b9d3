import { randomBytes } from "node:crypto";
import { Document, visit } from "yaml";
import { defined } from "../../plan/objects.ts";
import { type KeyedFiles, POD_FOLDER, type PodFile, readKeyedFiles } from "./pod-files.ts";

/** The objects of a manifest, as YAML documents. Their fields are those of Kubernetes 1.25 and newer. */

/** Settings of the objects. */
export interface JobSettings {
  /** Name of the Job, which is also the prefix of the other objects' names. */
  readonly name: string;
  readonly namespace?: string;
  readonly image: string;
  /** An existing NATS server, or the image of one to start. */
  readonly bus: { readonly url: string } | { readonly image: string };
  readonly agentCount: number;
  readonly requests: { readonly cpu: string; readonly memory: string };
  /** Path of the scenario in the pods. */
  readonly scenario: string;
  /** Further arguments of all pods. */
  readonly options: readonly string[];
  readonly files: readonly PodFile[];
  /** Environment variables of the pods, stored in the Secret. */
  readonly variables: Readonly<Record<string, string>>;
}

const BUS_PORT = 4222;
const BUS_USER = "rampart";
/** A user without files in the image. */
const USER_ID = 65_532;
/** Agents keep files of up to 256 MiB there. */
const SHARED_MEMORY = "512Mi";

const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};
const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: USER_ID,
  runAsGroup: USER_ID,
  fsGroup: USER_ID,
  seccompProfile: { type: "RuntimeDefault" },
};

/** Returns all objects as one text for `kubectl apply -f -`. Each call generates a new login for the bus. */
export function formatDocuments(settings: JobSettings): string {
  const { bus } = settings;
  const [secretFiles, files] = [true, false].map((isSecret) =>
    readKeyedFiles(settings.files.filter((file) => file.isSecret === isSecret)),
  ) as [KeyedFiles, KeyedFiles];
  const objects = [
    createConfigMap(settings, files),
    createSecret(settings, secretFiles),
    ...("image" in bus ? createBus(settings, bus.image) : []),
    createPodService(settings),
    createJob(settings, files, secretFiles),
  ];
  return objects.map(formatDocument).join("---\n");
}

/** Texts that every YAML parser reads unchanged without quotes: a word such as a name, and lines of which the first is not indented. */
const UNQUOTED = /^(?:[a-zA-Z/].*|\S.*\n[\s\S]*)$/;

/** Also quotes words such as yes, which are not texts in YAML 1.1. */
function formatDocument(object: object): string {
  const document = new Document(object, { version: "1.1", aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && !UNQUOTED.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
}

function metadata({ name, namespace }: JobSettings, component: string, suffix = ""): object {
  return {
    name: `${name}${suffix}`,
    ...defined({ namespace }),
    labels: labelsOf(name, component),
  };
}

function labelsOf(name: string, component: string): object {
  return {
    "app.kubernetes.io/name": "rampart",
    "app.kubernetes.io/instance": name,
    "app.kubernetes.io/component": component,
  };
}

function createConfigMap(settings: JobSettings, { texts, others }: KeyedFiles): object {
  const binaryData = Object.keys(others).length === 0 ? {} : { binaryData: others };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: metadata(settings, "load"), data: texts, ...binaryData };
}

function createSecret(settings: JobSettings, { texts, others }: KeyedFiles): object {
  const { name, bus, variables } = settings;
  const password = randomBytes(24).toString("base64url");
  const login =
    "url" in bus
      ? { "bus-url": bus.url }
      : {
          "bus-url": `nats://${BUS_USER}:${password}@${name}-nats:${BUS_PORT}`,
          ...{ "bus-user": BUS_USER, "bus-password": password },
        };
  return {
    ...{ apiVersion: "v1", kind: "Secret", metadata: metadata(settings, "load"), type: "Opaque" },
    stringData: { ...login, ...variables, ...texts },
    ...(Object.keys(others).length === 0 ? {} : { data: others }),
  };
}

function fromSecret({ name }: JobSettings, variable: string, key: string): object {
  return { name: variable, valueFrom: { secretKeyRef: { name, key } } };
}

/** Returns the NATS server, which stores nothing. */
function createBus(settings: JobSettings, image: string): object[] {
  const labels = labelsOf(settings.name, "bus");
  const container = {
    ...{ name: "nats", image },
    args: ["--port", String(BUS_PORT), "--user", "$(BUS_USER)", "--pass", "$(BUS_PASSWORD)"],
    env: [fromSecret(settings, "BUS_USER", "bus-user"), fromSecret(settings, "BUS_PASSWORD", "bus-password")],
    ports: [{ name: "nats", containerPort: BUS_PORT }],
    readinessProbe: { tcpSocket: { port: "nats" }, periodSeconds: 2 },
    resources: { requests: { cpu: "250m", memory: "128Mi" } },
    securityContext: CONTAINER_SECURITY,
  };
  const spec = {
    ...{ automountServiceAccountToken: false, enableServiceLinks: false },
    ...{ securityContext: POD_SECURITY, containers: [container] },
  };
  return [
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: metadata(settings, "bus", "-nats") },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    {
      ...{ apiVersion: "v1", kind: "Service", metadata: metadata(settings, "bus", "-nats") },
      spec: { selector: labels, ports: [{ name: "nats", port: BUS_PORT, targetPort: "nats" }] },
    },
  ];
}

/** Returns the service that gives each pod a name in the cluster: NAME-0.NAME, NAME-1.NAME, and so on. */
function createPodService(settings: JobSettings): object {
  const selector = labelsOf(settings.name, "load");
  return {
    ...{ apiVersion: "v1", kind: "Service", metadata: metadata(settings, "load") },
    spec: { clusterIP: "None", publishNotReadyAddresses: true, selector },
  };
}

/** Returns the Job. A failed pod ends it: a result without the pod's share of the load would be wrong. */
function createJob(settings: JobSettings, files: KeyedFiles, secretFiles: KeyedFiles): object {
  const { name, agentCount } = settings;
  const podCount = agentCount + 1;
  const labels = labelsOf(name, "load");
  const sources = [
    { configMap: { name, items: files.items } },
    ...(secretFiles.items.length === 0 ? [] : [{ secret: { name, items: secretFiles.items } }]),
  ];
  const spec = {
    ...{ restartPolicy: "Never", subdomain: name },
    ...{ automountServiceAccountToken: false, enableServiceLinks: false },
    securityContext: POD_SECURITY,
    topologySpreadConstraints: [
      {
        ...{ maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" },
        labelSelector: { matchLabels: labels },
      },
    ],
    containers: [createContainer(settings)],
    volumes: [
      { name: "files", projected: { sources } },
      { name: "shared-memory", emptyDir: { medium: "Memory", sizeLimit: SHARED_MEMORY } },
      { name: "temporary", emptyDir: {} },
    ],
  };
  return {
    ...{ apiVersion: "batch/v1", kind: "Job", metadata: metadata(settings, "load") },
    spec: {
      ...{ completionMode: "Indexed", completions: podCount, parallelism: podCount, backoffLimit: 0 },
      template: { metadata: { labels }, spec },
    },
  };
}

function createContainer(settings: JobSettings): object {
  const { image, scenario, options, requests, variables } = settings;
  return {
    ...{ name: "rampart", image, command: ["rampart"] },
    args: ["k8s", "pod", escapeReferences(scenario), "--bus=$(BUS_URL)", ...options.map(escapeReferences)],
    env: [
      fromSecret(settings, "BUS_URL", "bus-url"),
      ...("HOME" in variables ? [] : [{ name: "HOME", value: "/tmp" }]),
      ...Object.keys(variables).map((variable) => fromSecret(settings, variable, variable)),
    ],
    resources: { requests },
    securityContext: CONTAINER_SECURITY,
    volumeMounts: [
      { name: "files", mountPath: POD_FOLDER, readOnly: true },
      { name: "shared-memory", mountPath: "/dev/shm" },
      { name: "temporary", mountPath: "/tmp" },
    ],
  };
}

/** Escapes `$`: Kubernetes replaces `$(NAME)` in arguments, and `$$` by `$`. */
function escapeReferences(text: string): string {
  return text.replaceAll("$", "$$$$");
}
