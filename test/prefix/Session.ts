/**
 * A session of twenty requests as each wire writes it: text, calls of tools with large results, pictures, a system prompt that changes, and, where
 * asked for, the client's own marks for the prompt cache. Each request holds all that was said before. Deterministic.
 */
import type { WireName } from "../../src/contract/domain/Wire.ts"

export type Json = Record<string, unknown>

type Event =
  | { readonly type: "user"; readonly text: string; readonly picture: boolean }
  | { readonly type: "assistant"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly args: Json }
  | { readonly type: "result"; readonly id: string; readonly name: string; readonly text: string }

export const requests = 20
/** From this request on the system prompt is another one: the client itself breaks the prefix there, once. */
export const systemChangesAt = 13

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const rulesText = Array.from(
  { length: 120 },
  (_, at) =>
    `Rule ${at}: basically, you should really keep the file src/rules/${at}.ts as it is, in order to be able to read it.`
).join("\n")

const systemAt = (request: number): string =>
  `${request < systemChangesAt ? "You are a careful engineer." : "You are a careful engineer who answers briefly."}\n${rulesText}`

const words = ["tea", "bicycle", "editor", "tests", "compiler", "holiday", "cat"]

const question = (at: number): string =>
  `I would really like to know, just basically, what you think of the ${words[at % words.length]} in step ${at}. ` +
  `Please note that my address is user${at}@example.com, and that the file src/step/${at}.ts must not be changed. ` +
  "It is, in my honest opinion, very very important that you actually look at it again before you do anything else at all."

/** What compression has rules for: logs with repetition, lists of equal objects, and the same text twice. */
const resultOf = (at: number): string => {
  if (at % 3 === 0) {
    return JSON.stringify(
      Array.from({ length: 24 }, (_, row) => ({
        id: row,
        name: `row ${row}`,
        size: row * 100,
        state: "open",
        note: null
      }))
    )
  }
  if (at % 3 === 1) {
    return [
      "$ git status",
      "On branch main",
      "Changes not staged for commit:",
      ...Array.from({ length: 60 }, (_, row) => `\tmodified:   src/part/${row % 7}/file-${row}.ts`),
      'no changes added to commit (use "git add" and/or "git commit -a")'
    ].join("\n")
  }
  return `${"npm notice created a lockfile\n".repeat(40)}added 120 packages in 3s\n`
}

const events: ReadonlyArray<Event> = Array.from({ length: requests }, (_, at): ReadonlyArray<Event> => {
  const isResult = at % 4 === 2
  const id = `call_${at}`
  const command = at % 3 === 1 ? "git status" : "npm install"
  if (isResult) {
    return [
      { type: "call", id, name: "run", args: { command } },
      { type: "result", id, name: "run", text: resultOf(at) }
    ]
  }
  const user: Event = { type: "user", text: question(at), picture: at % 4 === 3 }
  return at === 0
    ? [user]
    : [{ type: "assistant", text: `Step ${at} is basically done; I really just looked at it.` }, user]
}).flat()

/** The events of the n-th request, from 0. */
const upTo = (request: number): ReadonlyArray<Event> => {
  let asked = -1
  const end = events.findIndex((event) => {
    if (event.type === "user" || event.type === "result") asked += 1
    return asked === request
  })
  return events.slice(0, end + 1)
}

const schema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] }
const tool = { name: "run", description: "Runs a command of the shell and gives what it prints." }
const ephemeral = { cache_control: { type: "ephemeral" } }

/** A mark behind the last block of the last two of these turns. */
const markedTurns = (turns: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const last = new Set(turns.filter(({ role }) => role === "user").slice(-2))
  return turns.map((turn) => {
    const { content } = turn
    if (!last.has(turn)) return turn
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as ReadonlyArray<Json>)
    return { ...turn, content: [...blocks.slice(0, -1), { ...blocks.at(-1), ...ephemeral }] }
  })
}

const chatTurns = (all: ReadonlyArray<Event>): ReadonlyArray<Json> =>
  all.map((event): Json => {
    switch (event.type) {
      case "user":
        return event.picture
          ? {
              role: "user",
              content: [
                { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
                { type: "text", text: event.text }
              ]
            }
          : { role: "user", content: event.text }
      case "assistant":
        return { role: "assistant", content: event.text }
      case "call": {
        const call = { name: event.name, arguments: JSON.stringify(event.args) }
        return { role: "assistant", content: null, tool_calls: [{ id: event.id, type: "function", function: call }] }
      }
      case "result":
        return { role: "tool", tool_call_id: event.id, content: event.text }
    }
  })

const messagesTurns = (all: ReadonlyArray<Event>): ReadonlyArray<Json> =>
  all.map((event): Json => {
    switch (event.type) {
      case "user":
        return event.picture
          ? {
              role: "user",
              content: [
                { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
                { type: "text", text: event.text }
              ]
            }
          : { role: "user", content: event.text }
      case "assistant":
        return { role: "assistant", content: event.text }
      case "call":
        return { role: "assistant", content: [{ type: "tool_use", id: event.id, name: event.name, input: event.args }] }
      case "result":
        return { role: "user", content: [{ type: "tool_result", tool_use_id: event.id, content: event.text }] }
    }
  })

const responsesItems = (all: ReadonlyArray<Event>): ReadonlyArray<Json> =>
  all.map((event): Json => {
    switch (event.type) {
      case "user": {
        const picture = { type: "input_image", image_url: `data:image/png;base64,${pixel}`, detail: "auto" }
        const text = { type: "input_text", text: event.text }
        return { type: "message", role: "user", content: event.picture ? [picture, text] : [text] }
      }
      case "assistant":
        return {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: event.text, annotations: [] }]
        }
      case "call":
        return { type: "function_call", call_id: event.id, name: event.name, arguments: JSON.stringify(event.args) }
      case "result":
        return { type: "function_call_output", call_id: event.id, output: event.text }
    }
  })

const geminiContents = (all: ReadonlyArray<Event>): ReadonlyArray<Json> =>
  all.map((event): Json => {
    switch (event.type) {
      case "user": {
        const picture = { inlineData: { mimeType: "image/png", data: pixel } }
        return { role: "user", parts: event.picture ? [picture, { text: event.text }] : [{ text: event.text }] }
      }
      case "assistant":
        return { role: "model", parts: [{ text: event.text }] }
      case "call":
        return {
          role: "model",
          parts: [{ functionCall: { name: event.name, args: event.args } }]
        }
      case "result":
        return { role: "user", parts: [{ functionResponse: { name: event.name, response: { output: event.text } } }] }
    }
  })

const ollamaTurns = (all: ReadonlyArray<Event>): ReadonlyArray<Json> =>
  all.map((event): Json => {
    switch (event.type) {
      case "user":
        return { role: "user", content: event.text, ...(event.picture ? { images: [pixel] } : {}) }
      case "assistant":
        return { role: "assistant", content: event.text }
      case "call":
        return {
          role: "assistant",
          content: "",
          tool_calls: [{ function: { name: event.name, arguments: event.args } }]
        }
      case "result":
        return { role: "tool", tool_name: event.name, content: event.text }
    }
  })

/** The n-th request, from 0; the conversation is the last member. */
export const bodyOf = (wire: WireName, model: string, request: number, isMarked: boolean): Json => {
  const all = upTo(request)
  const system = systemAt(request)
  const chatTool = { type: "function", function: { ...tool, parameters: schema } }
  const marked = isMarked ? markedTurns : (turns: ReadonlyArray<Json>) => turns
  switch (wire) {
    case "chat":
      return { model, tools: [chatTool], messages: [{ role: "system", content: system }, ...marked(chatTurns(all))] }
    case "messages":
      return {
        model,
        max_tokens: 100,
        system: isMarked ? [{ type: "text", text: system, ...ephemeral }] : system,
        tools: [{ ...tool, input_schema: schema }],
        messages: marked(messagesTurns(all))
      }
    case "responses": {
      const tools = [{ type: "function", ...tool, parameters: schema, strict: false }]
      return { model, store: false, instructions: system, tools, input: responsesItems(all) }
    }
    case "gemini":
      return {
        systemInstruction: { parts: [{ text: system }] },
        tools: [{ functionDeclarations: [{ ...tool, parameters: schema }] }],
        contents: geminiContents(all)
      }
    case "ollama":
      return {
        model,
        stream: false,
        tools: [chatTool],
        messages: [{ role: "system", content: system }, ...ollamaTurns(all)]
      }
  }
}

export const pathOf = (wire: WireName, model: string): string =>
  ({
    chat: "/v1/chat/completions",
    messages: "/v1/messages",
    responses: "/v1/responses",
    gemini: `/v1beta/models/${model}:generateContent`,
    ollama: "/api/chat"
  })[wire]
