/**
 * A month of a company of thirty people in five teams, with the built program: they sign in by a real issuer, get keys from who leads their team, and work with
 * the SDKs of their tools; one team uses up its budget, one person leaves, and the month is closed and held against the provider's bill.
 */
import Anthropic from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { join } from "node:path"
import OpenAI from "openai"
import { PersonsPage } from "../http/logins/support.ts"
import { startIssuer, type TestIssuer } from "../support/issuer/TestIssuer.ts"
import { adminKey, manage as managed, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, run, serve } = program()

const teamCount = 5
const membersOfTeam = 6
/** 100 tokens at 10 USD per million. */
const costUsd = 0.001
const answerTokens = 100
/** Calls of the budget of the first team; of each other person. */
const room = 10
const callsOfPerson = 3
const dayMs = 86_400_000

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const part of request) text += String(part)
  return text
}

const listening = (handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => void handle(request, response))
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close: () => void server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** A provider that keeps its own account of what it has answered. */
const startProvider = Effect.gen(function* () {
  const account = { calls: 0 }
  const { url } = yield* listening(async (request, response) => {
    await textOf(request)
    response.setHeader("content-type", "application/json")
    if (request.method === "GET") return void response.end(JSON.stringify({ object: "list", data: [{ id: "m" }] }))
    account.calls += 1
    response.end(
      JSON.stringify({
        id: `chatcmpl-${account.calls}`,
        object: "chat.completion",
        created: 1_790_000_000,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: answerTokens, total_tokens: 10 + answerTokens }
      })
    )
  })
  return { url, account }
})

/** A channel of the company that alerts come to. */
const startChannel = Effect.gen(function* () {
  const alerts: Array<{ readonly event: string; readonly data: Readonly<Record<string, unknown>> }> = []
  const { url } = yield* listening(async (request, response) => {
    alerts.push(JSON.parse(await textOf(request)))
    response.end()
  })
  return { url, alerts }
})

interface Person {
  readonly sub: string
  readonly team: number
  readonly isLead: boolean
  readonly page: PersonsPage
  readonly userId: string
}

type Json = ReturnType<typeof JSON.parse>

class Company {
  readonly server: Serving
  readonly issuer: TestIssuer
  issuerId = ""
  readonly teamIds: Array<string> = []

  constructor(server: Serving, issuer: TestIssuer) {
    this.server = server
    this.issuer = issuer
  }

  async manage(method: string, path: string, body?: object): Promise<Json> {
    return managed(this.server, method, path, body)
  }

  /** The teams, of which the first has a budget, and the directory, whose groups make people leads and members. */
  async found(): Promise<void> {
    for (let team = 0; team < teamCount; team++) {
      const budget = team === 0 ? { budget: { monthlyLimitUsd: room * costUsd } } : {}
      this.teamIds.push((await this.manage("POST", "/api/teams", { name: `Team ${team}`, ...budget })).team.id)
    }
    const groups = this.teamIds.flatMap((id, team) => [
      { group: `team-${team}`, role: "member", team: id },
      { group: `leads-${team}`, role: "lead", team: id }
    ])
    const { issuer } = await this.manage("POST", "/api/issuers", {
      name: "Company",
      issuer: this.issuer.url,
      clientId: "gateway",
      scopes: ["openid", "profile", "email", "groups"],
      groups
    })
    this.issuerId = issuer.id
    const client = { client_id: "gateway", token_endpoint_auth_method: "none", redirect_uris: [issuer.redirectUri] }
    await this.issuer.say({ clients: [client] })
  }

  async signIn(team: number, index: number): Promise<Person> {
    const sub = `t${team}p${index}`
    const isLead = index === 0
    const groups = isLead ? [`team-${team}`, `leads-${team}`] : [`team-${team}`]
    await this.issuer.say({ account: { sub, name: sub, email: `${sub}@example.com`, email_verified: true, groups } })
    const page = new PersonsPage(this.server.url)
    const { page: text, status } = await page.browser.signIn(this.server.url, this.issuerId)
    assert.strictEqual(status, 200, text)
    const me = (await (await page.browser.get(`${this.server.url}/api/me`)).json()) as Json
    assert.strictEqual(me.person.role, isLead ? "lead" : "member")
    return { sub, team, isLead, page, userId: me.person.id }
  }
}

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
        const settings = { GATEWAY_ADMIN_KEY: adminKey, GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true" }
        const NODE_OPTIONS = `--import ${new URL("../support/movedClock.mjs", import.meta.url).href}`
        const local = { ...settings, OUTBOUND_SSRF_GUARD_ENABLED: "false" }
        const server = yield* Effect.promise(() => serve({ DATA_DIR, CLOCK_FILE, NODE_OPTIONS, ...local }))
        const provider = yield* startProvider
        const channel = yield* startChannel
        const company = new Company(server, yield* startIssuer)
        const operate = (...args: ReadonlyArray<string>) =>
          run(args, { DATA_DIR: dataDir(), GATEWAY_URL: server.url, GATEWAY_ADMIN_KEY: adminKey })

        yield* Effect.promise(async () => {
          const node = { name: "one", prefix: "one", type: "openai-compatible", baseUrl: `${provider.url}/v1` }
          await company.manage("POST", "/api/provider-nodes", { ...node, wires: ["chat"] })
          const connection = { provider: "one", name: "one", apiKey: "sk-test-0123456789", models: ["m"] }
          await company.manage("POST", "/api/providers", connection)
          await company.manage("PATCH", "/api/pricing", { one: { m: { input: 0, output: 10 } } })
          await company.manage("POST", "/api/webhooks", { url: channel.url, events: ["quota.exceeded"] })
          await company.found()
          const people: Array<Person> = []
          for (let team = 0; team < teamCount; team++)
            for (let index = 0; index < membersOfTeam; index++) people.push(await company.signIn(team, index))
          assert.lengthOf((await company.manage("GET", "/api/users?limit=100")).users, teamCount * membersOfTeam)

          // Who leads a team gives its keys, within the team's limits.
          const secrets = new Map<string, string>()
          for (const { isLead, page, team } of people.filter((person) => person.isLead)) {
            assert.isTrue(isLead)
            for (const { sub, userId } of people.filter((person) => person.team === team)) {
              const { body, status } = await page.post("/api/keys", {
                name: sub,
                userId,
                teamId: company.teamIds[team]
              })
              assert.strictEqual(status, 201, JSON.stringify(body))
              secrets.set(sub, body.secret)
            }
          }
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
          const now = new Date()
          const month = now.toISOString().slice(0, 7)
          const nextMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2)
          move(nextMs - now.getTime())
          const closing = await operate("cost", "close", month, "--yes")
          assert.strictEqual(closing.code, 0, closing.stderr)
          const { bills } = await company.manage("GET", "/api/bills/closed")
          assert.deepInclude(bills[0], { month, intact: true })
          const bill = await company.manage("GET", `/api/bills?month=${month}&by=person,team`)
          assert.match(bill.checksum, /^[0-9a-f]{64}$/)
          const { logs } = await company.manage("GET", "/api/usage/logs?limit=1000&outcome=completed")
          const ledgerUsd = logs.reduce((sum: number, row: { readonly costUsd: number }) => sum + row.costUsd, 0)
          assert.lengthOf(logs, provider.account.calls)
          assert.closeTo(bill.total.costUsd, ledgerUsd, 1e-9)
          assert.closeTo(bill.total.costUsd, provider.account.calls * costUsd, 1e-9)
          // A refused request with the key of who left is nobody's, and cost nothing.
          const paid = bill.rows.filter((row: { readonly costUsd: number }) => row.costUsd > 0)
          assert.lengthOf(paid, people.length)
          assert.isTrue(paid.every((row: { readonly person: string | null }) => row.person !== null))
          const byTeam = await company.manage("GET", `/api/bills?month=${month}&by=team`)
          const ofFirst = byTeam.rows.find((row: { readonly team: string | null }) => row.team === company.teamIds[0])
          assert.closeTo(ofFirst.costUsd, room * costUsd, 1e-9)

          // The provider's own bill has the same.
          const file = join(dataDir(), "bill.json")
          const amount = { value: provider.account.calls * costUsd, currency: "usd" }
          const bucket = {
            object: "bucket",
            start_time: (Math.floor(now.getTime() / dayMs) * dayMs) / 1_000,
            results: [{ amount, line_item: "m, output" }]
          }
          writeFileSync(file, JSON.stringify({ object: "page", data: [bucket], has_more: false }))
          const checked = await operate("cost", "reconcile", file, "--provider", "one", "--json")
          assert.strictEqual(checked.code, 0, checked.stderr)
          assert.closeTo(JSON.parse(checked.stdout).total.differenceUsd, 0, 1e-9)
          assert.strictEqual(await server.stop("SIGTERM"), 0)
        })
      }),
    300_000
  )
})
