import { closeSync, openSync } from "node:fs";
import { Http1Client } from "../../src/transport/http1/client.ts";
import { Driver, endpointAt, getRequest, type Outcome } from "./drive.ts";

/** Opens files until the process may open no more, and prints what becomes of requests then: to an address, and to a name. */

async function failureAt(host: string): Promise<Outcome["failure"]> {
  const driver = new Driver((options) => new Http1Client(endpointAt(9, { host }), options));
  await driver.client.reserve(1);
  const { failure } = await driver.request(0, getRequest("/"));
  driver.close();
  return failure;
}

// What is loaded at the first connection is loaded now.
await failureAt("127.0.0.1");
const files: number[] = [];
try {
  for (;;) files.push(openSync("/dev/null", "r"));
} catch {
  const failures = [await failureAt("127.0.0.1"), await failureAt("localhost")];
  for (const file of files) closeSync(file);
  for (const failure of failures) console.log(JSON.stringify(failure));
}
process.exit(0);
