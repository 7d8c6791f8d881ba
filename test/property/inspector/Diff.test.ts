/** The changes of a difference make the second body of the first. */
import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { type Change, diffBodies } from "../../../src/observe/inspector/diff/Diff.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

const run = { seed: 20_261_125, numRuns: 1_500 }

type Key = string | number
type Holder = Record<Key, unknown>

const keysOf = (path: string): ReadonlyArray<Key> =>
  [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([A-Za-z_$][\w$]*)/g)].map(([, index, quoted, name]): Key =>
    index !== undefined ? Number(index) : quoted !== undefined ? (JSON.parse(quoted) as string) : (name ?? "")
  )

const holderOf = (root: unknown, path: string): { readonly holder: Holder; readonly key: Key } => {
  const keys = keysOf(path)
  const holder = keys.slice(0, -1).reduce((value: unknown, key) => (value as Holder)[key], root) as Holder
  return { holder, key: keys.at(-1) ?? "" }
}

/** Removals from the last to the first, additions in order, then replacements. */
const applied = (body: unknown, changes: ReadonlyArray<Change>): unknown => {
  const root: unknown = structuredClone(body)
  for (const { path } of changes.filter(({ op }) => op === "remove").reverse()) {
    const { holder, key } = holderOf(root, path)
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holder[key]
  }
  for (const { after, path } of changes.filter(({ op }) => op === "add")) {
    const { holder, key } = holderOf(root, path)
    if (Array.isArray(holder)) holder.splice(Number(key), 0, after)
    else holder[key] = after
  }
  for (const { after, path } of changes.filter(({ op }) => op === "replace")) {
    const { holder, key } = holderOf(root, path)
    holder[key] = after
  }
  return root
}

const key = FC.constantFrom("role", "content", "name", "a b", 'q"[0]', "x.y", "tools", "messages")
const leaf = FC.oneof(
  FC.constantFrom("user", "a", "b", "", "text"),
  FC.integer({ min: -2, max: 2 }),
  FC.boolean(),
  FC.constant(null)
)
const { value } = FC.letrec((tie) => ({
  value: FC.oneof({ depthSize: "small", withCrossShrink: true }, leaf, tie("list"), tie("object")),
  list: FC.array(tie("value"), { maxLength: 6 }),
  object: FC.dictionary(key, tie("value"), { maxKeys: 4 })
}))
const body = FC.dictionary(key, value, { maxKeys: 5 })

/** The same body with some values put in, taken out or moved. */
const mutated = (one: unknown, seed: number): unknown => {
  let state = seed
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state % below
  }
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) {
      const items = node.map(visit)
      const at = random(items.length + 1)
      const action = random(5)
      if (action === 0) items.splice(at, 1)
      if (action === 1) items.splice(at, 0, "put in")
      if (action === 2 && items.length > 1) items.push(items.shift())
      return items
    }
    if (typeof node !== "object" || node === null) return random(6) === 0 ? "changed" : node
    const entries = Object.entries(node).map(([name, member]) => [name, visit(member)] as const)
    if (random(6) === 0) entries.reverse()
    return Object.fromEntries(random(6) === 0 ? entries.slice(1) : entries)
  }
  return visit(one)
}

/** The order of the outermost members is no difference. */
const text = (one: unknown): string =>
  JSON.stringify(Object.entries(one as Holder).toSorted(([a], [b]) => (a < b ? -1 : 1)))

const check = (one: unknown, other: unknown): void => {
  const request = (of: unknown) => ({ wire: "chat", model: "m", body: of as JsonObject }) as const
  const { changes, equal, omitted } = diffBodies(request(one), request(other))
  assert.strictEqual(omitted, 0)
  assert.deepEqual(applied(one, changes), other, JSON.stringify(changes))
  assert.strictEqual(equal, text(one) === text(other))
}

describe("the changes of two bodies", () => {
  it("make the second of the first", () => {
    FC.assert(FC.property(body, body, check), run)
  })

  it("make a changed body of its original", () => {
    FC.assert(
      FC.property(body, FC.nat(), (one, seed) => check(one, mutated(one, seed))),
      run
    )
  })
})
