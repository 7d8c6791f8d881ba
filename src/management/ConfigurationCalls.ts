/** Which calls of the management a change of the configuration is, with the names in it made to ids of this gateway. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ManagementKey } from "../api/ManagementRoutes.ts"
import { type Change, type Kind, priceParts } from "../declared/Plan.ts"
import { connectionName } from "../declared/Present.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../wire/json/Json.ts"

export interface Call {
  readonly key: ManagementKey
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
}

/** Asks an endpoint; errors are answers. */
export type Ask = (call: Call) => Effect.Effect<{ readonly status: number; readonly body: Json }>

/** What an endpoint refused, in its own words. */
export class CallRefused extends Data.TaggedError("CallRefused")<{
  readonly status: number
  readonly reason: string
  readonly code: string | null
}> {}

/** The answer; an empty object where there is none. */
export const asked = (ask: Ask, call: Call): Effect.Effect<JsonObject, CallRefused> =>
  Effect.flatMap(ask(call), ({ body, status }) => {
    if (status < 400) return Effect.succeed(objectOr(body))
    const { code, message } = objectOr(objectOr(body)["error"])
    return new CallRefused({
      status,
      reason: stringOr(message) ?? `The gateway answered with the status ${status}.`,
      code: stringOr(code)
    })
  })

/** A change as it is asked for: what of a plan is needed to make it. */
export type Wish = Pick<Change, "action" | "body" | "id" | "kind" | "name">

/** Kinds whose things have an id and endpoints of their own. */
export type OwnKind = Exclude<Kind, "alias" | "price" | "settings">

interface Endpoints {
  readonly list: ManagementKey
  readonly get: ManagementKey
  readonly create: ManagementKey
  readonly update: ManagementKey
  readonly remove: ManagementKey
  /** Member of answers that has the thing. */
  readonly member: string
}

export const endpoints: Readonly<Record<OwnKind, Endpoints>> = {
  node: {
    list: "providerNodes.list",
    get: "providerNodes.get",
    create: "providerNodes.create",
    update: "providerNodes.update",
    remove: "providerNodes.remove",
    member: "node"
  },
  connection: {
    list: "providers.list",
    get: "providers.get",
    create: "providers.create",
    update: "providers.update",
    remove: "providers.remove",
    member: "connection"
  },
  combo: {
    list: "combos.list",
    get: "combos.get",
    create: "combos.create",
    update: "combos.update",
    remove: "combos.remove",
    member: "combo"
  },
  key: {
    list: "keys.list",
    get: "keys.get",
    create: "keys.create",
    update: "keys.patch",
    remove: "keys.remove",
    member: "key"
  },
  mcpServer: {
    list: "mcpServers.list",
    get: "mcpServers.get",
    create: "mcpServers.create",
    update: "mcpServers.update",
    remove: "mcpServers.remove",
    member: "server"
  }
}

const textOf = (value: unknown): string => stringOr(value) ?? ""

/** Ids by names; a name that more than one has is with all of them. */
const idsByName = (given: Json | undefined, nameOf: (each: JsonObject) => string) => {
  const ids = new Map<string, Array<string>>()
  for (const each of isArray(given) ? given.map(objectOr) : []) {
    const known = ids.get(nameOf(each)) ?? []
    known.push(textOf(each["id"]))
    ids.set(nameOf(each), known)
  }
  return ids
}

const connectionIds = (ask: Ask) =>
  Effect.map(asked(ask, { key: "providers.list" }), ({ connections }) => idsByName(connections, connectionName))

const keyIds = (ask: Ask) =>
  Effect.map(asked(ask, { key: "keys.list" }), ({ keys }) => idsByName(keys, (each) => textOf(each["name"])))

const unclear = (what: string, ids: ReadonlyArray<string> | undefined): CallRefused =>
  new CallRefused({
    status: 400,
    reason: `It names ${what}, which ${ids === undefined ? "is not there" : "more than one has"}.`,
    code: null
  })

/** A combo's targets with the ids of this gateway. */
const comboBody = (ask: Ask, body: JsonObject): Effect.Effect<JsonObject, CallRefused> =>
  Effect.gen(function* () {
    const { targets } = body
    // What is no list is refused by the endpoint, with its place.
    if (!isArray(targets) || targets.every((target) => objectOr(target)["connection"] === undefined)) return body
    const ids = yield* connectionIds(ask)
    const named = targets.flatMap((target) => stringOr(objectOr(target)["connection"]) ?? [])
    const missing = named.find((each) => ids.get(each)?.length !== 1)
    if (missing !== undefined) return yield* unclear(`the connection '${missing}'`, ids.get(missing))
    const withId = (target: Json): Json => {
      if (!isObject(target)) return target
      const { connection, ...rest } = target
      return typeof connection === "string" ? { ...rest, connectionId: ids.get(connection)?.[0] ?? null } : target
    }
    return { ...body, targets: targets.map(withId) }
  })

/** An API key with the ids that its connections have at this gateway. */
const keyBody = (ask: Ask, body: JsonObject): Effect.Effect<JsonObject, CallRefused> =>
  Effect.gen(function* () {
    const { allowedConnections } = body
    const wanted = isArray(allowedConnections) ? allowedConnections.map(textOf) : []
    // What has no slash is the id of a connection that is gone: it stays, so that the key may not use more than before.
    if (!wanted.some((each) => each.includes("/"))) return body
    const ids = yield* connectionIds(ask)
    const wrong = wanted.find((each) => each.includes("/") && ids.get(each)?.length !== 1)
    if (wrong !== undefined) return yield* unclear(`the connection '${wrong}'`, ids.get(wrong))
    return { ...body, allowedConnections: wanted.map((each) => ids.get(each)?.[0] ?? each) }
  })

/** An MCP server with the ids that its keys have at this gateway. */
const serverBody = (ask: Ask, body: JsonObject): Effect.Effect<JsonObject, CallRefused> =>
  Effect.gen(function* () {
    const { allowedKeys } = body
    if (!isArray(allowedKeys) || allowedKeys.length === 0) return body
    const ids = yield* keyIds(ask)
    const wanted = allowedKeys.map(textOf)
    const wrong = wanted.find((each) => ids.get(each)?.length !== 1)
    if (wrong !== undefined) return yield* unclear(`the API key '${wrong}'`, ids.get(wrong))
    return { ...body, allowedKeys: wanted.flatMap((each) => ids.get(each) ?? []) }
  })

const references: Partial<Record<Kind, (ask: Ask, body: JsonObject) => Effect.Effect<JsonObject, CallRefused>>> = {
  combo: comboBody,
  key: keyBody,
  mcpServer: serverBody
}

/** Prices that are set with one call: the gateway writes its whole table each time. */
const mostPrices = 500

/** Changes that are made with one call: prices after one another, others by themselves. */
export const callsOf = (changes: ReadonlyArray<Wish>): ReadonlyArray<readonly [Wish, ...ReadonlyArray<Wish>]> => {
  const calls: Array<[Wish, ...Array<Wish>]> = []
  for (const change of changes) {
    const last = calls.at(-1)
    if (change.kind === "price" && last?.[0].kind === "price" && last.length < mostPrices) last.push(change)
    else calls.push([change])
  }
  return calls
}

/** Prices by provider and model; null takes one out. */
export const priceTable = (prices: ReadonlyArray<readonly [name: string, price: Json]>): JsonObject => {
  const table = new Map<string, Array<readonly [string, Json]>>()
  for (const [name, price] of prices) {
    const [provider, model] = priceParts(name)
    const models = table.get(provider) ?? []
    models.push([model, price])
    table.set(provider, models)
  }
  return Object.fromEntries(Array.from(table, ([provider, models]) => [provider, Object.fromEntries(models)]))
}

/** Makes the changes of one call; the answer. */
export const make = (
  ask: Ask,
  [change, ...more]: readonly [Wish, ...ReadonlyArray<Wish>]
): Effect.Effect<JsonObject, CallRefused> =>
  Effect.gen(function* () {
    const { action, body, id, kind, name } = change
    if (kind === "price") {
      const prices = [change, ...more].map((each) => [each.name, each.body["price"] ?? null] as const)
      return yield* asked(ask, { key: "pricing.update", body: priceTable(prices) })
    }
    if (kind === "settings") return yield* asked(ask, { key: "gatewaySettings.update", body })
    if (kind === "alias") {
      return action === "remove"
        ? yield* asked(ask, { key: "modelAliases.remove", query: { alias: name } })
        : yield* asked(ask, { key: "modelAliases.set", body: { ...body, alias: name } })
    }
    const { create, remove, update } = endpoints[kind]
    if (action === "remove") return yield* asked(ask, { key: remove, path: { id: id ?? "" } })
    const whole = yield* references[kind]?.(ask, body) ?? Effect.succeed(body)
    return action === "update"
      ? yield* asked(ask, { key: update, path: { id: id ?? "" }, body: whole })
      : yield* asked(ask, { key: create, body: whole })
  })

/** The prices that changes of them lay over a table; null where there was none. */
export const formerPrices = (table: JsonObject, changes: ReadonlyArray<Wish>): JsonObject =>
  priceTable(
    changes.map(({ name }) => {
      const [provider, model] = priceParts(name)
      return [name, objectOr(table[provider])[model] ?? null] as const
    })
  )
