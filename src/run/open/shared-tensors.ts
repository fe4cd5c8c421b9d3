import { assembleBatch } from "../../inputs/batches.ts";
import type { Dataset } from "../../inputs/dataset.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import type { Plan } from "../../plan/plan.ts";
import { messageOf, RunError } from "../../plan/problem.ts";
import { countOf, msToNs } from "../../plan/units.ts";
import { NO_BYTES } from "../../runtime/bytes.ts";
import { nowNs, sleepMs, sleepUnless } from "../../runtime/clock.ts";
import type { InferCodec } from "../../service/content.ts";
import { MissingCallError } from "../../service/missing-call.ts";
import type { Ask, Service, ServiceSharedMemory } from "../../service/service.ts";
import { type SharedPlace, sizeInPlace, type Tensor, type TensorSpec, tensorBytes } from "../../service/tensor.ts";
import { openCudaMemory } from "../../transport/shared-memory/cuda.ts";
import type { SharedMemory, SharedRegion } from "../../transport/shared-memory/shared-memory.ts";
import { SystemMemory } from "../../transport/shared-memory/system.ts";
import { hostLimitsOf } from "../host-limits.ts";
import { slotCountOf } from "../lanes.ts";
import { atProcessEnd } from "./process-end.ts";

/** Maximum wait for a server when unregistering regions. */
const CLOSE_MS = 2000;
const IN_USE_POLL_MS = 20;
/** Alignment of slots' places in a region, so that they do not share a cache line. */
const PLACE_ALIGNMENT = 64;

export interface SharedTensorsOptions {
  readonly memory: ServiceSharedMemory;
  readonly service: Service;
  readonly dataset: Dataset;
  /** Maximum number of outstanding requests if each needs a separate place for its outputs; otherwise 1. */
  readonly slotCount: number;
  readonly ask: Ask;
}

/** The run that needs shared memory. */
export interface SharedRun extends Omit<SharedTensorsOptions, "slotCount"> {
  readonly plan: Plan;
  readonly search: LevelSearch;
}

/** Creates the shared memory of a run. @throws RunError when that fails; everything is released then */
export async function shareTensors({ plan, memory, search, service, dataset, ask }: SharedRun): Promise<SharedTensors> {
  const isValidated = dataset.streams.some((steps) => steps.some(({ expected }) => expected.size > 0));
  try {
    if (isValidated && service.isDecoupled) {
      const message =
        "outputs of decoupled models cannot be validated in shared memory, where each response replaces the one before";
      throw new RunError("unsupported", message, "Leave out validation_data or shared memory.");
    }
    return await SharedTensors.open({
      memory,
      service,
      dataset,
      slotCount: isValidated
        ? Math.min(slotCountOf(plan, search, service), hostLimitsOf(plan, search).maxOutstanding)
        : 1,
      ask,
    });
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const { code, text, hint, facts } = error;
    throw new RunError(code, text, hint, { ...facts, stage: "shared-memory" });
  }
}

/**
 * The tensors of a run in shared memory: one region for each step of each input, and one for each output. Regions have perf_analyzer's
 * names; if another process uses one of these names, all names get this process's id as a suffix. Regions of other processes are not
 * touched.
 */
export class SharedTensors {
  /** Warnings, one sentence each. */
  readonly warnings: string[] = [];
  private readonly options: SharedTensorsOptions;
  private readonly memory: SharedMemory;
  private readonly stopGuard: () => void;
  private suffix = "";
  /** A region name that another process uses. */
  private takenName = "";
  private readonly names = new Set<string>();
  private readonly registered: SharedRegion[] = [];
  /** Inputs by step, counted over all streams. */
  private readonly inputs: Tensor[][] = [];
  private readonly outputs = new Map<string, { readonly region: SharedRegion; readonly sizeBytes: number }>();
  private readonly codecs: InferCodec[] = [];
  private closing: Promise<string[]> | undefined;

  /** Creates, fills and registers all regions. @throws RunError when that fails; everything is released then */
  static async open(options: SharedTensorsOptions): Promise<SharedTensors> {
    const memory = options.memory.kind === "system" ? new SystemMemory() : await openCudaMemory();
    const shared = new SharedTensors(options, memory);
    try {
      await shared.share();
    } catch (error) {
      await shared.close();
      throw error;
    }
    return shared;
  }

  private constructor(options: SharedTensorsOptions, memory: SharedMemory) {
    this.options = options;
    this.memory = memory;
    this.stopGuard = atProcessEnd(
      () => memory.release(),
      () => this.close(),
    );
  }

  /** Returns the tensors of the request that starts with a step, counted over all streams. */
  inputsOf(step: number): Tensor[] {
    return this.inputs[step] as Tensor[];
  }

  /** Whether each slot has its own codec. */
  get isPerSlot(): boolean {
    return this.options.slotCount > 1;
  }

  /**
   * Returns the codec of a slot, which encodes where its outputs go.
   * @throws RunError when there are more outstanding requests than places
   */
  codecOf(slot: number): InferCodec {
    const { slotCount, service } = this.options;
    const index = this.isPerSlot ? slot : 0;
    if (index >= slotCount) {
      const message = `more than ${countOf(slotCount, "request is", "requests are")} in flight, and each needs its own place for outputs that are validated in shared memory`;
      throw new RunError("unsupported", message, "Lower the load, or leave out validation_data or shared memory.");
    }
    let codec = this.codecs[index];
    if (codec === undefined) {
      const places = new Map<string, SharedPlace>();
      for (const [name, { region, sizeBytes }] of this.outputs)
        places.set(name, { region: region.name, offset: index * strideOf(sizeBytes), sizeBytes });
      codec = (service.codec.withOutputsAt as NonNullable<InferCodec["withOutputsAt"]>)(places);
      this.codecs[index] = codec;
    }
    return codec;
  }

  /** Reads an output that the server wrote to a slot's place, as the response describes it. */
  read({ name, shape, datatype }: Tensor, slot: number): Uint8Array {
    const output = this.outputs.get(name);
    if (output === undefined) return NO_BYTES;
    const { region, sizeBytes } = output;
    const offset = (this.isPerSlot ? slot : 0) * strideOf(sizeBytes);
    const fixedBytes = tensorBytes(shape, datatype);
    if (fixedBytes >= 0) return region.read(offset, Math.min(fixedBytes, sizeBytes));
    const bytes = region.read(offset, sizeBytes);
    return bytes.subarray(0, sizeInPlace(shape, bytes));
  }

  /** Unregisters all regions and releases their memory. Returns a list of problems. */
  close(): Promise<string[]> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  private async closeOnce(): Promise<string[]> {
    let unregistered: string[] | undefined;
    const done = this.unregisterAll().then((problems) => {
      unregistered = problems;
    });
    await sleepUnless(CLOSE_MS, done);
    this.memory.release();
    this.stopGuard();
    return unregistered ?? ["it did not answer the request to unregister regions"];
  }

  private async unregisterAll(): Promise<string[]> {
    const problems: string[] = [];
    const deadlineNs = nowNs() + msToNs(CLOSE_MS);
    for (const region of this.registered.splice(0)) {
      try {
        await this.unregister(region, deadlineNs);
      } catch (error) {
        // A server that has ended has no regions.
        if (error instanceof RunError && error.code === "unreachable") return problems;
        problems.push(messageOf(error));
      }
    }
    return problems;
  }

  /** Some versions of Triton refuse to unregister while a request uses the region, even if its client has disconnected. */
  private async unregister(region: SharedRegion, deadlineNs: number): Promise<void> {
    for (;;) {
      try {
        await this.options.ask(
          this.options.memory.unregister(region),
          `shared memory region '${region.name}' unregistered`,
        );
        return;
      } catch (error) {
        if (!messageOf(error).includes("currently in use") || nowNs() > deadlineNs) throw error;
        await sleepMs(IN_USE_POLL_MS);
      }
    }
  }

  private async share(): Promise<void> {
    if (await this.shareAs("")) return;
    await this.unregisterAll();
    this.memory.release();
    this.names.clear();
    this.outputs.clear();
    this.inputs.length = 0;
    const suffix = `_${process.pid}`;
    this.warnings.push(
      `the shared memory region ${this.takenName} exists already: another run uses it, or a killed run left it on the server or in /dev/shm. The names of this run end in ${suffix}.`,
    );
    if (await this.shareAs(suffix)) return;
    const message = `shared memory regions whose names end in ${suffix} exist already`;
    throw new RunError("unsupported", message, "Unregister them on the server, and remove them from /dev/shm.");
  }

  /** Shares all tensors under names with this suffix. Returns false when a name is in use. */
  private async shareAs(suffix: string): Promise<boolean> {
    this.suffix = suffix;
    const { model, batchSize } = this.options.service;
    for (const output of model.outputs) if (!(await this.shareOutput(output))) return false;
    for (const steps of this.options.dataset.streams)
      for (let step = 0; step < steps.length; step++) this.inputs.push(assembleBatch(model, steps, step, batchSize));
    for (const { name } of model.inputs) if (!(await this.shareInput(name))) return false;
    return true;
  }

  private async shareOutput({ name, shape, datatype }: TensorSpec): Promise<boolean> {
    const { memory, slotCount, service } = this.options;
    const itemBytes = tensorBytes(shape, datatype);
    const sizeBytes = (itemBytes < 0 ? memory.outputBytes : itemBytes) * service.batchSize;
    if (sizeBytes === 0) {
      const message = `unable to allocate shared memory of 0 bytes for output '${name}', whose size the model leaves open`;
      throw new RunError("unsupported", message, { say: "output-bytes" });
    }
    const regionBytes = slotCount > 1 ? strideOf(sizeBytes) * slotCount : sizeBytes;
    const region = await this.register(name, regionBytes, NO_BYTES);
    if (region !== undefined) this.outputs.set(name, { region, sizeBytes });
    return region !== undefined;
  }

  /** Creates a region for each step of an input; steps without an optional input have none. */
  private async shareInput(name: string): Promise<boolean> {
    let index = 0;
    for (const [stream, steps] of this.options.dataset.streams.entries()) {
      for (let step = 0; step < steps.length; step++) {
        const tensors = this.inputs[index++] as Tensor[];
        const at = tensors.findIndex((tensor) => tensor.name === name);
        if (at < 0) continue;
        const { bytes, ...rest } = tensors[at] as Tensor;
        const region = await this.register(`${name}_${stream}_${step}`, Math.max(1, bytes.length), bytes);
        if (region === undefined) return false;
        tensors[at] = {
          ...rest,
          bytes: NO_BYTES,
          place: { region: region.name, offset: 0, sizeBytes: bytes.length },
        };
      }
    }
    return true;
  }

  /** Creates, fills and registers a region. Returns undefined when its name is in use. */
  private async register(wanted: string, sizeBytes: number, bytes: Uint8Array): Promise<SharedRegion | undefined> {
    const name = this.nameOf(wanted);
    this.takenName = name;
    const region = this.memory.create(name, sizeBytes);
    if (region === undefined) return undefined;
    if (bytes.length > 0) region.write(0, bytes);
    if (!(await this.announce(region))) return undefined;
    this.registered.push(region);
    return region;
  }

  /** Registers a region, with wider access if the server runs as another user. Returns false when the server already has the name. */
  private async announce(region: SharedRegion): Promise<boolean> {
    for (let isWidened = false; ; isWidened = true) {
      try {
        await this.options.ask(
          this.options.memory.register(region),
          `shared memory region '${region.name}' registered`,
        );
        if (isWidened)
          this.warnings.push(
            "the server runs as another user: other users of this machine can read and change the shared memory while the run lasts.",
          );
        return true;
      } catch (error) {
        if (messageOf(error).includes("already in manager")) return false;
        if (!(error instanceof RunError) || error.code !== "refused") throw error;
        if (error instanceof MissingCallError) throw error.reword(error.text, { say: "no-shared-memory" });
        if (this.memory.widenAccess(region)) continue;
        const hint =
          "Shared memory needs a server on this machine with the same memory: not in a separate container, and on the same GPU.";
        throw new RunError("refused", error.text, hint);
      }
    }
  }

  /** Returns a unique name without slashes, as `shm_open` requires. */
  private nameOf(wanted: string): string {
    let name = wanted.replaceAll(/[/\\]/g, "") + this.suffix;
    while (this.names.has(name)) name += "_";
    this.names.add(name);
    return name;
  }
}

function strideOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / PLACE_ALIGNMENT) * PLACE_ALIGNMENT;
}
