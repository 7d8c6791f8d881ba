/** Calls of the management for a change of the configuration, with the names in it made to ids of this gateway. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"
import { byAge, labelsOf } from "../declared/Labels.ts"
import { type Change, type Kind, priceParts } from "../declared/Plan.ts"
import { connectionName } from "../declared/CurrentState.ts"
import * as Parts from "./ConfigurationParts.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"

export type OwnKind = Parts.OwnKind

export interface Call {
  readonly key: ManagementKey
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
}

/** Asks an endpoint; errors are answers. */
export type Ask = (call: Call) => Effect.Effect<{ readonly status: number; readonly body: Json }>

/** Refusal of an endpoint, with its own message. */
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

/**
 * Kinds that a change may have: the configuration of plugins is changed from the gateway's own machine only, by their
 * own route.
 */
export type WishKind = Exclude<Kind, "plugin">

/** A change as it is asked for: what of a plan is needed to make it. */
export type Wish = Pick<Change, "action" | "body" | "id" | "name"> & { readonly kind: WishKind }

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
  },
  quotaGroup: {
    list: "quotaGroups.list",
    get: "quotaGroups.get",
    create: "quotaGroups.create",
    update: "quotaGroups.update",
    remove: "quotaGroups.remove",
    member: "group"
  },
  webhook: {
    list: "webhooks.list",
    get: "webhooks.get",
    create: "webhooks.create",
    update: "webhooks.update",
    remove: "webhooks.remove",
    member: "webhook"
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

/** The second key of a name is known as `name#2`. */
const keyIds = (ask: Ask) =>
  Effect.map(asked(ask, { key: "keys.list" }), ({ keys }) => {
    const all = byAge(isArray(keys) ? keys.map(objectOr) : [], "createdAt")
    const labels = labelsOf(all.map((each) => textOf(each["name"])))
    return new Map(all.map((each, at) => [labels[at] ?? "", [textOf(each["id"])]]))
  })

const proxyIds = (ask: Ask) =>
  Effect.map(asked(ask, { key: "proxies.list" }), ({ proxies }) => idsByName(proxies, (each) => textOf(each["name"])))

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

type Ids = ReadonlyMap<string, ReadonlyArray<string>>

/** The id of what has a name. */
const idOf = (ids: Ids, what: string, name: string): Effect.Effect<string, CallRefused> => {
  const found = ids.get(name)
  const [id] = found ?? []
  return id === undefined || found?.length !== 1 ? unclear(`the ${what} '${name}'`, found) : Effect.succeed(id)
}

/** A budget or token limit with the id of its key. */
const limitBody = (ask: Ask, { key, ...body }: JsonObject): Effect.Effect<JsonObject, CallRefused> =>
  typeof key === "string"
    ? Effect.map(
        Effect.flatMap(keyIds(ask), (ids) => idOf(ids, "API key", key)),
        (apiKeyId) => ({ ...body, apiKeyId })
      )
    : Effect.succeed(body)

const listIn = (body: JsonObject, member: string): ReadonlyArray<JsonObject> =>
  isArray(body[member]) ? body[member].map(objectOr) : []

/** A quota group with the ids of its connections and keys; what is named by no name is an id that is gone. */
const groupBody = (ask: Ask, body: JsonObject): Effect.Effect<JsonObject, CallRefused> =>
  Effect.gen(function* () {
    const connections = yield* connectionIds(ask)
    const keys = yield* keyIds(ask)
    const members = yield* Effect.forEach(listIn(body, "members"), ({ connection, ...rest }) =>
      typeof connection === "string"
        ? Effect.map(idOf(connections, "connection", connection), (connectionId) => ({ ...rest, connectionId }))
        : Effect.succeed(rest)
    )
    const allocations = yield* Effect.forEach(listIn(body, "allocations"), ({ key, ...rest }) =>
      typeof key === "string"
        ? Effect.map(idOf(keys, "API key", key), (apiKeyId) => ({ ...rest, apiKeyId }))
        : Effect.succeed(rest)
    )
    return {
      ...body,
      ...(isArray(body["members"]) ? { members } : {}),
      ...(isArray(body["allocations"]) ? { allocations } : {})
    }
  })

/** Resolves the owner of an assignment to its id here. */
const assignedBody = (ask: Ask, { of, ...body }: JsonObject): Effect.Effect<JsonObject, CallRefused> => {
  if (typeof of !== "string") return Effect.succeed(body)
  const withId = (ids: Effect.Effect<Ids, CallRefused>, what: string) =>
    Effect.map(
      Effect.flatMap(ids, (all) => idOf(all, what, of)),
      (scopeId) => ({ ...body, scopeId })
    )
  if (body["scope"] === "key") return withId(keyIds(ask), "API key")
  if (body["scope"] === "connection") return withId(connectionIds(ask), "connection")
  return Effect.succeed({ ...body, scopeId: of })
}

const references: Partial<Record<Kind, (ask: Ask, body: JsonObject) => Effect.Effect<JsonObject, CallRefused>>> = {
  combo: comboBody,
  key: keyBody,
  mcpServer: serverBody,
  budget: limitBody,
  tokenLimit: limitBody,
  quotaGroup: groupBody,
  proxyAssignment: assignedBody
}

/** Resolves the names of keys and proxies; a copy of the configuration has no proxies. */
const withProxy = (ask: Ask, { proxy, ...body }: JsonObject): Effect.Effect<JsonObject, CallRefused> =>
  typeof proxy === "string"
    ? Effect.map(
        Effect.flatMap(proxyIds(ask), (ids) => idOf(ids, "proxy", proxy)),
        (proxyId) => ({ ...body, proxyId })
      )
    : Effect.succeed(body)

/** The identity of a part that a removal and an update may leave to its name. */
const namedBody = ({ body, kind, name }: Wish): JsonObject => {
  if (kind === "proxy") return { name, ...body }
  if (kind === "budget" && body["key"] === undefined) return { ...body, key: name }
  if (kind === "model" && body["modelId"] === undefined) {
    const [provider, modelId] = priceParts(name)
    return { ...body, provider, modelId }
  }
  if (kind === "tokenLimit" && body["key"] === undefined) {
    const words = name.split(" ")
    const [scopeType = "", scopeValue = "", resetInterval = ""] = words.slice(-3)
    return {
      ...body,
      key: words.slice(0, -3).join(" "),
      scopeType,
      resetInterval,
      ...(scopeValue === "" ? {} : { scopeValue })
    }
  }
  if (kind === "proxyAssignment" && body["scope"] === undefined) {
    const space = name.indexOf(" ")
    return space < 0 ? { ...body, scope: name } : { ...body, scope: name.slice(0, space), of: name.slice(space + 1) }
  }
  return body
}

/** A change of a part with the ids of this gateway. */
const partOf = (
  ask: Ask,
  change: Wish & { readonly kind: Parts.PartKind }
): Effect.Effect<Parts.PartChange, CallRefused> =>
  Effect.gen(function* () {
    const { action, kind } = change
    const known = yield* references[kind]?.(ask, namedBody(change)) ?? Effect.succeed(namedBody(change))
    return { kind, action, body: kind === "proxyAssignment" ? yield* withProxy(ask, known) : known }
  })

/** A change of a part, and what takes it back. */
export const makePart = (ask: Ask, change: Wish & { readonly kind: Parts.PartKind }) =>
  Effect.gen(function* () {
    const part = yield* partOf(ask, change)
    const read = (call: Parts.PartCall) => asked(ask, call)
    const before = yield* Parts.partBefore(read, part)
    const call = Parts.partCall(part, before)
    const undo = Effect.gen(function* () {
      const back = Parts.partUndo(part, before, yield* Parts.partBefore(read, part))
      if (back !== null) yield* asked(ask, back)
    })
    return { make: call === null ? Effect.succeed<JsonObject>({}) : asked(ask, call), undo }
  })

/** Judges a change that a copy of the configuration has no services for: its form, and the names of connections and keys in it. */
export const judge = (ask: Ask, change: Wish): Effect.Effect<void, CallRefused> =>
  Effect.gen(function* () {
    const { action, kind } = change
    const named = namedBody(change)
    const known = yield* references[kind]?.(ask, named) ?? Effect.succeed(named)
    const { proxy, ...rest } = known
    const body = kind === "proxyAssignment" && typeof proxy === "string" ? { ...rest, proxyId: proxy } : known
    const problem = Parts.formProblem(kind, action, body)
    if (problem !== null) yield* new CallRefused({ status: 400, reason: problem, code: null })
  })

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
    if (Parts.isPart(kind)) return yield* Effect.flatMap(makePart(ask, { ...change, kind }), (part) => part.make)
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
