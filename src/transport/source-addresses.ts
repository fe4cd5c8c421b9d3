import { readPortRange } from "../runtime/machine.ts";

/** Source of a connection. */
export interface Source {
  readonly address: string;
  /** Absent: the system chooses a port. */
  readonly port?: number;
}

/** After a search of all ports found no free one, later searches check this number of them. */
const FEW_PORTS = 64;

/**
 * Gives the connections to one server their source addresses in turn, with ports. By itself, Linux uses a port of an address for one
 * connection only, whatever its server. When more than half of all ports are used, it takes milliseconds to find a free one, and the event
 * loop is blocked meanwhile. A port that is chosen explicitly may have connections to other servers too.
 */
export class SourceTurns {
  private readonly byFamily: ReadonlyMap<Family, readonly string[]>;
  /** Port search of each address. Empty if the system does not report its port range; then it chooses the ports. */
  private readonly walks: ReadonlyMap<string, PortWalk>;
  private turn: number;

  /**
   * @param addresses one or more
   * @param first number of the first address; wraps around. Default: 0
   * @param ports the system's port range for connections
   * @param startRatio position in the range to begin at, 0 to 1. Default: random, because other processes may use the
   * same addresses
   */
  constructor(addresses: readonly string[], first = 0, ports = readPortRange(), startRatio = Math.random()) {
    this.byFamily = Map.groupBy(addresses, familyOf);
    const known = Number.isFinite(ports[1]) ? addresses : [];
    this.walks = new Map(known.map((address) => [address, new PortWalk(address, ports, startRatio)]));
    this.turn = first;
  }

  /** Returns the next source of the same family as the server's address; undefined if there is none. */
  next(server: string): Source | undefined {
    const addresses = this.byFamily.get(familyOf(server)) ?? [];
    const address = addresses[this.turn++ % addresses.length];
    return address === undefined ? undefined : (this.walks.get(address)?.next() ?? { address });
  }

  /** Returns another port of an address whose last source was in use; undefined if no port is left. */
  after({ address }: Source): Source | undefined {
    const walk = this.walks.get(address);
    return walk?.miss() === true ? walk.next() : undefined;
  }

  /** Records that a connection from this source is open. */
  opened({ address }: Source): void {
    this.walks.get(address)?.hit();
  }
}

/** Cycles through the ports of an address. */
class PortWalk {
  private readonly address: string;
  private readonly first: number;
  private readonly count: number;
  private position: number;
  /** Number of consecutive ports that could not be used. */
  private misses = 0;

  constructor(address: string, [first, last]: readonly [first: number, last: number], startRatio: number) {
    this.address = address;
    this.first = first;
    this.count = last - first + 1;
    this.position = Math.floor(this.count * startRatio);
  }

  next(): Source {
    return { address: this.address, port: this.first + (this.position++ % this.count) };
  }

  hit(): void {
    this.misses = 0;
  }

  /** Records a failed port. Returns whether to try another one. */
  miss(): boolean {
    if (++this.misses < this.count) return true;
    this.misses = Math.max(0, this.count - FEW_PORTS);
    return false;
  }
}

/** Whether a connection could not be opened because its source is in use. Runtimes report this in several ways if a port was given. */
export function isInUse({ port }: Source, error: Error | undefined): boolean {
  const code = (error as { code?: string } | undefined)?.code ?? "";
  return code === "EADDRINUSE" || (port !== undefined && (code === "EADDRNOTAVAIL" || code === "EINVAL"));
}

type Family = "IPv4" | "IPv6";

/** Returns the family of an address. */
export function familyOf(address: string): Family {
  return address.includes(":") ? "IPv6" : "IPv4";
}
