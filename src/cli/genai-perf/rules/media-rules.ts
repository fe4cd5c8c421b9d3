import { checkAudio } from "../../../inputs/media/synthetic-audio.ts";
import type { Plan } from "../../../plan/plan.ts";
import { outputFormatOf } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { hasMadeUpPrompts } from "../input-format.ts";
import type { ValueName } from "../options/asked.ts";
import { nameOf } from "../options/subcommands.ts";
import type { RuleSet } from "./rule-set.ts";

/** The images, audio and batches that each endpoint type supports. */

type Takes = "takesImages" | "takesSounds";

/** Rejects media settings that the endpoint type does not support. */
export function checkMedia(rules: RuleSet): void {
  checkImages(rules);
  checkSounds(rules);
  checkBatches(rules);
}

/** Reports a problem that starts with the flag's name. */
function refuse(rules: RuleSet, of: ValueName, message: string, hint: string): void {
  rules.refuse(true, of, `${nameOf(of)}: ${message}`, hint);
}

const SIZES = ["input.image.width.mean", "input.image.height.mean"] as const;
const IMAGE_DETAILS = ["input.image.width.stddev", "input.image.height.stddev", "input.image.format"] as const;

function checkImages(rules: RuleSet): void {
  const given = SIZES.filter((of) => rules.get(of) > 0);
  const [size] = given;
  const hint = "Give both --image-width-mean and --image-height-mean.";
  if (size !== undefined && given.length === SIZES.length) checkTypes(rules, size, "images", "takesImages");
  else if (size !== undefined) refuse(rules, size, "an image has a width and a height", hint);
  else {
    const message = "describes synthetic images, but requests carry none";
    for (const name of IMAGE_DETAILS) if (rules.isChosen(name)) refuse(rules, name, message, hint);
    if (rules.type.isTextless && hasMadeUpPrompts(rules.input))
      refuse(rules, "endpoint.type", "image_retrieval has no images to send", hint);
  }
}

const AUDIO = "input.audio.";
const AUDIO_DETAILS = [
  "input.audio.length.stddev",
  "input.audio.format",
  "input.audio.depths",
  "input.audio.sample_rates",
  "input.audio.num_channels",
] as const;

function checkSounds(rules: RuleSet): void {
  const { audio } = rules.land({} as Plan, AUDIO).requests?.prompts ?? {};
  if (audio !== undefined) {
    rules.problems.push(...checkAudio(audio));
    checkTypes(rules, "input.audio.length.mean", "audio clips", "takesSounds");
  } else
    for (const name of AUDIO_DETAILS)
      if (rules.isChosen(name))
        refuse(rules, name, "describes synthetic audio, but requests carry none", "Add --audio-length-mean.");
}

/** Rejects generated media for endpoint types that do not support them. */
function checkTypes(rules: RuleSet, of: ValueName, what: string, takes: Takes): void {
  if (!rules.type[takes]) {
    const types = Object.entries(ENDPOINT_TYPES).flatMap(([type, entry]) => (entry[takes] ? [type] : []));
    const hint = `Leave it out, or use --endpoint-type ${types.join(", ")}.`;
    refuse(rules, of, `requests of the endpoint type ${rules.endpoint.type} have no ${what}`, hint);
  }
  if (!hasMadeUpPrompts(rules.input))
    refuse(
      rules,
      of,
      `${what} can only be generated together with synthetic prompts`,
      "Leave out this option or --input-file.",
    );
  if (rules.get("input.sessions.num") > 0)
    refuse(rules, of, `synthetic sessions have no ${what}`, "Leave out this option or --num-sessions.");
}

function checkBatches(rules: RuleSet): void {
  const { type } = rules.endpoint;
  if (rules.get("input.batch_size") !== 1 && rules.type.takesOneText) {
    const message = `The --batch-size-text flag is not supported for ${outputFormatOf(rules.endpoint)}.`;
    refuse(rules, "input.batch_size", message, "Leave it out: a request has one text.");
  }
  const batches = [
    ["input.image.batch_size", "images", "takesImages"],
    ["input.audio.batch_size", "audio clips", "takesSounds"],
  ] as const;
  for (const [of, what, takes] of batches)
    if (rules.isChosen(of) && !rules.type[takes])
      refuse(rules, of, `requests of the endpoint type ${type} have no ${what}`, "Leave it out.");
}
