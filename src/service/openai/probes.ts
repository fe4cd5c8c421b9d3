import type { ServiceApi } from "../service.ts";

/** How to recognize servers of OpenAI's API: by their list of models, whose owner often names the server's software. */
export const openAiApi: ServiceApi = {
  name: "openai",
  label: "OpenAI's API",
  probes: [
    {
      protocol: "http",
      path: "/v1/models",
      recognize: ({ text }) => {
        if (!/"object"\s*:\s*"list"/.test(text)) return undefined;
        const owner = /"owned_by"\s*:\s*"([\w. -]{1,40})"/.exec(text)?.[1];
        return `an OpenAI-compatible server${owner === undefined ? "" : ` (models owned by ${owner})`}`;
      },
    },
  ],
};
