/** What is set, and by whom: settings beside their defaults, and whose change it was. */
import { assert, describe, it } from "@effect/vitest"
import { type Changed, type Family, originsOf } from "../../../src/subjects/settings/rules.ts"
import { variables } from "../../../src/subjects/settings/variables.ts"
import { ownNames } from "../../../src/cli/flags/variables.ts"

const family = (changedBy: string, values: object, defaults: object, depth = 3): Family => ({
  changedBy,
  audited: "gatewaySettings",
  values,
  defaults,
  depth
})

const change = (atMs: number, actor: string, ...fields: ReadonlyArray<string>): Changed => ({
  timestampMs: atMs,
  actor,
  resourceType: "gatewaySettings",
  keyName: null,
  fields
})

describe("what is set", () => {
  it("takes groups apart as deep as a change may name their parts, and leaves tables and lists whole", () => {
    const rows = originsOf(
      [
        family(
          "update",
          { cache: { enabled: true, semantic: { model: "m" } }, fallbacks: { a: "b" }, hosts: ["h"] },
          { cache: { enabled: false, semantic: { model: null } }, fallbacks: {}, hosts: [] }
        ),
        family("guard", { policy: { mode: "off" } }, { policy: { mode: "off" } }, 1)
      ],
      []
    )
    assert.deepStrictEqual(
      rows.map(({ changedBy, isSet, name, usual, value }) => [changedBy, name, value, usual, isSet]),
      [
        ["update", "cache.enabled", true, false, true],
        ["update", "cache.semantic.model", "m", null, true],
        ["update", "fallbacks", { a: "b" }, {}, true],
        ["update", "hosts", ["h"], [], true],
        ["guard", "policy", { mode: "off" }, { mode: "off" }, false]
      ]
    )
  })

  it("names who changed a group last, a key by its name", () => {
    const by = (changes: ReadonlyArray<Changed>) =>
      originsOf([family("update", { cache: { enabled: true } }, { cache: { enabled: false } })], changes)[0]?.lastChange
    assert.deepStrictEqual(by([change(3, "owner", "cache"), change(1, "admin-key", "cache")]), {
      atMs: 3,
      actor: "owner"
    })
    assert.deepStrictEqual(by([{ ...change(3, "apiKey:1", "cache"), keyName: "ci" }]), { atMs: 3, actor: "key 'ci'" })
    assert.isNull(by([change(3, "owner", "streams")]))
    assert.isNull(by([{ ...change(3, "owner", "cache"), resourceType: "resilience" }]))
  })

  it("says nothing of a change that may have been of another group with the same names", () => {
    const families = [
      family("ipFilter", { enabled: true, mode: "x" }, { enabled: false, mode: "y" }),
      family("prompt", { enabled: true, text: "x" }, { enabled: false, text: "" })
    ]
    const whose = (...fields: ReadonlyArray<string>) =>
      originsOf(families, [change(1, "owner", ...fields)])
        .filter(({ lastChange }) => lastChange !== null)
        .map(({ changedBy, name }) => `${changedBy}.${name}`)
    assert.deepStrictEqual(whose("enabled"), [])
    assert.deepStrictEqual(whose("enabled", "text"), ["prompt.enabled", "prompt.text"])
    assert.deepStrictEqual(whose("mode"), ["ipFilter.mode"])
  })
})

describe("the variables", () => {
  it("are among those that the program reads, each once", () => {
    const names = variables.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    assert.deepStrictEqual(
      names.filter((name) => !ownNames.includes(name)),
      []
    )
  })

  it("show no value of a secret", () => {
    for (const { inForce, name } of variables) {
      if (/KEY|PASSWORD|TOKEN|HEADERS|HTTPS?_PROXY|ALL_PROXY/.test(name)) assert.isUndefined(inForce, name)
    }
  })
})
