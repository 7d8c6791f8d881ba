/** What has to change so that a gateway is as a file says. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Change, plan, type Thing, type DeclaredThing } from "../../../src/subjects/declared/Plan.ts"
import { escaped, filled, variableOf } from "../../../src/subjects/declared/Variables.ts"
import { doubles, wantedOf } from "../../../src/subjects/declared/DesiredState.ts"

const combo = (name: string, ...models: ReadonlyArray<string>): DeclaredThing => ({
  kind: "combo",
  name,
  fields: { name, targets: models.map((model) => ({ model })) }
})

/** A gateway after the changes: what a plan of the same file must find nothing to do at. */
const after = (present: ReadonlyArray<Thing>, changes: ReadonlyArray<Change>): ReadonlyArray<Thing> => {
  const things = new Map(present.map((thing) => [`${thing.kind} ${thing.name}`, thing]))
  for (const { action, body, kind, name } of changes) {
    const key = `${kind} ${name}`
    const before = things.get(key)
    if (action === "remove") things.delete(key)
    else things.set(key, { kind, name, id: "x", readOnly: false, fields: { ...before?.fields, ...body } })
  }
  return [...things.values()]
}

const names = fc.constantFrom("a", "b", "c")
const kind = fc.constantFrom<DeclaredThing["kind"]>("node", "connection", "combo", "alias", "price", "key", "mcpServer")
const fields = fc.dictionary(
  fc.constantFrom("name2", "priority", "models", "isActive"),
  fc.oneof(fc.integer(), fc.boolean(), fc.array(fc.string({ maxLength: 3 }), { maxLength: 2 })),
  { maxKeys: 3 }
)
const wanted = fc.uniqueArray(fc.record({ kind, name: names, fields }), {
  selector: ({ kind: each, name }) => `${each} ${name}`,
  maxLength: 6
})

describe("a plan", () => {
  it("has nothing to do where it was done, and touches nothing that is not in the file", () => {
    fc.assert(
      fc.property(wanted, wanted, (file, there) => {
        const present = there.map((each): Thing => ({ ...each, id: `id-${each.name}`, readOnly: false }))
        const changes = plan(file, present, { prune: null })
        assert.isTrue(changes.every(({ action }) => action !== "remove"))
        const done = after(present, changes)
        assert.deepStrictEqual(plan(file, done, { prune: null }), [])
        for (const thing of present) {
          if (file.some((each) => each.kind === thing.kind && each.name === thing.name)) continue
          assert.deepInclude(done, thing)
        }
      }),
      { seed: 11, numRuns: 500 }
    )
  })

  it("removes what an earlier run has made, and nothing else", () => {
    fc.assert(
      fc.property(wanted, wanted, fc.array(fc.tuple(kind, names)), (file, there, made) => {
        const present = there.map((each): Thing => ({ ...each, id: "x", readOnly: false }))
        const prune = new Set(made.map(([each, name]) => `${each} ${name}`))
        for (const { action, kind: each, name } of plan(file, present, { prune })) {
          if (action !== "remove") continue
          assert.isTrue(prune.has(`${each} ${name}`))
          assert.isFalse(file.some((one) => one.kind === each && one.name === name))
        }
      }),
      { seed: 12, numRuns: 300 }
    )
  })

  it("makes what others need first, and removes it last", () => {
    const file: ReadonlyArray<DeclaredThing> = [
      combo("outer", "combo:inner", "openai/x"),
      combo("inner", "cellar/m"),
      { kind: "connection", name: "cellar/one", fields: { provider: "cellar", name: "one" } },
      { kind: "node", name: "cellar", fields: { prefix: "cellar" } },
      { kind: "settings", name: "settings", fields: { metricsPublic: true } }
    ]
    const changes = plan(file, [], { prune: null })
    assert.deepStrictEqual(
      changes.map(({ name }) => name),
      ["cellar", "cellar/one", "inner", "outer", "settings"]
    )
    const present = after([], changes)
    const removed = plan([], present, { prune: new Set(file.map((each) => `${each.kind} ${each.name}`)) })
    assert.deepStrictEqual(
      removed.map(({ kind: each }) => each),
      ["settings", "combo", "combo", "connection", "node"]
    )
  })

  it("compares secrets as they are shown, and says none", () => {
    const present: Thing = {
      kind: "connection",
      name: "openai/work",
      id: "1",
      readOnly: false,
      fields: { provider: "openai", name: "work", apiKey: "sk-…cret", headers: { "x-team": "red", "x-token": "…" } }
    }
    const want = (apiKey: string): DeclaredThing => ({
      kind: "connection",
      name: "openai/work",
      fields: { provider: "openai", name: "work", apiKey, headers: { "x-team": "red", "x-token": "short" } }
    })
    const [change] = plan([want("sk-a-wholly-different-key-9999")], [present], { prune: null })
    assert.strictEqual(change?.action, "update")
    assert.notInclude(JSON.stringify(change?.changes), "wholly")
    assert.deepStrictEqual(Object.keys(change?.body ?? {}), ["apiKey"])
  })

  it("changes of settings only what the file has", () => {
    const present: Thing = {
      kind: "settings",
      name: "settings",
      id: null,
      readOnly: false,
      fields: { cache: { enabled: false, ttlSeconds: 60 }, metricsPublic: false }
    }
    const want = (value: DeclaredThing["fields"]): DeclaredThing => ({
      kind: "settings",
      name: "settings",
      fields: value
    })
    assert.deepStrictEqual(plan([want({ cache: { enabled: false } })], [present], { prune: null }), [])
    assert.lengthOf(plan([want({ cache: { enabled: true } })], [present], { prune: null }), 1)
  })
})

describe("variables of a file", () => {
  it("are put in everywhere, and those that are not set are named with their places", () => {
    const environment = new Map([["KEY", "k"]])
    assert.deepStrictEqual(filled({ a: "${KEY}", b: ["x${KEY}y", 1], c: "$${KEY}" }, environment), {
      value: { a: "k", b: ["xky", 1], c: "${KEY}" },
      gaps: []
    })
    assert.deepStrictEqual(filled(["${NO}", { a: "x${NO}${NONE}" }, "${EMPTY}"], new Map([["EMPTY", ""]])).gaps, [
      { path: [0], name: "NO" },
      { path: [1, "a"], name: "NO" },
      { path: [1, "a"], name: "NONE" },
      { path: [2], name: "EMPTY" }
    ])
    assert.strictEqual(variableOf("openai", "work account"), "OPENAI_WORK_ACCOUNT_API_KEY")
  })

  it("stand for nothing in escaped text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.deepStrictEqual(filled(escaped(text), new Map()), { value: text, gaps: [] })
      }),
      { seed: 5 }
    )
  })

  it("name things that stand twice", () => {
    const twice = wantedOf({ combos: [{ name: "a" }, { name: "a" }], keys: [{ name: "a" }] })
    assert.deepStrictEqual(doubles(twice), ["combo 'a' stands twice."])
  })
})
