/** Secrets of a file that refer to variables without a value: what the gateway has stays, and what it does not have is a problem. Pure. */
import { isObject, type JsonObject, objectOr } from "../../wire/json/Json.ts"
import { keyOf, type MissingSecret, same, shown, type Thing, type DeclaredThing } from "./Plan.ts"
import type { Gap } from "./Variables.ts"

/** Lists of a file whose entries have secrets, and the members that are secret. */
const secretMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  nodes: new Set(["headers"]),
  connections: new Set(["apiKey", "headers", "oauth"]),
  mcpServers: new Set(["headers"])
}

/** A gap in a secret, with the entry it belongs to. */
interface SecretGap {
  readonly list: string
  readonly at: number
  readonly secret: MissingSecret
}

/** Null: what has the gap is no secret, so the gateway's own value cannot stand for it. */
const secretGapOf = ({ name, path }: Gap): SecretGap | null => {
  const [list, at, field, member] = path
  if (typeof list !== "string" || typeof at !== "number" || typeof field !== "string") return null
  if (secretMembers[list]?.has(field) !== true) return null
  return { list, at, secret: { field, member: typeof member === "string" ? member : null, variable: name } }
}

export interface Sorted {
  /** Secrets without a value, by the list and the place of their entry. */
  readonly missing: ReadonlyMap<string, ReadonlyArray<MissingSecret>>
  /** Variables that other values need, each once. */
  readonly needed: ReadonlyArray<string>
}

/** Makes the key of an entry's missing secrets in `Sorted`. */
export const placeOf = (list: string, at: number): string => `${list}/${at}`

export const sortedGaps = (gaps: ReadonlyArray<Gap>): Sorted => {
  const missing = new Map<string, Array<MissingSecret>>()
  const needed = new Set<string>()
  for (const gap of gaps) {
    const found = secretGapOf(gap)
    if (found === null) {
      needed.add(gap.name)
      continue
    }
    const place = placeOf(found.list, found.at)
    const secrets = missing.get(place) ?? []
    secrets.push(found.secret)
    missing.set(place, secrets)
  }
  return { missing, needed: [...needed] }
}

const words: Partial<Record<DeclaredThing["kind"], string>> = { mcpServer: "MCP server" }
const called = ({ kind, name }: DeclaredThing): string => `${words[kind] ?? kind} '${name}'`

const variablesOf = (missing: ReadonlyArray<MissingSecret>): string =>
  [...new Set(missing.map(({ variable }) => variable))].join(", ")

const moves = ({ fields, kind }: DeclaredThing, { fields: there }: Thing): boolean => {
  const field = kind === "mcpServer" ? "url" : "baseUrl"
  return field in fields && !same(fields[field], there[field])
}

/** The wanted headers with those that are kept as the gateway shows them; undefined: none changes. A text says what is wrong. */
const headersOf = (
  { fields, kind }: DeclaredThing,
  { fields: there }: Thing,
  missing: ReadonlyArray<MissingSecret>
): JsonObject | string | undefined => {
  const wanted = objectOr(fields["headers"])
  const present = objectOr(there["headers"])
  const nameThere = (name: string): string => (kind === "mcpServer" ? name.toLowerCase() : name)
  const lost = missing.find(({ member }) => member === null || present[nameThere(member)] === undefined)
  if (lost !== undefined) return `has no header '${lost.member ?? ""}' there that could stay`
  const names = new Set(missing.map(({ member }) => member))
  const asShown = objectOr(shown(kind, "headers", wanted))
  const seen = Object.fromEntries(
    Object.entries(asShown).map(([name, value]) => [name, names.has(name) ? (present[name] ?? null) : (value ?? null)])
  )
  if (same(seen, present)) return undefined
  // Values of these headers are shown nowhere, so that the others cannot be sent without them.
  if (kind === "mcpServer") return "gets other headers, which are sent all together"
  return Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => [name, names.has(name) ? (present[name] ?? null) : (value ?? null)])
  )
}

type Judged = { readonly wanted: DeclaredThing } | { readonly problem: string }

const without = (fields: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field)) as JsonObject

const judged = (wanted: DeclaredThing, thing: Thing | undefined, missing: ReadonlyArray<MissingSecret>): Judged => {
  const problem = (what: string, of = missing): Judged => ({
    problem: `The ${called(wanted)} ${what}. Not set in the environment: ${variablesOf(of)}.`
  })
  if (thing === undefined) return problem("is new")
  if (moves(wanted, thing)) return problem("gets another address, to which its secrets are sent anew")
  let fields = wanted.fields
  for (const field of new Set(missing.map((each) => each.field))) {
    const ofField = missing.filter((each) => each.field === field)
    if (field !== "headers") {
      // What a sign-in made is shown nowhere; it is not changed by files.
      if (field === "apiKey" && thing.fields["apiKey"] === undefined) return problem("has no key there", ofField)
      fields = without(fields, field)
      continue
    }
    const headers = headersOf(wanted, thing, ofField)
    if (typeof headers === "string") return problem(headers, ofField)
    fields = isObject(headers) ? { ...fields, headers } : without(fields, field)
  }
  return { wanted: { ...wanted, fields } }
}

export interface Kept {
  /** Entries without the secrets that stay; one with a problem is as the file has it. */
  readonly wanted: ReadonlyArray<DeclaredThing>
  /** Sentences about what keeps its secrets. */
  readonly notes: ReadonlyArray<string>
  /** Sentences about secrets that neither the file nor the gateway has. */
  readonly problems: ReadonlyArray<string>
}

export const keeping = (all: ReadonlyArray<DeclaredThing>, present: ReadonlyArray<Thing>): Kept => {
  const there = new Map(present.map((thing) => [keyOf(thing), thing]))
  const wanted: Array<DeclaredThing> = []
  const notes: Array<string> = []
  const problems: Array<string> = []
  for (const each of all) {
    const missing = each.missing ?? []
    if (missing.length === 0) {
      wanted.push(each)
      continue
    }
    const found = judged(each, there.get(keyOf(each)), missing)
    if ("problem" in found) {
      problems.push(found.problem)
      wanted.push(each)
      continue
    }
    wanted.push(found.wanted)
    notes.push(`The ${called(each)} keeps its secrets. Not set in the environment: ${variablesOf(missing)}.`)
  }
  return { wanted, notes, problems }
}
