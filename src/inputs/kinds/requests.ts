import { filesOf, type RequestsInputsPlan, requestsSchema } from "../../service/http/requests-plan.ts";
import type { InputKind } from "../input-kind.ts";
import { makeRequests } from "../requests.ts";

export const requestsInputs: InputKind<RequestsInputsPlan> = {
  schema: requestsSchema,
  makes: "payloads",
  needsNoModel: true,
  paths: ({ requests }) => requests.flatMap(({ body }) => filesOf(body)),
  isInOrder: () => true,
  load: async (plan) => makeRequests(plan),
};
