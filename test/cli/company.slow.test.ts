/**
 * A month of a company of thirty people in five teams, with the built program: they sign in by a real issuer, get keys from who leads their team, and work with
 * the SDKs of their tools; one team uses up its budget, one person leaves, and the month is closed and held against the provider's bill.
 */
import Anthropic from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import OpenAI from "openai"
import { besideOthers, Company, type Person } from "../support/company/Company.ts"
import { closed, monthOf, type Operate, reconciled } from "../support/company/Month.ts"
import { answerTokens, startChannel, startProvider } from "../support/company/Sites.ts"
import { startIssuer } from "../support/issuer/TestIssuer.ts"
import { adminKey, until } from "./processes.ts"
import { program } from "./support.ts"

const { dataDir, run, serve } = program()

/** 100 tokens at 10 USD per million. */
const costUsd = 0.001
/** Calls of the budget of the first team; of each other person. */
const room = 10
const callsOfPerson = 3

const ask = async (url: string, key: string, isOfAnthropic: boolean): Promise<string> => {
  if (isOfAnthropic) {
    const client = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 })
    const { content } = await client.messages.create({
      model: "one/m",
      max_tokens: answerTokens,
      messages: [{ role: "user", content: "hi" }]
    })
    return content[0]?.type === "text" ? content[0].text : ""
  }
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
  const { choices } = await client.chat.completions.create({
    model: "one/m",
    max_completion_tokens: answerTokens,
    messages: [{ role: "user", content: "hi" }]
  })
  return choices[0]?.message.content ?? ""
}

const statusOf = (error: unknown): number => (error as { readonly status?: number }).status ?? 0

describe.skipIf(process.platform !== "linux")("a company of thirty people", () => {
  it.scopedLive(
    "signs in, works, is held to a budget, loses a person, and closes a month that equals the provider's bill",
    () =>
      Effect.gen(function* () {
        const DATA_DIR = dataDir()
        const CLOCK_FILE = join(DATA_DIR, "clock")
        const move = (offsetMs: number): void => writeFileSync(CLOCK_FILE, String(offsetMs), { mode: 0o600 })
        move(1)
        const NODE_OPTIONS = `--import ${new URL("../support/movedClock.mjs", import.meta.url).href}`
        const settings = { GATEWAY_ADMIN_KEY: adminKey, ...besideOthers }
        const server = yield* Effect.promise(() => serve({ DATA_DIR, CLOCK_FILE, NODE_OPTIONS, ...settings }))
        const provider = yield* startProvider
        const channel = yield* startChannel
        const company = new Company(server.url, adminKey, yield* startIssuer)
        const operate: Operate = (...args) =>
          run(args, { DATA_DIR: dataDir(), GATEWAY_URL: server.url, GATEWAY_ADMIN_KEY: adminKey })

        yield* Effect.promise(async () => {
          const node = { name: "one", prefix: "one", type: "openai-compatible", baseUrl: `${provider.url}/v1` }
          await company.manage("POST", "/api/provider-nodes", { ...node, wires: ["chat"] })
          const connection = { provider: "one", name: "one", apiKey: "sk-test-0123456789", models: ["m"] }
          await company.manage("POST", "/api/providers", connection)
          await company.manage("PATCH", "/api/pricing", { one: { m: { input: 0, output: 10 } } })
          await company.manage("POST", "/api/webhooks", { url: channel.url, events: ["quota.exceeded"] })
          await company.found(room * costUsd)
          const people = await company.signInAll()
          const secrets = await company.giveKeys(people)
          const secretOf = ({ sub }: Person): string => secrets.get(sub) ?? ""
          const isOfAnthropic = ({ sub }: Person): boolean => Number(sub.at(-1)) % 2 === 1

          // The four teams without a budget work at the same time.
          const others = people.filter(({ team }) => team > 0)
          await Promise.all(
            others.map(async (person) => {
              for (let call = 0; call < callsOfPerson; call++)
                assert.strictEqual(await ask(server.url, secretOf(person), isOfAnthropic(person)), "done")
            })
          )
          // The first one reaches its warning, then its end, and is told whose limit it is.
          const first = people.filter(({ team }) => team === 0)
          for (let call = 0; call < room; call++) {
            const person = first[call % first.length]!
            assert.strictEqual(await ask(server.url, secretOf(person), isOfAnthropic(person)), "done")
          }
          for (const person of first.slice(0, 2)) {
            const refused: unknown = await ask(server.url, secretOf(person), isOfAnthropic(person)).catch(
              (error: unknown) => error
            )
            assert.include([402, 403, 429], statusOf(refused), String(refused))
            assert.include(String(refused), "Team 0")
          }
          const told = () => channel.alerts.map(({ data }) => data["threshold"])
          await until(() => told().length >= 2, "the channel has heard of the warning and of the end")
          assert.deepStrictEqual(told(), ["warning", "limit"])

          // One leaves: the key ends within a minute, and so does the page.
          const leaver = others.find((person) => !person.isLead)!
          const leftMs = performance.now()
          await company.manage("PUT", `/api/users/${leaver.userId}`, { state: "suspended" })
          await until(
            () =>
              ask(server.url, secretOf(leaver), isOfAnthropic(leaver)).then(
                () => false,
                (error: unknown) => [401, 403].includes(statusOf(error))
              ),
            "the key of who left is refused"
          )
          assert.isBelow(performance.now() - leftMs, 60_000)
          assert.strictEqual((await leaver.page.browser.get(`${server.url}/api/users`)).status, 401)

          // The month ends, and is closed.
          assert.isAtLeast(provider.account.calls, room + others.length * callsOfPerson)
          const month = monthOf(new Date())
          move(month.untilNextMs)
          const account = { calls: provider.account.calls, costUsd: provider.account.calls * costUsd }
          const rows = await closed(company, operate, month.name, account)
          // A refused request with the key of who left is a row of that person's, and cost nothing.
          assert.isTrue(rows.every((row) => row.person !== null && row.team !== null))
          assert.lengthOf(rows, people.length)
          assert.isTrue(rows.every((row) => row.costUsd > 0))
          const byTeam = await company.manage("GET", `/api/bills?month=${month.name}&by=team`)
          const ofFirst = byTeam.rows.find((row: { readonly team: string | null }) => row.team === company.teamIds[0])
          assert.closeTo(ofFirst.costUsd, room * costUsd, 1e-9)

          // The provider's own bill has the same.
          await reconciled(operate, join(dataDir(), "bill.json"), "one", account.costUsd, month)
          assert.strictEqual(await server.stop("SIGTERM"), 0)
        })
      }),
    300_000
  )
})
