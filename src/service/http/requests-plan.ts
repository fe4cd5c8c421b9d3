import * as v from "valibot";
import { functionSchema } from "../../plan/functions.ts";
import { filledSchema, type PlanOf, pathSchema, wholeSchema } from "../../plan/schema.ts";
import { HTTP_METHODS } from "../../transport/request.ts";

/** HTTP requests in a plan. */

/** HTTP requests that a scenario describes, or that a function makes. */
export type RequestsInputsPlan = PlanOf<typeof requestsSchema>;

/** The body of one request. Absent: no body. */
export type BodyPlan = PlanOf<typeof bodySchema>;

export type FormPartPlan = PlanOf<typeof partSchema>;

const typeEntry = () => ({
  /** Value of Content-Type. Default: depends on the form of the body; for a file, on its file name extension. */
  contentType: v.exactOptional(v.string()),
});

const wholeForms = () =>
  [
    v.object({ form: v.literal("text"), text: v.string(), ...typeEntry() }),
    v.object({ form: v.literal("json"), text: v.string(), ...typeEntry() }),
    v.object({ form: v.literal("bytes"), base64: v.string(), ...typeEntry() }),
    v.object({ form: v.literal("file"), file: pathSchema(), ...typeEntry() }),
  ] as const;

const partSchema = () =>
  v.object({
    name: filledSchema("must have a name"),
    /** Absent: the name of the file; none for other forms. */
    fileName: v.exactOptional(v.string()),
    value: v.variant("form", [...wholeForms()]),
  });

export const bodySchema = () =>
  v.variant("form", [...wholeForms(), v.object({ form: v.literal("multipart"), parts: v.array(partSchema()) })]);

/** Returns the schema of inputs that are HTTP requests. */
export const requestsSchema = () =>
  v.object({
    kind: v.literal("http-requests"),
    /** Sent in turn. Empty if a function makes the requests. */
    requests: v.array(
      v.object({
        method: v.exactOptional(v.picklist(HTTP_METHODS)),
        path: v.exactOptional(v.string()),
        headers: v.exactOptional(v.array(v.tuple([v.string(), v.string()]))),
        body: v.exactOptional(bodySchema()),
      }),
    ),
    /**
     * Makes the requests: called with 0 to `count` - 1 before the load begins. The requests are then sent in turn. `returns` is the
     * form of its result.
     */
    made: v.exactOptional(
      v.object({
        by: functionSchema(),
        returns: v.picklist(["body", "request"]),
        /** Base of relative file paths. */
        folder: v.string(),
        count: wholeSchema(1),
      }),
    ),
  });

export function filesOf(body: BodyPlan | undefined): string[] {
  if (body?.form === "multipart") return body.parts.flatMap(({ value }) => filesOf(value));
  return body?.form === "file" ? [body.file] : [];
}
