/** `gateway provider add custom`: a provider of the operator's own, and the connection to it, in one go. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type CreateNode as Node, CreateNode } from "../../../api/Groups/ProviderNodes.ts"
import { CreateConnection } from "../../../api/Groups/Providers.ts"
import type { ProviderNodeType } from "../../../domain/ProviderNode.ts"
import type { WireName } from "../../../domain/Wire.ts"
import * as Client from "../../gateway/Client.ts"
import { BadArgument, CommandFailed } from "../../Failure.ts"
import { body } from "../../Flags.ts"
import type { GatewayFlags } from "../../gateway/Target.ts"

export interface CustomProvider {
  readonly baseUrl: string | undefined
  readonly wires: ReadonlyArray<WireName>
  readonly name: string | undefined
  readonly prefix: string | undefined
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly apiKey: Redacted.Redacted | null
  /** Ask it for its models before the connection stays. */
  readonly verify: boolean
  /** What else the connection has. */
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

/** Makes both, or neither: when the connection cannot be made, or its endpoint does not answer, the node goes again. */
export const addCustom = Effect.fnUntraced(function* (flags: GatewayFlags, custom: CustomProvider) {
  const payload = yield* nodeOf(custom)
  const to = yield* Client.target(flags)
  const nodes = yield* Client.group(to, "providerNodes")
  const providers = yield* Client.group(to, "providers")
  const { node } = yield* nodes.create({ payload }).pipe(Client.orExplain(to))
  const takeBack = nodes.remove({ path: { id: node.id } }).pipe(Effect.ignore)
  const connect = Effect.gen(function* () {
    const apiKey = custom.apiKey === null ? undefined : Redacted.value(custom.apiKey)
    const input = yield* body(
      CreateConnection,
      {
        provider: node.prefix,
        name: custom.name,
        apiKey,
        authType: apiKey === undefined ? "none" : undefined,
        ...custom.more
      },
      flagNames
    )
    const { connection } = yield* providers.create({ payload: input }).pipe(Client.orExplain(to))
    if (!custom.verify) return { node, connection, models: [] }
    const listing = yield* providers.models({ path: { id: connection.id } }).pipe(
      Client.orExplain(to),
      Effect.catchTag("CommandFailed", ({ message }) =>
        Effect.fail(
          new CommandFailed({
            message: `${message.replace(/\.$/, "")}. Nothing was stored.`,
            hint: "Correct the address, the wire or the key; --no-verify stores it without asking."
          })
        )
      )
    )
    return { node, connection, models: listing.models.map(({ id }) => id) }
  })
  return yield* Effect.onError(connect, () => takeBack)
})
