/**
 * Resource that clients may read: by an address of its own, or by a template with one variable.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { KeyScope } from "../../subjects/keys/entity.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { ToolCall } from "./Tool.ts"

/** Error of a resource that cannot be read, with the reason in a sentence. */
export class ReadFailure extends Data.TaggedError("ReadFailure")<{
  readonly message: string
  readonly isAbsent: boolean
}> {}

interface Described {
  readonly name: string
  /** Title for people. */
  readonly title: string
  readonly description: string
  readonly mimeType: string
  /** All of them are needed. */
  readonly scopes: ReadonlyArray<KeyScope>
}

export interface Resource extends Described {
  readonly uri: string
  readonly read: (call: ToolCall) => Effect.Effect<string, ReadFailure>
}

export interface ResourceTemplate extends Described {
  /** Text before the variable. */
  readonly prefix: string
  /** Name of the variable, which is the rest of the address. */
  readonly variable: string
  readonly read: (value: string, call: ToolCall) => Effect.Effect<string, ReadFailure>
  /** Values that clients are offered while one is typed; null: none are known. */
  readonly values: ((call: ToolCall) => Effect.Effect<ReadonlyArray<string>>) | null
}

const described = ({ description, mimeType, name, title }: Described): JsonObject => ({
  name,
  title,
  description,
  mimeType
})

export const templateUri = ({ prefix, variable }: ResourceTemplate): string => `${prefix}{${variable}}`

/** Writes the resource as `resources/list` shows it. */
export const resourceView = (resource: Resource): JsonObject => ({ uri: resource.uri, ...described(resource) })

/** Writes the template as `resources/templates/list` shows it. */
export const templateView = (template: ResourceTemplate): JsonObject => ({
  uriTemplate: templateUri(template),
  ...described(template)
})
