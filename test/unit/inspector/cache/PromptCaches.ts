/**
 * Prompt caches of providers, played: they read the bodies they are sent by rules of their own and report what they have read and written. They
 * share no code with what is tested.
 */
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import type { ReportedTokens } from "../../../../src/observe/inspector/cache/CacheCall.ts"

type Json = Record<string, unknown>

interface Block {
  readonly text: string
  /** Level whose parameters are part of its key. */
  readonly level: "tools" | "system" | "message"
  readonly ttlMs: number | null
}

export type CacheKind = "openai" | "claude" | "gemini" | "deepseek"

export interface Asked {
  readonly provider: string
  readonly account: string
  readonly model: string
  readonly wire: WireName
  readonly body: Json
  readonly atMs: number
}

const list = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? (value as ReadonlyArray<Json>) : [])
const minuteMs = 60_000

const blockOf = (value: unknown, level: Block["level"], role = ""): Block => {
  const mark = (value as { cache_control?: { ttl?: string } } | null)?.cache_control
  const text = JSON.stringify(value).replaceAll(/,"(?:cache_control":\{[^}]*\}|thoughtSignature":"[^"]*")/g, "")
  return {
    text: `${role}:${text}`,
    level,
    ttlMs: mark === undefined ? null : mark.ttl === "1h" ? 60 * minuteMs : 5 * minuteMs
  }
}

const contents = (content: unknown, level: Block["level"], role: string): ReadonlyArray<Block> =>
  (typeof content === "string" ? [{ type: "text", text: content }] : list(content)).map((block) =>
    blockOf(block, level, role)
  )

const isThought = (block: Json): boolean => block["type"] === "thinking" || block["thought"] === true

/** Index of the last message a user wrote. */
const lastWritten = (messages: ReadonlyArray<Json>): number =>
  messages.findLastIndex(
    ({ content, role }) =>
      role === "user" && (typeof content === "string" || list(content).some(({ type }) => type !== "tool_result"))
  )

const chatBlocks = (messages: ReadonlyArray<Json>): ReadonlyArray<Block> =>
  messages.flatMap(({ content, role, tool_calls: calls }) => [
    ...contents(content, role === "system" ? "system" : "message", String(role)),
    ...list(calls).map((call) => blockOf(call, "message", String(role)))
  ])

const tools = (body: Json): ReadonlyArray<Block> => list(body["tools"]).map((tool) => blockOf(tool, "tools"))

const blocksOf = (wire: WireName, body: Json): ReadonlyArray<Block> => {
  switch (wire) {
    case "chat":
    case "ollama":
      return [...tools(body), ...chatBlocks(list(body["messages"]))]
    case "messages": {
      const messages = list(body["messages"])
      const last = lastWritten(messages)
      return [
        ...tools(body),
        ...contents(body["system"], "system", "system"),
        ...messages.flatMap(({ content, role }, at) =>
          // Reasoning of earlier turns is taken out.
          contents(
            Array.isArray(content) ? list(content).filter((block) => at > last || !isThought(block)) : content,
            "message",
            String(role)
          )
        )
      ]
    }
    case "responses": {
      const items = list(body["input"])
      const last = items.findLastIndex(({ role }) => role === "user")
      return [
        ...tools(body),
        ...contents(body["instructions"], "system", "system"),
        ...items.flatMap((item, at) => {
          if (item["type"] === "reasoning") return at > last ? [blockOf(item, "message", "assistant")] : []
          return item["role"] === undefined
            ? [blockOf(item, "message")]
            : contents(item["content"], item["role"] === "developer" ? "system" : "message", String(item["role"]))
        })
      ]
    }
    case "gemini":
      return [
        ...tools(body),
        ...list((body["systemInstruction"] as Json | undefined)?.["parts"]).map((part) => blockOf(part, "system")),
        ...list(body["contents"]).flatMap(({ parts, role }) =>
          list(parts)
            .filter((part) => !isThought(part))
            .map((part) => blockOf(part, "message", String(role)))
        )
      ]
  }
}

const counted = new Map<string, ReadonlyArray<string>>()

/** Tokens that are no estimate of what is tested: words and signs. */
const tokensOf = (text: string): ReadonlyArray<string> => {
  const known = counted.get(text)
  if (known !== undefined) return known
  const tokens = text.match(/\w{1,6}|[^\s\w]/g) ?? []
  counted.set(text, tokens)
  return tokens
}

/** Tokens that two prompts begin with; block by block, as blocks of the same text are the same list. */
const commonTokens = (
  one: ReadonlyArray<ReadonlyArray<string>>,
  other: ReadonlyArray<ReadonlyArray<string>>
): number => {
  let common = 0
  for (let at = 0; at < one.length && at < other.length; at += 1) {
    const [left = [], right = []] = [one[at], other[at]]
    if (left !== right) {
      const differs = left.findIndex((token, index) => token !== right[index])
      return common + (differs < 0 ? left.length : differs)
    }
    common += left.length
  }
  return common
}

const totalOf = (blocks: ReadonlyArray<ReadonlyArray<string>>): number =>
  blocks.reduce((sum, block) => sum + block.length, 0)

const hasPicture = (value: unknown): boolean => /"type":"(image|image_url|input_image)"/.test(JSON.stringify(value))

/** Parameters that make another prompt of the same text, by the level that begins with them. */
const parametersOf = (kind: CacheKind, body: Json): Readonly<Record<Block["level"], string>> => {
  const key = (...names: ReadonlyArray<string>): string => names.map((name) => JSON.stringify(body[name])).join()
  if (kind === "claude") {
    return {
      tools: "",
      system: key("speed"),
      message: `${key("thinking", "tool_choice")} ${hasPicture(body["messages"])}`
    }
  }
  const settings = body["generationConfig"] as Json | undefined
  const all = `${key("response_format", "text", "reasoning", "prompt_cache_key", "toolConfig")} ${JSON.stringify(settings?.["thinkingConfig"])}`
  return { tools: all, system: "", message: "" }
}

interface Entry {
  readonly tokens: ReadonlyArray<ReadonlyArray<string>>
  untilMs: number
}

interface Marked {
  readonly tokens: number
  readonly ttlMs: number
  untilMs: number
}

const steps = {
  openai: { least: 1_024, step: 128 },
  gemini: { least: 2_048, step: 1_024 },
  deepseek: { least: 64, step: 64 }
} as const
const lookBack = 20
const maxEntries = 24

export class PlayedCache {
  readonly #kind: CacheKind
  readonly #entries = new Map<string, Array<Entry>>()
  readonly #marked = new Map<string, Marked>()
  readonly #least: number

  constructor(kind: CacheKind, least = 1_024) {
    this.#kind = kind
    this.#least = least
  }

  /** All entries are lost. */
  clear(): void {
    this.#entries.clear()
    this.#marked.clear()
  }

  ask(asked: Asked): ReportedTokens {
    return this.#kind === "claude" ? this.#askMarked(asked) : this.#askPrefix(this.#kind, asked)
  }

  #askPrefix(
    kind: "openai" | "gemini" | "deepseek",
    { account, atMs, body, model, provider, wire }: Asked
  ): ReportedTokens {
    const { message, system, tools: first } = parametersOf(kind, body)
    const tokens = [
      tokensOf(`(${first}${system}${message})`),
      ...blocksOf(wire, body).map(({ text }) => tokensOf(text))
    ]
    const scope = `${provider} ${account} ${model}`
    const entries = this.#entries.get(scope) ?? []
    let longest = 0
    for (const entry of entries) {
      if (entry.untilMs < atMs) continue
      let common = commonTokens(tokens, entry.tokens)
      // A unit is read as a whole or not at all.
      if (kind === "deepseek" && common < totalOf(entry.tokens)) common = 0
      if (common > longest) longest = common
    }
    const { least, step } = steps[kind]
    const read = longest < least ? 0 : longest - (longest % step)
    const ttlMs = kind === "deepseek" ? 60 * minuteMs : 5 * minuteMs
    entries.push({ tokens, untilMs: atMs + ttlMs })
    this.#entries.set(scope, entries.slice(-maxEntries))
    return { in: totalOf(tokens) + 6, cacheRead: read, cacheWrite: 0 }
  }

  #askMarked({ account, atMs, body, model, provider, wire }: Asked): ReportedTokens {
    const blocks = blocksOf(wire, body)
    const parameters = parametersOf("claude", body)
    const sums: Array<number> = []
    const keys: Array<string> = []
    let [key, sum, level] = [`${provider} ${account} ${model}`, 0, ""]
    for (const block of blocks) {
      if (block.level !== level) key = String(hash(`${key}|${block.level} ${parameters[block.level]}`))
      level = block.level
      key = String(hash(`${key}${block.text}`))
      sum += tokensOf(block.text).length
      sums.push(sum)
      keys.push(key)
    }
    const marks = blocks.flatMap(({ ttlMs }, at) => (ttlMs === null ? [] : [{ at, ttlMs }]))
    let read = 0
    for (const { at } of marks.toReversed()) {
      for (let back = at; back >= Math.max(0, at - lookBack) && read === 0; back -= 1) {
        const entry = this.#marked.get(keys[back] ?? "")
        if (entry === undefined || entry.untilMs < atMs) continue
        read = entry.tokens
        entry.untilMs = atMs + entry.ttlMs
      }
    }
    for (const { at, ttlMs } of marks) {
      const tokens = sums[at] ?? 0
      if (tokens >= this.#least) this.#marked.set(keys[at] ?? "", { tokens, ttlMs, untilMs: atMs + ttlMs })
    }
    const through = marks.length === 0 ? 0 : (sums[marks.at(-1)?.at ?? 0] ?? 0)
    return { in: sum + 4, cacheRead: read, cacheWrite: through < this.#least ? 0 : Math.max(0, through - read) }
  }
}

/** FNV-1a over both halves of 64 bits: enough for a test. */
const hash = (text: string): string => {
  let [low, high] = [0x811c9dc5, 0x1b873593]
  for (let at = 0; at < text.length; at += 1) {
    low = Math.imul(low ^ text.charCodeAt(at), 0x01000193)
    high = Math.imul(high ^ text.charCodeAt(at), 0x85ebca6b)
  }
  return `${low >>> 0}-${high >>> 0}-${text.length}`
}
