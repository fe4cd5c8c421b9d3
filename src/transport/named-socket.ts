import { defined } from "../plan/objects.ts";
import type { OpenSocket, Socket, SocketHandlers, SocketTarget } from "../runtime/socket.ts";
import { openSocket } from "../runtime/sockets.ts";
import { isTlsError } from "./connect-failure.ts";
import { familyOf, isInUse, type Source, type SourceTurns } from "./source-addresses.ts";

/**
 * Connections to a host by its name. Runtimes open sockets to several addresses of a name at once and keep the first that connects, so
 * that a thousand connections briefly need two thousand descriptors. Here a name is resolved once, and its addresses are tried one after
 * another: the next one when an address fails, or has not responded for some time (RFC 8305). For connections with source addresses, ports
 * are tried one after another in the same way.
 */

/** A server, by its name or address. */
export interface NamedTarget extends SocketTarget {
  /** Source addresses of the connections. Absent: the system's choice. */
  readonly sources?: SourceTurns | undefined;
}

/** Returns the addresses of a host, in the order in which to try them. Rejects if there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Opens a connection to a name or an address. */
export type OpenNamed = (target: NamedTarget, handlers: SocketHandlers) => Socket;

/**
 * Time after which the next address is tried too, while none has worked. The connection to a slow address is not closed: it may be the only
 * one that works. The time includes the TLS handshake.
 */
const ATTEMPT_MS = 250;
/** Time limit for slow addresses after the server has refused connections at all others. */
const SLOW_MS = 5000;

/** Creates a function that opens connections to names. @param resolve default: the system's resolver */
export function createNamedOpen(resolve: ResolveHost = lookUp): (open: OpenSocket) => OpenNamed {
  const places: KnownPlaces = { addresses: new Map(), working: new Map(), resolve };
  return (open) => (target, handlers) =>
    target.open !== undefined || (target.sources === undefined && isAddress(target.host))
      ? open(target, handlers)
      : new NamedConnection(target, handlers, open, places);
}

/** Opens a connection with this runtime's sockets, also to a name. */
export const openNamedSocket: OpenNamed = createNamedOpen()(openSocket);

/** Whether a host is an IP address instead of a name. */
function isAddress(host: string): boolean {
  return host.includes(":") || /^[\d.]+$/.test(host);
}

function lookUp(host: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    process.getBuiltinModule("node:dns").lookup(host, { all: true }, (error, found) => {
      if (error === null || error === undefined) resolve([...new Set(found.map(({ address }) => address))]);
      else reject(error);
    });
  });
}

interface KnownPlaces {
  /** Resolved addresses by host. */
  readonly addresses: Map<string, Promise<readonly string[]>>;
  /** Address of the latest connection to each host and port. */
  readonly working: Map<string, string>;
  readonly resolve: ResolveHost;
}

class NamedConnection implements Socket {
  private readonly target: NamedTarget;
  private readonly handlers: SocketHandlers;
  private readonly open: OpenSocket;
  private readonly places: KnownPlaces;
  private readonly place: string;
  /** The open connection. */
  private inner: Socket | undefined;
  /** Connections that are being opened: one, and slow ones. */
  private readonly connecting = new Set<Socket>();
  /** Addresses that have not been tried, in order. */
  private remaining: readonly string[] = [];
  private isFinished = false;
  /** Bytes written before the connection was open. */
  private readonly queue: Uint8Array[] = [];
  /** The error that tells most about the server. */
  private error: Error | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(target: NamedTarget, handlers: SocketHandlers, open: OpenSocket, places: KnownPlaces) {
    this.target = target;
    this.handlers = handlers;
    this.open = open;
    this.places = places;
    this.place = `${target.host}:${target.port}`;
    this.resolved().then(
      (addresses) => this.tryAll(addresses),
      (error: unknown) => this.fail(error instanceof Error ? error : new Error(String(error))),
    );
  }

  get pendingBytes(): number {
    return this.inner?.pendingBytes ?? this.queue.reduce((sum, { length }) => sum + length, 0);
  }

  write(bytes: Uint8Array): boolean {
    if (this.inner !== undefined) return this.inner.write(bytes);
    if (this.isFinished) return true;
    this.queue.push(bytes);
    return false;
  }

  close(): void {
    if (this.inner !== undefined) {
      this.inner.close();
      return;
    }
    if (this.isFinished) return;
    // The server may have moved: the next connection resolves the name again.
    this.places.working.delete(this.place);
    this.places.addresses.delete(this.target.host);
    this.finish(undefined);
  }

  private resolved(): Promise<readonly string[]> {
    const { host } = this.target;
    if (isAddress(host)) return Promise.resolve([host]);
    const { addresses, resolve } = this.places;
    let found = addresses.get(host);
    if (found === undefined) {
      found = resolve(host);
      addresses.set(host, found);
    }
    return found;
  }

  private tryAll(addresses: readonly string[]): void {
    if (this.isFinished) return;
    const working = this.places.working.get(this.place);
    const first = working !== undefined && addresses.includes(working) ? [working] : [];
    this.remaining = [...first, ...addresses.filter((address) => address !== working)];
    this.tryNext();
  }

  private tryNext(): void {
    const [address, ...others] = this.remaining;
    if (address === undefined) {
      if (this.connecting.size === 0) this.fail(this.error);
      else if (evidenceOf(this.error) > 0) this.timer = setTimeout(() => this.fail(this.error), SLOW_MS);
      return;
    }
    this.remaining = others;
    const { sources } = this.target;
    const source = sources?.next(address);
    if (sources === undefined || source !== undefined) this.tryFrom(source, address);
    else this.failed(address, noSource(address));
  }

  private tryFrom(source: Source | undefined, address: string): void {
    const { target, handlers } = this;
    const { sources } = target;
    const tls = target.tls && { ...target.tls, serverName: target.tls.serverName ?? target.host };
    const local = source === undefined ? {} : { localAddress: source.address, localPort: source.port };
    const inner = this.open(
      { ...target, ...local, host: address, ...defined({ tls }) },
      {
        onOpen: () => {
          if (!this.connecting.delete(inner)) return;
          if (source !== undefined) sources?.opened(source);
          this.opened(inner, address);
        },
        onData: (bytes) => handlers.onData(bytes),
        onClose: (error) => {
          if (inner === this.inner) {
            this.finish(error);
            return;
          }
          if (!this.connecting.delete(inner)) return;
          const inUse = source !== undefined && isInUse(source, error);
          const next = inUse ? sources?.after(source) : undefined;
          if (next === undefined) this.failed(address, inUse ? outOfPorts() : error);
          else this.tryFrom(next, address);
        },
        isUnanswered: () => handlers.isUnanswered?.() === true,
        onDrained: () => {
          if (inner === this.inner) handlers.onDrained?.();
        },
      },
    );
    this.connecting.add(inner);
    clearTimeout(this.timer);
    if (this.remaining.length > 0 && !this.places.working.has(this.place))
      this.timer = setTimeout(() => this.tryNext(), ATTEMPT_MS);
  }

  private opened(inner: Socket, address: string): void {
    this.inner = inner;
    this.stopConnecting();
    this.places.working.set(this.place, address);
    this.handlers.onOpen();
    for (const bytes of this.queue.splice(0)) inner.write(bytes);
  }

  private failed(address: string, error: Error | undefined): void {
    clearTimeout(this.timer);
    const { working } = this.places;
    if (working.get(this.place) === address) working.delete(this.place);
    if (this.error === undefined || evidenceOf(error) > evidenceOf(this.error)) this.error = error;
    this.tryNext();
  }

  /** Fails; the next connection resolves the name again. */
  private fail(error: Error | undefined): void {
    this.places.addresses.delete(this.target.host);
    this.finish(error);
  }

  private finish(error: Error | undefined): void {
    if (this.isFinished) return;
    this.isFinished = true;
    this.inner = undefined;
    this.queue.length = 0;
    this.stopConnecting();
    this.handlers.onClose(error);
  }

  private stopConnecting(): void {
    clearTimeout(this.timer);
    const sockets = [...this.connecting];
    this.connecting.clear();
    for (const socket of sockets) socket.close();
  }
}

function noSource(address: string): Error {
  return Object.assign(new Error(`No source address is ${familyOf(address)}`), { code: "EAFNOSUPPORT" });
}

/** Returns the same error on every runtime. */
function outOfPorts(): Error {
  return Object.assign(new Error("No free port"), { code: "EADDRINUSE" });
}

/**
 * Ranks errors by what they tell about the server: an address of a family that this host does not support tells nothing, and one with a
 * wrong certificate more than one where nothing listens.
 */
function evidenceOf(error: Error | undefined): number {
  const code = (error as { code?: string } | undefined)?.code ?? "";
  if (/^(EADDRNOTAVAIL|EAFNOSUPPORT|ENETUNREACH|EHOSTUNREACH)$/.test(code)) return 0;
  return isTlsError(error) ? 2 : 1;
}
