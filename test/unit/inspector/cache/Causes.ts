/** Conversations whose cache one known thing breaks at the last call: what happens, and what has to be told of it. */
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import type { CacheCause } from "../../../../src/observe/inspector/cache/CacheCall.ts"
import { bodyOf, type Event, eventsOf, type Json, retold, system, talk, type Tool, tools } from "./Conversations.ts"
import type { CacheKind } from "./PromptCaches.ts"

/** The last call, as it differs from one that goes on. */
export interface Last {
  readonly body?: Json
  readonly account?: string
  readonly provider?: string
  readonly model?: string
  readonly askedModel?: string
  /** Since the call before. */
  readonly gapMs?: number
  readonly sent?: { readonly wire: WireName; readonly body: Json }
  /** The provider has lost all. */
  readonly isLost?: true
}

export interface CauseCase {
  readonly name: string
  readonly at: Spot
  readonly isRouted?: boolean
  /** Turns before the last call. */
  readonly turns?: number
  /** Body of an earlier call of so many turns, where it is not the usual one. */
  readonly earlier?: (turns: number) => Json
  /** What the gateway sent at the earlier calls, where it is another prompt. */
  readonly earlierSent?: (turns: number) => { readonly wire: WireName; readonly body: Json }
  readonly last: Last
  readonly by: CacheCause["by"]
  readonly rule: CacheCause["rule"]
  readonly path: string | null
  /** Parts of the texts; null: the text is null. */
  readonly before?: string | null
  readonly after?: string | null
}

export interface Spot {
  readonly wire: WireName
  readonly provider: string
  readonly model: string
  /** Null: the answer has no counts. */
  readonly cache: CacheKind | null
}

const chat: Spot = { wire: "chat", provider: "openai", model: "gpt-5.1", cache: "openai" }
const messages: Spot = { wire: "messages", provider: "anthropic", model: "claude-sonnet-4-5", cache: "claude" }
const responses: Spot = { wire: "responses", provider: "openai", model: "gpt-5.1", cache: "openai" }
const gemini: Spot = { wire: "gemini", provider: "gemini", model: "gemini-2.5-pro", cache: "gemini" }
const ollama: Spot = { wire: "ollama", provider: "ollama", model: "qwen3", cache: null }
const deepseek: Spot = { wire: "chat", provider: "deepseek", model: "deepseek-chat", cache: "deepseek" }

/** Turns before the last call, if a case does not say. */
export const usualTurns = 7
const next = usualTurns + 1

const retooled = (offered: ReadonlyArray<Tool>, wire: WireName): Json =>
  bodyOf(wire, { tools: offered, system, events: eventsOf(next) })
const described = tools.map((tool) =>
  tool.name === "edit" ? { ...tool, description: `${tool.description} Version 2.` } : tool
)
const reparametered = tools.map((tool, at) =>
  at === 0
    ? {
        ...tool,
        schema: {
          ...tool.schema,
          properties: { command: { type: "string", description: "Another text." }, path: { type: "string" } }
        }
      }
    : tool
)
const reordered = tools.map((tool, at) => {
  const { command, path } = tool.schema["properties"] as Json
  return at === 0 ? { ...tool, schema: { ...tool.schema, properties: { path, command } } } : tool
})
const extra: Tool = { name: "fetch", description: "Fetches a page.", schema: { type: "object" } }

const dated = system.replace("2026-11-24", "2026-11-25")
const resystemed = (wire: WireName): Json => bodyOf(wire, { ...talk(next), system: dated })

const withEvents = (wire: WireName, events: ReadonlyArray<Event>): Json => bodyOf(wire, { tools, system, events })

/** The conversation with one event another. */
const changedAt = (wire: WireName, index: number, text: string, turns = next): Json =>
  withEvents(
    wire,
    eventsOf(turns).map((event, at) => (at === index ? retold(event, text) : event))
  )

/** Index of the result of a turn among the events. */
const resultOf = (id: string): number => eventsOf(next).findIndex((event) => event.type === "result" && event.id === id)
const cleared = "[Old tool result content cleared]"

const summary: Event = {
  type: "user",
  text: "Summary of what was said before: steps zero to three were done, and all tests passed."
}
const compacted: ReadonlyArray<Event> = [summary, ...eventsOf(next).slice(-5)]

const set = (body: Json, members: Json): Json => ({ ...body, ...members })

/** Every mark of a body is taken out. */
const unmarked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarked)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      key === "cache_control" ? [] : [[key, unmarked(member)] as const]
    )
  )
}

const markedSystemOnly = (body: Json): Json => set(body, { messages: unmarked(body["messages"]) })

/** A result for each of so many calls in one turn. */
const manyResults = (count: number): ReadonlyArray<Event> => {
  const calls = Array.from({ length: count }, (_, at): Event => ({
    type: "call",
    id: `many_${at}`,
    command: `cat ${at}`
  }))
  const results = calls.map((call): Event => ({
    type: "result",
    id: call.type === "call" ? call.id : "",
    text: "A short file."
  }))
  return [...calls, ...results]
}

/** The last block alone is marked. */
const markedAtEnd = (body: Json): Json => {
  const plain = unmarked(body) as Json
  const turns = plain["messages"] as ReadonlyArray<{ readonly content: ReadonlyArray<Json> }>
  const mark = { cache_control: { type: "ephemeral" } }
  return set(plain, {
    messages: turns.map((turn, at) =>
      at < turns.length - 1
        ? turn
        : Object.assign({}, turn, { content: [...turn.content.slice(0, -1), { ...turn.content.at(-1), ...mark }] })
    )
  })
}

const hourMarked = (body: Json): Json => {
  const [block] = body["system"] as ReadonlyArray<Json>
  return set(body, { system: [{ ...block, cache_control: { type: "ephemeral", ttl: "1h" } }] })
}

const keyed = (key: string): Json => set(bodyOf("chat", talk(next)), { prompt_cache_key: key })

/** What a gateway that compresses makes of a request: results of old turns are shorter. */
const compressed = (wire: WireName, turns: number, from: number): Json =>
  withEvents(
    wire,
    eventsOf(turns).map((event, at) =>
      event.type === "result" && at < from ? retold(event, event.text.slice(0, 120)) : event
    )
  )

const remembering = (wire: WireName, turns: number, memory: string): Json =>
  bodyOf(wire, { ...talk(turns), system: `Memory: ${memory}\n${system}` })

export const cases: ReadonlyArray<CauseCase> = [
  // Tools.
  {
    name: "the description of a tool",
    at: chat,
    last: { body: retooled(described, "chat") },
    by: "client",
    rule: "tools_changed",
    path: "tools[1].function.description",
    after: "Version 2."
  },
  {
    name: "the description of a tool",
    at: messages,
    last: { body: retooled(described, "messages") },
    by: "client",
    rule: "tools_changed",
    path: "tools[1].description",
    after: "Version 2."
  },
  {
    name: "a parameter of a tool",
    at: responses,
    last: { body: retooled(reparametered, "responses") },
    by: "client",
    rule: "tools_changed",
    path: "tools[0].parameters.properties.command.description",
    before: "What bash does.",
    after: "Another text."
  },
  {
    name: "the description of a function",
    at: gemini,
    last: { body: retooled(described, "gemini") },
    by: "client",
    rule: "tools_changed",
    path: "tools[0].functionDeclarations[1].description",
    after: "Version 2."
  },
  {
    name: "the description of a tool",
    at: ollama,
    last: { body: retooled(described, "ollama") },
    by: "client",
    rule: "tools_changed",
    path: "tools[1].function.description",
    after: "Version 2."
  },
  {
    name: "one more tool",
    at: messages,
    last: { body: retooled([...tools, extra], "messages") },
    by: "client",
    rule: "tools_changed",
    path: "tools[3]",
    before: null,
    after: "Fetches a page."
  },
  {
    name: "one tool less",
    at: messages,
    last: {
      body: retooled(
        tools.filter(({ name }) => name !== "edit"),
        "messages"
      )
    },
    by: "client",
    rule: "tools_changed",
    path: "tools[1]",
    before: '"edit"',
    after: '"search"'
  },
  {
    name: "tools in another order",
    at: chat,
    last: { body: retooled(tools.toReversed(), "chat") },
    by: "client",
    rule: "tools_changed",
    path: "tools[0]",
    before: '"bash"',
    after: '"search"'
  },
  {
    name: "members of a schema in another order",
    at: chat,
    last: { body: retooled(reordered, "chat") },
    by: "client",
    rule: "tools_changed",
    path: "tools[0].function.parameters.properties",
    before: '{"command"',
    after: '{"path"'
  },
  {
    name: "no tools any more",
    at: messages,
    last: { body: set(bodyOf("messages", talk(next)), { tools: [] }) },
    by: "client",
    rule: "tools_changed",
    path: "tools[0]",
    before: '"bash"',
    after: null
  },
  // System prompt.
  {
    name: "the date in the system prompt",
    at: chat,
    last: { body: resystemed("chat") },
    by: "client",
    rule: "system_changed",
    path: "messages[0].content",
    before: "2026-11-24",
    after: "2026-11-25"
  },
  {
    name: "the date in the system prompt",
    at: messages,
    last: { body: resystemed("messages") },
    by: "client",
    rule: "system_changed",
    path: "system[0].text",
    before: "2026-11-24",
    after: "2026-11-25"
  },
  {
    name: "the system prompt as a text",
    at: deepseek,
    last: { body: resystemed("chat") },
    by: "client",
    rule: "system_changed",
    path: "messages[0].content",
    before: "2026-11-24",
    after: "2026-11-25"
  },
  {
    name: "the instructions",
    at: responses,
    last: { body: resystemed("responses") },
    by: "client",
    rule: "system_changed",
    path: "instructions",
    before: "2026-11-24",
    after: "2026-11-25"
  },
  {
    name: "the system instruction",
    at: gemini,
    last: { body: resystemed("gemini") },
    by: "client",
    rule: "system_changed",
    path: "systemInstruction.parts[0].text",
    before: "2026-11-24",
    after: "2026-11-25"
  },
  {
    name: "the system prompt",
    at: ollama,
    last: { body: resystemed("ollama") },
    by: "client",
    rule: "system_changed",
    path: "messages[0].content",
    before: "2026-11-24",
    after: "2026-11-25"
  },
  {
    name: "a system prompt of another text",
    at: chat,
    last: { body: bodyOf("chat", { ...talk(next), system: "You are a poet." }) },
    by: "client",
    rule: "system_changed",
    path: "messages[0].content",
    after: "You are a poet."
  },
  // One message.
  {
    name: "the first question",
    at: chat,
    last: { body: changedAt("chat", 0, "At 12:01. Please look at step zero.") },
    by: "client",
    rule: "message_changed",
    path: "messages[1].content",
    after: "At 12:01."
  },
  {
    name: "an old result",
    at: messages,
    last: { body: changedAt("messages", resultOf("call_2"), cleared) },
    by: "client",
    rule: "message_changed",
    path: "messages[4].content[0].content",
    before: "Output of step 2",
    after: cleared
  },
  {
    name: "an old result",
    at: responses,
    last: { body: changedAt("responses", resultOf("call_1"), cleared) },
    by: "client",
    rule: "message_changed",
    path: "input[2].output",
    before: "Output of step 1",
    after: cleared
  },
  {
    name: "an old answer",
    at: gemini,
    turns: 20,
    last: { body: changedAt("gemini", 5, "Something else was said.", 21) },
    by: "client",
    rule: "message_changed",
    path: "contents[5].parts[0].text",
    before: "Step 3 is done",
    after: "Something else"
  },
  {
    name: "an old result",
    at: ollama,
    last: { body: changedAt("ollama", resultOf("call_1"), cleared) },
    by: "client",
    rule: "message_changed",
    path: "messages[3].content",
    before: "Output of step 1",
    after: cleared
  },
  {
    name: "the first question",
    at: deepseek,
    last: { body: changedAt("chat", 0, "At 12:01. Please look at step zero.") },
    by: "client",
    rule: "message_changed",
    path: "messages[1].content",
    after: "At 12:01."
  },
  // The history.
  {
    name: "the oldest messages were left out",
    at: chat,
    last: { body: withEvents("chat", eventsOf(next).slice(3)) },
    by: "client",
    rule: "history_rewritten",
    path: "messages[1].tool_calls[0]"
  },
  {
    name: "a summary stands for what was said",
    at: messages,
    last: { body: withEvents("messages", compacted) },
    by: "client",
    rule: "history_rewritten",
    path: "messages[0].content[0].text",
    before: "Please look at step zero",
    after: "Summary of what was said"
  },
  {
    name: "a summary stands for what was said",
    at: responses,
    last: { body: withEvents("responses", compacted) },
    by: "client",
    rule: "history_rewritten",
    path: "input[0].content[0].text",
    before: "Please look at step zero",
    after: "Summary of what was said"
  },
  {
    name: "a message was put in between",
    at: gemini,
    turns: 20,
    last: {
      body: withEvents("gemini", [
        ...eventsOf(21).slice(0, 1),
        { type: "user", text: "By the way." },
        ...eventsOf(21).slice(1)
      ])
    },
    by: "client",
    rule: "history_rewritten",
    path: "contents[1].parts[0]"
  },
  {
    name: "all old results were cleared",
    at: chat,
    last: {
      body: withEvents(
        "chat",
        eventsOf(next).map((event, at) => (event.type === "result" && at < 6 ? retold(event, cleared) : event))
      )
    },
    by: "client",
    rule: "history_rewritten",
    path: "messages[3].content",
    before: "Output of step 1",
    after: cleared
  },
  // Parameters.
  {
    name: "the choice of tools",
    at: messages,
    last: { body: set(bodyOf("messages", talk(next)), { tool_choice: { type: "none" } }) },
    by: "client",
    rule: "parameters_changed",
    path: "tool_choice",
    before: null,
    after: '{"type":"none"}'
  },
  {
    name: "thinking",
    at: messages,
    last: { body: set(bodyOf("messages", talk(next)), { thinking: { type: "enabled", budget_tokens: 4_000 } }) },
    by: "client",
    rule: "parameters_changed",
    path: "thinking",
    before: null,
    after: "4000"
  },
  {
    name: "the schema of the answer",
    at: chat,
    last: { body: set(bodyOf("chat", talk(next)), { response_format: { type: "json_object" } }) },
    by: "client",
    rule: "parameters_changed",
    path: "response_format",
    before: null,
    after: "json_object"
  },
  {
    name: "the effort",
    at: responses,
    last: { body: set(bodyOf("responses", talk(next)), { reasoning: { effort: "high" } }) },
    by: "client",
    rule: "parameters_changed",
    path: "reasoning",
    before: null,
    after: "high"
  },
  {
    name: "the key of the cache",
    at: chat,
    earlier: (turns) => set(bodyOf("chat", talk(turns)), { prompt_cache_key: "one" }),
    last: { body: keyed("two") },
    by: "client",
    rule: "parameters_changed",
    path: "prompt_cache_key",
    before: '"one"',
    after: '"two"'
  },
  {
    name: "the budget of thinking",
    at: gemini,
    last: { body: set(bodyOf("gemini", talk(next)), { generationConfig: { thinkingConfig: { thinkingBudget: 9 } } }) },
    by: "client",
    rule: "parameters_changed",
    path: "generationConfig.thinkingConfig",
    before: null,
    after: "9"
  },
  {
    name: "thinking that the gateway has put in",
    at: messages,
    earlierSent: (turns) => ({ wire: "messages", body: bodyOf("messages", talk(turns)) }),
    last: {
      sent: {
        wire: "messages",
        body: set(bodyOf("messages", talk(next)), { thinking: { type: "enabled", budget_tokens: 4_000 } })
      }
    },
    by: "gateway",
    rule: "parameters_changed",
    path: "thinking",
    before: null,
    after: "4000"
  },
  {
    name: "the first picture",
    at: messages,
    last: { body: withEvents("messages", eventsOf(next)), ...withPicture() },
    by: "client",
    rule: "parameters_changed",
    path: "images",
    before: null,
    after: "present"
  },
  // Marks.
  {
    name: "the marks are gone",
    at: messages,
    last: { body: unmarked(bodyOf("messages", talk(next))) as Json },
    by: "client",
    rule: "marker_moved",
    path: "messages[12].content[0].cache_control",
    before: "messages[12].content[0].cache_control",
    after: null
  },
  {
    name: "only the system prompt is marked",
    at: messages,
    last: { body: markedSystemOnly(bodyOf("messages", talk(next))) },
    by: "client",
    rule: "marker_moved",
    path: "system[0].cache_control",
    before: "messages[12].content[0].cache_control",
    after: "system[0].cache_control"
  },
  {
    name: "the marks are too far behind what was cached",
    at: messages,
    last: { body: markedAtEnd(withEvents("messages", [...eventsOf(usualTurns), ...manyResults(30)])) },
    by: "client",
    rule: "marker_moved",
    path: "messages[14].content[29].cache_control",
    before: "messages[12].content[0].cache_control",
    after: "messages[14].content[29].cache_control"
  },
  {
    name: "the gateway has taken the marks out",
    at: messages,
    earlierSent: (turns) => ({ wire: "messages", body: bodyOf("messages", talk(turns)) }),
    last: { sent: { wire: "messages", body: unmarked(bodyOf("messages", talk(next))) as Json } },
    by: "gateway",
    rule: "marker_moved",
    path: "messages[12].content[0].cache_control",
    after: null
  },
  // Model.
  {
    name: "the client asks another model",
    at: messages,
    last: { model: "claude-opus-4-1", askedModel: "claude-opus-4-1" },
    by: "client",
    rule: "model_changed",
    path: "model",
    before: "claude-sonnet-4-5",
    after: "claude-opus-4-1"
  },
  {
    name: "the gateway calls another model",
    at: chat,
    last: { model: "gpt-5.1-mini", askedModel: "gpt-5.1" },
    by: "gateway",
    rule: "model_changed",
    path: "model",
    before: "gpt-5.1",
    after: "gpt-5.1-mini"
  },
  {
    name: "the client asks another model",
    at: ollama,
    last: { model: "llama3", askedModel: "llama3" },
    by: "client",
    rule: "model_changed",
    path: "model",
    before: "qwen3",
    after: "llama3"
  },
  // Account.
  {
    name: "the gateway takes another account",
    at: messages,
    last: { account: "second" },
    by: "gateway",
    rule: "account_changed",
    path: null,
    before: "first",
    after: "second"
  },
  {
    name: "the client uses another key",
    at: chat,
    isRouted: false,
    last: { account: "second" },
    by: "client",
    rule: "account_changed",
    path: null,
    before: "first",
    after: "second"
  },
  {
    name: "the gateway goes on at another provider",
    at: responses,
    last: { provider: "azure-openai", account: "second" },
    by: "gateway",
    rule: "account_changed",
    path: null,
    before: "openai first",
    after: "azure-openai second"
  },
  {
    name: "the gateway goes on at another provider in another wire",
    at: chat,
    last: {
      provider: "anthropic",
      account: "second",
      model: "claude-sonnet-4-5",
      askedModel: "gpt-5.1",
      sent: { wire: "messages", body: bodyOf("messages", talk(next)) }
    },
    by: "gateway",
    rule: "account_changed",
    path: null,
    before: "openai first",
    after: "anthropic second"
  },
  // Time.
  {
    name: "six minutes went by",
    at: messages,
    last: { gapMs: 360_000 },
    by: "client",
    rule: "ttl_expired",
    path: null,
    before: "300 s",
    after: "360 s"
  },
  {
    name: "twenty minutes went by",
    at: chat,
    last: { gapMs: 1_200_000 },
    by: "client",
    rule: "ttl_expired",
    path: null,
    before: "300 s",
    after: "1200 s"
  },
  {
    name: "ten minutes went by, and the system prompt is kept for an hour",
    at: messages,
    earlier: (turns) => hourMarked(bodyOf("messages", talk(turns))),
    last: { body: hourMarked(bodyOf("messages", talk(next))), gapMs: 600_000 },
    by: "client",
    rule: "ttl_expired",
    path: null,
    before: "300 s",
    after: "600 s"
  },
  {
    name: "two hours went by",
    at: deepseek,
    last: { gapMs: 7_200_000 },
    by: "client",
    rule: "ttl_expired",
    path: null,
    before: "3600 s",
    after: "7200 s"
  },
  {
    name: "ten minutes went by, and the date changed",
    at: messages,
    last: { body: resystemed("messages"), gapMs: 600_000 },
    by: "client",
    rule: "ttl_expired",
    path: null
  },
  // The gateway's own doing.
  {
    name: "the gateway shortens old results",
    at: chat,
    earlierSent: (turns) => ({ wire: "chat", body: bodyOf("chat", talk(turns)) }),
    last: { sent: { wire: "chat", body: compressed("chat", next, 6) } },
    by: "gateway",
    rule: "gateway_rewrote",
    path: "messages[3].content",
    before: "src/output1/0.ts as it wa"
  },
  {
    name: "the gateway puts other memories in",
    at: messages,
    earlierSent: (turns) => ({ wire: "messages", body: remembering("messages", turns, "the user likes tea") }),
    last: { sent: { wire: "messages", body: remembering("messages", next, "the user has a cat") } },
    by: "gateway",
    rule: "gateway_rewrote",
    path: "system[0].text",
    before: "likes tea",
    after: "has a cat"
  },
  {
    name: "the gateway translates, and hands over a summary",
    at: { ...messages, wire: "chat" },
    earlierSent: (turns) => ({ wire: "messages", body: bodyOf("messages", talk(turns)) }),
    last: { sent: { wire: "messages", body: withEvents("messages", compacted) } },
    by: "gateway",
    rule: "gateway_rewrote",
    path: "messages[0].content[0].text",
    after: "Summary of what was said"
  },
  {
    name: "the gateway writes tools in another order",
    at: gemini,
    earlierSent: (turns) => ({ wire: "gemini", body: bodyOf("gemini", talk(turns)) }),
    last: { sent: { wire: "gemini", body: retooled(tools.toReversed(), "gemini") } },
    by: "gateway",
    rule: "gateway_rewrote",
    path: "tools[0].functionDeclarations[0]"
  },
  {
    name: "the client changes its system prompt, and the gateway translates",
    at: { ...messages, wire: "chat" },
    earlierSent: (turns) => ({ wire: "messages", body: bodyOf("messages", talk(turns)) }),
    last: { body: resystemed("chat"), sent: { wire: "messages", body: resystemed("messages") } },
    by: "client",
    rule: "system_changed",
    path: "messages[0].content",
    before: "2026-11-24",
    after: "2026-11-25"
  },
  {
    name: "the gateway puts other memories in, and the client clears an old result",
    at: messages,
    earlierSent: (turns) => ({ wire: "messages", body: remembering("messages", turns, "the user likes tea") }),
    last: {
      body: changedAt("messages", resultOf("call_5"), cleared),
      sent: { wire: "messages", body: remembering("messages", next, "the user has a cat") }
    },
    by: "gateway",
    rule: "gateway_rewrote",
    path: "system[0].text",
    before: "likes tea",
    after: "has a cat"
  },
  {
    name: "the gateway goes on at another provider with an account of the same name",
    at: responses,
    last: { provider: "azure-openai" },
    by: "gateway",
    rule: "account_changed",
    path: null,
    before: "openai first",
    after: "azure-openai first"
  },
  // The provider.
  {
    name: "the provider has lost it",
    at: messages,
    last: { isLost: true },
    by: "provider",
    rule: "provider_missed",
    path: null
  },
  {
    name: "the provider has lost it",
    at: chat,
    last: { isLost: true },
    by: "provider",
    rule: "provider_missed",
    path: null
  },
  {
    name: "the provider has lost it",
    at: responses,
    last: { isLost: true },
    by: "provider",
    rule: "provider_missed",
    path: null
  },
  {
    name: "the provider has lost it",
    at: gemini,
    last: { isLost: true },
    by: "provider",
    rule: "provider_missed",
    path: null
  },
  {
    name: "the provider has lost it",
    at: deepseek,
    last: { isLost: true },
    by: "provider",
    rule: "provider_missed",
    path: null
  }
]

function withPicture(): Pick<Last, "body"> {
  const body = bodyOf("messages", talk(next))
  const turns = body["messages"] as ReadonlyArray<{ readonly role: string; readonly content: ReadonlyArray<Json> }>
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } }
  const last = turns.length - 1
  return {
    body: set(body, {
      messages: turns.map((message, at) =>
        at === last ? Object.assign({}, message, { content: [picture, ...message.content] }) : message
      )
    })
  }
}
