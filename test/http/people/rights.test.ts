/** Rights of people by their role: what a key of theirs sees and changes, and what it cannot be made to. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type People, setUp, type TestKey } from "./support.ts"

interface Answer {
  readonly status: number
  readonly body: ReturnType<typeof JSON.parse>
}

/** Members of rows by which tests tell them apart. */
interface Named {
  readonly key: string
  readonly apiKeyId: string
  readonly name: string
}

const ask = async (people: People, key: TestKey, method: string, path: string, body?: unknown): Promise<Answer> => {
  const response = await fetch(`${people.gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? null : JSON.parse(text) }
}

const codeOf = ({ body, status }: Answer): readonly [number, string | undefined] => [status, body?.error?.code]
const beyond = [403, "role_limits"] as const
const unknown = [404, "not_found"] as const

const idsIn = (items: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<string> =>
  items.map(({ id }) => id).toSorted()

/** A company with two teams, of which one has a team below it; Lea leads Research. */
const company = async (people: People) => {
  const lea = await people.user("Lea", { role: "lead" })
  const max = await people.user("Max")
  const eva = await people.user("Eva")
  const adam = await people.user("Adam", { role: "admin" })
  const olga = await people.user("Olga", { role: "owner" })
  const vera = await people.user("Vera", { role: "viewer" })
  const research = await people.team("Research", {
    members: [lea.id, max.id, adam.id, vera.id],
    budget: { dailyLimitUsd: 2 },
    limits: { dailyTokens: 100_000, requestsPerDay: 50 }
  })
  const lab = await people.team("Lab", { parent: research.id, members: [max.id] })
  const sales = await people.team("Sales", { members: [eva.id] })
  return {
    ids: { lea, max, eva, adam, olga, vera },
    research,
    lab,
    sales,
    lead: await people.key("lea", { userId: lea.id, teamId: research.id }),
    member: await people.key("max", { userId: max.id, teamId: lab.id }),
    other: await people.key("eva", { userId: eva.id, teamId: sales.id }),
    admin: await people.key("adam", { userId: adam.id, teamId: research.id }),
    owner: await people.key("olga", { userId: olga.id }),
    viewer: await people.key("vera", { userId: vera.id }),
    service: await people.key("nightly", { teamId: research.id }),
    plain: await people.key("plain", {})
  }
}

const test = (name: string, body: (people: People, all: Awaited<ReturnType<typeof company>>) => Promise<void>) =>
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => body(people, await company(people)))
    })
  )

describe("a member", () => {
  test("sees the own keys, teams and limits and nothing of others", async (people, all) => {
    const { ids, lab, member, other, research } = all
    assert.deepStrictEqual(idsIn((await ask(people, member, "GET", "/api/keys")).body.keys), [member.id])
    assert.deepStrictEqual(codeOf(await ask(people, member, "GET", `/api/keys/${other.id}`)), unknown)
    assert.deepStrictEqual(idsIn((await ask(people, member, "GET", "/api/users")).body.users), [ids.max.id])
    assert.deepStrictEqual(codeOf(await ask(people, member, "GET", `/api/users/${ids.eva.id}`)), unknown)
    assert.deepStrictEqual(
      idsIn((await ask(people, member, "GET", "/api/teams")).body.teams),
      [research.id, lab.id].toSorted()
    )
    assert.deepStrictEqual(codeOf(await ask(people, member, "GET", `/api/teams/${all.sales.id}`)), unknown)
    assert.deepStrictEqual(codeOf(await ask(people, member, "GET", `/api/usage/budget?apiKeyId=${other.id}`)), unknown)
    assert.strictEqual((await ask(people, member, "GET", `/api/usage/budget?apiKeyId=${member.id}`)).status, 200)
  })

  test("gives no key, and renews the own one only while it opens no more than the one that asks", async (people, all) => {
    const { ids, member, other } = all
    const made = await ask(people, member, "POST", "/api/keys", { name: "more", userId: ids.max.id })
    assert.deepStrictEqual(codeOf(made), [403, "key_scope"])
    assert.include(made.body.error.message, "the role 'member' of its person")
    assert.deepStrictEqual(codeOf(await ask(people, member, "POST", `/api/keys/${other.id}/rotate`, {})), unknown)
    const strong = await people.key("ops of Max", { userId: ids.max.id, scopes: ["manage"] })
    assert.deepStrictEqual(codeOf(await ask(people, member, "POST", `/api/keys/${strong.id}/rotate`, {})), beyond)
    const renewed = await ask(people, member, "POST", `/api/keys/${member.id}/rotate`, {})
    assert.strictEqual(renewed.status, 200)
    assert.strictEqual((await people.chat({ id: member.id, secret: renewed.body.secret })).status, 200)
  })

  test("sees the own requests and figures, without accounts and the words of errors", async (people, all) => {
    const { member, other } = all
    for (const key of [member, other, member]) await (await people.chat(key)).arrayBuffer()
    const { logs } = (await ask(people, member, "GET", "/api/usage/logs")).body
    assert.lengthOf(logs, 2)
    for (const row of logs) {
      assert.strictEqual(row.apiKeyId, member.id)
      assert.deepInclude(row, { connectionId: null, connectionName: null, egress: null, error: null })
    }
    const figures = (await ask(people, member, "GET", "/api/usage/analytics?range=24h")).body
    assert.strictEqual(figures.summary.requests, 2)
    assert.closeTo(figures.summary.costUsd, 2 * 0.00102, 1e-10)
    assert.deepStrictEqual(figures.byConnection, [])
    const split = (await ask(people, member, "GET", "/api/usage/breakdown?by=apiKey")).body
    assert.deepStrictEqual([split.total.requests, split.rows.map(({ key }: Named) => key)], [2, [member.id]])
    const series = (await ask(people, member, "GET", "/api/usage/series")).body
    assert.strictEqual(
      series.total.requests.reduce((sum: number, each: number) => sum + each, 0),
      2
    )
    for (const path of [
      "logs?search=x",
      "logs?error=x",
      "logs?connectionId=x",
      "series?by=connection",
      "breakdown?by=model&and=connection"
    ]) {
      assert.deepStrictEqual(codeOf(await ask(people, member, "GET", `/api/usage/${path}`)), beyond, path)
    }
    const ofOther = (await ask(people, member, "GET", `/api/usage/logs?apiKeyId=${other.id}`)).body
    assert.lengthOf(ofOther.logs, 0)
  })
})

describe("a lead", () => {
  test("sees the team and those below it, and no other", async (people, all) => {
    const { admin, lead, member, other, service } = all
    assert.deepStrictEqual(
      idsIn((await ask(people, lead, "GET", "/api/keys")).body.keys),
      [lead.id, member.id, admin.id, service.id].toSorted()
    )
    for (const key of [lead, member, other, service]) await (await people.chat(key)).arrayBuffer()
    const { logs } = (await ask(people, lead, "GET", "/api/usage/logs")).body
    assert.sameMembers(
      logs.map(({ apiKeyId }: Named) => apiKeyId),
      [lead.id, member.id, service.id]
    )
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const answer = await ask(people, lead, method, `/api/keys/${other.id}`, method === "PATCH" ? {} : undefined)
      assert.deepStrictEqual(codeOf(answer), unknown, method)
    }
    assert.deepStrictEqual(codeOf(await ask(people, lead, "GET", `/api/teams/${all.sales.id}`)), unknown)
    assert.deepStrictEqual(
      codeOf(await ask(people, lead, "PUT", `/api/teams/${all.research.id}`, { budget: { dailyLimitUsd: 900 } })),
      [403, "key_scope"]
    )
  })

  test("gives keys within the team's limits, never above and never of another team", async (people, all) => {
    const { ids, lab, lead, other, research, sales } = all
    const give = (body: object) => ask(people, lead, "POST", "/api/keys", { name: "given", ...body })
    const given = await give({ userId: ids.max.id, teamId: lab.id, maxRequestsPerDay: 50 })
    assert.strictEqual(given.status, 201)
    assert.strictEqual((await people.chat({ id: given.body.key.id, secret: given.body.secret })).status, 200)
    for (const [body, why] of [
      [{ teamId: sales.id }, "another team"],
      [{}, "no team"],
      [{ userId: ids.lea.id }, "no team, but a person"],
      [{ teamId: lab.id, maxRequestsPerDay: 51 }, "above the team above"],
      [{ teamId: research.id, scopes: ["manage"] }, "a scope of management"],
      [{ teamId: research.id, scopes: ["read:usage"] }, "a scope that the lead has not"],
      [{ teamId: research.id, userId: ids.adam.id }, "the name of an admin"],
      [{ teamId: research.id, userId: ids.vera.id }, "the name of a viewer"]
    ] as const) {
      assert.deepStrictEqual(codeOf(await give(body)), beyond, why)
    }
    const id = given.body.key.id
    const edit = (body: object) => ask(people, lead, "PATCH", `/api/keys/${id}`, body)
    assert.strictEqual((await edit({ name: "renamed", maxRequestsPerDay: 10 })).status, 200)
    for (const body of [
      { teamId: sales.id },
      { teamId: null },
      { teamId: "none" },
      { userId: ids.adam.id, teamId: research.id },
      { scopes: ["admin"] },
      { maxRequestsPerDay: 1_000 }
    ]) {
      assert.deepStrictEqual(codeOf(await edit(body)), beyond, JSON.stringify(body))
    }
    const budget = (apiKeyId: string, dailyLimitUsd: number) =>
      ask(people, lead, "POST", "/api/usage/budget", { apiKeyId, dailyLimitUsd })
    assert.strictEqual((await budget(id, 2)).status, 200)
    assert.deepStrictEqual(codeOf(await budget(id, 2.01)), beyond)
    assert.deepStrictEqual(codeOf(await budget(other.id, 1)), unknown)
    const tokens = (tokenLimit: number) =>
      ask(people, lead, "POST", "/api/usage/token-limits", {
        apiKeyId: id,
        scopeType: "global",
        tokenLimit,
        resetInterval: "daily"
      })
    assert.strictEqual((await tokens(100_000)).status, 200)
    assert.deepStrictEqual(codeOf(await tokens(100_001)), beyond)
  })

  test("does not come by a secret of who has a greater role", async (people, all) => {
    const { admin, ids, lead, research, service } = all
    assert.deepStrictEqual(codeOf(await ask(people, lead, "POST", `/api/keys/${admin.id}/rotate`, {})), beyond)
    assert.deepStrictEqual(codeOf(await ask(people, lead, "DELETE", `/api/keys/${admin.id}`)), beyond)
    // The secret of the service is known to the lead: it must not become an admin's.
    assert.strictEqual((await ask(people, lead, "POST", `/api/keys/${service.id}/rotate`, {})).status, 200)
    const taken = await ask(people, lead, "PATCH", `/api/keys/${service.id}`, { userId: ids.adam.id })
    assert.deepStrictEqual(codeOf(taken), beyond)
    const strong = await people.key("strong", { teamId: research.id, scopes: ["manage"] })
    assert.deepStrictEqual(codeOf(await ask(people, lead, "POST", `/api/keys/${strong.id}/rotate`, {})), beyond)
  })

  test("sees nothing of what a key did for another team before", async (people, all) => {
    const { lead, other, research } = all
    await (await people.chat(other)).arrayBuffer()
    await people.gateway.manage("PUT", `/api/teams/${research.id}`, {
      members: [...research.members, all.ids.eva.id]
    })
    await people.move(other, { teamId: research.id })
    await (await people.chat(other)).arrayBuffer()
    const { logs } = (await ask(people, lead, "GET", "/api/usage/logs")).body
    assert.lengthOf(logs, 1)
    const figures = (await ask(people, lead, "GET", "/api/usage/analytics?range=7d")).body
    assert.strictEqual(figures.summary.requests, 1)
    assert.strictEqual((await ask(people, lead, "GET", "/api/usage/breakdown?by=apiKey")).body.total.requests, 1)
  })
})

describe("a viewer", () => {
  test("reads figures of all, and no request and no change", async (people, all) => {
    const { member, viewer } = all
    await (await people.chat(member)).arrayBuffer()
    assert.strictEqual((await ask(people, viewer, "GET", "/api/usage/analytics")).body.summary.requests, 1)
    assert.lengthOf((await ask(people, viewer, "GET", "/api/usage/logs")).body.logs, 0)
    assert.isAbove((await ask(people, viewer, "GET", "/api/teams")).body.teams.length, 2)
    assert.deepStrictEqual(codeOf(await ask(people, viewer, "DELETE", `/api/keys/${member.id}`)), [403, "key_scope"])
    assert.deepStrictEqual(codeOf(await ask(people, viewer, "POST", `/api/keys/${member.id}/rotate`, {})), unknown)
  })
})

describe("an admin", () => {
  test("does everything but what is the owner's", async (people, all) => {
    const { admin, ids, owner, plain } = all
    assert.strictEqual((await ask(people, admin, "GET", "/api/providers")).status, 200)
    assert.strictEqual((await ask(people, admin, "PATCH", `/api/keys/${plain.id}`, { name: "renamed" })).status, 200)
    for (const [method, path, body] of [
      ["PUT", `/api/users/${ids.adam.id}`, { role: "owner" }],
      ["PUT", `/api/users/${ids.olga.id}`, { state: "suspended" }],
      ["DELETE", `/api/users/${ids.olga.id}`, undefined],
      ["POST", "/api/users", { name: "New", email: "new@example.com", role: "owner" }],
      ["POST", "/api/keys", { name: "k", userId: ids.olga.id }],
      ["POST", "/api/keys", { name: "k", scopes: ["manage"] }],
      ["PATCH", `/api/keys/${plain.id}`, { scopes: ["admin"] }],
      ["PATCH", `/api/keys/${plain.id}`, { userId: ids.olga.id }],
      ["POST", `/api/keys/${owner.id}/rotate`, {}],
      ["DELETE", `/api/keys/${owner.id}`, undefined]
    ] as const) {
      assert.deepStrictEqual(codeOf(await ask(people, admin, method, path, body)), beyond, `${method} ${path}`)
    }
    assert.strictEqual((await ask(people, owner, "PUT", `/api/users/${ids.adam.id}`, { role: "owner" })).status, 200)
    assert.strictEqual((await ask(people, admin, "POST", `/api/keys/${owner.id}/rotate`, {})).status, 200)
  })

  test("does not get around that by what is applied as a whole", async (people, all) => {
    const { admin } = all
    const apply = (name: string, scopes: ReadonlyArray<string>) =>
      ask(people, admin, "POST", "/api/configuration/apply", {
        changes: [{ kind: "key", action: "create", name, body: { name, scopes } }]
      })
    assert.strictEqual((await apply("weak", [])).status, 200)
    assert.deepStrictEqual(codeOf(await apply("strong", ["manage"])), beyond)
    const { keys } = (await ask(people, admin, "GET", "/api/keys")).body
    const names = keys.map(({ name }: Named) => name)
    assert.include(names, "weak")
    assert.notInclude(names, "strong")
  })
})

describe("a right", () => {
  test("holds while the role does, and ends with the person's state", async (people, all) => {
    const { ids, lead } = all
    const status = async () => (await ask(people, lead, "GET", "/api/providers")).status
    const set = (change: object) => people.gateway.manage("PUT", `/api/users/${ids.lea.id}`, change)
    assert.strictEqual(await status(), 403)
    await set({ role: "admin" })
    assert.strictEqual(await status(), 200)
    await set({ role: "member" })
    assert.strictEqual(await status(), 403)
    assert.deepStrictEqual(idsIn((await ask(people, lead, "GET", "/api/keys")).body.keys), [lead.id])
    await set({ role: "admin", state: "suspended" })
    assert.deepStrictEqual(codeOf(await ask(people, lead, "GET", "/api/providers")), [403, "key_owner"])
    await set({ state: "active" })
    await people.change(all.research.id, { members: [] })
    assert.deepStrictEqual(codeOf(await ask(people, lead, "GET", "/api/providers")), [403, "key_owner"])
  })

  test("is no ordinary key's, and is told to who has it", async (people, all) => {
    const { ids, lead, plain, service } = all
    for (const key of [plain, service]) {
      for (const path of ["/api/keys", "/api/usage/logs", "/api/teams", "/api/usage/analytics"]) {
        assert.deepStrictEqual(codeOf(await ask(people, key, "GET", path)), [403, "key_scope"], path)
      }
    }
    const me = (await ask(people, lead, "GET", "/api/me")).body
    assert.deepStrictEqual(me.person, { id: ids.lea.id, name: "Lea", role: "lead" })
    assert.deepInclude(me.rights, { giveKeys: "team", readFigures: "team", administer: "none" })
    const own = (await ask(people, plain, "GET", "/api/me")).body
    assert.isNull(own.person)
    assert.sameMembers([...new Set(Object.values(own.rights))], ["none"])
  })

  test("names the person in the audit log", async (people, all) => {
    const { ids, lab, lead } = all
    await ask(people, lead, "POST", "/api/keys", { name: "given", teamId: lab.id })
    const entries = await people.gateway.manage("GET", "/api/compliance/audit-log?action=keys.create")
    assert.deepInclude(entries[0].details, { userId: ids.lea.id, userName: "Lea" })
    await ask(people, lead, "POST", "/api/keys", { name: "refused" })
    const refused = await people.gateway.manage("GET", "/api/compliance/audit-log?status=failure")
    assert.deepInclude(refused[0].details, { code: "role_limits", userName: "Lea" })
  })
})
