/** Bills of a month over HTTP: by whose keys asked, for who may see them, as a file, and closed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type People, setUp } from "./support.ts"
import { adminKey } from "../../support/TestGateway.ts"

const oneUsd = 0.00102

const get = async (people: People, path: string, secret = adminKey) => {
  const response = await fetch(`${people.gateway.url}${path}`, { headers: { authorization: `Bearer ${secret}` } })
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.includes("json") === true
  return { status: response.status, text, body: isJson ? JSON.parse(text) : null }
}

/** The bill of the running month, which tests may begin in one and end in another. */
const monthOf = (date: Date): string => date.toISOString().slice(0, 7)

describe("the bill of a month", () => {
  it.scopedLive("counts requests for whose key it was, and shows a part to who sees a part", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const lea = await people.user("Lea", { role: "lead" })
        const max = await people.user("Max")
        const research = await people.team("Research", { members: [lea.id, max.id] })
        const sales = await people.team("Sales", { members: [max.id] })
        const lead = await people.key("lea", { userId: lea.id, teamId: research.id })
        const member = await people.key("max", { userId: max.id, teamId: research.id })
        const plain = await people.key("plain", {})
        for (const key of [lead, member, member, plain]) await (await people.chat(key)).arrayBuffer()
        await people.move(member, { teamId: sales.id })
        await (await people.chat(member)).arrayBuffer()
        const month = monthOf(new Date())
        const bill = (await get(people, `/api/bills?month=${month}&by=team`)).body
        const costs = Object.fromEntries(
          bill.rows.map((row: { teamName: string | null; requests: number }) => [row.teamName ?? "-", row.requests])
        )
        assert.deepStrictEqual(costs, { Research: 3, Sales: 1, "-": 1 })
        assert.closeTo(bill.total.costUsd, 5 * oneUsd, 1e-12)
        assert.deepInclude(bill, { closedAt: null, checksum: null, corrections: [], timezone: "UTC" })
        // What is billed to a team may be more or less than what it costs; the ledger stays as it is.
        assert.strictEqual((await people.change(research.id, { rate: 1.5 })).rate, 1.5)
        const marked = (await get(people, `/api/bills?month=${month}&by=team`)).body
        const billedTo = new Map(
          marked.rows.map((row: { teamName: string | null; billedUsd: number }) => [row.teamName, row.billedUsd])
        )
        assert.closeTo(Number(billedTo.get("Research")), 3 * oneUsd * 1.5, 1e-12)
        assert.closeTo(Number(billedTo.get("Sales")), oneUsd, 1e-12)
        assert.closeTo(marked.total.costUsd, 5 * oneUsd, 1e-12)
        assert.closeTo(marked.total.billedUsd, 5 * oneUsd + 1.5 * oneUsd, 1e-12)
        for (const rate of [-1, 101, "2"]) {
          const refused = await fetch(`${people.gateway.url}/api/teams/${research.id}`, {
            method: "PUT",
            headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
            body: JSON.stringify({ rate })
          })
          assert.strictEqual(refused.status, 400, await refused.text())
        }
        assert.strictEqual((await people.change(research.id, { rate: null })).rate, 1)
        const company = await people.team("Company", {})
        await people.change(research.id, { parent: company.id })
        const rolled = async (secret: string) =>
          new Map(
            (await get(people, `/api/bills?month=${month}&by=team&rollUp=true`, secret)).body.rows.map(
              (row: { teamName: string | null; requests: number }) => [row.teamName, row.requests]
            )
          )
        assert.deepStrictEqual(
          await rolled(adminKey),
          new Map([
            ["Research", 3],
            ["Company", 3],
            ["Sales", 1],
            [null, 1]
          ])
        )
        // A lead of the team alone does not see the one above.
        assert.deepStrictEqual(await rolled(lead.secret), new Map([["Research", 3]]))
        const usual = (await get(people, `/api/bills?month=${month}`)).body
        assert.deepStrictEqual(usual.by, ["person", "team"])
        assert.lengthOf(usual.rows, 4)
        const own = (await get(people, `/api/bills?month=${month}&by=key,model`, member.secret)).body
        assert.deepStrictEqual([own.total.requests, own.rows[0].keyName, own.rows[0].model], [3, "max", "m"])
        const ofLead = (await get(people, `/api/bills?month=${month}&by=person`, lead.secret)).body
        assert.strictEqual(ofLead.total.requests, 3)
        assert.strictEqual((await get(people, `/api/bills?month=${month}`, plain.secret)).status, 403)
        assert.strictEqual((await get(people, "/api/bills/closed", lead.secret)).status, 403)
        const file = await get(people, `/api/bills/csv?month=${month}&by=team`)
        assert.match(file.text, /^month,person,personName,team,teamName,/)
        assert.include(file.text, ",Research,")
        assert.lengthOf(file.text.trim().split("\n"), 4)
      })
    })
  )

  it.scopedLive("is closed once it is over, and once", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const close = async (body: object) => {
          const response = await fetch(`${people.gateway.url}/api/bills/close`, {
            method: "POST",
            headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
            body: JSON.stringify(body)
          })
          return { status: response.status, body: JSON.parse(await response.text()) }
        }
        const now = new Date()
        const month = monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15)))
        const closed = await close({ month, timezone: "Europe/Zurich" })
        assert.strictEqual(closed.status, 200)
        assert.match(closed.body.checksum, /^[0-9a-f]{64}$/)
        assert.strictEqual((await close({ month, timezone: "Europe/Zurich" })).status, 409)
        const later = monthOf(new Date(Date.UTC(now.getUTCFullYear() + 1, 0, 15)))
        assert.strictEqual((await close({ month: later })).status, 409)
        const shown = (await get(people, `/api/bills?month=${month}&timezone=Europe/Zurich`)).body
        assert.strictEqual(shown.checksum, closed.body.checksum)
        const { bills } = (await get(people, "/api/bills/closed")).body
        assert.lengthOf(bills, 1)
        assert.deepInclude(bills[0], { month, timezone: "Europe/Zurich", intact: true })
      })
    })
  )

  it.scopedLive("is refused with the name of what is wrong", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        for (const [query, word] of [
          ["", "month"],
          ["?month=2035-13", "month"],
          ["?month=2035-1", "month"],
          ["?month=2035-01&by=person,person", "by"],
          ["?month=2035-01&by=city", "by"],
          ["?month=2035-01&timezone=Mars", "timezone"]
        ] as const) {
          const { body, status } = await get(people, `/api/bills${query}`)
          assert.deepStrictEqual([status, body.error.param], [400, word], query)
        }
      })
    })
  )
})
