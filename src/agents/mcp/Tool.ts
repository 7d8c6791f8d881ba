/** A tool as this server offers it. https://modelcontextprotocol.io/specification/2025-11-25/server/tools */
import type * as Effect from "effect/Effect"
import type { EndpointCategory, KeyScope } from "../../subjects/keys/entity.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { Caller } from "./Caller.ts"

/**
 * - `read`: changes nothing.
 * - `write`: changes something; what was there before can be had again by another call.
 * - `destroy`: what it removes cannot be had again.
 */
export type ToolEffect = "read" | "write" | "destroy"

/** Groups of tools that a session may choose from. */
export const toolsets = [
  "cache",
  "compression",
  "health",
  "memory",
  "models",
  "requests",
  "routing",
  "servers",
  "skills",
  "usage"
] as const
export type Toolset = (typeof toolsets)[number]

/**
 * Forms in which tools are listed.
 * - `short`: the members that a model needs to call them.
 * - `input`: whole schemas of their inputs.
 * - `full`: those of their results too.
 */
export const schemaForms = ["short", "input", "full"] as const

/** Wish of a client for the list of tools. */
export interface ListWish {
  /** Null: all of them. */
  readonly toolsets: ReadonlySet<Toolset> | null
  /** Null: it does not say. */
  readonly schemas: (typeof schemaForms)[number] | null
}

export interface ToolCall {
  readonly caller: Caller
  /** Time of the call on the monotonic clock, in milliseconds. */
  readonly startedMs: number
  readonly listed: ListWish
  /** True when the client asked for the progress of the call. */
  readonly isProgressWanted: boolean
  /** Reports the progress of the call to a client that asked for it. */
  readonly progress: (done: number, total: number | null, message: string) => void
}

export interface ToolOutput {
  /** Result by the tool's output schema; null where there is none, or the call failed. */
  readonly structured: JsonObject | null
  /** Content blocks; where there is none, the structured value is written as one. */
  readonly content?: ReadonlyArray<JsonObject>
  /** Message for a person or a model when the call failed; null when it did not. */
  readonly error: string | null
  /** True when it failed because of its input. */
  readonly isBadInput?: true
  /** The result of another server, passed on as it is; absent: it is made of the members above. */
  readonly passed?: JsonObject
}

export interface Tool {
  readonly name: string
  /** The registered server that has it; absent: it is this gateway's. */
  readonly server?: string
  /** The group of tools that it is listed with, where a session chooses groups; null: it is listed with all of them. */
  readonly toolset: Toolset | null
  /**
   * Category of its call on the inference routes: a key that may not use that kind of endpoint may not use the tool;
   * absent: none.
   */
  readonly category?: EndpointCategory
  /** Title for people. */
  readonly title: string
  readonly description: string
  /** All of them are needed. */
  readonly scopes: ReadonlyArray<KeyScope>
  readonly effect: ToolEffect
  /** True when a second call with the same input changes nothing more. */
  readonly isIdempotent: boolean
  /** True when it asks services outside this gateway. */
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
export const wrongInput = (error: string): ToolOutput => ({ structured: null, error, isBadInput: true })

/** Most characters of a result; a larger one is refused: a model that asked for too much should ask for less. */
const maxResultChars = 1_048_576

/** Writes the result as `tools/call` answers it. */
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
