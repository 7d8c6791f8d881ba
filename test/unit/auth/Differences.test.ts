/** What the audit log keeps of a change: each field that is different, and no secret. */
import { assert, describe, it } from "vitest"
import { differences, differenceLimits } from "../../../src/subjects/audit/Differences.ts"

const none: ReadonlySet<string> = new Set()

describe("what a change has made of an object", () => {
  it("names each field that is different, with its value before and after", () => {
    assert.deepStrictEqual(
      differences(
        { backup: { keepLast: 7, frequency: "daily" }, mcpEnabled: true, gone: 1 },
        { backup: { keepLast: 4, frequency: "daily" }, mcpEnabled: true, come: [1, 2] },
        none
      ),
      [
        { field: "backup.keepLast", before: 7, after: 4 },
        { field: "gone", before: 1 },
        { field: "come", after: [1, 2] }
      ]
    )
  })

  it("finds the entries of a list by their ids, not by their places", () => {
    const [one, other] = [
      { id: "a", isActive: true },
      { id: "b", isActive: true }
    ]
    assert.deepStrictEqual(differences({ proxies: [one, other] }, { proxies: [{ ...other, isActive: false }] }, none), [
      { field: "proxies.a.id", before: "a" },
      { field: "proxies.a.isActive", before: true },
      { field: "proxies.b.isActive", before: true, after: false }
    ])
  })

  it("says of an object that came or went what it had", () => {
    assert.deepStrictEqual(differences({ name: "x" }, undefined, none), [{ field: "name", before: "x" }])
    assert.deepStrictEqual(differences(undefined, { name: "x" }, none), [{ field: "name", after: "x" }])
  })

  it("keeps no value of a field that holds a secret, by the contract's mark or by its name", () => {
    const secrets = new Set(["headers"])
    const of = (value: string) => ({
      headers: { "x-team": value },
      apiKey: value,
      connection: { accessToken: value, clientSecret: value, password: value },
      sharedKey: value
    })
    const changes = differences(of("canary-before"), of("canary-after"), secrets)
    assert.strictEqual(changes.length, 6)
    assert.isTrue(changes.every(({ hidden }) => hidden === true))
    assert.notInclude(JSON.stringify(changes), "canary")
  })

  it("keeps of an address its host only: paths and users of addresses are keys often enough", () => {
    assert.deepStrictEqual(
      differences(
        { url: "https://hooks.example.com/services/T0/canary" },
        { url: "https://user:canary@hooks.example.com/?key=canary" },
        none
      ),
      [{ field: "url", before: "https://hooks.example.com/…", after: "https://hooks.example.com/…" }]
    )
  })

  it("tells of a long text that it changed, and keeps at most so many fields", () => {
    const long = "x".repeat(differenceLimits.textChars + 1)
    assert.deepStrictEqual(differences({ prompt: "short" }, { prompt: long }, none), [
      { field: "prompt", hidden: true }
    ])
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, index]))
    assert.strictEqual(differences({}, many, none).length, differenceLimits.fields)
  })

  it("compares large objects in a time that grows with their size only", () => {
    const list = (at: number) => Array.from({ length: 20_000 }, (_, index) => ({ id: `m${index}`, at }))
    const began = performance.now()
    assert.strictEqual(differences({ list: list(1) }, { list: list(2) }, none).length, differenceLimits.fields)
    assert.isBelow(performance.now() - began, 2_000)
  })
})
