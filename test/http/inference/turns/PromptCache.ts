/** What a provider's prompt cache sees of a request, and where one request does not begin as the one before. */
import type { WireName } from "../../../../src/contract/domain/Wire.ts"

type Json = Record<string, unknown>

/** In the provider's order, and how much of it is marked as the end of what is cached (messages wire only): counts of items. */
export interface Prompt {
  readonly items: ReadonlyArray<string>
  readonly marks: ReadonlyArray<number>
}

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Blocks of a turn count one by one; a text is a block. */
const blocksOf = (content: unknown): ReadonlyArray<unknown> =>
  typeof content === "string" ? [{ type: "text", text: content }] : listOf(content)

const turnsOf = (turns: unknown, member: string): ReadonlyArray<unknown> =>
  listOf(turns).flatMap((turn) => {
    const { [member]: content, role } = turn as Json
    return blocksOf(content).map((block) => [role, block])
  })

/** Everything beside the conversation comes first: another setting is another prompt. */
const itemsOf = (wire: WireName, body: Json): ReadonlyArray<unknown> => {
  const { contents, input, messages, stream: _, stream_options: _options, system, tools, ...settings } = body
  switch (wire) {
    case "messages":
      return [settings, ...listOf(tools), ...blocksOf(system), ...turnsOf(messages, "content")]
    case "gemini":
      return [settings, ...listOf(tools), ...turnsOf(contents, "parts")]
    case "responses":
      return [settings, ...listOf(tools), ...listOf(input)]
    case "chat":
    case "ollama":
      return [settings, ...listOf(tools), ...listOf(messages)]
  }
}

/** An item of a turn stands behind its role. */
const blockOf = (item: unknown): Json => (Array.isArray(item) ? item[1] : item) as Json

const textOf = (item: unknown): string => {
  const { cache_control: _, ...rest } = blockOf(item)
  return JSON.stringify(Array.isArray(item) ? [item[0], rest] : rest)
}

export const promptOf = (wire: WireName, body: Json): Prompt => {
  const items = itemsOf(wire, body)
  return {
    items: items.map(textOf),
    marks: items.flatMap((item, index) => (blockOf(item)["cache_control"] === undefined ? [] : [index + 1]))
  }
}

/** A mark finds what an earlier one wrote within so many blocks before it: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching */
const lookback = 20

export interface Break {
  /** The request, from 0. */
  readonly turn: number
  readonly why: string
}

/** Requests that do not begin with the whole of the one before. */
export const changedPrefixes = (prompts: ReadonlyArray<Prompt>): ReadonlyArray<Break> =>
  prompts.flatMap(({ items }, turn) => {
    const before = prompts[turn - 1]?.items ?? []
    const at = before.findIndex((item, index) => items[index] !== item)
    return at < 0 ? [] : [{ turn, why: `item ${at}: ${before[at]} is ${items[at] ?? "missing"}` }]
  })

/** Requests that read less from a cache by marks than the one before had written into it. */
export const missedMarks = (prompts: ReadonlyArray<Prompt>): ReadonlyArray<Break> => {
  const written = new Set<string>()
  const keyOf = (items: ReadonlyArray<string>, length: number): string => items.slice(0, length).join("\n")
  return prompts.flatMap(({ items, marks }, turn) => {
    const read = marks.flatMap((mark) =>
      Array.from({ length: lookback }, (_, back) => mark - back).filter((at) => written.has(keyOf(items, at)))
    )
    for (const mark of marks) written.add(keyOf(items, mark))
    const found = Math.max(0, ...read)
    const wanted = Math.max(0, ...(prompts[turn - 1]?.marks ?? []))
    return found >= wanted ? [] : [{ turn, why: `read ${found} of ${wanted} items` }]
  })
}
