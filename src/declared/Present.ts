/** What a gateway has, from the answers of its management API, in the form of a file. Pure. */
import { isArray, type Json, type JsonObject, objectOr, stringOr } from "../wire/json/Json.ts"
import { namesOnly, type Thing } from "./Plan.ts"

/** Answers of the lists, as they came. */
export interface Answers {
  readonly nodes: JsonObject
  readonly connections: JsonObject
  readonly combos: JsonObject
  readonly aliases: JsonObject
  readonly prices: JsonObject
  readonly keys: JsonObject
  readonly mcpServers: JsonObject
  readonly settings: JsonObject
}

const listOf = (answer: JsonObject, member: string): ReadonlyArray<JsonObject> => {
  const list = answer[member]
  return isArray(list) ? list.map(objectOr) : []
}

const textOf = (value: Json | undefined): string => stringOr(value) ?? ""

const textsOf = (value: Json | undefined): ReadonlyArray<string> => (isArray(value) ? value.map(textOf) : [])

/** Without members that are null. */
const given = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as JsonObject

const picked = (from: JsonObject, names: ReadonlyArray<string>): JsonObject =>
  given(Object.fromEntries(names.map((name) => [name, from[name] ?? null])))

const nodeFields = ["prefix", "name", "type", "baseUrl", "wires", "headers", "chatPath", "modelsPath", "mediaPaths"]
const connectionFields = [
  "provider",
  "name",
  "apiKey",
  "authType",
  "isActive",
  "proxyEnabled",
  "priority",
  "baseUrl",
  "wires",
  "defaultModel",
  "models",
  "tier",
  "maxConcurrent",
  "headers",
  "quotas"
]
const keyFields = [
  "name",
  "scopes",
  "allowedModels",
  "blockedModels",
  "allowedEndpoints",
  "allowedCombos",
  "allowedProviders",
  "allowedConnections",
  "ipAllowlist",
  "expiresAt",
  "rateLimits",
  "maxRequestsPerDay",
  "maxRequestsPerMinute",
  "maxSessions",
  "accessSchedule",
  "noLog",
  "isActive"
]

const serverFields = ["name", "url", "timeoutMs", "enabled", "allowedTools"]

/** A registered MCP server with its keys by name. */
const serverOf = (server: JsonObject, names: ReadonlyMap<string, string>): JsonObject => {
  const headers = textsOf(server["headerNames"])
  const allowedKeys = server["allowedKeys"]
  return {
    ...picked(server, serverFields),
    ...(headers.length > 0 ? { headers: namesOnly(headers) } : {}),
    // Of keys that are gone nothing is left to name; an empty list still means that no key may use it.
    ...(isArray(allowedKeys) ? { allowedKeys: textsOf(allowedKeys).flatMap((id) => names.get(id) ?? []) } : {})
  }
}

/** An API key with its connections by name; those that are gone keep their ids, so that the key may not use more than before. */
const keyOf = (key: JsonObject, names: ReadonlyMap<string, string>): JsonObject => {
  const { allowedConnections, ...fields } = picked(key, keyFields)
  return isArray(allowedConnections)
    ? { ...fields, allowedConnections: textsOf(allowedConnections).map((id) => names.get(id) ?? id) }
    : fields
}

export const connectionName = (connection: JsonObject): string =>
  `${textOf(connection["provider"])}/${textOf(connection["name"])}`

/** A combo's target with its connection by name, and without members that say nothing. */
export const targetOf = (target: JsonObject, names: ReadonlyMap<string, string>): JsonObject => {
  const { connectionId, ...rest } = target
  const connection = typeof connectionId === "string" ? (names.get(connectionId) ?? connectionId) : null
  return given({ ...rest, connection })
}

export const presentOf = ({
  aliases,
  combos,
  connections,
  keys,
  mcpServers,
  nodes,
  prices,
  settings
}: Answers): ReadonlyArray<Thing> => {
  const accounts = listOf(connections, "connections")
  const keyNames = new Map(listOf(keys, "keys").map((each) => [textOf(each["id"]), textOf(each["name"])]))
  const names = new Map(accounts.map((each) => [textOf(each["id"]), connectionName(each)]))
  const thing = (
    kind: Thing["kind"],
    name: string,
    id: Json | undefined,
    fields: JsonObject,
    readOnly = false
  ): Thing => ({
    kind,
    name,
    id: stringOr(id),
    fields,
    readOnly
  })
  return [
    ...listOf(nodes, "nodes").map((each) =>
      thing("node", textOf(each["prefix"]), each["id"], picked(each, nodeFields))
    ),
    ...accounts.map((each) =>
      thing("connection", connectionName(each), each["id"], picked(each, connectionFields), each["source"] === "env")
    ),
    ...listOf(combos, "combos").map((each) =>
      thing("combo", textOf(each["name"]), each["id"], {
        ...picked(each, ["id", "name", "strategy", "config", "isActive"]),
        targets: listOf(each, "targets").map((target) => targetOf(target, names))
      })
    ),
    ...listOf(aliases, "aliases").map((each) =>
      thing("alias", textOf(each["alias"]), each["alias"], { model: each["model"] ?? null })
    ),
    ...Object.entries(prices).flatMap(([provider, models]) =>
      // Such a price is of no provider, and its name would be that of another one's.
      provider.includes("/")
        ? []
        : Object.entries(objectOr(models)).map(([model, price]) =>
            thing("price", `${provider}/${model}`, null, { price: price ?? null })
          )
    ),
    ...listOf(keys, "keys").map((each) => thing("key", textOf(each["name"]), each["id"], keyOf(each, names))),
    ...listOf(mcpServers, "servers").map((each) =>
      thing(
        "mcpServer",
        textOf(each["name"]),
        each["id"],
        serverOf(each, keyNames),
        // A program is named at the gateway's machine only.
        each["transport"] === "stdio"
      )
    ),
    thing("settings", "settings", null, settings)
  ]
}
