/** Tools that are endpoints of the management API: the same input, checks, handler and answer. */
import * as Effect from "effect/Effect"
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"
import type { KeyScope } from "../../subjects/keys/entity.ts"
import { closest } from "../../kernel/text/Closest.ts"
import {
  wrongInput,
  failed,
  succeeded,
  type Tool,
  type ToolCall,
  type ToolEffect,
  type ToolOutput
} from "../../agents/mcp/Tool.ts"
import { isObject, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import type { Plane } from "../management/Management.ts"
import { type Place, schemasOf } from "./OperationSchemas.ts"
import { type ToolName, toolsetOf } from "./Toolsets.ts"

export interface EndpointTool {
  /** Name without the prefix that all tools have. */
  readonly name: ToolName
  readonly endpoint: ManagementKey
  readonly scopes: ReadonlyArray<KeyScope>
  readonly effect: ToolEffect
  readonly isOpenWorld?: boolean
  /** Title for people; absent: the endpoint's summary. */
  readonly title?: string
  /** Absent: the endpoint's description. */
  readonly description?: string
  /** The inputs it has; absent: all of the endpoint's. */
  readonly only?: ReadonlyArray<string>
  /** Inputs that the tool needs although the endpoint does not. */
  readonly required?: ReadonlyArray<string>
  /** Inputs that a call does not give. */
  readonly defaults?: JsonObject
  /** True when a second call with the same input changes nothing more; absent: unless it is a `write`. */
  readonly isIdempotent?: boolean
}

export const toolPrefix = "gateway_"

/** Reads the message of an error answer of the management plane. */
export const errorTextOf = (status: number, body: Json): string => {
  const error = objectOr(objectOr(body)["error"])
  return stringOr(error["message"]) ?? `The gateway answered ${status}.`
}

const textOf = (value: Json | undefined): string | null => {
  switch (typeof value) {
    case "string":
      return value
    case "number":
    case "boolean":
      return String(value)
    default:
      return null
  }
}

interface Inputs {
  readonly path: Record<string, string>
  readonly query: Record<string, string>
  readonly body: Record<string, Json>
}

const unknownInput = (name: string, known: ReadonlyArray<string>): string => {
  const [near] = closest(name, known, 1)
  const hint = near === undefined ? "" : ` Did you mean '${near}'?`
  return `'${name.slice(0, 100)}' is not an input of this tool.${hint}`
}

/** The inputs at their places; a text is what is wrong with them. */
export const placedInputs = (input: JsonObject, places: ReadonlyMap<string, Place>): Inputs | string => {
  const inputs: Inputs = { path: {}, query: {}, body: {} }
  for (const [name, value] of Object.entries(input)) {
    const place = places.get(name)
    if (place === undefined) return unknownInput(name, [...places.keys()])
    if (place === "body") inputs.body[name] = value ?? null
    else if (value !== null && value !== undefined) {
      const text = textOf(value)
      if (text === null) return `'${name}' must be text or a number.`
      inputs[place][name] = text
    }
  }
  for (const [name, place] of places) {
    if (place === "path" && (inputs.path[name] ?? "") === "") return `'${name}' is missing.`
  }
  return inputs
}

/** Asks an endpoint; the answer is that of the tool. */
export const askEndpoint = (
  ask: Plane["ask"],
  key: ManagementKey,
  {
    body,
    path,
    query
  }: { readonly path?: Record<string, string>; readonly query?: Record<string, string>; readonly body?: Json },
  { caller }: ToolCall
): Effect.Effect<ToolOutput> =>
  Effect.map(
    ask({
      key,
      path: path ?? {},
      query: query ?? {},
      caller: { principal: caller.principal, ip: caller.ip, body: body ?? null }
    }),
    ({ body: answer, status }) => {
      if (status === 400 || status === 422) return wrongInput(errorTextOf(status, answer))
      if (status >= 400) return failed(errorTextOf(status, answer))
      return succeeded(isObject(answer) ? answer : { ok: true })
    }
  )

export const endpointTool = (ask: Plane["ask"], about: EndpointTool): Tool => {
  const schemas = schemasOf(about.endpoint, about)
  return {
    name: toolPrefix + about.name,
    toolset: toolsetOf(about.name),
    title: about.title ?? schemas.summary,
    description: about.description ?? schemas.description,
    scopes: about.scopes,
    effect: about.effect,
    isIdempotent: about.isIdempotent ?? about.effect !== "write",
    isOpenWorld: about.isOpenWorld ?? false,
    inputSchema: schemas.input,
    outputSchema: schemas.output,
    call: (input, call) => {
      const placed = placedInputs({ ...about.defaults, ...input }, schemas.places)
      if (typeof placed === "string") return Effect.succeed(wrongInput(placed))
      const absent = about.required?.find((name) => (input[name] ?? null) === null)
      if (absent !== undefined) return Effect.succeed(wrongInput(`'${absent}' is missing.`))
      const { body, path, query } = placed
      return askEndpoint(ask, about.endpoint, { path, query, body: schemas.hasBody ? body : null }, call)
    }
  }
}
