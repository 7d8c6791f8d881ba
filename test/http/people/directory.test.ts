/** People and teams themselves: their tree, their keys' rules, and changes under a condition. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type People, setUp } from "./support.ts"
import { eventually } from "../../support/eventually.ts"
import { adminKey } from "../../support/TestGateway.ts"

const send = (
  people: People,
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
) =>
  fetch(`${people.gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })

const codeOf = async (response: Response): Promise<readonly [number, string]> => {
  const { error } = JSON.parse(await response.text())
  return [response.status, error.code]
}

describe("the tree of teams", () => {
  it.scopedLive("has at most four levels and no circle, and no team goes that others are below", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const one = await people.team("1", {})
        const two = await people.team("2", { parent: one.id })
        const three = await people.team("3", { parent: two.id })
        const four = await people.team("4", { parent: three.id })
        const refusedOf = async (method: string, path: string, body: unknown) =>
          JSON.parse(await (await send(people, method, path, body)).text()).error.message
        assert.include(await refusedOf("POST", "/api/teams", { name: "5", parent: four.id }), "at most 4 levels")
        assert.include(await refusedOf("PUT", `/api/teams/${one.id}`, { parent: four.id }), "itself or one below")
        assert.include(await refusedOf("PUT", `/api/teams/${one.id}`, { parent: one.id }), "itself or one below")
        assert.include(await refusedOf("PUT", `/api/teams/${one.id}`, { parent: "none" }), "no team 'none'")
        const apart = await people.team("apart", {})
        assert.include(await refusedOf("PUT", `/api/teams/${one.id}`, { parent: apart.id }), "at most 4 levels")
        assert.include(await refusedOf("DELETE", `/api/teams/${three.id}`, undefined), "below the team")
        assert.include(await refusedOf("POST", "/api/teams", { name: "1" }), "1")
        assert.strictEqual((await send(people, "DELETE", `/api/teams/${four.id}`, undefined)).status, 204)
      })
    })
  )

  it.scopedLive("is changed under the condition of its version", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const { id } = await people.team("Research", { budget: { dailyLimitUsd: 1 } })
        const shown = await send(people, "GET", `/api/teams/${id}`, undefined)
        const tag = shown.headers.get("etag") ?? ""
        await shown.arrayBuffer()
        await people.change(id, { budget: { dailyLimitUsd: 2 } })
        const late = await send(people, "PUT", `/api/teams/${id}`, { name: "Late" }, { "if-match": tag })
        assert.strictEqual(late.status, 412)
        // What is shown can be sent back as it is.
        const { team } = JSON.parse(await (await send(people, "GET", `/api/teams/${id}`, undefined)).text())
        assert.deepInclude(await people.change(id, team), { name: "Research", budget: team.budget })
      })
    })
  )
})

describe("a person", () => {
  it.scopedLive("has one e-mail address, and the keys of one who is suspended, left or is gone are refused", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const ada = await people.user("Ada")
        assert.deepInclude(ada, {
          role: "member",
          source: "local",
          state: "active",
          teams: [],
          email: "ada@example.com"
        })
        const twice = await send(people, "POST", "/api/users", { name: "Other", email: "ADA@example.com" })
        assert.deepStrictEqual(await codeOf(twice), [409, "conflict"])
        for (const email of ["ada", "a b@c", "ada@", "x\u0000@y", "x\u202e@y"]) {
          assert.strictEqual((await send(people, "POST", "/api/users", { name: "Other", email })).status, 400, email)
        }
        const team = await people.team("Research", { members: [ada.id] })
        const key = await people.key("k", { userId: ada.id, teamId: team.id })
        const isRefused = async () => (await people.chat(key)).status === 403
        assert.isFalse(await isRefused())
        await people.gateway.manage("PUT", `/api/users/${ada.id}`, { state: "suspended" })
        assert.deepStrictEqual(await codeOf(await people.chat(key)), [403, "key_owner"])
        // What is refused is still a row of the person's and the team's.
        const rows = await eventually(
          "the row of what was refused",
          async () => (await people.gateway.manage("GET", "/api/usage/logs?outcome=failed")).logs,
          (logs: ReadonlyArray<object>) => logs.length > 0
        )
        const { keys } = await people.gateway.manage("GET", "/api/keys")
        assert.deepInclude(rows[0], { apiKeyId: keys[0].id, error: "key_owner", status: 403 })
        await people.gateway.manage("PUT", `/api/users/${ada.id}`, { state: "active" })
        assert.isFalse(await isRefused())
        await people.change(team.id, { members: [] })
        assert.isTrue(await isRefused())
        await people.change(team.id, { members: [ada.id] })
        assert.deepStrictEqual((await people.gateway.manage("GET", `/api/users/${ada.id}`)).user.teams, [team.id])
        await people.gateway.manage("DELETE", `/api/users/${ada.id}`)
        assert.isTrue(await isRefused())
        assert.deepStrictEqual((await people.shown(team.id)).members, [])
      })
    })
  )

  it.scopedLive("is named by the audit log, whatever key asks", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const ada = await people.user("Ada", { role: "admin" })
        const { id, secret } = await people.key("ops", { userId: ada.id, scopes: ["manage"] })
        const own = { authorization: `Bearer ${secret}` }
        assert.strictEqual((await send(people, "POST", "/api/teams", { name: "Research" }, own)).status, 201)
        const entries = await people.gateway.manage("GET", "/api/compliance/audit-log?action=teams.create")
        assert.lengthOf(entries, 1)
        assert.strictEqual(entries[0].actor, `apiKey:${id}`)
        assert.deepInclude(entries[0].details, { apiKeyName: "ops", userId: ada.id, userName: "Ada" })
      })
    })
  )

  it.scopedLive("has keys for teams that have the person as a member only", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const ada = await people.user("Ada")
        const team = await people.team("Research", {})
        const problemOf = async (owners: unknown) =>
          JSON.parse(await (await send(people, "POST", "/api/keys", { name: "k", ...Object(owners) })).text()).error
            .message
        assert.include(await problemOf({ userId: "none" }), "no person 'none'")
        assert.include(await problemOf({ teamId: "none" }), "no team 'none'")
        assert.include(await problemOf({ userId: ada.id, teamId: team.id }), "no member of the team 'Research'")
      })
    })
  )
})

describe("the models of a team", () => {
  it.scopedLive("hold for its keys and for those of teams below, also within combos", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const above = await people.team("Company", { models: ["up/m*"] })
        const team = await people.team("Research", { parent: above.id, models: ["*mini"] })
        const key = await people.key("k", { teamId: team.id })
        await people.gateway.combo("both", "up/m", "up/m-mini")
        assert.strictEqual((await people.chat(key, "up/m")).status, 403)
        assert.strictEqual((await people.chat(key, "up/m-mini")).status, 200)
        assert.strictEqual((await people.chat(key, "up/x-mini")).status, 403)
        assert.strictEqual((await people.chat(key, "both")).status, 200)
        assert.deepStrictEqual(
          people.upstream.requests.map(({ body }) => JSON.parse(body).model),
          ["m-mini", "m-mini"]
        )
        await people.change(team.id, { models: null })
        assert.strictEqual((await people.chat(key, "up/m")).status, 200)
      })
    })
  )
})
