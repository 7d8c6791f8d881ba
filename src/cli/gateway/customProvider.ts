/** `gateway provider add custom`: a provider of the operator's own, and the connection to it, in one go. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type CreateNode as Node, CreateNode } from "../../subjects/nodes/routes.ts"
import { CreateConnection } from "../../subjects/connections/routes.ts"
import type { ProviderNodeType } from "../../subjects/nodes/entity.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import * as connections from "./connections.ts"
import { freeName, refuseTaken } from "../sameName.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../Failure.ts"
import { body } from "../flags/Flags.ts"
import type { GatewayFlags } from "./Target.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export interface CustomProvider {
  readonly baseUrl: string | undefined
  readonly wires: ReadonlyArray<WireName>
  readonly name: string | undefined
  readonly prefix: string | undefined
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly apiKey: Redacted.Redacted | null
  readonly isSameNameAllowed: boolean
  /** Ask it for its models before the connection stays. */
  readonly verify: boolean
  /** Other members of the connection. */
  readonly more: Readonly<Record<string, unknown>>
}

const typeOf: Readonly<Record<WireName, ProviderNodeType>> = {
  chat: "openai-compatible",
  responses: "openai-compatible",
  messages: "anthropic-compatible",
  gemini: "gemini-compatible",
  ollama: "ollama-compatible"
}

/** A provider id out of the name or the host, such as `server-in-the-cellar`. */
export const prefixOf = (name: string | undefined, baseUrl: string): string => {
  const from = name ?? (URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "custom")
  const id = from
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-+/, "")
    .replace(/-+$/, "")
  return id === "" ? "custom" : id
}

const flagNames = {
  name: "--name",
  prefix: "--prefix",
  baseUrl: "--base-url",
  wires: "--wire",
  headers: "--header",
  apiKey: "--api-key"
}

const nodeOf = Effect.fnUntraced(function* (custom: CustomProvider): Effect.fn.Return<Node, BadArgument> {
  const [wire] = custom.wires
  if (custom.baseUrl === undefined || wire === undefined) {
    return yield* new BadArgument({
      message: "A custom provider needs an address and the wire format it speaks.",
      hint: "Example: gateway provider add custom --name cellar --base-url http://127.0.0.1:8080/v1 --wire chat"
    })
  }
  const prefix = custom.prefix ?? prefixOf(custom.name, custom.baseUrl)
  return yield* body(
    CreateNode,
    {
      name: custom.name ?? prefix,
      prefix,
      type: typeOf[wire],
      baseUrl: custom.baseUrl,
      wires: custom.wires,
      headers: custom.headers.length === 0 ? undefined : Object.fromEntries(custom.headers)
    },
    flagNames
  )
})

/** Fields of the connection to a node. */
const connectionFields = ({ apiKey, more, name }: CustomProvider, provider: string) => ({
  name,
  ...(apiKey === null ? { authType: "none" } : {}),
  ...more,
  ...(apiKey === null ? {} : { apiKey: Redacted.value(apiKey) }),
  provider
})

/** The node and its connection as they would be stored. */
export const customDraft = Effect.fnUntraced(function* (custom: CustomProvider) {
  const node = yield* nodeOf(custom)
  return { ...(yield* body(CreateConnection, connectionFields(custom, node.prefix), flagNames)), node }
})

/** Wires in the order in which a server is tried: Ollama has others beside its own. */
const asked: ReadonlyArray<WireName> = ["ollama", "chat", "messages", "responses", "gemini"]

/** Statuses of a question that say that the server does not have that wire. */
const noSuchWire: ReadonlySet<number> = new Set([404, 405, 501])

/** The server understood the question and refused it, such as for its model. A good status with an answer of another form is no refusal. */
const isRefusal = (status: number | null): boolean => status !== null && status >= 400 && !noSuchWire.has(status)

const keyRefused: ReadonlySet<number | null> = new Set([401, 403])

const notStored = (message: string): CommandFailed =>
  new CommandFailed({
    message: `${asSentence(message)} Nothing was stored.`,
    hint: "Correct the address, the wire or the key; --no-verify stores it without asking."
  })

/** The names of both are free: a name of another node is refused, and a prefix that is not given gets a number where it is taken. */
const named = Effect.fnUntraced(function* (flags: GatewayFlags, custom: CustomProvider) {
  const { baseUrl, isSameNameAllowed, name, prefix } = custom
  const all = (yield* connections.nodes(flags)).map((node) => ({ id: node.prefix, name: node.name }))
  if (name !== undefined) {
    yield* refuseTaken(all, { what: "provider", name, isAllowed: isSameNameAllowed, ownId: null })
  }
  if (prefix !== undefined || baseUrl === undefined) return custom
  const prefixes = all.map(({ id }) => ({ id, name: id }))
  return { ...custom, prefix: freeName(prefixes, prefixOf(name, baseUrl), "-") }
})

const connect = Effect.fnUntraced(function* (flags: GatewayFlags, custom: CustomProvider, prefix: string) {
  const input = yield* body(CreateConnection, connectionFields(custom, prefix), flagNames)
  return yield* connections.create(flags, input)
})

/** Result of trying one wire: the server speaks it, or the reason for which it seems not to. */
type Tried = { readonly _tag: "Spoken" } | { readonly _tag: "NotSpoken"; readonly reason: string }

/** Lists its models and asks a tiny question on one wire. Entities made for that are removed, also where it is interrupted. */
const tryWire = (flags: GatewayFlags, custom: CustomProvider, wire: WireName): Effect.Effect<Tried, CliFailure> =>
  Effect.flatMap(nodeOf({ ...custom, wires: [wire] }), (payload) =>
    Effect.acquireUseRelease(
      connections.createNode(flags, payload),
      (node) =>
        Effect.gen(function* () {
          const { id } = yield* connect(flags, custom, node.prefix)
          const { error, ids } = yield* connections.models(flags, id)
          if (ids.length === 0 && custom.more["defaultModel"] === undefined) {
            return { _tag: "NotSpoken", reason: error ?? "it lists no models" } as const
          }
          const answer = yield* connections.test(flags, id)
          const reason = answer.error ?? `it answered with the status ${answer.status}`
          if (keyRefused.has(answer.status)) return yield* notStored(`${custom.baseUrl} refuses the key: ${reason}`)
          return answer.ok || isRefusal(answer.status)
            ? ({ _tag: "Spoken" } as const)
            : ({ _tag: "NotSpoken", reason } as const)
        }),
      (node) => Effect.ignore(connections.removeNode(flags, node.id))
    )
  )

/** The first wire on which the server lists models and answers a tiny question. */
const wireOf = Effect.fnUntraced(function* (flags: GatewayFlags, custom: CustomProvider) {
  // Most servers speak chat: the answer to that shows most.
  let saidToChat = "it does not answer"
  for (const wire of asked) {
    const tried = yield* tryWire(flags, custom, wire)
    if (tried._tag === "Spoken") return wire
    if (wire === "chat") saidToChat = tried.reason
  }
  return yield* notStored(`What answers at ${custom.baseUrl} speaks no wire that is known here: ${saidToChat}`)
})

/** The same provider with free names, and with the wire that the server speaks where none is given. Nothing of it is stored yet. */
export const settled = Effect.fnUntraced(function* (flags: GatewayFlags, custom: CustomProvider) {
  const free = yield* named(flags, custom)
  if (free.baseUrl === undefined || free.wires.length > 0 || !free.verify) return free
  return { ...free, wires: [yield* wireOf(flags, free)] }
})

/** Makes the node and its connection, or neither: when the connection cannot be made, or its endpoint does not answer, the node goes again. */
export const addCustom = Effect.fnUntraced(function* (flags: GatewayFlags, custom: CustomProvider) {
  const whole = yield* settled(flags, custom)
  const node = yield* connections.createNode(flags, yield* nodeOf(whole))
  const made = Effect.gen(function* () {
    const connection = yield* connect(flags, whole, node.prefix)
    if (!whole.verify) return { node, connection, models: [] }
    const { error, ids } = yield* connections.models(flags, connection.id)
    if (error !== null && whole.more["defaultModel"] === undefined) return yield* notStored(error)
    return { node, connection, models: ids }
  })
  return yield* Effect.onError(made, () => Effect.ignore(connections.removeNode(flags, node.id)))
})
