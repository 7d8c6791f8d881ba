/**
 * Marks for a provider's prompt cache in a request that has none: behind the tools, behind the system prompt, and behind the last two turns of the
 * user once the conversation goes on. The mark before the last finds what the request before has written, the last one writes what the next
 * will find (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). Four marks at most, which is what the maker allows. Pure.
 */
import { claudeVersionOf } from "./canonical/ModelFamily.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr } from "./json/Json.ts"

/** Wires whose requests carry such marks. */
export type MarkedWire = "messages" | "chat"

const mark = { cache_control: { type: "ephemeral" } } as const

/** Checks whether a block may end a cached part; reasoning and empty texts may not. */
const mayEnd = (block: Json): boolean => {
  if (!isObject(block)) return false
  const { text, type } = block
  return (
    type !== "thinking" &&
    type !== "redacted_thinking" &&
    (type !== "text" || (typeof text === "string" && text.trim() !== ""))
  )
}

/**
 * Checks whether a block is a text. On the chat wire texts alone are known to carry a mark
 * (https://openrouter.ai/docs/features/prompt-caching).
 */
const isText = (block: Json): boolean => objectOr(block)["type"] === "text" && mayEnd(block)

const lastMarked = (items: ReadonlyArray<Json>, fits: (item: Json) => boolean): ReadonlyArray<Json> => {
  const at = items.findLastIndex(fits)
  const item = items[at]
  return item === undefined ? items : items.with(at, { ...objectOr(item), ...mark })
}

/** A content with a mark at its end; a text becomes a list with it as its one block. */
const contentMarked = (content: Json | undefined, fits: (block: Json) => boolean): Json | undefined => {
  if (typeof content === "string") return content.trim() === "" ? content : [{ type: "text", text: content, ...mark }]
  return isArray(content) ? lastMarked(content, fits) : content
}

/** The messages with marks behind the turns at these places. */
const turnsMarked = (
  turns: ReadonlyArray<Json>,
  places: ReadonlySet<number>,
  fits: (block: Json) => boolean
): ReadonlyArray<Json> =>
  turns.map((turn, at) =>
    places.has(at) && isObject(turn) ? Object.assign({}, turn, { content: contentMarked(turn["content"], fits) }) : turn
  )

const placesOf = (turns: ReadonlyArray<Json>, role: string): ReadonlyArray<number> =>
  turns.flatMap((turn, at) => (objectOr(turn)["role"] === role ? [at] : []))

/** The last two turns of the user; none in a request that no other has gone before. */
const usersOf = (turns: ReadonlyArray<Json>): ReadonlyArray<number> =>
  placesOf(turns, "assistant").length === 0 ? [] : placesOf(turns, "user").slice(-2)

const listOf = (value: Json | undefined): ReadonlyArray<Json> => (isArray(value) ? value : [])

const inMessages = (body: JsonObject): JsonObject => {
  const { system, tools } = body
  const turns = listOf(body["messages"])
  return {
    ...body,
    // A tool that is loaded later is no part of the prompt.
    ...(isArray(tools) ? { tools: lastMarked(tools, (tool) => objectOr(tool)["defer_loading"] !== true) } : {}),
    ...(system === undefined ? {} : { system: contentMarked(system, mayEnd) }),
    messages: turnsMarked(turns, new Set(usersOf(turns)), mayEnd)
  }
}

const inChat = (body: JsonObject): JsonObject => {
  const turns = listOf(body["messages"])
  const first = turns.findIndex((turn) => objectOr(turn)["role"] !== "system")
  const system = first > 0 ? [first - 1] : []
  return { ...body, messages: turnsMarked(turns, new Set([...system, ...usersOf(turns)]), isText) }
}

/** The request with marks; what it says is the same. */
export const withCacheMarks = (wire: MarkedWire, body: JsonObject): JsonObject =>
  wire === "messages" ? inMessages(body) : inChat(body)

/**
 * Smallest prompts that are cached, in tokens, by family of Claude models: each row counts from its version on, newest
 * first.
 */
const leastByFamily: Readonly<Record<string, ReadonlyArray<readonly [version: number, tokens: number]>>> = {
  fable: [[0, 512]],
  haiku: [
    [5, 512],
    [4.5, 4_096],
    [0, 2_048]
  ],
  mythos: [[0, 512]],
  opus: [
    [5, 512],
    [4.8, 1_024],
    [4.7, 2_048],
    [4.5, 4_096],
    [0, 1_024]
  ],
  sonnet: [
    [5.5, 512],
    [0, 1_024]
  ]
}

/**
 * The least tokens of a prompt that a provider caches, by model (https://platform.claude.com/docs/en/build-with-claude/prompt-caching, "Cache
 * limitations", as of October 2026). Where it is not known, what most models have.
 */
export const leastCachedTokens = (model: string): number => {
  if (/mythos-preview/i.test(model)) return 2_048
  const family = /fable|haiku|mythos|opus|sonnet/i.exec(model)?.[0].toLowerCase()
  const version = claudeVersionOf(model) ?? 0
  const known = family === undefined ? [] : (leastByFamily[family] ?? [])
  return known.find(([from]) => version >= from)?.[1] ?? 1_024
}
