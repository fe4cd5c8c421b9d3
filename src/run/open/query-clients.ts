import type { Query } from "../../service/service.ts";
import type { ControlClient } from "../../transport/control-client.ts";

/** Clients for queries: one for the target's server, and one for each other server that a query names. */
export class QueryClients {
  private readonly first: ControlClient;
  private readonly open: (url: string) => Promise<ControlClient>;
  private readonly others = new Map<string, Promise<ControlClient>>();
  private limitNs = Number.POSITIVE_INFINITY;

  /** @param first the client for the target's server @param open creates the client for another server, by its address */
  constructor(first: ControlClient, open: (url: string) => Promise<ControlClient>) {
    this.first = first;
    this.open = open;
  }

  /** Sends a query, at once when it goes to the target's server. Rejects with `ControlError`, and with `UserError` for a bad address. */
  call({ url, request }: Query): Promise<Uint8Array> {
    return url === undefined ? this.first.call(request) : this.other(url).then((client) => client.call(request));
  }

  /** Lowers the timeout of all queries, including those in flight. */
  lowerTimeout(limitNs: number): void {
    this.limitNs = limitNs;
    this.first.lowerTimeout(limitNs);
    for (const client of this.others.values()) client.then((opened) => opened.lowerTimeout(limitNs), ignore);
  }

  close(): void {
    this.first.close();
    for (const client of this.others.values()) client.then((opened) => opened.close(), ignore);
  }

  private other(url: string): Promise<ControlClient> {
    let client = this.others.get(url);
    if (client === undefined) {
      client = this.open(url).then((opened) => {
        opened.lowerTimeout(this.limitNs);
        return opened;
      });
      this.others.set(url, client);
    }
    return client;
  }
}

/** The query reports it. */
function ignore(): void {}
