import type { Call, ClientOptions, LoadClient, ServerLoad } from "./client.ts";
import { type Failure, isCancelled } from "./failure.ts";
import type { WireRequest } from "./request.ts";

/** What a member's client does with answers; see {@link ClientOptions}. */
export interface MemberAnswers extends Pick<ClientOptions, "createCheck"> {
  readonly needsBodies: boolean;
}

/** Connects the parts of a run that must know the member of a mix. */
export interface MemberRoute {
  /** Index of the member that the next request goes to. Whoever chooses it sets it right before the send. */
  member: number;
  /** By member; empty before the judges of answers exist. */
  answers: readonly MemberAnswers[];
}

/** One of several targets that share a load. */
export interface MixedMember {
  /** Failures and counts show it. */
  readonly name: string;
  readonly createClient: (options: ClientOptions) => LoadClient;
}

/**
 * Sends each request with the client of its member, whatever the protocol. Each slot has its own place, and with HTTP its own connection,
 * at every member, so that connections can be opened before the measurement.
 */
export class MixedClient implements LoadClient {
  /** By slot: the call of its latest request. */
  readonly calls: Call[] = [];
  private readonly parts: readonly MemberPart[];
  private readonly route: MemberRoute;

  constructor(members: readonly MixedMember[], route: MemberRoute, options: ClientOptions) {
    this.route = route;
    this.parts = members.map((member, index) => new MemberPart(member, toMemberOptions(options, route, index)));
  }

  get connectionCount(): number {
    return this.parts.reduce((sum, { client }) => sum + client.connectionCount, 0);
  }

  get resendCount(): number {
    return this.parts.reduce((sum, { client }) => sum + client.resendCount, 0);
  }

  /** The members, and each server of those that have several. */
  get servers(): readonly ServerLoad[] {
    return this.parts.flatMap(({ name, client, sentCount, failedCount }) => {
      const { servers } = client;
      return servers === undefined
        ? [{ name, sentCount, failedCount }]
        : servers.map((server) => ({ ...server, name: joinNames(name, server.name) }));
    });
  }

  async reserve(count: number): Promise<void> {
    const opening = this.parts.map(({ client }) => client.reserve(count));
    const first = this.parts[0] as MemberPart;
    for (let slot = this.calls.length; slot < count; slot++) this.calls.push(first.client.calls[slot] as Call);
    await Promise.all(opening);
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    const { member } = this.route;
    const part = this.parts[member] as MemberPart;
    part.sentCount++;
    part.client.send(slot, request, stamp);
    const call = part.client.calls[slot] as Call;
    call.member = member;
    this.calls[slot] = call;
  }

  flush(): void {
    for (const { client } of this.parts) client.flush();
  }

  cancel(slot: number, failure: Failure): void {
    const call = this.calls[slot];
    if (call !== undefined) this.parts[call.member]?.client.cancel(slot, failure);
  }

  attribute(call: Call, failure: Failure): Failure {
    // The plan asked for the cancellation; no server caused it.
    if (failure.kind === "cancelled") return failure;
    const part = this.parts[call.member] as MemberPart;
    if (!isCancelled(failure)) part.failedCount++;
    const { server } = part.client.attribute?.(call, failure) ?? failure;
    return { ...failure, server: server === undefined ? part.name : joinNames(part.name, server) };
  }

  close(): void {
    for (const { client } of this.parts) client.close();
  }
}

function joinNames(member: string, server: string): string {
  return `${member} at ${server}`;
}

/** One member, its client and its counts. */
class MemberPart {
  readonly name: string;
  readonly client: LoadClient;
  sentCount = 0;
  failedCount = 0;

  constructor({ name, createClient }: MixedMember, options: ClientOptions) {
    this.name = name;
    this.client = createClient(options);
  }
}

/** The options of a member's client. What may change before the first request is read each time. */
function toMemberOptions(options: ClientOptions, route: MemberRoute, member: number): ClientOptions {
  return Object.create(options, {
    keepBodies: { get: () => route.answers[member]?.needsBodies !== false },
    createCheck: { get: () => route.answers[member]?.createCheck },
  }) as ClientOptions;
}
