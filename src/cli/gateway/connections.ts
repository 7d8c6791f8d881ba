/** Operations of commands on connections, wherever they are stored: by a gateway, or on this machine's data folder. */
import * as Effect from "effect/Effect"
import type { CreateNode } from "../../subjects/nodes/routes.ts"
import type { CreateConnection, ValidateConnection } from "../../subjects/connections/routes.ts"
import * as Client from "./Client.ts"
import type { CliFailure } from "../Failure.ts"
import * as local from "../local/connections.ts"
import * as localNodes from "../local/nodes.ts"
import { freeName, refuseTaken } from "../sameName.ts"
import type { GatewayFlags, Target } from "./Target.ts"

export type { Models } from "../local/connections.ts"

const providersAt = (to: Target) => Client.group(to, "providers")

/** Checks whether the provider accepts a connection as it would be stored; nothing is stored. */
export const validate = (flags: GatewayFlags, payload: ValidateConnection) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(providersAt(to), (providers) => providers.validate({ payload }).pipe(Client.orExplain(to))),
    folder: local.validateConnection(payload)
  })

export const create = (flags: GatewayFlags, payload: CreateConnection) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(providersAt(to), (providers) =>
        Effect.map(providers.create({ payload }).pipe(Client.orExplain(to)), ({ connection }) => connection)
      ),
    folder: local.addConnection(payload)
  })

/** The models of a connection as its provider lists them. A provider that lists none is no failure. */
export const models = (flags: GatewayFlags, id: string): Effect.Effect<local.Models, CliFailure> =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(providersAt(to), (providers) =>
        Effect.map(providers.models({ path: { id }, urlParams: {} }).pipe(Client.orExplain(to)), local.idsOf)
      ),
    folder: local.modelsOf(id)
  }).pipe(Effect.catchTag("CommandFailed", ({ message }) => Effect.succeed({ ids: [], error: message })))

/** Asks a connection a tiny question. */
export const test = (flags: GatewayFlags, id: string) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(providersAt(to), (providers) =>
        providers.test({ path: { id }, payload: null }).pipe(Client.orExplain(to))
      ),
    folder: local.testConnection(id)
  })

/** Asks one connection, or every active one, a tiny question. */
export const testEach = (flags: GatewayFlags, idOrName: string | null) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.gen(function* () {
        const providers = yield* providersAt(to)
        const { connections } = yield* providers.list().pipe(Client.orExplain(to))
        return yield* Effect.forEach(
          yield* local.wanted(connections, idOrName),
          (connection) =>
            Effect.map(
              providers.test({ path: { id: connection.id }, payload: null }).pipe(Client.orExplain(to)),
              (result): local.Tested => ({ connection, ...result })
            ),
          { concurrency: local.testsAtOnce }
        )
      }),
    folder: local.testConnections(idOrName)
  })

/** Providers that the operator added. */
export const nodes = (flags: GatewayFlags) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(Client.group(to, "providerNodes"), (nodes) =>
        Effect.map(nodes.list().pipe(Client.orExplain(to)), (answer): ReadonlyArray<local.NodeName> => answer.nodes)
      ),
    folder: local.listNodes
  })

/** The provider of a node's prefix; null when there is no such node. */
export const nodeNamed = (flags: GatewayFlags, prefix: string) =>
  Effect.map(nodes(flags), (all) => all.find((node) => node.prefix.toLowerCase() === prefix.toLowerCase()) ?? null)

export const createNode = (flags: GatewayFlags, payload: CreateNode) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(Client.group(to, "providerNodes"), (client) =>
        Effect.map(client.create({ payload }).pipe(Client.orExplain(to)), ({ node }) => node)
      ),
    folder: localNodes.addNode(payload)
  })

/** Removes a provider that the operator added, with its connections. */
export const removeNode = (flags: GatewayFlags, id: string) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(Client.group(to, "providerNodes"), (client) =>
        Effect.asVoid(client.remove({ path: { id } }).pipe(Client.orExplain(to)))
      ),
    folder: localNodes.removeNode(id)
  })

/** Connections that are there already. */
export const list = (flags: GatewayFlags) =>
  Client.atPlace(flags, {
    gateway: (to) =>
      Effect.flatMap(providersAt(to), (providers) =>
        Effect.map(providers.list().pipe(Client.orExplain(to)), (answer) => answer.connections)
      ),
    folder: local.listConnections
  })

/** The name of a new connection: the one that is given, where it is free or may be doubled, else the usual one or the next to it. */
export const nameFor = (
  flags: GatewayFlags,
  provider: { readonly id: string; readonly name: string },
  name: string | undefined,
  isAllowed: boolean
): Effect.Effect<string | undefined, CliFailure> =>
  Effect.gen(function* () {
    if (isAllowed) return name
    const others = (yield* list(flags)).filter((each) => each.provider === provider.id)
    if (name === undefined) return freeName(others, provider.name)
    yield* refuseTaken(others, { what: "connection", name, isAllowed, ownId: null })
    return name
  })

/** The address of the gateway that serves, or will serve, what was changed. */
export const servedBy = (flags: GatewayFlags) =>
  Effect.map(Client.place(flags), (where) =>
    where._tag === "Gateway" ? { isRunning: true, url: where.to.url } : { isRunning: false, url: where.atDefault.url }
  )
