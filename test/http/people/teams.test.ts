/** Teams and people whose keys share limits, over real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type People, setUp } from "./support.ts"
import * as Fake from "../../support/FakeUpstream.ts"

const oneUsd = 0.00102
/** The prompt is estimated by its bytes, so that a reservation is a little more. */
const reservedUsd = 0.00106

const near = (actual: number, expected: number): void => assert.closeTo(actual, expected, 1e-10)

const drained = async (response: Response): Promise<Response> => {
  await response.arrayBuffer()
  return response
}

/** A team with a person's key and one of its own. */
const research = async (people: People, budget: Readonly<Record<string, number>>) => {
  const ada = await people.user("Ada")
  const team = await people.team("Research", { budget, members: [ada.id] })
  return {
    ada,
    team,
    ofAda: await people.key("ada", { userId: ada.id, teamId: team.id }),
    ofTeam: await people.key("service", { teamId: team.id })
  }
}

describe("a team's budget", () => {
  it.scopedLive("for ten lets ten of forty requests at once through, of all its keys together", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const { ofAda, ofTeam, team } = await research(people, { dailyLimitUsd: 10 * reservedUsd })
        const held = Fake.makeLatch()
        people.answerAfter(held.opened)
        const asked = Array.from({ length: 40 }, (_, n) => people.chat(n % 2 === 0 ? ofAda : ofTeam).then(drained))
        await people.upstream.received(10)
        const [running] = (await people.shown(team.id)).meters
        assert.isAtLeast(running.reserved, 10 * oneUsd)
        assert.isAtMost(running.reserved, 10 * reservedUsd)
        held.open()
        const statuses = (await Promise.all(asked)).map(({ status }) => status)
        assert.lengthOf(
          statuses.filter((status) => status === 200),
          10
        )
        assert.lengthOf(
          statuses.filter((status) => status === 429),
          30
        )
        const [ended] = (await people.shown(team.id)).meters
        near(ended.used, 10 * oneUsd)
        assert.strictEqual(ended.reserved, 0)
      })
    })
  )

  it.scopedLive("refuses in the name of the team, and of the one above whose budget it is", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const above = await people.team("Company", { budget: { monthlyLimitUsd: reservedUsd } })
        const team = await people.team("Research", { parent: above.id, budget: { dailyLimitUsd: 5 } })
        const other = await people.team("Sales", { parent: above.id })
        const key = await people.key("k", { teamId: team.id })
        assert.strictEqual((await people.chat(key)).status, 200)
        const refused = await people.chat(await people.key("of the other", { teamId: other.id }))
        assert.strictEqual(refused.status, 429)
        assert.include(await refused.text(), "The team 'Company' of this API key")
        await people.change(above.id, { budget: { monthlyLimitUsd: 5 } })
        await people.change(team.id, { budget: { dailyLimitUsd: oneUsd } })
        const own = await people.chat(key)
        assert.include(await own.text(), "The team 'Research' of this API key has reached its daily budget")
      })
    })
  )

  it.scopedLive("holds with the key's own and the person's: the least of them refuses", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const { ada, ofAda } = await research(people, { dailyLimitUsd: 1 })
        await people.gateway.manage("PUT", `/api/users/${ada.id}`, { limits: { requestsPerDay: 2 } })
        const alone = await people.key("alone", { userId: ada.id })
        assert.strictEqual((await people.chat(ofAda)).status, 200)
        assert.strictEqual((await people.chat(alone)).status, 200)
        const refused = await people.chat(ofAda)
        assert.strictEqual(refused.status, 429)
        assert.include(
          await refused.text(),
          "The person 'Ada' of this API key has reached its daily limit of requests of 2"
        )
      })
    })
  )

  it.scopedLive("begins with what its keys have spent in the window, while they were its own", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const first = await people.team("First", {})
        const second = await people.team("Second", {})
        const moving = await people.key("moving", { teamId: first.id })
        const before = await people.key("before", {})
        await drained(await people.chat(moving))
        await drained(await people.chat(before))
        await people.move(moving, { teamId: second.id })
        await people.move(before, { teamId: first.id })
        await drained(await people.chat(moving))
        await drained(await people.chat(moving))
        const gone = await people.key("gone", { teamId: first.id })
        await drained(await people.chat(gone))
        await people.gateway.manage("DELETE", `/api/keys/${gone.id}`)
        for (const { id } of [first, second]) await people.change(id, { budget: { dailyLimitUsd: 1 } })
        near((await people.shown(first.id)).meters[0].used, 2 * oneUsd)
        near((await people.shown(second.id)).meters[0].used, 2 * oneUsd)
        // The same for a meter that counts along.
        await people.move(moving, { teamId: first.id })
        await drained(await people.chat(moving))
        near((await people.shown(first.id)).meters[0].used, 3 * oneUsd)
        near((await people.shown(second.id)).meters[0].used, 2 * oneUsd)
      })
    })
  )

  it.scopedLive("counts a request for the team that its key had when it came", () =>
    Effect.gen(function* () {
      const people = yield* setUp
      yield* Effect.promise(async () => {
        const first = await people.team("First", { budget: { dailyLimitUsd: 1 } })
        const second = await people.team("Second", { budget: { dailyLimitUsd: 1 } })
        const key = await people.key("k", { teamId: first.id })
        const held = Fake.makeLatch()
        people.answerAfter(held.opened)
        const asked = people.chat(key).then(drained)
        await people.upstream.received(1)
        await people.move(key, { teamId: second.id })
        assert.isAtLeast((await people.shown(first.id)).meters[0].reserved, oneUsd)
        assert.strictEqual((await people.shown(second.id)).meters[0].reserved, 0)
        held.open()
        await asked
        const [ofFirst] = (await people.shown(first.id)).meters
        near(ofFirst.used, oneUsd)
        assert.strictEqual(ofFirst.reserved, 0)
        assert.strictEqual((await people.shown(second.id)).meters[0].used, 0)
      })
    })
  )
})
