import { assert, describe, it } from "@effect/vitest"
import { managementRoutes } from "../../../../src/contract/ManagementRoutes.ts"
import { readManifest, storedManifest } from "../../../../src/agents/plugins/manifest/Manifest.ts"
import { isInRange } from "../../../../src/kernel/text/Versions.ts"

const good = { name: "one", version: "1.0.0", main: "index.js", hooks: { onRequest: true } }

const fieldsOf = (manifest: unknown): ReadonlyArray<string> =>
  readManifest(manifest, "1.2.3").problems.map(({ field }) => field)

/** What stands where the routes of a plugin have its name. */
const inRoutes = [
  ...new Set(managementRoutes.flatMap(({ path }) => /^\/api\/plugins\/([a-z-]+)/.exec(path)?.[1] ?? []))
]

describe("readManifest", () => {
  it("knows the routes that no plugin may be named like", () => {
    assert.sameMembers(inRoutes, ["marketplace", "scan"])
  })

  it("fills in defaults", () => {
    const { manifest, problems } = readManifest(good, "1.2.3")
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(manifest, {
      name: "one",
      version: "1.0.0",
      description: null,
      author: null,
      license: null,
      tags: [],
      main: "index.js",
      hooks: { onRequest: { enabled: true, priority: null, stream: "observe", body: false } },
      permissions: [],
      hosts: null,
      gateway: null,
      enabledByDefault: false,
      configSchema: {},
      failClosed: false,
      timeoutMs: 1_000
    })
  })

  it.each<[string, unknown, ReadonlyArray<string>]>([
    ["no object", [], ["manifest"]],
    ["a text", "x", ["manifest"]],
    ["nothing in it", {}, ["name", "version", "main"]],
    ["wrong types", { ...good, name: 1, version: [], main: {} }, ["name", "version", "main"]],
    ["a name in other letter case", { ...good, name: "One" }, ["name"]],
    ["two dashes", { ...good, name: "a--b" }, ["name"]],
    ["65 characters", { ...good, name: "a".repeat(65) }, ["name"]],
    ["a path as its name", { ...good, name: "../one" }, ["name"]],
    ...inRoutes.map((name): [string, unknown, ReadonlyArray<string>] => [
      `the name ${name}, which a route has`,
      { ...good, name },
      ["name"]
    ]),
    ["an event that is none", { ...good, hooks: { onRequst: true } }, ["hooks.onRequst"]],
    ["a hook of the wrong type", { ...good, hooks: { onRequest: 5 } }, ["hooks.onRequest"]],
    ["NaN as a priority", { ...good, hooks: { onRequest: { priority: Number.NaN } } }, ["hooks.onRequest.priority"]],
    ["buffer at another event", { ...good, hooks: { onError: { stream: "buffer" } } }, ["hooks.onError.stream"]],
    ["hooks that are a list", { ...good, hooks: ["onRequest"] }, ["hooks"]],
    ["an unknown permission", { ...good, requires: { permissions: ["root"] } }, ["requires.permissions.0"]],
    ["a host with a path", { ...good, requires: { hosts: ["https://a.example/x"] } }, ["requires.hosts.0"]],
    ["a gateway that is not this one", { ...good, requires: { gateway: "^2.0.0" } }, ["requires.gateway"]],
    ["a range that is none", { ...good, requires: { gateway: "new" } }, ["requires.gateway"]],
    ["a timeout that is too long", { ...good, timeoutMs: 10_001 }, ["timeoutMs"]],
    ["a misspelt field", { ...good, failclosed: true }, ["failclosed"]],
    ["a setting without a type", { ...good, configSchema: { a: {} } }, ["configSchema.a.type"]],
    ["a select without choices", { ...good, configSchema: { a: { type: "select" } } }, ["configSchema.a.enum"]],
    [
      "a default of the wrong type",
      { ...good, configSchema: { a: { type: "number", default: "1" } } },
      ["configSchema.a.default"]
    ],
    [
      "bounds the wrong way round",
      { ...good, configSchema: { a: { type: "number", min: 2, max: 1 } } },
      ["configSchema.a.min"]
    ],
    ["a secret number", { ...good, configSchema: { a: { type: "number", secret: true } } }, ["configSchema.a.secret"]],
    [
      "a default that is secret",
      { ...good, configSchema: { a: { type: "string", secret: true, default: "k" } } },
      ["configSchema.a.default"]
    ],
    [
      "a setting called constructor",
      { ...good, configSchema: { constructor: { type: "string" } } },
      ["configSchema.constructor"]
    ],
    [
      "a setting called __proto__",
      JSON.parse('{"name":"one","version":"1.0.0","main":"index.js","configSchema":{"__proto__":{"type":"string"}}}'),
      ["configSchema.__proto__"]
    ]
  ])("refuses %s, and names the field", (_, manifest, fields) => {
    assert.deepStrictEqual(fieldsOf(manifest), fields)
    assert.isNull(readManifest(manifest, "1.2.3").manifest)
  })

  it("warns of a field that means nothing, and stops at 50 problems", () => {
    assert.match(readManifest({ ...good, colour: "blue" }, "1.2.3").warnings[0] ?? "", /'colour'/)
    const hooks = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`x${at}`, true]))
    assert.strictEqual(fieldsOf({ ...good, hooks }).length, 50)
  })

  it("keeps a stored guard a guard, whatever became of its manifest", () => {
    const read = storedManifest({ name: "one", version: "1.0.0", manifest: { failClosed: true } })
    assert.isTrue(read.failClosed)
    assert.isTrue(read.hooks.onRequest?.enabled)
  })
})

describe("isInRange", () => {
  it.each<[string, string, boolean | null]>([
    ["1.2.3", "*", true],
    ["1.2.3", "^1.2.0", true],
    ["2.0.0", "^1.2.0", false],
    ["0.2.0", "^0.1.0", false],
    ["0.1.9", "^0.1.2", true],
    ["1.2.9", "~1.2", true],
    ["1.3.0", "~1.2", false],
    ["1.3.0", "1.x", true],
    ["1.3.0", ">=1.0.0 <2", true],
    ["2.0.0-beta", "<2", false],
    ["2.1.0", "<=2", true],
    ["3.0.0", ">2", true],
    ["2.5.0", ">2", false],
    ["1.0.0", "0.1.0 || 1.0.0", true],
    ["1.0.0", "= 1.0.0", true],
    ["1.0.0", "one", null],
    ["1.0.0", `>=1.0.0${" ".repeat(300)}`, null]
  ])("%s in %s: %s", (version, range, fits) => {
    assert.strictEqual(isInRange(version, range), fits)
  })
})
