import type { MockHandlers } from "../../src/mock/services/service.ts";
import { MOCK_SERVICES } from "../../src/mock/services/table.ts";
import type { MockPlan } from "../../src/plan/mock.ts";
import { demoProto } from "./dynamic.ts";

/** Returns all services that `rampart mock` has by its options. @param proto a `.proto` file. Default: that of the test servers */
export function createMockServices(plan: MockPlan, proto = demoProto): Promise<MockHandlers[]> {
  const services = Object.entries(MOCK_SERVICES);
  return Promise.all(services.map(async ([name, { create }]) => create(plan, name === "proto" ? proto : "")));
}
