import type { ClientOptions, LoadClient } from "../../../src/transport/client.ts";
import type { Endpoint } from "../../../src/transport/request.ts";
import { Driver, endpointAt } from "../drive.ts";
import { type ScriptedConnection, startScripted } from "../http2/scripted-server.ts";

/** A client and the server that it talks to, whose every frame is scripted. */
export interface ScriptedOptions {
  /** What the server sends first. Default: its settings. */
  readonly greeting?: Uint8Array;
  readonly options?: Partial<ClientOptions>;
  /** Slots whose connections open before `use`. Default: 1, unless {@link scriptedClient} is called with another number. */
  readonly slots?: number;
}

/**
 * Returns a function that starts a server with a script, and uses a client of it.
 * @param usualSlots default of {@link ScriptedOptions.slots}
 */
export function scriptedClient(create: (endpoint: Endpoint, options: ClientOptions) => LoadClient, usualSlots = 1) {
  return async (
    script: (connection: ScriptedConnection) => void | Promise<void>,
    use: (driver: Driver, slots: (count: number) => Promise<void>) => Promise<void>,
    { greeting, options, slots = usualSlots }: ScriptedOptions = {},
  ): Promise<void> => {
    await using server = await startScripted(script, greeting);
    using driver = new Driver((all) => create(endpointAt(server.port), all), options);
    if (slots > 0) await driver.client.reserve(slots);
    await use(driver, (count) => driver.client.reserve(count));
  };
}
