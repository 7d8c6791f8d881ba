/**
 * Requests with more inputs than a provider takes at once are several requests of it, and one for the client.
 *
 * The limits, read on 2026-11-23: https://developers.openai.com/api/reference/resources/embeddings/methods/create (2,048 inputs and
 * 300,000 tokens), https://docs.cohere.com/reference/embed (96), https://docs.voyageai.com/reference/embeddings-api (1,000 and, for its
 * smallest, 120,000 tokens), https://ai.google.dev/gemini-api/docs/embeddings (100).
 */
import { sumTokens } from "../../../contract/domain/Usage.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import type { Response } from "../../canonical/Response.ts"
import { isArray, isObject, type Json } from "../../json/Json.ts"

export interface InputLimits {
  readonly inputs: number
  /** Most tokens of all inputs together; null: only each input has a limit. */
  readonly tokens: number | null
}

export const limits = {
  openAi: { inputs: 2_048, tokens: 300_000 },
  cohere: { inputs: 96, tokens: null },
  voyage: { inputs: 1_000, tokens: 120_000 },
  gemini: { inputs: 100, tokens: null }
} as const satisfies Record<string, InputLimits>

/**
 * Estimate on the high side of tokens: a part that is too large is refused as a whole, a small one only costs a round
 * trip.
 */
const bytesPerToken = 2

const tokensOf = (input: Json): number =>
  isArray(input) ? input.length : typeof input === "string" ? Math.ceil(Buffer.byteLength(input) / bytesPerToken) : 0

/** Places at which the next part begins. */
const cuts = (inputs: ReadonlyArray<Json>, { inputs: most, tokens }: InputLimits): ReadonlyArray<number> => {
  const places: Array<number> = [0]
  let count = 0
  let sum = 0
  inputs.forEach((input, index) => {
    const size = tokens === null ? 0 : tokensOf(input)
    if (count === most || (count > 0 && tokens !== null && sum + size > tokens)) {
      places.push(index)
      count = 0
      sum = 0
    }
    count += 1
    sum += size
  })
  return places
}

/** Several inputs, not the token ids of one. */
const severalOf = (input: Json | undefined): ReadonlyArray<Json> | null =>
  isArray(input) && typeof input[0] !== "number" ? input : null

/** The request in parts that the provider takes; null when it takes it whole. */
export const partsWithin =
  (within: InputLimits) =>
  (conversation: Conversation): ReadonlyArray<Conversation> | null => {
    const { extras = {} } = conversation
    const inputs = severalOf(extras["input"])
    if (inputs === null) return null
    const places = cuts(inputs, within)
    if (places.length === 1) return null
    const { requests } = extras
    return places.map((from, index) => {
      const before = places[index + 1]
      const input = inputs.slice(from, before)
      const own = isArray(requests) ? { input, requests: requests.slice(from, before) } : { input }
      return Object.assign({}, conversation, { extras: { ...extras, ...own } })
    })
  }

const dataOf = (response: Response): ReadonlyArray<Json> => {
  const [part] = response.parts
  const data = part?.type === "opaque" ? part.value["data"] : undefined
  return isArray(data) ? data : []
}

/** The vectors of all parts, numbered through. */
export const joined = (first: Response, others: ReadonlyArray<Response>): Response => {
  const all = [first, ...others]
  const [part] = first.parts
  const data = all
    .flatMap(dataOf)
    .map((item, index): Json => (isObject(item) ? Object.assign({}, item, { index }) : item))
  const { usage: _usage, ...rest } = part?.type === "opaque" ? part.value : {}
  return {
    ...first,
    parts: [{ type: "opaque", wire: "chat", kind: "embeddings", value: { ...rest, data } }],
    usage: all
      .map(({ usage }) => usage)
      .reduce((sum, usage) => (sum === null || usage === null ? null : sumTokens(sum, usage)))
  }
}
