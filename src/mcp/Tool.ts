/** A tool as this server offers it. https://modelcontextprotocol.io/specification/2025-11-25/server/tools */
import type * as Effect from "effect/Effect"
import type { KeyScope } from "../domain/ApiKey.ts"
import { isArray, isObject, type Json, type JsonObject } from "../wire/json/Json.ts"
import type { Caller } from "./Caller.ts"

/**
 * - `read`: changes nothing.
 * - `write`: changes something; what was there before can be had again by another call.
 * - `destroy`: what it removes cannot be had again.
 */
export type ToolEffect = "read" | "write" | "destroy"

export interface ToolCall {
  readonly caller: Caller
  /** When it came, on the monotonic clock, in milliseconds. */
  readonly startedMs: number
  /** Whether the client asked to be told how far the call is. */
  readonly isProgressWanted: boolean
  /** Tells a client that asked for it how far the call is. */
  readonly progress: (done: number, total: number | null, message: string) => void
}

export interface ToolOutput {
  /** As the tool's output schema says; null where there is none, or the call failed. */
  readonly structured: JsonObject | null
  /** Content blocks; where there is none, the structured value is written as one. */
  readonly content?: ReadonlyArray<JsonObject>
  /** What a person or a model is told when the call failed; null when it did not. */
  readonly error: string | null
  /** The result of another server, handed on as it is; absent: it is made of the members above. */
  readonly passed?: JsonObject
}

export interface Tool {
  readonly name: string
  /** The registered server that has it; absent: it is this gateway's. */
  readonly server?: string
  /** For people. */
  readonly title: string
  readonly description: string
  /** All of them are needed. */
  readonly scopes: ReadonlyArray<KeyScope>
  readonly effect: ToolEffect
  /** Whether a second call with the same input changes nothing more. */
  readonly isIdempotent: boolean
  /** Whether it asks services outside this gateway. */
  readonly isOpenWorld: boolean
  /** JSON Schema 2020-12 of an object. */
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject | null
  /** Members of another server's own description of it that are shown in place of this gateway's. */
  readonly passed?: JsonObject
  readonly call: (input: JsonObject, call: ToolCall) => Effect.Effect<ToolOutput>
}

export const succeeded = (structured: JsonObject): ToolOutput => ({ structured, error: null })
export const failed = (error: string): ToolOutput => ({ structured: null, error })

/** As `tools/list` shows it. */
export const viewOf = (tool: Tool): JsonObject => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: tool.inputSchema,
  ...(tool.outputSchema === null ? {} : { outputSchema: tool.outputSchema }),
  annotations: {
    title: tool.title,
    readOnlyHint: tool.effect === "read",
    destructiveHint: tool.effect === "destroy",
    idempotentHint: tool.effect === "read" || tool.isIdempotent,
    openWorldHint: tool.isOpenWorld
  },
  ...tool.passed
})

const mostShortChars = 160

/** The first sentence. */
const shortened = (text: string): string => {
  const end = text.search(/[.!?](?:\s|$)/)
  const first = end === -1 ? text : text.slice(0, end + 1)
  return first.length > mostShortChars ? `${first.slice(0, mostShortChars - 1)}…` : first
}

/** A schema without its examples, and with first sentences only. */
const shortSchema = (schema: Json): Json => {
  if (isArray(schema)) return schema.map(shortSchema)
  if (!isObject(schema)) return schema
  const short: Record<string, Json> = {}
  for (const [name, value] of Object.entries(schema)) {
    if (name === "examples" && isArray(value)) continue
    short[name] = name === "description" && typeof value === "string" ? shortened(value) : shortSchema(value ?? null)
  }
  return short
}

/** For clients with little room: what a model needs to call it, and no more. */
export const shortViewOf = (tool: Tool): JsonObject => {
  const { outputSchema: _, ...view } = viewOf(tool)
  return {
    ...view,
    description: shortened(tool.description),
    inputSchema: shortSchema(tool.inputSchema)
  }
}

/** Beyond it a result is refused: a model that asked for too much is better told to ask for less. */
const maxResultChars = 1_048_576

/** As `tools/call` answers. */
export const resultOf = ({ content, error, passed, structured }: ToolOutput): JsonObject => {
  if (passed !== undefined) return passed
  if (error !== null) return { content: content ?? [{ type: "text", text: error }], isError: true }
  const text = structured === null ? "" : JSON.stringify(structured)
  if (text.length > maxResultChars) {
    const told = `The result has more than ${maxResultChars} characters. Ask for less, for example with 'limit'.`
    return { content: [{ type: "text", text: told }], isError: true }
  }
  return {
    content: content ?? [{ type: "text", text }],
    ...(structured === null ? {} : { structuredContent: structured }),
    isError: false
  }
}
