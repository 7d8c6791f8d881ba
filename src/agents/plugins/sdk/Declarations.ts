/**
 * The types of the module `gateway/plugin`, made from the schemas of contexts and payloads. `plugin new` writes them into a project, and the
 * build puts them beside the module that the package exports (`bin/pluginModule.mjs`).
 */
import * as Option from "effect/Option"
import * as AST from "effect/SchemaAST"
import type * as Schema from "effect/Schema"
import { LifecycleHook, type PluginHook, RequestHook } from "../../../subjects/plugins/entity.ts"
import { PluginContext, pluginPayloads } from "../../../contract/domain/PluginPayload.ts"
import { globals } from "./Globals.ts"

const indented = (text: string): string => text.replaceAll("\n", "\n  ")

const memberOf = (property: AST.PropertySignature): string => {
  const words = Option.getOrNull(AST.getDescriptionAnnotation(property))
  const comment = words === null ? "" : `/** ${words.replaceAll("*/", "* /")} */\n`
  const name = /^[A-Za-z_$][\w$]*$/.test(String(property.name)) ? String(property.name) : JSON.stringify(property.name)
  return `${comment}${name}${property.isOptional ? "?" : ""}: ${typeOf(property.type)}`
}

/** The type as TypeScript writes it. Knows what the schemas of plugins are made of. */
export const typeOf = (ast: AST.AST): string => {
  switch (ast._tag) {
    case "StringKeyword":
      return "string"
    case "NumberKeyword":
      return "number"
    case "BooleanKeyword":
      return "boolean"
    case "UnknownKeyword":
      return "any"
    case "Literal":
      return ast.literal === null ? "null" : JSON.stringify(ast.literal)
    case "Union":
      return ast.types.map(typeOf).join(" | ")
    case "TupleType": {
      const [rest] = ast.rest
      return rest === undefined ? "[]" : `Array<${typeOf(rest.type)}>`
    }
    case "TypeLiteral": {
      const [index] = ast.indexSignatures
      if (index !== undefined) return `{ [name: string]: ${typeOf(index.type)} }`
      if (ast.propertySignatures.length === 0) return "{}"
      return `{\n  ${ast.propertySignatures.map((property) => indented(memberOf(property))).join("\n  ")}\n}`
    }
    case "Refinement":
      return typeOf(ast.from)
    case "Transformation":
      return typeOf(ast.to)
    default:
      return "any"
  }
}

const payloadName = (hook: PluginHook): string => `${hook.slice(2)}Payload`

const declared = (name: string, schema: Schema.Schema.AnyNoContext): string =>
  `export type ${name} = ${typeOf(AST.typeAST(schema.ast))}\n`

const resultOf = (hook: RequestHook): string => {
  if (hook === "onRequest") return "Result | void | Promise<Result | void>"
  return hook === "onResponse"
    ? "{ body?: { [name: string]: any } } | void | Promise<{ body?: { [name: string]: any } } | void>"
    : "void | Promise<void>"
}

const handlers = (): ReadonlyArray<string> => [
  ...RequestHook.literals.map(
    (hook) => `${hook}?: (context: Context, payload: ${payloadName(hook)}) => ${resultOf(hook)}`
  ),
  ...LifecycleHook.literals.map((hook) => `${hook}?: (payload: ${payloadName(hook)}) => void | Promise<void>`)
]

/** The types as the module's own. */
export const moduleTypes = (): string =>
  [
    declared("Context", PluginContext),
    ...[...RequestHook.literals, ...LifecycleHook.literals].map((hook) =>
      declared(payloadName(hook), pluginPayloads[hook])
    ),
    `/** What \`onRequest\` may return; several are merged by spreading them. */
export interface Result {
  readonly blocked?: true
  readonly [name: string]: any
}

export interface Answer {
  /** 200 to 599; without it 403, or 200 with a body. */
  status?: number
  /** In the client's wire. */
  error?: { message: string; code?: string } | string
  /** The whole answer as it is. */
  body?: { [name: string]: any }
  headers?: { [name: string]: string }
}

/** Refuses the request. */
export function blockRequest(answer?: Answer): Result
/** Puts another body in the place of the request's. */
export function modifyBody(body: { [name: string]: any }): Result
/** Adds to what all hooks of the request see in \`context.metadata\`. */
export function addMetadata(metadata: { [name: string]: any }): Result

/** A candidate of \`auto\`. Null: not known. */
export interface PoolMember {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  readonly score: number
  readonly factors: { readonly [name: string]: number }
  readonly breaker: "CLOSED" | "DEGRADED" | "OPEN" | "HALF_OPEN"
  /** USD, blended 60 % input and 40 % output. */
  readonly costPer1MTokens: number | null
  readonly p95LatencyMs: number | null
  /** Fraction. */
  readonly errorRate: number
}

export interface RoutingContext {
  readonly taskType: string
  readonly hasTools: boolean
  readonly hasImages: boolean
  readonly tokenEstimate: number
  readonly sla: { readonly [name: string]: any }
  readonly lkgpEnabled: boolean
  readonly lastKnownGood: { readonly provider: string | null; readonly connectionId: string; readonly model: string } | null
}

export interface Selection {
  readonly provider: string
  readonly model: string
  /** Tells apart accounts of one provider. */
  readonly connectionId?: string
  /** Is told in the decision. */
  readonly reason?: string
}

export interface Strategy {
  description?: string
  /** Synchronous, 20 ms. Gives one member of the pool, or says which one is meant. */
  select: (pool: Array<PoolMember>, context: RoutingContext) => Selection
}

export interface Definition {
  /** That of the manifest. */
  name: string
  /** Lower runs first; 100 by default. */
  priority?: number
  /** False: no hook is called. */
  enabled?: boolean
  ${handlers().join("\n  ")}
  /** Router strategies, by name. */
  strategies?: { [name: string]: Strategy | Strategy["select"] }
}

export function definePlugin(definition: Definition): Definition
`
  ]
    .map((part) => part.trimEnd())
    .join("\n\n")

/** The text of `gateway-plugin.d.ts`. */
export const declarations =
  (): string => `// Types of "gateway/plugin", written by 'gateway plugin new'. They belong to the gateway: do not change them.
declare module "gateway/plugin" {
${moduleTypes().replaceAll(/^(?=.)/gm, "  ")}
}

${globals}`
