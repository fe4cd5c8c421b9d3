import { batchSizeProblems, checkBatches } from "../../inputs/batches.ts";
import type { Dataset } from "../../inputs/dataset.ts";
import { applyShapes, shapeProblems } from "../../inputs/shapes.ts";
import { LEVEL_UNITS } from "../../load/level-units.ts";
import { startEmbedded } from "../../mock/embedded.ts";
import { maxResponseBytesOf } from "../../plan/defaults.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { messageOf, RunError, UserError } from "../../plan/problem.ts";
import { DEFAULT_SEQUENCES } from "../../plan/sequences.ts";
import type { TracePlan } from "../../plan/telemetry.ts";
import { msToNs } from "../../plan/units.ts";
import { loadInputs, loadInputsEarly } from "../../registry/input-kinds.ts";
import { levelUnitOf, loadModeOf } from "../../registry/load-modes.ts";
import { type ServerTargetPlan, serviceKindOf, targetKindOf } from "../../registry/service-kinds.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { InferCodec } from "../../service/content.ts";
import { MissingCallError } from "../../service/missing-call.ts";
import type { Ask, Service, ServiceAddress, ServiceFront } from "../../service/service.ts";
import { describeTrace, setTrace, toTraceValues } from "../../telemetry/trace-settings.ts";
import type { ClientOptions, CreateClient } from "../../transport/client.ts";
import { ControlClient, MOST_CONTROL_BYTES } from "../../transport/control-client.ts";
import { stampedPayload } from "../../transport/request.ts";
import { INTERRUPTED_LIMIT_NS } from "../interrupt.ts";
import { createAsk } from "./ask.ts";
import { connect, type Links, toLinks } from "./links.ts";
import { QueryClients } from "./query-clients.ts";
import type { Session, Target, TargetOptions, TargetSession } from "./session.ts";
import { shareTensors } from "./shared-tensors.ts";
import { unlessSilent } from "./silent-server.ts";

/** Timeout for restoring settings, so that a dead server cannot delay the end of a run. */
const RESTORE_TIMEOUT_MS = 5000;

/**
 * Applies the plan's trace settings.
 * @returns a function that restores the previous settings within 5 s, and reports a failure to the observer
 * @throws RunError with the settings that the server rejects; nothing is changed then
 */
export async function setServerTrace(
  trace: TracePlan,
  front: ServiceFront,
  ask: Ask,
  observer: RunObserver,
): Promise<() => Promise<void>> {
  if (front.traceQueries === undefined)
    throw new RunError("unsupported", "this kind of server has no trace settings", [
      "Leave out ",
      describeTrace(toTraceValues(trace)),
      ".",
    ]);
  const queries = await front.traceQueries();
  const asked = toTraceValues(trace);
  const explain = (error: unknown): never => {
    if (!(error instanceof RunError) || error.code !== "refused") throw error;
    throw error.reword(error.text, ["This server offers no trace settings: leave out ", describeTrace(asked), "."]);
  };
  const restore = await setTrace(asked, {
    read: async () => queries.parse(await ask(queries.read(), "the server's trace settings").catch(explain)),
    write: async (values) => queries.parse(await ask(queries.write(values), "")),
  });
  return async () => {
    try {
      await withinTime(restore());
    } catch (error) {
      observer.onWarning?.({ kind: "trace-kept", settings: describeTrace(asked), reason: messageOf(error) });
    }
  };
}

async function withinTime(done: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("the server does not answer")), RESTORE_TIMEOUT_MS);
  try {
    await Promise.race([done, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Opens the plan's target; an embedded target is started first. */
export async function openTarget(
  plan: Plan,
  { observer, search, signal, made, held = made?.[0], senders }: TargetOptions,
): Promise<Target<TargetSession>> {
  const started = await startTarget(plan.target);
  const target: ServerTargetPlan = started === undefined ? (plan.target as ServerTargetPlan) : started.target;
  const kind = serviceKindOf(target);
  const address = kind.address(target);
  const front = await kind.open(target);
  const links =
    kind.startServer === undefined
      ? await connect(plan, { target, address, readStreamed: front.readStreamed, senders })
      : toLinks(await kind.startServer(target));
  const control = new QueryClients(openControl(plan, address, links.createControl, observer), async (url) => {
    const create = (await links.createControlAt?.(url)) ?? links.createControl;
    return openControl(plan, { ...address, url }, create, observer);
  });
  void signal.interrupted.then(() => control.lowerTimeout(INTERRUPTED_LIMIT_NS));
  const send = createAsk({ control, address, serverName: kind.server }, observer, plan.outputs.verbosity === 2);
  let isQueried = false;
  let session: TargetSession | undefined;
  const ask: Ask = (query, what) => {
    isQueried = true;
    const asking = send(query, what);
    // Under load a slow server may be silent too.
    const isWaiting = session !== undefined || plan.behaviour?.waitsForSilentServer === true;
    return isWaiting ? asking : unlessSilent({ target, client: plan.client }, asking);
  };
  const { trace } = plan.telemetry;
  return {
    served: started === undefined ? plan : { ...plan, target },
    setTrace: trace === null ? undefined : async () => setServerTrace(trace, front, ask, observer),
    isQueried: () => isQueried,
    setUp: async () => {
      session = await setUpSession(plan, { front, links, ask, search, held, observer });
      return session;
    },
    createClient: (options) => {
      const codecOf = (): InferCodec | undefined => session?.service.codec;
      return links.createClient(plan.outputs.verbosity === 2 ? traceRequests(options, codecOf, observer) : options);
    },
    close: async () => {
      const problems = (await session?.shared?.close()) ?? [];
      control.close();
      await links.close?.();
      await started?.stop();
      return problems;
    },
  };
}

interface SetUpParts extends Pick<TargetOptions, "search" | "held" | "observer"> {
  readonly front: ServiceFront;
  readonly links: Links;
  readonly ask: Ask;
}

/** Queries the model, loads the data, and puts tensors into shared memory if the plan requests it. */
async function setUpSession(
  plan: Plan,
  { front, links, ask, search, held, observer }: SetUpParts,
): Promise<TargetSession> {
  const startWarnings = (await links.ready) ?? [];
  const early = loadInputsEarly(plan, held);
  if (early !== undefined) await early;
  const found = await front.setUp(ask);
  const { shapes = {} } = found;
  const misfits = [...batchSizeProblems(found), ...shapeProblems(found.model, shapes)];
  if (misfits.length > 0 && plan.behaviour?.sendsMisfits !== true) throw new UserError(misfits);
  const shaped = applyShapes(found.model, shapes);
  let service: Service = { ...found, model: shaped.model };
  const dataset = await (early ?? loadInputs(plan, service.model, held));
  if (links.serverCount > 1) service = shareAmong(service, plan);
  if (service.batchSize > 1) checkBatches(dataset, service);
  const { sharedMemory: memory } = service;
  const shared = memory && (await shareTensors({ plan, search, service, memory, dataset, ask }));
  if (shared !== undefined) service = { ...service, codec: shared.codecOf(0) };
  const warnings = [
    ...startWarnings,
    ...found.warnings,
    ...shaped.warnings,
    ...dataset.warnings,
    ...(shared?.warnings ?? []),
    ...unusedSequenceSettings(plan, service, dataset),
  ];
  const counters = counterReader(service, ask, observer, plan.behaviour?.needsCounters === true);
  const { serverNames, createSinkClient } = links;
  return {
    ...{ service, dataset, warnings, shared, counters },
    ...defined({ serverNames, createSinkClient }),
  };
}

/**
 * Returns the options of a client that prints its requests. @param codecOf returns the codec of the requests; undefined before the
 * model is known
 */
function traceRequests(
  options: ClientOptions,
  codecOf: () => InferCodec | undefined,
  observer: RunObserver,
): ClientOptions {
  const onRequest: ClientOptions["onRequest"] = (request, stamp) => {
    const text = codecOf()?.describe({ ...request, payload: stampedPayload(request, stamp) });
    if (text !== undefined) observer.onTrace?.({ kind: "request", text });
  };
  return { ...options, onRequest };
}

/** Restricts a service to what works with several servers. @throws RunError when requests cannot be shared among them */
function shareAmong({ statistics, composing: _, ...service }: Service, { behaviour }: Plan): Service {
  if (service.isSequence)
    throw new RunError(
      "unsupported",
      `model '${service.model.name}' takes sequences, whose requests must all reach the same server`,
      "Measure one server, or put a load balancer before them that keeps sequences together.",
    );
  // The counters of one server would look like those of all servers.
  const warnings = [...service.warnings];
  if (statistics !== undefined && behaviour?.skipsRunCounters !== true)
    warnings.push("several servers share the load: their own counts and times are not reported.");
  return { ...service, warnings };
}

/** Starts a target that belongs to the run; undefined for servers that run already. */
async function startTarget(
  target: Plan["target"],
): Promise<{ target: ServerTargetPlan; stop(): Promise<void> } | undefined> {
  const kind = targetKindOf(target);
  if (kind.toMock === undefined || kind.toServer === undefined) return undefined;
  const server = await startEmbedded(kind.toMock(target));
  const port = target.protocol === "http" ? server.httpPort : server.grpcPort;
  return { target: kind.toServer(target, port) as ServerTargetPlan, stop: server.stop };
}

function openControl(plan: Plan, address: ServiceAddress, create: CreateClient, observer: RunObserver): ControlClient {
  const isTracing = plan.outputs.verbosity === 2;
  const onWire =
    isTracing && address.wire === "http"
      ? (direction: ">" | "<", head: string) => observer.onTrace?.({ kind: "wire", direction, head })
      : undefined;
  if (isTracing && address.wire !== "http") observer.onTrace?.({ kind: "connect", url: address.url });
  const stallTimeoutNs = msToNs(plan.client.stallTimeoutMs);
  return new ControlClient(stallTimeoutNs, (options) => create({ ...options, onWire }), {
    maxResponseBytes: Math.min(MOST_CONTROL_BYTES, maxResponseBytesOf(plan.client)),
  });
}

/**
 * Returns a reader of a server's counters, which warns once when the server has none or cannot be queried.
 * @param isNeeded whether a failed query is an error instead of a warning
 */
function counterReader(service: Service, ask: Ask, observer: RunObserver, isNeeded: boolean): Session["counters"] {
  let isMissing = false;
  return async () => {
    if (isMissing) return undefined;
    try {
      const statistics = await service.statistics?.();
      return statistics?.read(await ask(statistics.query, "model statistics"));
    } catch (error) {
      const isAbsent = error instanceof MissingCallError;
      if (!isAbsent && (isNeeded || !(error instanceof RunError))) throw error;
      if (!isMissing)
        observer.onWarning?.({ kind: isAbsent ? "no-statistics" : "failed-statistics", reason: error.message });
      isMissing = true;
      return undefined;
    }
  };
}

/** Returns a sentence for each sequence setting that has no effect in this run. */
function unusedSequenceSettings({ sequences, load }: Plan, { isSequence }: Service, { streams }: Dataset): string[] {
  const mode = loadModeOf(load);
  const { length, lengthVariationPct, startId, idCount, concurrent, isSerial } = DEFAULT_SEQUENCES;
  const isDealt = sequences.concurrent !== concurrent || sequences.isSerial !== isSerial;
  if (isSequence) {
    if (!isDealt || LEVEL_UNITS[levelUnitOf(load)].isScheduled) return [];
    return [
      "the number of sequences and their serial order have no effect with a concurrency: each request in flight belongs to a sequence of its own.",
    ];
  }
  const isShaped =
    sequences.length !== length ||
    sequences.lengthVariationPct !== lengthVariationPct ||
    sequences.startId !== startId ||
    sequences.idCount !== idCount;
  const unused: string[] = [];
  if (isDealt || isShaped) unused.push("the settings of sequences have no effect: the model takes no sequences.");
  if (streams.length > 1 && mode.dataOrder !== "in-sessions")
    unused.push(`only the first of the ${streams.length} streams of data is sent: the model takes no sequences.`);
  return unused;
}
