/** Wanted × present → changes. Pure: nothing is asked and nothing done. */
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Predicate from "effect/Predicate"
import type { ComboView, CreateCombo } from "../api/Groups/Combos.ts"
import type { CreateNode, NodeView } from "../api/Groups/ProviderNodes.ts"
import type { ConnectionView } from "../api/Groups/Providers.ts"
import type { DeclaredConnection, Document } from "./Document.ts"

/** What a gateway has. */
export interface Present {
  readonly nodes: ReadonlyArray<NodeView>
  readonly connections: ReadonlyArray<ConnectionView>
  readonly combos: ReadonlyArray<ComboView>
}

/** `id` null: it is created. `fields`: the members that differ, empty for what is created. */
interface Change<Kind extends string, Wanted> {
  readonly kind: Kind
  readonly name: string
  readonly id: string | null
  readonly fields: ReadonlyArray<string>
  readonly wanted: Wanted
}
export type NodeChange = Change<"node", CreateNode>
export type ConnectionChange = Change<"connection", DeclaredConnection>
export type ComboChange = Change<"combo", CreateCombo>
export type AnyChange = NodeChange | ConnectionChange | ComboChange

/** In the order in which they have to be made: connections need their nodes, combos the combos they name. */
export type Plan = ReadonlyArray<AnyChange>

export const nameOfConnection = ({ name, provider }: { readonly name: string; readonly provider: string }): string =>
  `${provider}/${name}`

/** Keys are notCompared by the gateway, and an id cannot be changed: neither is compared. Headers are compared by their names. */
const notCompared: ReadonlySet<string> = new Set(["apiKey", "id"])

const same = (wanted: unknown, present: unknown): boolean => {
  if (Array.isArray(wanted) && Array.isArray(present)) {
    return wanted.length === present.length && wanted.every((each, at) => same(each, present[at]))
  }
  if (Predicate.isRecord(wanted) && Predicate.isRecord(present)) {
    const keys = Object.keys(wanted)
    return keys.length === Object.keys(present).length && keys.every((key) => same(wanted[key], present[key]))
  }
  return Equal.equals(wanted, present)
}

const namesOf = (headers: unknown): unknown =>
  Predicate.isRecord(headers)
    ? Object.keys(headers)
        .map((name) => name.toLowerCase())
        .toSorted()
    : headers

const differing = (wanted: object, present: object): ReadonlyArray<string> =>
  Object.entries(wanted)
    .filter(([name]) => !notCompared.has(name))
    .filter(([name, value]) => {
      const other: unknown = Reflect.get(present, name)
      return name === "headers" ? !same(namesOf(value), namesOf(other)) : !same(value, other)
    })
    .map(([name]) => name)

const changesOf = <Kind extends string, Wanted extends object, There extends { readonly id: string }>(
  kind: Kind,
  all: ReadonlyArray<Wanted>,
  there: ReadonlyArray<There>,
  nameOf: (each: Wanted | There) => string
): Either.Either<ReadonlyArray<Change<Kind, Wanted>>, string> => {
  const present = new Map<string, There>()
  const twice = new Set<string>()
  for (const each of there) {
    const name = nameOf(each)
    if (present.has(name)) twice.add(name)
    present.set(name, each)
  }
  const changes: Array<Change<Kind, Wanted>> = []
  const named = new Set<string>()
  for (const wanted of all) {
    const name = nameOf(wanted)
    if (named.has(name)) return Either.left(`The file has the ${kind} '${name}' twice.`)
    if (twice.has(name)) return Either.left(`The gateway has several ${kind}s with the name '${name}': rename one.`)
    named.add(name)
    const found = present.get(name)
    const fields = found === undefined ? [] : differing(wanted, found)
    if (found === undefined || fields.length > 0) changes.push({ kind, name, id: found?.id ?? null, fields, wanted })
  }
  return Either.right(changes)
}

/** Combos behind those that they name as targets; what names each other in a circle stays in its order, and is refused by the gateway. */
const inOrder = (changes: ReadonlyArray<ComboChange>): ReadonlyArray<ComboChange> => {
  const byName = new Map(changes.map((change) => [change.name, change]))
  const done = new Set<ComboChange>()
  const begun = new Set<ComboChange>()
  const visit = (first: ComboChange): void => {
    const stack = [first]
    while (stack.length > 0) {
      const change = stack[stack.length - 1]
      if (change === undefined) return
      const needed = begun.has(change)
        ? []
        : (change.wanted.targets ?? []).flatMap(({ model }) => byName.get(model.replace(/^combo:/, "")) ?? [])
      begun.add(change)
      const open = needed.filter((each) => !begun.has(each))
      if (open.length > 0) stack.push(...open.toReversed())
      else {
        stack.pop()
        done.add(change)
      }
    }
  }
  for (const change of changes) if (!begun.has(change)) visit(change)
  return [...done]
}

/** What has to be done so that the gateway has what the document declares. What it does not declare is left alone. */
export const planOf = (wanted: Document, present: Present): Either.Either<Plan, string> =>
  Either.gen(function* () {
    const nodes = yield* changesOf("node", wanted.nodes ?? [], present.nodes, ({ prefix }) => prefix)
    const connections = yield* changesOf(
      "connection",
      wanted.connections ?? [],
      present.connections.filter(({ source }) => source === "db"),
      nameOfConnection
    )
    const combos = yield* changesOf("combo", wanted.combos ?? [], present.combos, ({ name }) => name)
    return [...nodes, ...connections, ...inOrder(combos)]
  })
