/** Lists that are searched, sorted and shown in short; and queries that hold what their route does not know. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { managementTable } from "../../../src/contract/ManagementRoutes.ts"
import { queryNames } from "../../../src/entry/management/KnownQueries.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const setUp = Effect.gen(function* () {
  const app = yield* TestApp
  const post = (path: string, body: unknown) =>
    Effect.map(app.admin(path, { method: "POST", body }), (answer) => {
      assert.strictEqual(answer.status, 201, answer.text)
      return answer
    })
  const lists = yield* app.admin("/api/keys?limit=1")
  if (lists.at("total") === 0) {
    for (const [at, name] of ["Work laptop", "home", "work phone"].entries()) {
      yield* post("/api/keys", { name, ...(at === 1 ? { expiresAt: "2035-01-01T00:00:00Z" } : {}) })
      yield* post("/api/provider-nodes", {
        name: `node ${at}`,
        prefix: `node${at}`,
        type: "openai-compatible",
        baseUrl: "http://127.0.0.1:9/v1"
      })
      yield* post("/api/providers", { provider: `node${at}`, name, apiKey: "k", models: [`m${at}`], priority: 9 - at })
      yield* post("/api/combos", { name: `${name} combo`, targets: [{ model: `node${at}/m${at}` }] })
    }
  }
  const list = (path: string, member: string) =>
    Effect.map(app.admin(path), (answer) => {
      assert.strictEqual(answer.status, 200, answer.text)
      const entries = answer.at(member) as ReadonlyArray<Readonly<Record<string, unknown>>>
      return { entries, total: answer.at("total"), nextCursor: answer.at("nextCursor") }
    })
  return { app, list }
})

describe("lists of the management", () => {
  it.layer(layerOf())((it) => {
    it.effect("are searched in any letter case, sorted from either end, and say how many there are", () =>
      Effect.gen(function* () {
        const { app, list } = yield* setUp
        for (const [path, member] of [
          ["/api/keys", "keys"],
          ["/api/providers", "connections"]
        ] as const) {
          const all = yield* list(path, member)
          assert.strictEqual(all.total, 3)
          const found = yield* list(`${path}?search=WORK&sort=-name`, member)
          assert.deepStrictEqual(
            found.entries.map(({ name }) => name),
            ["work phone", "Work laptop"]
          )
          assert.strictEqual(found.total, 2)
          const first = yield* list(`${path}?search=work&sort=name&limit=1`, member)
          assert.strictEqual(first.total, 2)
          const second = yield* list(`${path}?search=work&sort=name&limit=1&cursor=${String(first.nextCursor)}`, member)
          assert.deepStrictEqual(
            [...first.entries, ...second.entries].map(({ name }) => name),
            ["Work laptop", "work phone"]
          )
          assert.strictEqual(second.nextCursor, null)
          assert.deepStrictEqual((yield* list(`${path}?search=nothing%20of%20it`, member)).entries, [])
        }
        const byPriority = yield* list("/api/providers?sort=priority", "connections")
        assert.deepStrictEqual(
          byPriority.entries.map(({ priority }) => priority),
          [7, 8, 9]
        )
        // What has no value comes last from either end.
        for (const sort of ["expiresAt", "-expiresAt"]) {
          assert.strictEqual((yield* list(`/api/keys?sort=${sort}`, "keys")).entries[0]?.["name"], "home")
        }
        assert.strictEqual((yield* list("/api/combos?search=node1/", "combos")).total, 1)
        const wrong = yield* app.admin("/api/keys?sort=secret")
        assert.strictEqual(wrong.status, 400)
        assert.strictEqual(wrong.at("error.param"), "sort")
      })
    )

    it.effect("are filtered by state and provider, and the models by account and price", () =>
      Effect.gen(function* () {
        const { app, list } = yield* setUp
        const names = (query: string) =>
          Effect.map(list(`/api/providers?${query}&sort=name`, "connections"), ({ entries }) =>
            entries.map(({ name }) => name)
          )
        const { entries } = yield* list("/api/providers", "connections")
        const home = entries.find(({ name }) => name === "home")
        const switched = (isActive: boolean) =>
          app.admin(`/api/providers/${String(home?.["id"])}`, { method: "PUT", body: { isActive } })
        assert.strictEqual((yield* switched(false)).status, 200)
        assert.deepStrictEqual(yield* names("state=inactive"), ["home"])
        assert.deepStrictEqual(yield* names("state=available"), ["Work laptop", "work phone"])
        assert.deepStrictEqual(yield* names("state=available&search=phone"), ["work phone"])
        assert.deepStrictEqual(yield* names("state=terminal"), [])
        assert.deepStrictEqual(yield* names("provider=node1"), ["home"])
        assert.strictEqual((yield* switched(true)).status, 200)
        const wrong = yield* app.admin("/api/providers?state=tired")
        assert.deepStrictEqual([wrong.status, wrong.at("error.param")], [400, "state"])

        const models = (query: string) =>
          Effect.map(list(`/api/models/catalog?${query}`, "models"), ({ entries: rows }) => rows.map(({ id }) => id))
        assert.deepStrictEqual(yield* models(`connectionId=${String(home?.["id"])}`), ["node1/m1"])
        assert.deepStrictEqual(yield* models("provider=node2"), ["node2/m2"])
        assert.include(yield* models("priced=false"), "node0/m0")
        assert.deepStrictEqual(yield* models("priced=true"), [])
        assert.deepStrictEqual(yield* models("kind=combo&search=home"), ["home combo"])
      })
    )

    it.effect("are shown in short, with the same values", () =>
      Effect.gen(function* () {
        const { list } = yield* setUp
        const shortOf = {
          "/api/keys": ["keys", "id name prefix scopes isActive expiresAt lastUsedAt"],
          "/api/providers": [
            "connections",
            "id provider name authType isActive priority testStatus rateLimitedUntil source"
          ],
          "/api/combos": ["combos", "id name strategy isActive targetCount"],
          "/api/combos/auto": ["combos", "id name variant type isHidden candidateCount"],
          "/api/models/catalog": ["models", "id kind provider model source converses"]
        } as const
        for (const [path, [member, fields]] of Object.entries(shortOf)) {
          const whole = yield* list(path, member)
          const short = yield* list(`${path}?view=summary`, member)
          assert.isAbove(short.entries.length, 0, path)
          assert.strictEqual(short.total, whole.total, path)
          for (const [at, entry] of short.entries.entries()) {
            assert.sameMembers(Object.keys(entry), fields.split(" "), path)
            const { targetCount: _, ...same } = entry
            assert.deepInclude(whole.entries[at], same, path)
          }
        }
        const pools = (yield* list("/api/combos/auto", "combos")).entries
        for (const { candidateCount, candidatePool } of pools) {
          assert.strictEqual((candidatePool as ReadonlyArray<unknown>).length, candidateCount)
        }
      })
    )

    it.effect("every route refuses a name of the query that it does not know, and says which was meant", () =>
      Effect.gen(function* () {
        const { app } = yield* setUp
        const misspelt = yield* app.admin("/api/keys?serch=a")
        assert.strictEqual(misspelt.status, 400)
        assert.strictEqual(misspelt.at("error.param"), "serch")
        assert.include(misspelt.text, "did you mean 'search'?")
        let count = 0
        for (const [key, { method, path, tier }] of Object.entries(managementTable)) {
          if (method !== "GET" || tier !== "manage") continue
          const target = path.replaceAll(/:\w+/g, "none")
          const { at, status } = yield* app.admin(`${target}?no-such-name=1`)
          assert.strictEqual(status, 400, key)
          assert.strictEqual(at("error.param"), "no-such-name", key)
          assert.isNotNull(queryNames(key as "keys.list"), key)
          count++
        }
        assert.isAbove(count, 60)
        // Who may not ask learns nothing of it.
        assert.strictEqual((yield* app.call("/api/keys?no-such-name=1")).status, 401)
        // Health checks of others add what they like.
        assert.strictEqual((yield* app.call("/api/health/ping?t=1")).status, 200)
      })
    )
  })
})
