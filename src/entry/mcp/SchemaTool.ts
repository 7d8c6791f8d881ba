/** Tools with a schema of their own, over endpoints and the pipeline of requests. */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import { asMap, clean, type Json as SchemaJson } from "../../contract/document/JsonSchemas.ts"
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"
import type { EndpointCategory, KeyScope } from "../../subjects/keys/entity.ts"
import {
  wrongInput,
  failed,
  succeeded,
  type Tool,
  type ToolCall,
  type ToolEffect,
  type ToolOutput
} from "../../agents/mcp/Tool.ts"
import { type Json, type JsonObject, objectOr } from "../../wire/json/Json.ts"
import { badInput } from "../handling/Answers.ts"
import type { Plane } from "../management/Management.ts"
import { errorTextOf, toolPrefix } from "./EndpointTool.ts"
import { type ToolName, toolsetOf } from "./Toolsets.ts"

/** Failure of a call, with the reason in a sentence. */
export class ToolFailure extends Data.TaggedError("ToolFailure")<{
  readonly message: string
  /** True when its input is wrong. */
  readonly isBadInput?: true
}> {}

export interface SchemaTool<Input, Encoded> {
  /** Name without the prefix that all tools have. */
  readonly name: ToolName
  readonly title: string
  readonly description: string
  readonly scopes: ReadonlyArray<KeyScope>
  readonly effect: ToolEffect
  readonly isIdempotent?: boolean
  readonly isOpenWorld?: boolean
  readonly category?: EndpointCategory
  readonly input: Schema.Schema<Input, Encoded>
  /** A schema, or the definition of what an endpoint answers; null: the tool says nothing of its output. */
  readonly output: Schema.Schema.Any | JsonObject | null
  readonly run: (input: Input, call: ToolCall) => Effect.Effect<JsonObject, ToolFailure>
}

/** A schema with a name is written as a reference to it; clients want the object itself at the top. */
const atTop = (schema: JsonObject): JsonObject => {
  const { $ref: reference, ...rest } = schema
  if (typeof reference !== "string") return schema
  return { ...objectOr(objectOr(rest["$defs"])[reference.replace("#/$defs/", "")]), ...rest }
}

export const jsonSchemaOf = (schema: Schema.Schema.Any): JsonObject =>
  atTop(asMap(clean(JSONSchema.make(schema as Schema.Schema<unknown>) as unknown as SchemaJson)))

/** The protocol knows objects only. */
const outputOf = (output: Schema.Schema.Any | JsonObject | null): JsonObject | null => {
  if (output === null) return null
  const schema = Schema.isSchema(output) ? jsonSchemaOf(output) : output
  return schema["type"] === "object" ? schema : null
}

const strict = { errors: "all", onExcessProperty: "error" } as const

/** Longer reasons are cut: a model reads them. */
const mostReasonChars = 1_000

export const schemaTool = <Input, Encoded>(about: SchemaTool<Input, Encoded>): Tool => {
  const decode = Schema.decodeUnknown(about.input, strict)
  const { output } = about
  return {
    name: toolPrefix + about.name,
    toolset: toolsetOf(about.name),
    ...(about.category === undefined ? {} : { category: about.category }),
    title: about.title,
    description: about.description,
    scopes: about.scopes,
    effect: about.effect,
    isIdempotent: about.isIdempotent ?? about.effect !== "write",
    isOpenWorld: about.isOpenWorld ?? false,
    inputSchema: jsonSchemaOf(about.input),
    outputSchema: outputOf(output),
    call: (input, call) =>
      decode(input).pipe(
        Effect.catchTag("ParseError", (error) =>
          Effect.flatMap(
            HttpApiDecodeError.fromParseError(error),
            (wrong) => new ToolFailure({ message: badInput(wrong).message.slice(0, mostReasonChars), isBadInput: true })
          )
        ),
        Effect.flatMap((decoded) => about.run(decoded, call)),
        Effect.match({
          onFailure: ({ isBadInput, message }): ToolOutput => (isBadInput ? wrongInput(message) : failed(message)),
          onSuccess: succeeded
        })
      )
  }
}

export interface Asking {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Json
}

/** A refusal with a status; one of a bad input says so. */
export const refusedBy = (status: number, message: string): ToolFailure =>
  new ToolFailure({ message, ...(status === 400 || status === 422 ? { isBadInput: true } : {}) })

/** Makes the function that calls an endpoint; a refusal is a failure with its message. */
export const askedOf =
  (ask: Plane["ask"], { caller }: ToolCall) =>
  (key: ManagementKey, { body = null, path = {}, query = {} }: Asking = {}): Effect.Effect<JsonObject, ToolFailure> =>
    Effect.flatMap(
      ask({ key, path, query, caller: { principal: caller.principal, ip: caller.ip, body } }),
      ({ body: answer, status }) =>
        status < 400 ? Effect.succeed(objectOr(answer)) : refusedBy(status, errorTextOf(status, answer))
    )

/** Optional members of an input: absent or null means not given. */
export const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  Schema.optionalWith(schema, { exact: true, nullable: true })
