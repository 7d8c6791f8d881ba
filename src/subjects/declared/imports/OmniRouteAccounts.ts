/** Nodes and connections of OmniRoute. Pure. */
import { isSecretHeader } from "../../../kernel/text/Masking.ts"
import { isObject, type Json, type JsonObject, numberOr, objectOr, optional } from "../../../wire/json/Json.ts"
import { escaped, variableOf } from "../Variables.ts"
import { changed, type ImportOptions, leftOut, type Row, taken } from "./Imported.ts"
import { isOn, type OmniRouteRecords, textOf } from "./OmniRouteRecords.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

/** OmniRoute's ids and short names of providers that are others here (`src/shared/constants/providers.ts` there). */
const names: Readonly<Record<string, string>> = {
  ali: "alibaba",
  hyp: "hyperbolic",
  dg: "deepgram",
  aai: "assemblyai",
  el: "elevenlabs",
  kg: "kilo-gateway",
  scw: "scaleway",
  samba: "sambanova",
  meta: "meta-llama",
  inet: "inference-net",
  ollamacloud: "ollama-cloud",
  "tavily-search": "tavily",
  "exa-search": "exa",
  "serper-search": "serper"
}

/**
 * Mark by which OmniRoute marks a value that it has sealed with its `STORAGE_ENCRYPTION_KEY`
 * (`src/lib/db/encryption.ts` there).
 */
const sealed = "enc:v1:"

const nodeTypes: ReadonlySet<string> = new Set(["openai-compatible", "anthropic-compatible"])

const mostNameLetters = 200
const mostHeaders = 32

const nameFor = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, " ")
    .slice(0, mostNameLetters)
    .trim()

/** An http address without a slash at its end; null: it is none, or has a password in it. */
const addressOf = (value: Json | undefined): string | null => {
  const text = textOf(value)
  if (text === null || text.length > 2_048 || !URL.canParse(text)) return null
  const { password, protocol, username } = new URL(text)
  const isPlain = username === "" && password === "" && (protocol === "https:" || protocol === "http:")
  return isPlain ? text.replace(/\/+$/, "") : null
}

const pathOf = (value: Json | undefined): string | null => {
  const text = textOf(value)
  return text !== null && /^\/[^\s?#]{0,511}$/.test(text) ? text : null
}

/** Names that no two have: `a`, `a 2`, `a 3`. */
const makeNames = (between: string, used: Iterable<string> = []) => {
  const taken = new Set(used)
  const counts = new Map<string, number>()
  return (wanted: string): string => {
    let name = wanted
    for (let at = counts.get(wanted) ?? 1; taken.has(name);) {
      at += 1
      counts.set(wanted, at)
      name = `${wanted}${between}${at}`
    }
    taken.add(name)
    return name
  }
}

export interface OmniRouteAccounts {
  readonly nodes: ReadonlyArray<JsonObject>
  readonly connections: ReadonlyArray<JsonObject>
  /** The id here of a provider, by any name that OmniRoute has for it; null: it is not known. */
  readonly provider: (name: string) => string | null
  /** `<provider>/<model>` as it is here; null: its provider is not known, or it names none. */
  readonly model: (given: string) => string | null
  /** Connections that are taken by OmniRoute's ids, as `<provider>/<name>`. */
  readonly byId: ReadonlyMap<string, string>
  readonly rows: ReadonlyArray<Row>
}

/** State of a reading, and the names that are taken. */
interface Reading {
  readonly options: ImportOptions
  readonly rows: Array<Row>
  readonly nodes: Array<JsonObject>
  readonly connections: Array<JsonObject>
  /** Addresses of the nodes, by prefix. */
  readonly addresses: Map<string, string>
  /** Prefixes by id and prefix. */
  readonly prefixes: Map<string, string>
  readonly byId: Map<string, string>
  readonly variable: (wanted: string) => string
  readonly prefixFor: (wanted: string) => string
  /** Names of connections, by provider. */
  readonly named: Map<string, (wanted: string) => string>
}

const builtIn = ({ options }: Reading, name: string): string | null =>
  options.providers.get(Object.hasOwn(names, name) ? (names[name] ?? name) : name) ?? null

const providerOf = (reading: Reading, name: string): string | null =>
  reading.prefixes.get(name) ?? builtIn(reading, name)

const modelOf = (reading: Reading, given: string): string | null => {
  const slash = given.indexOf("/")
  const found = slash > 0 && slash < given.length - 1 ? providerOf(reading, given.slice(0, slash)) : null
  return found === null ? null : `${found}${given.slice(slash)}`
}

const headersOf = (
  { options, variable }: Reading,
  given: Json | undefined,
  owner: string,
  notes: Array<string>
): JsonObject | null => {
  const headers = Object.entries(objectOr(given)).flatMap(([name, value]): ReadonlyArray<readonly [string, string]> => {
    if (typeof value !== "string" || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return []
    const isSealed = value.startsWith(sealed)
    if (!isSealed && (options.withSecrets || !isSecretHeader(name, value))) return [[name, escaped(value)]]
    const reference = variable(variableOf(owner, name).replace(/_API_KEY$/, ""))
    notes.push(`Its header ${name} is \${${reference}} now: set that variable.`)
    return [[name, `\${${reference}}`]]
  })
  if (headers.length > mostHeaders) notes.push(`Without all but ${mostHeaders} of its headers.`)
  return headers.length === 0 ? null : Object.fromEntries(headers.slice(0, mostHeaders))
}

const readNode = (reading: Reading, node: JsonObject, at: number): Row => {
  const given = textOf(node["prefix"]) ?? textOf(node["name"])
  const what = `node ${given ?? at}`
  const type = textOf(node["type"]) ?? ""
  const baseUrl = addressOf(node["baseUrl"])
  const plain = (given ?? "")
    .replaceAll(/[^\w.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 50)
  if (!nodeTypes.has(type)) return leftOut(what, `Nodes of the type '${type}' have no counterpart here.`)
  if (baseUrl === null || plain === "") {
    const why = plain === "" ? "no prefix of Latin letters or digits" : "no http address without a password"
    return leftOut(what, `It has ${asSentence(why)}`)
  }
  const prefix = reading.prefixFor(plain)
  const notes = prefix === given ? [] : [`Its prefix here is '${prefix}'.`]
  const headers = headersOf(reading, node["customHeaders"], prefix, notes)
  reading.nodes.push({
    prefix,
    name: escaped(nameFor(textOf(node["name"]) ?? prefix)),
    type,
    baseUrl: escaped(baseUrl),
    ...(type === "openai-compatible" && node["apiType"] === "responses" ? { wires: ["responses"] } : {}),
    ...optional("headers", headers),
    ...optional("chatPath", pathOf(node["chatPath"])),
    ...optional("modelsPath", pathOf(node["modelsPath"]))
  })
  reading.addresses.set(prefix, escaped(baseUrl))
  const id = textOf(node["id"])
  if (id !== null) reading.prefixes.set(id, prefix)
  // What is meant for a known provider must not go to the node's address.
  if (given !== null && builtIn(reading, given) === null) reading.prefixes.set(given, prefix)
  return notes.length === 0 ? taken(what) : changed(what, notes.join(" "))
}

/** The reason for which a connection to a known provider is left out; null: there is none. */
const refusalOf = (reading: Reading, connection: JsonObject, id: string): string | null => {
  const authType = textOf(connection["authType"]) ?? "apikey"
  const base = textOf(objectOr(connection["providerSpecificData"])["baseUrl"])
  const baseUrl = addressOf(base)
  if (authType === "oauth" || authType === "access_token") {
    return `It is an account that was signed in to: 'gateway provider login ${id}' does it here.`
  }
  if (authType !== "apikey" && authType !== "api_key" && authType !== "none") {
    return `It is of the kind '${authType}', which this gateway does not use.`
  }
  if (textOf(connection["apiKey"]) === null && !reading.addresses.has(id) && baseUrl === null) return "It has no key."
  return base !== null && baseUrl === null ? "Its address is no http address without a password." : null
}

/** The key as it is here, and the variable that it became, if it did. */
const keyOf = ({ options, variable }: Reading, key: string | null, variableName: string) => {
  if (key === null) return { apiKey: null, reference: null }
  if (options.withSecrets && !key.startsWith(sealed)) return { apiKey: escaped(key), reference: null }
  const reference = variable(variableName)
  return { apiKey: `\${${reference}}`, reference }
}

/** Settings of a connection, those with a value that may be here. */
const settingsOf = (connection: JsonObject): JsonObject => {
  const priority = numberOr(connection["priority"])
  const maxConcurrent = numberOr(connection["maxConcurrent"])
  const defaultModel = textOf(connection["defaultModel"])
  return {
    ...(priority !== null && Number.isInteger(priority) && priority > 0 && priority <= 1_000_000 ? { priority } : {}),
    ...(isOn(connection["isActive"]) ? {} : { isActive: false }),
    ...(maxConcurrent !== null && Number.isInteger(maxConcurrent) && maxConcurrent > 0 && maxConcurrent <= 100_000
      ? { maxConcurrent }
      : {}),
    ...(defaultModel === null ? {} : { defaultModel: escaped(defaultModel) })
  }
}

const keyNote = (key: string | null, reference: string): string =>
  key?.startsWith(sealed) === true
    ? `OmniRoute has sealed its key: set ${reference} to it, or import OmniRoute's JSON export (Settings), which has the keys in the open, with --with-secrets.`
    : `Its key is \${${reference}} now: set that variable, or use --with-secrets.`

const readConnection = (reading: Reading, connection: JsonObject): Row => {
  const word = textOf(connection["provider"]) ?? ""
  const id = providerOf(reading, word)
  const given = textOf(connection["name"]) ?? textOf(connection["displayName"]) ?? textOf(connection["email"])
  const what = `connection ${id ?? word}/${given ?? "without a name"}`
  const why = id === null ? `The provider '${word}' is not known here.` : refusalOf(reading, connection, id)
  if (why !== null || id === null) return leftOut(what, why ?? "")
  const nameOf = reading.named.get(id) ?? makeNames(" ")
  reading.named.set(id, nameOf)
  const name = nameOf(nameFor(given ?? "omniroute") || "omniroute")
  const key = textOf(connection["apiKey"])
  const { apiKey, reference } = keyOf(reading, key, variableOf(id, given === null ? "" : name))
  const data = objectOr(connection["providerSpecificData"])
  const baseUrl = addressOf(data["baseUrl"])
  // The node's own address is at the node.
  const isOwn = reading.addresses.get(id) === baseUrl
  reading.connections.push({
    provider: id,
    name: escaped(name),
    ...optional("apiKey", apiKey),
    ...(baseUrl === null || isOwn ? {} : { baseUrl: escaped(baseUrl) }),
    ...settingsOf(connection)
  })
  const oldId = textOf(connection["id"])
  if (oldId !== null) reading.byId.set(oldId, `${id}/${name}`)
  const extras = Object.keys(data).filter((each) => each !== "baseUrl" && isKept(data[each]))
  const notes = [
    ...(name === given ? [] : [`Its name here is '${name}'.`]),
    ...(reference === null ? [] : [keyNote(key, reference)]),
    ...(extras.length > 0 ? [`Without ${extras.slice(0, 10).join(", ")}.`] : [])
  ]
  return notes.length === 0 ? taken(what) : changed(what, notes.join(" "))
}

export const accountsOf = (records: OmniRouteRecords, options: ImportOptions): OmniRouteAccounts => {
  const reading: Reading = {
    options,
    rows: [],
    nodes: [],
    connections: [],
    addresses: new Map(),
    prefixes: new Map(),
    byId: new Map(),
    variable: makeNames("_"),
    prefixFor: makeNames("-", options.providers.keys()),
    named: new Map()
  }
  for (const [at, node] of records.nodes.entries()) reading.rows.push(readNode(reading, node, at))
  for (const connection of records.connections) reading.rows.push(readConnection(reading, connection))
  const { byId, connections, nodes, rows } = reading
  return {
    nodes,
    connections,
    provider: (name) => providerOf(reading, name),
    model: (given) => modelOf(reading, given),
    byId,
    rows
  }
}

/** Checks whether a value has a content. */
const isKept = (value: Json | undefined): boolean =>
  value !== null &&
  value !== undefined &&
  value !== "" &&
  value !== false &&
  !(isObject(value) && Object.keys(value).length === 0)
