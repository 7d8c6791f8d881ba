/** The headers of answers and requests, for the OpenAPI document. docs/reference/http-api.md says the same in two tables. */
import { exampleId } from "../Examples.ts"
import type { JsonMap } from "./JsonSchemas.ts"

interface HeaderWords {
  readonly description: string
  readonly type: "string" | "integer" | "boolean"
  readonly example: string | number | boolean
}

const text = (description: string, example: string): HeaderWords => ({ description, type: "string", example })
const count = (description: string, example: number): HeaderWords => ({ description, type: "integer", example })

/** Headers of every answer. */
export const everywhere = {
  "X-Gateway-Request-Id": text(
    "Id of the request; usage rows, decisions and the log have it.",
    "019aa6ef-1d2e-7000-a5c4-3b2a19087f6e"
  ),
  "X-Gateway-Version": text("Version of the gateway.", "0.1.0")
} as const

/** Headers of answers that say when to come again. */
export const waiting = {
  "Retry-After": count("Seconds after which a request may succeed; absent: unknown.", 2)
} as const

/** Headers of answers of a model. On streams those about cost and tokens are missing. */
export const served = {
  "X-Gateway-Provider": text("The provider that answered.", "openai"),
  "X-Gateway-Model": text("The model that answered.", "gpt-4o-mini"),
  "X-Gateway-Decision": text("`<strategy>;<number of targets>;<reason>`.", "auto;4;best score 0.87"),
  "X-Gateway-Fallback-Attempts": count("Other targets that were tried first; absent: none.", 1),
  "X-Gateway-Filter-Relaxed": text("Conditions of `auto` that no model met and that were dropped.", "budget"),
  "X-Gateway-Dropped": text("Fields of the request that the upstream's wire cannot express.", "logit_bias"),
  "X-Gateway-Mapped": text(
    "Fields that were changed to fit the upstream's wire or limits; `model=<id>` where that model was asked in the place of the one that was named.",
    "max_tokens"
  ),
  "X-Gateway-Session-Id": text("The session, if there was one.", "session-1"),
  "X-Gateway-Handoff": text("The model whose summary was added.", "gpt-4o"),
  "X-Gateway-Plugins": text("The plugins that changed the request or its answer; absent: none did.", "answer-filter"),
  "X-Gateway-Response-Cost": text("USD with 10 decimals.", "0.0003120000"),
  "X-Gateway-Tokens-In": count("Tokens of the prompt.", 1_250),
  "X-Gateway-Tokens-Out": count("Tokens of the answer.", 310),
  "X-Gateway-Tokens-Told": text(
    "What the upstream told of its tokens, where that cannot be and the gateway's own count was booked; absent: it was believed.",
    "in=1000000000, out=12"
  ),
  "X-Gateway-Latency-Ms": count("Milliseconds since the request arrived.", 1_840),
  "X-Gateway-Cache-Hit": text("Always `false`: answers are not cached.", "false")
} as const

/** Headers of token counts. */
export const counted = { "X-Gateway-Token-Count-Source": text("Who counted.", "provider") } as const

/** Headers of requests to a model. */
const asked = {
  "X-Session-Id": text("The session of the conversation; it stays at its account.", "session-1"),
  "X-Gateway-Mode": text(
    "Weights of `auto` for this request: `fast`, `cheap`, `quality`, `reliable`, `offline`, `balanced`.",
    "cheap"
  ),
  "X-Gateway-Budget": text("`auto`: leaves out models whose expected cost is higher, in USD.", "0.01")
} as const

/** Headers of answers that show an object of the management. */
export const versioned = {
  ETag: text(
    "Version of what is shown. Fields that the gateway observes itself do not change it.",
    '"n4bQgYhMfWWaL_qgxVrQFQ"'
  )
} as const

/** Headers of requests that change an object of the management. */
const conditions = {
  "If-Match": text(
    "The `ETag` of the version that is changed; with another one there the answer is 412 with the object as it is. Absent: whatever is there is changed.",
    '"n4bQgYhMfWWaL_qgxVrQFQ"'
  )
} as const

/** Headers of lists that are answered by `limit` and `offset`. */
const listed = {
  "X-Total-Count": count("Entries that fit the request, on all pages.", 1_200),
  "X-Page-Limit": count("Entries that the page holds at most.", 100),
  "X-Page-Offset": count("Entries before the page.", 0)
} as const

/** Headers of a recorded request that is asked again. */
const replayed = { "X-Gateway-Replay-Of": text("Id of the record that was asked again.", exampleId) } as const

const byOperation: Readonly<Record<string, Readonly<Record<string, HeaderWords>>>> = {
  "audit.list": listed,
  "inspector.replay": replayed
}

/** Finds the headers of one operation's answers beside the others; by `<group>.<endpoint>`. */
export const ownHeaders = (operation: string): Readonly<Record<string, HeaderWords>> => byOperation[operation] ?? {}

const every: Readonly<Record<string, HeaderWords>> = {
  ...everywhere,
  ...waiting,
  ...served,
  ...counted,
  ...listed,
  ...replayed,
  ...versioned
}

/** `components.headers`. */
export const headerComponents: JsonMap = Object.fromEntries(
  Object.entries(every).map(([name, { description, example, type }]) => [
    name,
    { description, schema: { type }, example }
  ])
)

/** `headers` of an answer. */
export const headersOf = (...sets: ReadonlyArray<Readonly<Record<string, HeaderWords>>>): JsonMap =>
  Object.fromEntries(
    sets.flatMap((set) => Object.keys(set).map((name) => [name, { $ref: `#/components/headers/${name}` }] as const))
  )

/** `components.parameters`, by name. */
export const parameterComponents: JsonMap = Object.fromEntries(
  Object.entries({ ...asked, ...conditions }).map(([name, { description, example, type }]) => [
    name,
    { name, in: "header", required: false, description, schema: { type }, example }
  ])
)

export const conditionParameters: ReadonlyArray<JsonMap> = Object.keys(conditions).map((name) => ({
  $ref: `#/components/parameters/${name}`
}))

export const askedParameters: ReadonlyArray<JsonMap> = Object.keys(asked).map((name) => ({
  $ref: `#/components/parameters/${name}`
}))
