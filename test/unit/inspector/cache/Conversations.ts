/** A conversation with tools as each wire writes it. Deterministic. */
import type { WireName } from "../../../../src/contract/domain/Wire.ts"

export type Json = Record<string, unknown>

export type Event =
  | { readonly type: "user"; readonly text: string }
  | { readonly type: "assistant"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly command: string }
  | { readonly type: "result"; readonly id: string; readonly text: string }

export interface Tool {
  readonly name: string
  readonly description: string
  readonly schema: Json
}

export interface Talk {
  readonly tools: ReadonlyArray<Tool>
  readonly system: string
  readonly events: ReadonlyArray<Event>
}

const sentences = (seed: string, count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `Rule ${at} of ${seed}: keep the file src/${seed}/${at}.ts as it was found.`
  ).join(" ")

const tool = (name: string): Tool => ({
  name,
  description: `The tool ${name}. ${sentences(name, 24)}`,
  schema: {
    type: "object",
    properties: { command: { type: "string", description: `What ${name} does.` }, path: { type: "string" } },
    required: ["command"]
  }
})

/** Some 3,500 tokens before the first message. */
export const tools: ReadonlyArray<Tool> = ["bash", "edit", "search"].map(tool)
export const system = `You are a careful engineer. Today is 2026-11-24. ${sentences("system", 70)}`

/** What a turn adds: a question, or a round with a tool. The request of the turn ends with its last event. */
const written = (at: number): ReadonlyArray<Event> => {
  if (at === 0) return [{ type: "user", text: `Please look at step zero. ${sentences("start", 12)}` }]
  if (at % 3 === 0) {
    return [
      { type: "assistant", text: `Step ${at} is done, and the tests of it pass.` },
      { type: "user", text: `Now do step ${at}. ${sentences(`step${at}`, 3)}` }
    ]
  }
  return [
    { type: "thinking", text: `I should run command ${at} first, as ${sentences(`thought${at}`, 2)}` },
    { type: "call", id: `call_${at}`, command: `npm test -- step-${at}` },
    { type: "result", id: `call_${at}`, text: `Output of step ${at}: ${sentences(`output${at}`, 6)}` }
  ]
}

const turns = new Map<number, ReadonlyArray<Event>>()

const turn = (at: number): ReadonlyArray<Event> => {
  const events = turns.get(at) ?? written(at)
  turns.set(at, events)
  return events
}

/** The events of the first turns; reasoning of before the last question of the user is dropped, as most clients do. */
export const eventsOf = (count: number, keepsReasoning = false): ReadonlyArray<Event> => {
  const events = Array.from({ length: count }, (_, at) => turn(at)).flat()
  const lastUser = events.findLastIndex(({ type }) => type === "user")
  return events.filter(({ type }, at) => type !== "thinking" || keepsReasoning || at > lastUser)
}

export const talk = (count: number): Talk => ({ tools, system, events: eventsOf(count) })

const chatMessages = (events: ReadonlyArray<Event>, isOllama: boolean): ReadonlyArray<Json> => {
  const messages: Array<Json> = []
  let thought: string | null = null
  for (const event of events) {
    const reasoning = thought === null ? {} : { [isOllama ? "thinking" : "reasoning_content"]: thought }
    if (event.type !== "thinking") thought = null
    if (event.type === "thinking") thought = event.text
    else if (event.type === "call") {
      const args = { command: event.command }
      messages.push({
        role: "assistant",
        content: "",
        ...reasoning,
        tool_calls: [
          isOllama
            ? { function: { name: "bash", arguments: args } }
            : { id: event.id, type: "function", function: { name: "bash", arguments: JSON.stringify(args) } }
        ]
      })
    } else if (event.type === "result") {
      messages.push({
        role: "tool",
        ...(isOllama ? { tool_name: "bash" } : { tool_call_id: event.id }),
        content: event.text
      })
    } else messages.push({ role: event.type, content: event.text, ...reasoning })
  }
  return messages
}

const messagesOf = (events: ReadonlyArray<Event>): ReadonlyArray<Json> => {
  const messages: Array<{ role: string; content: Array<Json> }> = []
  const add = (role: string, block: Json): void => {
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(block)
    else messages.push({ role, content: [block] })
  }
  for (const event of events) {
    if (event.type === "user") add("user", { type: "text", text: event.text })
    else if (event.type === "assistant") add("assistant", { type: "text", text: event.text })
    else if (event.type === "thinking") add("assistant", { type: "thinking", thinking: event.text, signature: "c2ln" })
    else if (event.type === "call")
      add("assistant", { type: "tool_use", id: event.id, name: "bash", input: { command: event.command } })
    else add("user", { type: "tool_result", tool_use_id: event.id, content: event.text })
  }
  return messages
}

const ephemeral = { cache_control: { type: "ephemeral" } }

/** A mark behind the last block of the last message of each of the last two users' turns. */
const marked = (messages: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const users = new Set(messages.flatMap(({ role }, at) => (role === "user" ? [at] : [])).slice(-2))
  return messages.map((message, at) => {
    if (!users.has(at)) return message
    const content = message["content"] as ReadonlyArray<Json>
    return { ...message, content: [...content.slice(0, -1), { ...content.at(-1), ...ephemeral }] }
  })
}

export const bodyOf = (wire: WireName, { events, system: rules, tools: offered }: Talk): Json => {
  const chatTools = offered.map(({ description, name, schema }) => ({
    type: "function",
    function: { name, description, parameters: schema }
  }))
  switch (wire) {
    case "chat":
      return {
        model: "m",
        tools: chatTools,
        messages: [{ role: "system", content: rules }, ...chatMessages(events, false)]
      }
    case "ollama":
      return {
        model: "m",
        tools: chatTools,
        messages: [{ role: "system", content: rules }, ...chatMessages(events, true)]
      }
    case "messages":
      return {
        model: "m",
        max_tokens: 1_000,
        tools: offered.map(({ description, name, schema }) => ({ name, description, input_schema: schema })),
        system: [{ type: "text", text: rules, ...ephemeral }],
        messages: marked(messagesOf(events))
      }
    case "responses":
      return {
        model: "m",
        store: false,
        instructions: rules,
        tools: offered.map(({ description, name, schema }) => ({
          type: "function",
          name,
          description,
          parameters: schema
        })),
        input: events.map((event): Json => {
          if (event.type === "thinking")
            return { type: "reasoning", id: `rs_${event.text.length}`, summary: [], encrypted_content: event.text }
          if (event.type === "call") {
            return {
              type: "function_call",
              call_id: event.id,
              name: "bash",
              arguments: JSON.stringify({ command: event.command })
            }
          }
          if (event.type === "result") return { type: "function_call_output", call_id: event.id, output: event.text }
          const type = event.type === "user" ? "input_text" : "output_text"
          return { type: "message", role: event.type, content: [{ type, text: event.text }] }
        })
      }
    case "gemini":
      return {
        systemInstruction: { parts: [{ text: rules }] },
        tools: [
          {
            functionDeclarations: offered.map(({ description, name, schema }) => ({
              name,
              description,
              parameters: schema
            }))
          }
        ],
        contents: events.map((event): Json => {
          if (event.type === "thinking") return { role: "model", parts: [{ text: event.text, thought: true }] }
          if (event.type === "call")
            return { role: "model", parts: [{ functionCall: { name: "bash", args: { command: event.command } } }] }
          if (event.type === "result") {
            return { role: "user", parts: [{ functionResponse: { name: "bash", response: { output: event.text } } }] }
          }
          return { role: event.type === "user" ? "user" : "model", parts: [{ text: event.text }] }
        })
      }
  }
}

/** The event with another text. */
export const retold = (event: Event, text: string): Event =>
  "text" in event ? Object.assign({}, event, { text }) : event
