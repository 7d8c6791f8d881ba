/** A question that clients offer their users. https://modelcontextprotocol.io/specification/2025-11-25/server/prompts */
import type * as Effect from "effect/Effect"
import type { KeyScope } from "../../subjects/keys/entity.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { ReadFailure } from "./Resource.ts"
import type { ToolCall } from "./Tool.ts"

export interface PromptArgument {
  readonly name: string
  readonly description: string
  readonly isRequired: boolean
  /** Values that clients are offered while one is typed; null: none are known. */
  readonly values: ((call: ToolCall) => Effect.Effect<ReadonlyArray<string>>) | null
}

export interface Prompt {
  readonly name: string
  /** Title for people. */
  readonly title: string
  readonly description: string
  /** All of them are needed. */
  readonly scopes: ReadonlyArray<KeyScope>
  readonly arguments: ReadonlyArray<PromptArgument>
  /** Makes its messages. Required arguments are there. */
  readonly messages: (
    given: Readonly<Record<string, string>>,
    call: ToolCall
  ) => Effect.Effect<ReadonlyArray<JsonObject>, ReadFailure>
}

/** Writes the prompt as `prompts/list` shows it. */
export const promptView = (prompt: Prompt): JsonObject => ({
  name: prompt.name,
  title: prompt.title,
  description: prompt.description,
  arguments: prompt.arguments.map(({ description, isRequired, name }) => ({ name, description, required: isRequired }))
})
