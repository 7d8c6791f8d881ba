/** Does what a plan says, one change after the other. */
import * as Effect from "effect/Effect"
import { type Change, priceParts } from "../../../declared/Plan.ts"
import { connectionName } from "../../../declared/Present.ts"
import { isArray, type Json, type JsonObject, objectOr, stringOr } from "../../../declared/Values.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../../Failure.ts"
import type * as Client from "../../gateway/Client.ts"
import { manage } from "../../gateway/Management.ts"
import * as Output from "../../output/Output.ts"

const places: Readonly<Record<Change["kind"], string>> = {
  node: "/api/provider-nodes",
  connection: "/api/providers",
  combo: "/api/combos",
  alias: "/api/models/alias",
  price: "/api/pricing",
  key: "/api/keys",
  mcpServer: "/api/mcp/servers",
  settings: "/api/settings"
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

/** Ids of the connections by their names. */
const connectionIds = (to: Client.Target) =>
  Effect.map(manage(to, "GET", places.connection), ({ connections }) => idsByName(connections, connectionName))

const unclear = (owner: string, what: string, ids: ReadonlyArray<string> | undefined): BadArgument =>
  new BadArgument({
    message: `${owner} names ${what}, which ${ids === undefined ? "is not there" : "more than one has"}.`
  })

/** A combo's targets with the ids of this gateway. */
const withIds = (to: Client.Target, name: string, body: JsonObject): Effect.Effect<JsonObject, CliFailure> =>
  Effect.gen(function* () {
    const { targets } = body
    if (!isArray(targets) || targets.every((target) => objectOr(target)["connection"] === undefined)) return body
    const ids = yield* connectionIds(to)
    const missing = targets
      .map((target) => textOf(objectOr(target)["connection"]))
      .find((each) => each !== "" && ids.get(each)?.length !== 1)
    if (missing !== undefined) {
      return yield* unclear(`The combo '${name}'`, `the connection '${missing}'`, ids.get(missing))
    }
    return {
      ...body,
      targets: targets
        .map(objectOr)
        .map(({ connection, ...target }) =>
          typeof connection === "string"
            ? Object.assign(target, { connectionId: ids.get(connection)?.[0] ?? null })
            : target
        )
    }
  })

/** An API key with the ids that its connections have at this gateway. */
const withConnectionIds = (to: Client.Target, name: string, body: JsonObject): Effect.Effect<JsonObject, CliFailure> =>
  Effect.gen(function* () {
    const { allowedConnections } = body
    const wanted = isArray(allowedConnections) ? allowedConnections.map(textOf) : []
    // What has no slash is the id of a connection that is gone: it stays, so that the key may not use more than before.
    if (!wanted.some((each) => each.includes("/"))) return body
    const ids = yield* connectionIds(to)
    const wrong = wanted.find((each) => each.includes("/") && ids.get(each)?.length !== 1)
    if (wrong !== undefined) {
      return yield* unclear(`The API key '${name}'`, `the connection '${wrong}'`, ids.get(wrong))
    }
    return { ...body, allowedConnections: wanted.map((each) => ids.get(each)?.[0] ?? each) }
  })

/** An MCP server with the ids that its keys have at this gateway. */
const withKeyIds = (to: Client.Target, name: string, body: JsonObject): Effect.Effect<JsonObject, CliFailure> =>
  Effect.gen(function* () {
    const { allowedKeys } = body
    if (!isArray(allowedKeys) || allowedKeys.length === 0) return body
    const { keys } = yield* manage(to, "GET", places.key)
    const ids = idsByName(keys, (each) => textOf(each["name"]))
    const wanted = allowedKeys.map(textOf)
    const wrong = wanted.find((each) => ids.get(each)?.length !== 1)
    if (wrong !== undefined) return yield* unclear(`The MCP server '${name}'`, `the API key '${wrong}'`, ids.get(wrong))
    return { ...body, allowedKeys: wanted.flatMap((each) => ids.get(each) ?? []) }
  })

/** Kinds whose members name other things, which have ids at the gateway. */
const references: Partial<
  Record<Change["kind"], (to: Client.Target, name: string, body: JsonObject) => Effect.Effect<JsonObject, CliFailure>>
> = { combo: withIds, key: withConnectionIds, mcpServer: withKeyIds }

/** Prices that are set with one request: the gateway writes its whole table each time. */
const mostPrices = 500

const patched: ReadonlySet<Change["kind"]> = new Set(["key", "mcpServer"])

/** Changes that are made with one request: prices after one another, others by themselves. */
const requestsOf = (changes: ReadonlyArray<Change>): ReadonlyArray<readonly [Change, ...ReadonlyArray<Change>]> => {
  const requests: Array<[Change, ...Array<Change>]> = []
  for (const change of changes) {
    const last = requests.at(-1)
    if (change.kind === "price" && last?.[0].kind === "price" && last.length < mostPrices) last.push(change)
    else requests.push([change])
  }
  return requests
}

const priceTable = (changes: ReadonlyArray<Change>): JsonObject => {
  const table = new Map<string, Array<readonly [string, Json]>>()
  for (const { body, name } of changes) {
    const [provider, model] = priceParts(name)
    const models = table.get(provider) ?? []
    // Null takes the price out.
    models.push([model, body["price"] ?? null])
    table.set(provider, models)
  }
  return Object.fromEntries(Array.from(table, ([provider, models]) => [provider, Object.fromEntries(models)]))
}

/** The secret of a key that was made; null: none was. */
const done = (
  to: Client.Target,
  [change, ...more]: readonly [Change, ...ReadonlyArray<Change>]
): Effect.Effect<string | null, CliFailure> =>
  Effect.gen(function* () {
    const { action, body, id, kind, name } = change
    const place = places[kind]
    if (kind === "price") return yield* Effect.as(manage(to, "PATCH", place, priceTable([change, ...more])), null)
    if (kind === "settings") return yield* Effect.as(manage(to, "PATCH", place, body), null)
    if (kind === "alias") {
      return action === "remove"
        ? yield* Effect.as(manage(to, "DELETE", `${place}?alias=${encodeURIComponent(name)}`), null)
        : yield* Effect.as(manage(to, "POST", place, { alias: name, ...body }), null)
    }
    const own = `${place}/${encodeURIComponent(id ?? "")}`
    const resolve = references[kind]
    const sent = resolve === undefined ? body : yield* resolve(to, name, body)
    if (action === "remove") return yield* Effect.as(manage(to, "DELETE", own), null)
    if (action === "update") return yield* Effect.as(manage(to, patched.has(kind) ? "PATCH" : "PUT", own, sent), null)
    const made = yield* manage(to, "POST", place, sent)
    return stringOr(made["secret"])
  })

export interface Done {
  /** Of keys that were made, by name. */
  readonly secrets: Readonly<Record<string, string>>
}

/** A failure says what was done before it: the same command goes on from there. */
export const execute = (
  to: Client.Target,
  changes: ReadonlyArray<Change>,
  onDone: (change: Change) => void
): Effect.Effect<Done, CliFailure> =>
  Effect.gen(function* () {
    const secrets: Record<string, string> = {}
    let at = 0
    for (const request of requestsOf(changes)) {
      const [change, ...more] = request
      const also = more.length === 0 ? "" : ` and ${more.length} more`
      const secret = yield* done(to, request).pipe(
        Effect.mapError((failure) =>
          "message" in failure
            ? new CommandFailed({
                message: `${change.kind} '${change.name}'${also}: ${failure.message}`,
                hint:
                  at === 0
                    ? "Nothing was changed."
                    : `${at} of ${changes.length} changes were made; mend the file and run the command again.`
              })
            : failure
        ),
        // They are shown once: a key whose secret is lost is of no use.
        Effect.tapError(() =>
          Effect.forEach(Object.entries(secrets), ([name, secret]) =>
            Output.note(`The key '${name}' was made: ${secret}`)
          )
        )
      )
      if (secret !== null) secrets[change.name] = secret
      request.forEach(onDone)
      at += request.length
    }
    return { secrets }
  })
