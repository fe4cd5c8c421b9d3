import { defineScenario, embedded, hold } from "rampart";

/** Starts a program before a small run. */
export default defineScenario({
  name: "a hook that starts a program",
  setup: async ({ $ }) => ({ word: (await $`echo ready`).stdout.trim() }),
  target: (_, { word }) => {
    if (word !== "ready") throw new Error(`the program printed ${word}`);
    return embedded();
  },
  load: hold(1, { requests: 10 }),
});
