/** Prompts and answers of teams: seen by nobody but where a team lets them be seen, with a row for each sight; what is kept of a person, and its erasure. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually, eventuallyFound } from "../../support/eventually.ts"
import { adminKey } from "../../support/TestGateway.ts"
import { type People, setUp, type TestKey } from "./support.ts"

const traffic = "/api/tools/traffic-inspector"

interface Answer {
  readonly status: number
  readonly body: ReturnType<typeof JSON.parse>
}

const ask = async (people: People, { secret }: TestKey, method: string, path: string): Promise<Answer> => {
  const response = await fetch(`${people.gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    ...(method === "POST" ? { body: "{}" } : {})
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? null : JSON.parse(text) }
}

const codeOf = ({ body, status }: Answer): readonly [number, string | undefined] => [status, body?.error?.code]

/** A team with a lead and a member, another lead, and a gateway that records its own traffic. */
const company = async (people: People) => {
  const lea = await people.user("Lea", { role: "lead" })
  const max = await people.user("Max")
  const eva = await people.user("Eva", { role: "lead" })
  const research = await people.team("Research", { members: [lea.id, max.id] })
  const sales = await people.team("Sales", { members: [eva.id] })
  await people.gateway.manage("POST", `${traffic}/capture-modes/gateway`, { enabled: true })
  return {
    lea,
    max,
    eva,
    research,
    lead: await people.key("lea", { userId: lea.id, teamId: research.id }),
    member: await people.key("max", { userId: max.id, teamId: research.id }),
    other: await people.key("eva", { userId: eva.id, teamId: sales.id }),
    plain: await people.key("plain", {})
  }
}

type Company = Awaited<ReturnType<typeof company>>

const test = (name: string, body: (people: People, all: Company) => Promise<void>) =>
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => body(people, await company(people)))
    })
  )

/** Asks, and gives the id of the request once its row is written. */
const chat = async (people: People, key: TestKey): Promise<string> => {
  const answer = await people.chat(key)
  assert.strictEqual(answer.status, 200, await answer.text())
  const id = answer.headers.get("x-gateway-request-id") ?? ""
  await eventually(
    "the row of the request",
    async () => (await people.gateway.manage("GET", `/api/usage/logs?requestId=${id}`)).logs,
    ({ length }) => length === 1
  )
  return id
}

const recordsOf = async (people: People) =>
  (await people.gateway.manage("GET", `${traffic}/requests`)).requests as ReadonlyArray<{
    readonly id: string
    readonly gatewayRequestId: string | null
  }>

const audited = async (people: People, action: string) =>
  (await people.gateway.manage("GET", `/api/compliance/audit-log?action=${action}`)) as ReadonlyArray<
    Readonly<Record<string, unknown>>
  >

describe("content of a team", () => {
  test("is kept for nobody at first, while requests of no team are recorded as ever", async (people, all) => {
    const ofTeam = await chat(people, all.member)
    const ofNobody = await chat(people, all.plain)
    const records = await eventually(
      "the record of the request of no team",
      () => recordsOf(people),
      (found) => found.some(({ gatewayRequestId }) => gatewayRequestId === ofNobody)
    )
    assert.isFalse(records.some(({ gatewayRequestId }) => gatewayRequestId === ofTeam))
    const path = `/api/teams/${all.research.id}/content/${ofTeam}`
    assert.deepStrictEqual(codeOf(await ask(people, all.lead, "POST", path)), [403, "role_limits"])
    const refused = await people.gateway.post(path, {}, { authorization: `Bearer ${adminKey}` })
    assert.strictEqual(refused.status, 403)
    // Reads are rows only where a team lets its content be seen.
    const [record] = records
    await people.gateway.manage("GET", `${traffic}/requests/${record?.id}`)
    assert.lengthOf(await audited(people, "inspector.get"), 0)
  })

  test("is told to members by a notice", async (people, all) => {
    const told = async () => (await ask(people, all.member, "GET", "/api/me")).body.content
    assert.deepStrictEqual(await told(), {
      teamId: all.research.id,
      readers: "none",
      notice: "Nobody sees the prompts and answers of this team."
    })
    await people.change(all.research.id, { content: "leads", contentNotice: "Lea may look." })
    assert.deepInclude(await told(), { readers: "leads", notice: "Lea may look." })
    const shown = (await ask(people, all.member, "GET", "/api/teams")).body.teams[0]
    assert.deepInclude(shown, { content: "leads", notice: "Lea may look." })
    await people.change(all.research.id, { contentNotice: null })
    assert.include((await told()).notice, "Leads of this team")
    assert.isNull((await ask(people, all.plain, "GET", "/api/me")).body.content)
  })

  test("is seen by those whom the team lets, and each sight names the person", async (people, all) => {
    await people.change(all.research.id, { content: "leads" })
    const id = await chat(people, all.member)
    const path = `/api/teams/${all.research.id}/content/${id}`
    const seen = await eventually(
      "the content",
      () => ask(people, all.lead, "POST", path),
      ({ status }) => status === 200
    )
    assert.strictEqual(seen.body.requestId, id)
    assert.include(seen.body.request, '"Hi"')
    assert.include(seen.body.answer, "chat.completion")
    assert.deepStrictEqual(codeOf(await ask(people, all.member, "POST", path)), [403, "key_scope"])
    assert.strictEqual((await ask(people, all.other, "POST", path)).status, 404)
    // A request of another team is not there.
    const elsewhere = await chat(people, all.plain)
    const wrong = `/api/teams/${all.research.id}/content/${elsewhere}`
    assert.strictEqual((await ask(people, all.lead, "POST", wrong)).status, 404)
    const row = (await audited(people, "teams.content")).find(({ status }) => status === "success")
    assert.deepInclude(row, { target: `${all.research.id}/${id}`, actor: `apiKey:${all.lead.id}` })
    assert.deepInclude(row?.["details"], { userId: all.lea.id, userName: "Lea" })

    await people.change(all.research.id, { content: "admins" })
    assert.deepStrictEqual(codeOf(await ask(people, all.lead, "POST", path)), [403, "role_limits"])
    const record = await eventuallyFound("the record", async () =>
      (await recordsOf(people)).find(({ gatewayRequestId }) => gatewayRequestId === id)
    )
    await people.gateway.manage("GET", `${traffic}/requests/${record.id}`)
    const sights = await audited(people, "inspector.get")
    assert.lengthOf(sights, 1)
    assert.deepInclude(sights[0], { target: record.id, actor: "admin-key", status: "success" })
  })
})

describe("what is kept of a person", () => {
  test("is exported to the person, and to nobody else of no greater right", async (people, all) => {
    await chat(people, all.member)
    await ask(people, all.member, "POST", `/api/keys/${all.member.id}/rotate`)
    const path = `/api/users/${all.max.id}/export`
    assert.strictEqual((await ask(people, all.lead, "GET", path)).status, 404)
    assert.strictEqual((await ask(people, all.other, "GET", path)).status, 404)
    const own = await ask(people, await people.key("max again", { userId: all.max.id }), "GET", path)
    assert.strictEqual(own.status, 200)
    assert.deepInclude(own.body.user, { id: all.max.id, name: "Max", email: "max@example.com" })
    assert.deepStrictEqual(own.body.teams, [{ id: all.research.id, name: "Research" }])
    assert.deepStrictEqual(own.body.usage, { requests: 1, tokensIn: 20, tokensOut: 100, costUsd: 0.00102 })
    assert.lengthOf(own.body.keys, 2)
    assert.notInclude(JSON.stringify(own.body), all.member.secret)
    assert.isTrue(own.body.audit.some(({ action }: { readonly action: string }) => action === "apiKey.regenerate"))
  })

  test("is erased: the keys end, the name is gone, and the sums stay", async (people, all) => {
    await chat(people, all.member)
    await ask(people, all.member, "POST", `/api/keys/${all.lead.id}/rotate`)
    const month = new Date().toISOString().slice(0, 7)
    const bill = async () => (await people.gateway.manage("GET", `/api/bills?month=${month}&by=person`)).rows
    const sumsOf = (lines: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
      lines.map(({ costUsd, person, requests }) => ({ costUsd, person, requests }))
    const before = sumsOf(await bill())
    assert.strictEqual((await ask(people, all.lead, "POST", `/api/users/${all.max.id}/erase`)).status, 403)
    const erased = await people.gateway.manage("POST", `/api/users/${all.max.id}/erase`, {})
    assert.deepInclude(erased, { erased: true, keys: 1 })
    assert.isAtLeast(erased.audit, 1)
    assert.strictEqual((await people.chat(all.member)).status, 401)
    assert.deepStrictEqual(sumsOf(await bill()), before)
    const everything = [
      JSON.stringify(await people.gateway.manage("GET", "/api/compliance/audit-log?limit=500")),
      JSON.stringify(await people.gateway.manage("GET", "/api/users")),
      JSON.stringify(await bill())
    ].join("\n")
    assert.notInclude(everything, '"Max"')
    assert.notInclude(everything, "max@example.com")
    assert.include(everything, "erased person")
    const gone = await people.gateway.post(
      `/api/users/${all.max.id}/erase`,
      {},
      {
        authorization: `Bearer ${adminKey}`
      }
    )
    assert.strictEqual(gone.status, 404)
  })
})
