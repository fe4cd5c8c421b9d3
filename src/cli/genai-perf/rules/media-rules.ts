import { type AudioSettings, checkAudio } from "../../../inputs/media/synthetic-audio.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { hasMadeUpPrompts } from "../input-format.ts";
import type { GivenPrompts, SettingPath } from "../options/settings.ts";
import { nameOf } from "../options/subcommands.ts";
import type { RuleSet } from "./rule-set.ts";

/** The images, audio and batches that each endpoint type supports. */

type Takes = "takesImages" | "takesSounds";

/** Refuses media settings that the endpoint type does not support. */
export function checkMedia(rules: RuleSet): void {
  checkImages(rules);
  checkSounds(rules);
  checkBatches(rules);
}

/** Reports whether images are generated. */
export function hasMadeUpImages({ images }: Pick<GivenPrompts, "images">): boolean {
  return images.widthPx.mean > 0 && images.heightPx.mean > 0;
}

/** Reports whether audio is generated. */
export function hasMadeUpAudio({ audio }: Pick<GivenPrompts, "audio">): boolean {
  return audio.lengthS.mean > 0;
}

/** Reports a problem that starts with the flag's name. */
function refuse(rules: RuleSet, at: SettingPath, message: string, hint: string): void {
  rules.refuse(true, at, `${nameOf(at)}: ${message}`, hint);
}

function checkImages(rules: RuleSet): void {
  const { images } = rules.settings.prompts;
  const hint = "Give both --image-width-mean and --image-height-mean.";
  if (hasMadeUpImages(rules.settings.prompts))
    checkTypes(rules, "prompts.images.widthPx.mean", "images", "takesImages");
  else if (images.widthPx.mean > 0 || images.heightPx.mean > 0) {
    const at = images.widthPx.mean > 0 ? "prompts.images.widthPx.mean" : "prompts.images.heightPx.mean";
    refuse(rules, at, "an image has a width and a height", hint);
  } else {
    const message = "describes synthetic images, but requests carry none";
    for (const at of [
      "prompts.images.widthPx.stddev",
      "prompts.images.heightPx.stddev",
      "prompts.images.format",
    ] as const)
      if (rules.isChosen(at)) refuse(rules, at, message, hint);
    if (ENDPOINT_TYPES[rules.settings.endpoint.type].isTextless && hasMadeUpPrompts(rules.settings.input))
      refuse(rules, "endpoint.type", "image_retrieval has no images to send", hint);
  }
}

const AUDIO_DETAILS = [
  "prompts.audio.lengthS.stddev",
  "prompts.audio.format",
  "prompts.audio.depthsBits",
  "input.sampleRatesKhz",
  "prompts.audio.channelCount",
] as const;

function checkSounds(rules: RuleSet): void {
  const { input, prompts } = rules.settings;
  if (hasMadeUpAudio(prompts)) {
    rules.problems.push(...checkAudio(toAudioSettings(prompts, input.sampleRatesKhz)));
    checkTypes(rules, "prompts.audio.lengthS.mean", "audio clips", "takesSounds");
  } else
    for (const at of AUDIO_DETAILS)
      if (rules.isChosen(at))
        refuse(rules, at, "describes synthetic audio, but requests carry none", "Add --audio-length-mean.");
}

/** Converts the settings of audio to those of its generator. */
export function toAudioSettings({ audio }: Pick<GivenPrompts, "audio">, ratesKhz: readonly number[]): AudioSettings {
  return { ...audio, sampleRatesHz: ratesKhz.map((kHz) => Math.round(kHz * 1000)) };
}

/** Refuses generated media for endpoint types that do not support them. */
function checkTypes(rules: RuleSet, at: SettingPath, what: string, takes: Takes): void {
  const { endpoint, prompts } = rules.settings;
  if (!ENDPOINT_TYPES[endpoint.type][takes]) {
    const types = Object.entries(ENDPOINT_TYPES).flatMap(([type, entry]) => (entry[takes] ? [type] : []));
    const hint = `Leave it out, or use --endpoint-type ${types.join(", ")}.`;
    refuse(rules, at, `requests of the endpoint type ${endpoint.type} have no ${what}`, hint);
  }
  if (!hasMadeUpPrompts(rules.settings.input))
    refuse(
      rules,
      at,
      `${what} can only be generated together with synthetic prompts`,
      "Leave out this option or --input-file.",
    );
  if (prompts.sessions.count > 0)
    refuse(rules, at, `synthetic sessions have no ${what}`, "Leave out this option or --num-sessions.");
}

function checkBatches(rules: RuleSet): void {
  const { prompts, endpoint } = rules.settings;
  const { type } = endpoint;
  if (prompts.textsPerRequest !== 1 && ENDPOINT_TYPES[type].takesOneText) {
    const message = `The --batch-size-text flag is not supported for ${type}.`;
    refuse(rules, "prompts.textsPerRequest", message, "Leave it out: a request has one text.");
  }
  const batches = [
    ["prompts.imagesPerRequest", "images", "takesImages"],
    ["prompts.audioPerRequest", "audio clips", "takesSounds"],
  ] as const;
  for (const [at, what, takes] of batches)
    if (rules.isChosen(at) && !ENDPOINT_TYPES[type][takes])
      refuse(rules, at, `requests of the endpoint type ${type} have no ${what}`, "Leave it out.");
}
