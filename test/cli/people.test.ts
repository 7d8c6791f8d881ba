/** The commands about people and teams, against a running gateway, and what a key shows its holder. */
import { assert, describe, it as alone, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { adminKey, layerOf, TestApp } from "../http/management/TestApp.ts"
import { adminKey as operatorKey } from "../support/TestGateway.ts"
import { setUp } from "../http/people/support.ts"
import { typed } from "../unit/cli/inProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-people-"))
beforeAll(() => void vi.stubEnv("DATA_DIR", folder))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const asked = Effect.fnUntraced(function* (words: string, key = adminKey) {
  const { url } = yield* TestApp
  return yield* typed([...words.split(" "), "--url", url, "--gateway-key", key], null)
})

const made = Effect.fnUntraced(function* (words: string) {
  const { code, stderr, stdout } = yield* asked(`${words} --json`)
  assert.strictEqual(code, 0, stderr)
  return JSON.parse(stdout)
})

layer(layerOf(), { excludeTestServices: true })("people and teams", (it) => {
  it.effect("are added, shown, changed and removed by name or e-mail address", () =>
    Effect.gen(function* () {
      const { user } = yield* made("users add Bo --email bo@example.com --role lead --requests-per-day 100")
      assert.deepInclude(user, { name: "Bo", role: "lead", source: "local", state: "active" })
      assert.strictEqual(user.limits.requestsPerDay, 100)
      const above = (yield* made("teams add Company --monthly 400 --tz Europe/Zurich")).team
      const { team } = yield* made("teams add Vision --parent Company --member bo@example.com --model openai/*")
      assert.deepInclude(team, { parent: above.id, members: [user.id], models: ["openai/*"], budget: null })
      const edited = (yield* made("teams edit Vision --parent none --model all --daily 5 --tokens-per-day 9")).team
      assert.deepInclude(edited, { parent: null, models: null, members: [user.id] })
      assert.strictEqual(edited.budget.dailyLimitUsd, 5)
      assert.include((yield* asked("teams show Vision")).stdout, "usd daily")
      assert.include((yield* asked("users show bo@example.com")).stdout, "requests daily")
      assert.include((yield* asked("users list")).stdout, "bo@example.com")
      assert.include((yield* asked("teams list")).stdout, "usd monthly 400")
      assert.strictEqual((yield* made("users edit Bo --state suspended")).user.state, "suspended")
      assert.strictEqual((yield* asked("users edit Bo --role king")).code, 2)
      assert.strictEqual((yield* asked("teams edit Vision")).code, 2)
      assert.strictEqual((yield* asked("teams show nothing")).code, 2)
      assert.strictEqual((yield* asked("users remove Bo --yes")).code, 0)
      assert.strictEqual((yield* asked("teams remove Vision --yes")).code, 0)
      assert.strictEqual((yield* asked("teams remove Company --yes")).code, 0)
      assert.deepStrictEqual((yield* made("users list")).users, [])
    })
  )

  it.effect("own keys, and a key shows its holder the limits of all of them", () =>
    Effect.gen(function* () {
      const { user } = yield* made("users add Ada --email ada@example.com --tokens-per-month 1000")
      const { team } = yield* made("teams add Research --member Ada --daily 20")
      const { key, secret } = yield* made("key add of-ada --user ada@example.com --team Research")
      assert.deepInclude(key, { userId: user.id, teamId: team.id })
      assert.strictEqual((yield* made("key edit of-ada --user none")).key.userId, null)
      assert.strictEqual((yield* made("key edit of-ada --user Ada")).key.userId, user.id)
      const own = yield* asked("me", secret)
      assert.strictEqual(own.code, 0, own.stderr)
      for (const text of ["of-ada", "team Research", "person Ada", "usd daily", "tokens monthly", "1,000"]) {
        assert.include(own.stdout, text)
      }
      const refused = yield* asked("teams add Own", secret)
      assert.strictEqual(refused.code, 4)
      assert.include(refused.stderr, "gateway me")
      const folderOnly = yield* typed(["key", "add", "k", "--team", "Research", "--local"], null)
      assert.strictEqual(folderOnly.code, 2, folderOnly.stderr)
    })
  )
})

describe("members and leads", () => {
  alone.scopedLive(
    "have their own usage, costs, requests and budgets at the command line, a lead those of the team",
    () =>
      Effect.gen(function* () {
        const people = yield* setUp
        const { lead, member } = yield* Effect.promise(async () => {
          const lea = await people.user("Lea", { role: "lead" })
          const max = await people.user("Max")
          const team = await people.team("Research", { members: [lea.id, max.id], budget: { dailyLimitUsd: 5 } })
          const keys = {
            lead: await people.key("of-lea", { userId: lea.id, teamId: team.id }),
            member: await people.key("of-max", { userId: max.id, teamId: team.id }),
            other: await people.key("of-none", {})
          }
          for (const key of [keys.lead, keys.member, keys.member, keys.other, keys.other, keys.other]) {
            await (await people.chat(key)).arrayBuffer()
          }
          for (const key of Object.values(keys)) {
            await people.gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 1 })
          }
          return keys
        })
        const said = (words: string, { secret }: { readonly secret: string }) =>
          typed([...words.split(" "), "--url", people.gateway.url, "--gateway-key", secret], null)
        const read = Effect.fnUntraced(function* (words: string, key: { readonly secret: string }) {
          const { code, stderr, stdout } = yield* said(`${words} --json`, key)
          assert.strictEqual(code, 0, stderr)
          return JSON.parse(stdout)
        })
        for (const [key, requests, names] of [
          [member, 2, ["of-max"]],
          [lead, 3, ["of-lea", "of-max"]]
        ] as const) {
          assert.strictEqual((yield* read("usage", key)).summary.requests, requests)
          const cost = yield* read("cost", key)
          assert.closeTo(cost.summary.costUsd, requests * 0.00102, 1e-10)
          assert.lengthOf((yield* read("logs", key)).logs, requests)
          const { stdout: budgets } = yield* said("budget list", key)
          const { stdout: keys } = yield* said("key list", key)
          for (const name of ["of-lea", "of-max", "of-none"]) {
            const isSeen = names.some((each) => each === name)
            assert.strictEqual(budgets.includes(name), isSeen, `${name} in ${budgets}`)
            assert.strictEqual(keys.includes(name), isSeen, `${name} in ${keys}`)
          }
        }
        const bill = yield* said("cost --by person,team", lead)
        for (const text of ["PERSON", "TEAM", "Lea", "Max", "Research", "the month is open"]) {
          assert.include(`${bill.stdout}${bill.stderr}`, text)
        }
        assert.notInclude(bill.stdout, "of-none")
        const month = new Date().toISOString().slice(0, 7)
        const file = yield* said(`cost --by key --month ${month} -o csv`, member)
        assert.match(file.stdout, /^KEY,REQUESTS,/i)
        assert.include(file.stdout, "of-max,2,")
        assert.strictEqual((yield* said(`cost --by city --month ${month}`, member)).code, 2)
        assert.strictEqual((yield* said("cost --by key --range 7d", member)).code, 2)
        assert.strictEqual((yield* said(`cost close ${month} --yes`, member)).code, 4)
        const early = yield* said(`cost close ${month} --yes`, { secret: operatorKey })
        assert.include(early.stderr, "is not over")
        assert.strictEqual((yield* said("cost close 2020-01 --yes", { secret: operatorKey })).code, 0)
        assert.include((yield* said("cost closed", { secret: operatorKey })).stdout, "2020-01")
        const [row] = (yield* read("logs", member)).logs
        assert.include((yield* said(`logs show ${row.requestId}`, member)).stdout, "up/m")
        const missing = yield* said("logs show nothing", member)
        assert.deepStrictEqual([missing.code, missing.stderr.includes("There is no request 'nothing'")], [2, true])
        const given = yield* said("key add given --team Research --user max@example.com", lead)
        assert.strictEqual(given.code, 0, given.stderr)
        const above = yield* said("budget set given --daily 6", lead)
        assert.deepStrictEqual([above.code, above.stderr.includes("at most 5")], [4, true], above.stderr)
        assert.strictEqual((yield* said("key add mine", member)).code, 4)
        assert.include((yield* said("whoami", lead)).stdout, "giveKeys (of one's teams)")
      })
  )
})
