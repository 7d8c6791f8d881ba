/** Requests for videos and music in a provider's own form. */
import { type JsonObject } from "../../json/Json.ts"
import type { WireCodec } from "../../WireCodec.ts"
import { withoutOwn } from "./MediaRequest.ts"

export interface AskedJob {
  readonly model: string
  readonly prompt: string
  /** All members of the request. */
  readonly extras: JsonObject
  /** Members that are not OpenAI's: they go to the provider as they are. */
  readonly own: JsonObject
}

interface Written {
  readonly body: JsonObject
  readonly dropped?: ReadonlyArray<string>
  /** Values for the braces of the path. */
  readonly place?: Readonly<Record<string, string>>
}

/** Members that every adapter reads itself. */
const shared: ReadonlySet<string> = new Set([
  "prompt",
  "seconds",
  "duration",
  "size",
  "input_reference",
  "image",
  "image_url"
])

export const encodeJob =
  (write: (asked: AskedJob) => Written): WireCodec["encodeRequest"] =>
  ({ extras: all = {} }, { model }) => {
    const extras = withoutOwn(all)
    const own = Object.fromEntries(Object.entries(extras).filter(([name]) => !shared.has(name)))
    const prompt = typeof extras["prompt"] === "string" ? extras["prompt"] : ""
    const { body, dropped = [], place } = write({ model, prompt, extras, own })
    return {
      body,
      dropped: dropped.filter((name) => extras[name] !== undefined),
      mapped: [],
      ...(place === undefined ? {} : { place: { values: place, query: "" } })
    }
  }
