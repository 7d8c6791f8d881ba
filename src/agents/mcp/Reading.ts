/** The methods about what clients may read and be asked: resources, prompts, and completions of their variables. */
import * as Effect from "effect/Effect"
import type { KeyScope } from "../../subjects/keys/entity.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import { type Caller, missingScopes } from "./Caller.ts"
import { pageAt } from "./Pages.ts"
import { type Prompt, type PromptArgument, promptView } from "./Prompt.ts"
import { invalidParams, RpcError, rpcCodes } from "./protocol/JsonRpc.ts"
import {
  type ReadFailure,
  type Resource,
  type ResourceTemplate,
  resourceView,
  templateUri,
  templateView
} from "./Resource.ts"
import type { ToolCall } from "./Tool.ts"

/** Resources and prompts for a caller. */
export interface Readable {
  readonly resources: (caller: Caller) => Effect.Effect<ReadonlyArray<Resource>>
  readonly templates: ReadonlyArray<ResourceTemplate>
  readonly prompts: ReadonlyArray<Prompt>
}

interface Scoped {
  readonly scopes: ReadonlyArray<KeyScope>
}

interface Completed extends Scoped {
  readonly values: PromptArgument["values"]
}

type Answer = Effect.Effect<JsonObject, RpcError>

/** https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion */
const mostValues = 100
const maxUriChars = 2_048
const maxArgumentChars = 10_000

const permitted = <A extends Scoped>(all: ReadonlyArray<A>, caller: Caller): ReadonlyArray<A> =>
  all.filter(({ scopes }) => missingScopes(caller, scopes).length === 0)

const checkScopes = ({ scopes }: Scoped, caller: Caller): Effect.Effect<void, RpcError> => {
  const missing = missingScopes(caller, scopes)
  return missing.length === 0
    ? Effect.void
    : new RpcError({
        code: rpcCodes.unauthorized,
        message: `This caller lacks the scope ${missing.map((one) => `'${one}'`).join(" and ")}.`
      })
}

const rpcErrorOf = ({ isAbsent, message }: ReadFailure): RpcError =>
  new RpcError({ code: isAbsent ? rpcCodes.resourceNotFound : rpcCodes.invalidParams, message })

const hintFor = (name: string, known: ReadonlyArray<string>): string => {
  const [near] = closest(name, known, 1)
  return near === undefined ? "" : ` Did you mean '${near}'?`
}

const makeResources = ({ resources, templates }: Pick<Readable, "resources" | "templates">) => {
  const listResources = (params: JsonObject, caller: Caller): Answer =>
    Effect.gen(function* () {
      const all = permitted(yield* resources(caller), caller)
      const { items, next } = yield* pageAt(all, ({ uri }) => uri, params)
      return { resources: items.map(resourceView), ...next }
    })

  const listTemplates = (params: JsonObject, caller: Caller): Answer =>
    Effect.map(pageAt(permitted(templates, caller), templateUri, params), ({ items, next }) => ({
      resourceTemplates: items.map(templateView),
      ...next
    }))

  const readResource = (params: JsonObject, call: ToolCall): Answer =>
    Effect.gen(function* () {
      const uri = stringOr(params["uri"])
      if (uri === null || uri.length > maxUriChars) {
        return yield* invalidParams(`'uri' must be text of at most ${maxUriChars} characters.`)
      }
      const all = yield* resources(call.caller)
      const resource = all.find((one) => one.uri === uri)
      const template = templates.find(({ prefix }) => uri.startsWith(prefix) && uri.length > prefix.length)
      const found = resource ?? template
      if (found === undefined) {
        const known = all.map((one) => one.uri)
        return yield* new RpcError({
          code: rpcCodes.resourceNotFound,
          message: `There is no resource '${uri.slice(0, 200)}'.${hintFor(uri, known)}`
        })
      }
      yield* checkScopes(found, call.caller)
      const reading = "uri" in found ? found.read(call) : found.read(uri.slice(found.prefix.length), call)
      const text = yield* Effect.mapError(reading, rpcErrorOf)
      return { contents: [{ uri, mimeType: found.mimeType, text }] }
    })

  return { listResources, listTemplates, readResource }
}

/** Reads the arguments of a prompt; a text: what is wrong with them. */
const argumentsOf = (prompt: Prompt, sent: JsonObject): Record<string, string> | string => {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(sent)) {
    if (!prompt.arguments.some((one) => one.name === name)) {
      return `'${name.slice(0, 100)}' is not an argument of this prompt.`
    }
    if (typeof value !== "string" || value.length > maxArgumentChars) {
      return `'${name}' must be text of at most ${maxArgumentChars} characters.`
    }
    if (value.trim() !== "") texts[name] = value.trim()
  }
  const absent = prompt.arguments.find(({ isRequired, name }) => isRequired && texts[name] === undefined)
  return absent === undefined ? texts : `The argument '${absent.name}' is missing.`
}

const promptNamed = (prompts: ReadonlyArray<Prompt>, value: unknown): Effect.Effect<Prompt, RpcError> => {
  if (typeof value !== "string") return invalidParams("'name' must be the name of a prompt.")
  const prompt = prompts.find(({ name }) => name === value)
  if (prompt !== undefined) return Effect.succeed(prompt)
  const known = prompts.map(({ name }) => name)
  return invalidParams(`Unknown prompt: ${value.slice(0, 100)}.${hintFor(value, known)}`)
}

const makePrompts = (prompts: ReadonlyArray<Prompt>) => ({
  listPrompts: (params: JsonObject, caller: Caller): Answer =>
    Effect.map(
      pageAt(permitted(prompts, caller), ({ name }) => name, params),
      ({ items, next }) => ({ prompts: items.map(promptView), ...next })
    ),
  getPrompt: (params: JsonObject, call: ToolCall): Answer =>
    Effect.gen(function* () {
      const prompt = yield* promptNamed(prompts, params["name"])
      yield* checkScopes(prompt, call.caller)
      const texts = argumentsOf(prompt, objectOr(params["arguments"]))
      if (typeof texts === "string") return yield* invalidParams(texts)
      const messages = yield* Effect.mapError(prompt.messages(texts, call), rpcErrorOf)
      return { description: prompt.description, messages: [...messages] }
    })
})

const makeCompletion = ({ prompts, templates }: Pick<Readable, "prompts" | "templates">) => {
  const argumentOf = (reference: JsonObject, name: string): Effect.Effect<Completed, RpcError> =>
    Effect.gen(function* () {
      if (reference["type"] === "ref/prompt") {
        const prompt = yield* promptNamed(prompts, reference["name"])
        const argument = prompt.arguments.find((one) => one.name === name)
        if (argument === undefined) return yield* invalidParams(`'${name.slice(0, 100)}' is not an argument of it.`)
        return { scopes: prompt.scopes, values: argument.values }
      }
      if (reference["type"] !== "ref/resource") {
        return yield* invalidParams("'ref.type' must be 'ref/prompt' or 'ref/resource'.")
      }
      const template = templates.find((one) => templateUri(one) === reference["uri"])
      if (template === undefined) return yield* invalidParams("'ref.uri' must be that of a resource template.")
      if (template.variable !== name) return yield* invalidParams(`'${name.slice(0, 100)}' is not a variable of it.`)
      return template
    })

  return (params: JsonObject, call: ToolCall): Answer =>
    Effect.gen(function* () {
      const { name, value } = objectOr(params["argument"])
      if (typeof name !== "string" || typeof value !== "string") {
        return yield* invalidParams("'argument' must have a 'name' and a 'value' of text.")
      }
      const source = yield* argumentOf(objectOr(params["ref"]), name)
      yield* checkScopes(source, call.caller)
      const all = source.values === null ? [] : yield* source.values(call)
      const begun = value.toLowerCase()
      const matching = all.filter((one) => one.toLowerCase().startsWith(begun))
      const values = matching.slice(0, mostValues)
      return { completion: { values, total: matching.length, hasMore: matching.length > values.length } }
    })
}

export const makeReading = (readable: Readable) => ({
  ...makeResources(readable),
  ...makePrompts(readable.prompts),
  complete: makeCompletion(readable)
})
