/** `/api/context/rtk` over real HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { RawOutputs } from "../../../src/plane/compression/RawOutputs.ts"
import { builtInFilters } from "../../../src/plane/compression/rtk/filters/index.ts"
import { makeIn, RtkFilters } from "../../../src/plane/compression/rtk/RtkFilters.ts"
import { defaultRtkSettings } from "../../../src/subjects/rtk/entity.ts"
import { Flags } from "../../../src/subjects/flags/service.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import { RawOutputRepo } from "../../../src/subjects/compression/repo.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const path = "/api/context/rtk"
const call = (method: string, at: string, body?: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(`${path}${at}`, { method, ...(body === undefined ? {} : { body }) }))

const folder = mkdtempSync(join(tmpdir(), "gateway-rtk-"))
const own = (filters: unknown): void => {
  mkdirSync(join(folder, "rtk"), { recursive: true })
  writeFileSync(join(folder, "rtk", "filters.json"), typeof filters === "string" ? filters : JSON.stringify(filters))
}

const mine = {
  id: "my-tool",
  label: "my-tool",
  description: "Without dots.",
  category: "own",
  priority: 90,
  match: { commands: ["^my-tool\\b"] },
  rules: { dropPatterns: ["^\\.+$"] },
  tests: [{ name: "drops dots", command: "my-tool run", input: "a\n....\nb", expected: "a\nb" }]
}

layer(layerOf({ dataDir: folder }), { excludeTestServices: true })("rtk", (it) => {
  it.effect("has settings that are replaced as a whole", () =>
    Effect.gen(function* () {
      const read = yield* call("GET", "/config")
      assert.deepStrictEqual(JSON.parse(read.text), defaultRtkSettings)
      const changed = yield* call("PUT", "/config", { level: "aggressive", maxLines: 80 })
      assert.deepStrictEqual(JSON.parse(changed.text), { ...defaultRtkSettings, level: "aggressive", maxLines: 80 })
      const again = yield* call("PUT", "/config", { rawOutputRetention: "failures" })
      assert.deepStrictEqual(JSON.parse(again.text), { ...defaultRtkSettings, rawOutputRetention: "failures" })
      for (const body of [{ level: "most" }, { maxLines: 0 }, { disabledFilters: ["A B"] }, { lines: 5 }]) {
        const refused = yield* call("PUT", "/config", body)
        assert.strictEqual(refused.status, 400)
        assert.include(String(refused.at("error.param")), String(Object.keys(body)[0]))
      }
      assert.deepStrictEqual(JSON.parse((yield* call("GET", "/config")).text), JSON.parse(again.text))
      yield* call("PUT", "/config", {})
      const app = yield* TestApp
      assert.strictEqual((yield* app.call(`${path}/config`)).status, 401)
    })
  )

  it.effect("lists filters, those of the data folder first, and says what is wrong with others", () =>
    Effect.gen(function* () {
      own({
        filters: [
          mine,
          { ...mine, id: "explodes", rules: { dropPatterns: ["(a+)+$"] } },
          { ...mine, id: "looks-back", rules: { dropPatterns: ["(?<=a)b"] } },
          { ...mine, id: "git-status", priority: 1 },
          { ...mine, id: "odd", lines: 3 },
          "text"
        ]
      })
      const list = JSON.parse((yield* call("GET", "/filters")).text)
      assert.strictEqual(list.filters.length, builtInFilters.length + 1)
      const head = list.filters.slice(0, 2).map((each: Record<string, unknown>) => [each["id"], each["source"]])
      assert.deepStrictEqual(head, [
        ["my-tool", "data"],
        ["git-status", "data"]
      ])
      const problems = list.problems.map((each: Record<string, unknown>) => each["filter"])
      assert.deepStrictEqual(problems, ["explodes", "looks-back", "odd", "filters[5]"])
      assert.include(list.problems[0].message, "repetition inside a repetition")
      assert.include(list.problems[1].message, "linear time")

      const filters = yield* RtkFilters
      assert.isTrue(filters.inForce().some(({ filter }) => filter.id === "my-tool"))
      yield* call("PUT", "/config", { disabledFilters: ["my-tool"] })
      assert.isFalse(filters.inForce().some(({ filter }) => filter.id === "my-tool"))
      const off = JSON.parse((yield* call("GET", "/filters")).text).filters[0]
      assert.strictEqual(off.enabled, false)
      yield* call("PUT", "/config", {})

      own("no json")
      const broken = JSON.parse((yield* call("GET", "/filters")).text)
      assert.deepStrictEqual(
        broken.problems.map(({ filter, message }: Record<string, unknown>) => [filter, message]),
        [[null, "is no JSON"]]
      )
      assert.strictEqual(broken.filters.length, builtInFilters.length)
      rmSync(join(folder, "rtk"), { recursive: true })
      assert.deepStrictEqual(JSON.parse((yield* call("GET", "/filters")).text).problems, [])
    })
  )

  it.effect(
    "uses a project's filters with GATEWAY_RTK_TRUST_PROJECT_FILTERS or their SHA-256 in the settings, and not without",
    () =>
      Effect.gen(function* () {
        const project = mkdtempSync(join(tmpdir(), "gateway-project-"))
        mkdirSync(join(project, ".rtk"))
        const text = JSON.stringify({ filters: [{ ...mine, id: "of-project" }] })
        writeFileSync(join(project, ".rtk", "filters.json"), text)
        const filters = yield* Effect.provide(makeIn(project), AppConfig.layerOf({ dataDir: folder }))
        const flags = yield* Flags
        const isUsed = () => filters.inForce().some(({ filter }) => filter.id === "of-project")
        const hash = createHash("sha256").update(text).digest("hex")
        assert.isFalse(isUsed())
        assert.deepStrictEqual(
          filters.faults().map(({ message }) => message),
          [`is not trusted; its SHA-256 is ${hash}`]
        )
        yield* flags.set("GATEWAY_RTK_TRUST_PROJECT_FILTERS", "true")
        assert.isTrue(isUsed())
        assert.deepStrictEqual(filters.faults(), [])
        assert.strictEqual(filters.all()[0]?.source, "project")
        yield* flags.set("GATEWAY_RTK_TRUST_PROJECT_FILTERS", "false")
        assert.isFalse(isUsed())
        yield* call("PUT", "/config", { trustedProjectFilters: [hash] })
        assert.isTrue(isUsed())
        writeFileSync(join(project, ".rtk", "filters.json"), `${text} `)
        assert.isTrue(isUsed(), "until the files are read again")
        yield* filters.reload
        assert.isFalse(isUsed())
        yield* call("PUT", "/config", {})
        yield* flags.unset("GATEWAY_RTK_TRUST_PROJECT_FILTERS")
        rmSync(project, { recursive: true })
      })
  )

  it.effect("runs the tests of filters, tries outputs, and filters that are in no file", () =>
    Effect.gen(function* () {
      const all = yield* call("POST", "/test", {})
      assert.strictEqual(all.status, 200, all.text)
      assert.strictEqual(all.at("failed"), 0)
      assert.isAtLeast(Number(all.at("passed")), 98)
      assert.strictEqual(all.at("output"), null)

      const one = yield* call("POST", "/test", { filterId: "git-status" })
      assert.strictEqual(one.at("passed"), 2)
      assert.strictEqual((yield* call("POST", "/test", { filterId: "none" })).status, 404)

      const text = Array.from({ length: 40 }, (_, index) => `test case_${index} ... ok`).join("\n") + "\nerror: 3"
      const tried = yield* call("POST", "/test", { command: "cd a && cargo test", text })
      assert.strictEqual(tried.at("output.filter"), "cargo-test")
      assert.match(
        String(tried.at("output.text")),
        /^error: 3\n\[rtk cargo-test: 40 of 41 lines left out or shortened; whole output: raw-output\/[0-9a-f]{24}\]$/
      )
      assert.strictEqual(tried.at("output.charsBefore"), text.length)
      const left = yield* call("POST", "/test", { command: "unknown", text: "a" })
      assert.deepStrictEqual(JSON.parse(left.text).output, { text: "a", filter: null, charsBefore: 1, charsAfter: 1 })

      const wrong = { ...mine, tests: [{ name: "keeps dots", input: "..", expected: ".." }] }
      const given = yield* call("POST", "/test", { filter: wrong })
      assert.strictEqual(given.at("failed"), 1)
      assert.strictEqual(given.at("results.0.reason"), 'line 1 is "" instead of ".."')
      const refused = yield* call("POST", "/test", { filter: { ...mine, match: { commands: ["(a*)*"] } } })
      assert.strictEqual(refused.status, 400)
      assert.strictEqual(refused.at("error.param"), "filter")
    })
  )

  it.effect("shows whole outputs by their id, with secrets replaced where that is asked for", () =>
    Effect.gen(function* () {
      const rawOutputs = yield* RawOutputs
      const content = `mail a@example.com\n${"line\n".repeat(200)}`
      const id = rawOutputs.keep(operatorsOwn, null, content, false)
      assert.match(String(id), /^[0-9a-f]{24}$/)
      const waiting = yield* call("GET", `/raw-output/${id}`)
      assert.strictEqual(waiting.at("content"), content)
      yield* rawOutputs.written
      assert.strictEqual((yield* Effect.flatMap(RawOutputRepo, (repo) => repo.get(String(id))))?.content, content)
      const shown = yield* call("GET", `/raw-output/${id}`)
      assert.strictEqual(shown.at("content"), content)
      assert.strictEqual(shown.at("apiKeyId"), null)
      const redacted = yield* call("GET", `/raw-output/${id}?redact=true`)
      assert.include(String(redacted.at("content")), "[EMAIL_REDACTED]")
      assert.notInclude(redacted.text, "a@example.com")
      assert.strictEqual((yield* call("GET", "/raw-output/000000000000000000000000")).status, 404)

      assert.notStrictEqual(rawOutputs.keep(operatorsOwn, "key", content, false), id)
      yield* call("PUT", "/config", { rawOutputRetention: "failures" })
      assert.isNull(rawOutputs.keep(operatorsOwn, null, "x", false))
      assert.isString(rawOutputs.keep(operatorsOwn, null, "x", true))
      yield* call("PUT", "/config", { rawOutputRetention: "never" })
      assert.isNull(rawOutputs.keep(operatorsOwn, null, "y", true))
      yield* call("PUT", "/config", {})
      assert.isNull(rawOutputs.keep(operatorsOwn, null, "x".repeat(5_000_000), true))
    })
  )
})
