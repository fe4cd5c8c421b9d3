import type { Dataset } from "../../inputs/dataset.ts";
import type { HeldEntries } from "../../inputs/held-entries.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import type { Share } from "../../load/share.ts";
import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { OpenSocket } from "../../runtime/socket.ts";
import type { ServerCounters } from "../../service/server-counters.ts";
import type { Service, ServiceTraits } from "../../service/service.ts";
import type { ClientOptions, CreateClient, LoadClient, ResponseNeeds } from "../../transport/client.ts";
import type { RunSignal } from "../interrupt.ts";
import type { SharedTensors } from "./shared-tensors.ts";

/** A target before the first query. */
export interface Target<S extends Session = Session> {
  /**
   * Queries the model and loads the data. Sends the first queries before it returns.
   * @throws RunError or UserError when no run is possible
   */
  setUp(): Promise<S>;
  /** Whether the server has been queried, which opens a connection. */
  isQueried(): boolean;
  createClient(options: ClientOptions): LoadClient;
  /** The plan, with a started server in place of the embedded target. */
  readonly served: Plan;
  /** Applies the plan's trace settings and returns a function that restores the previous ones. Undefined when the plan has none. */
  readonly setTrace: (() => Promise<() => Promise<void>>) | undefined;
  /** Closes the target. Returns the reasons why shared memory could not be unregistered. */
  close(): Promise<readonly string[]>;
}

/** A member of a mix, as if it were measured alone. */
export interface MemberSession {
  readonly name: string;
  readonly plan: Plan;
  readonly session: TargetSession;
}

/** A target, or a mix of targets, with its models and data. */
export type Session = TargetSession | MixSession;

interface SessionBase {
  readonly dataset: Dataset;
  readonly warnings: readonly Text[];
  /** Returns the server's current counters; undefined when the server has none. */
  counters(): Promise<ServerCounters[] | undefined>;
}

/** A target with its model and data. */
export interface TargetSession extends SessionBase {
  readonly service: Service;
  readonly members?: undefined;
  /** Names of the servers by index. Absent: one server. */
  readonly serverNames?: readonly string[];
  /** Present when tensors are in shared memory. */
  readonly shared: SharedTensors | undefined;
  /** See `Links`. Absent: the client cannot work without its server. */
  createSinkClient?(open: OpenSocket): Promise<CreateClient>;
}

/** The members of a mix as one target. Each member has its own codec. */
export interface MixSession extends SessionBase {
  readonly service: ServiceTraits;
  readonly members: readonly MemberSession[];
  /** Response needs of each member's client. */
  readonly responses: readonly ResponseNeeds[];
}

/** Entries that were made once, by member of a mix, or of the only target. Undefined: that target's data is not made once. */
export type MadeInputs = readonly (HeldEntries | undefined)[];

/** Options for opening a target, besides its plan. */
export interface TargetOptions {
  readonly observer: RunObserver;
  readonly search: LevelSearch;
  /** Shortens timeouts when interrupted. */
  readonly signal: RunSignal;
  /** The entries of the plan's input file. Default: the file is read. */
  readonly held?: HeldEntries | undefined;
  /** The entries of each member of a mix, or of the only target, if they were made once. Default: they are made or read here. */
  readonly made?: MadeInputs | undefined;
  /** Index of the sender that opens the target, and number of senders. Default: one sender. */
  readonly senders?: Share | undefined;
}
