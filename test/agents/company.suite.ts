/**
 * A month of a company whose people work by real coding agents: they sign in by a real issuer, get keys from who leads their team, and each agent does a small
 * task with the key of another person. One team uses up its budget, one person leaves, and the month is closed and held against the upstreams' own
 * account. Run by `npm run test:agents -- --suite company`.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { besideOthers, Company, type Person } from "../support/company/Company.ts"
import { closed, monthOf, type Operate, reconciled } from "../support/company/Month.ts"
import { startChannel } from "../support/company/Sites.ts"
import { eventually } from "../support/eventually.ts"
import * as Fake from "../support/FakeUpstream.ts"
import { startIssuer } from "../support/issuer/TestIssuer.ts"
import * as Program from "../support/Program.ts"
import { type Agent, agents } from "./Agents.ts"
import { ensure } from "./Cache.ts"
import { chosen } from "./Chosen.ts"
import * as Gateway from "./Gateway.ts"
import * as Place from "./Place.ts"
import type { Ran } from "./Run.ts"
import * as Script from "./Script.ts"
import { shown } from "./Shown.ts"
import { wires } from "./upstream/All.ts"
import { type UpstreamWire, usage } from "./upstream/Words.ts"

const limitMs = 90_000
/** USD per million tokens. */
const prices = { input: 2, cached: 0.5, output: 10 }
/** Of an answer at the price of tokens, and of one that is paid by the request, as the budget's end is to be met exactly. */
const costUsd = {
  up: ((usage.in - usage.cached) * prices.input + usage.cached * prices.cached + usage.out * prices.output) / 1e6,
  flat: 0.001
}
type Tariff = keyof typeof costUsd
/** Answers of the budget of the first team. */
const room = 10
/** Tasks after which that budget is certainly used up. */
const mostTasks = 8
const minuteMs = 60_000
/**
 * Programs that try a 429 again for longer than they are watched here: Qwen Code had not ended after 200 seconds, opencode not after 90. Without a terminal they
 * print nothing meanwhile; opencode has the words in its log.
 */
const waiting = new Set(["qwen", "opencode"])
/** Time for which one that waits is watched. */
const watchedMs = 45_000
const logOfOpenCode = ".local/share/opencode/log/opencode.log"

const selected = agents.filter(({ name }) => chosen("AGENTS_ONLY")(name))
/** One of each program. */
const programs = selected.filter(
  (one, at) => selected.findIndex(({ package: { name } }) => name === one.package.name) === at
)

const scope = Effect.runSync(Scope.make())
const started = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.extend(effect, scope))

let company: Company
let operate: Operate
let move: (offsetMs: number) => void
let alerts: ReadonlyArray<{ readonly data: Readonly<Record<string, unknown>> }>
let files: string
let people: ReadonlyArray<Person>
let secrets: ReadonlyMap<string, string>
const upstreams = new Map<string, Fake.FakeUpstream>()
/** Answers that the upstreams have given, by the provider that they are known as. */
const account = new Map<string, number>()
const tell = (line: string): void => void process.stdout.write(`${line}\n`)

const ownWire = ({ wire }: Agent): UpstreamWire => {
  const found = wires.find(({ label }) => label === wire)
  if (found === undefined) throw new Error(`No upstream of the wire ${wire}`)
  return found
}

beforeAll(async () => {
  for (const agent of programs) ensure(agent.package)
  files = await started(Program.dataFolder)
  const CLOCK_FILE = join(files, "clock")
  move = (offsetMs) => writeFileSync(CLOCK_FILE, String(offsetMs), { mode: 0o600 })
  move(1)
  const NODE_OPTIONS = `--import ${new URL("../support/movedClock.mjs", import.meta.url).href}`
  const gateway = await started(Gateway.startWith({ CLOCK_FILE, NODE_OPTIONS, ...besideOthers }))
  company = new Company(gateway.url, Gateway.adminKey, await started(startIssuer))
  const environment = { GATEWAY_URL: gateway.url, GATEWAY_ADMIN_KEY: Gateway.adminKey }
  operate = (...args) => Effect.runPromise(Program.run(args, files, environment))
  for (const wire of new Set(selected.map(ownWire))) {
    const upstream = await started(Fake.start)
    upstreams.set(wire.label, upstream)
    await gateway.addUpstream(wire, upstream.origin, `up-${wire.label}`)
    await gateway.addUpstream(wire, upstream.origin, `flat-${wire.label}`)
    await company.manage("PATCH", "/api/pricing", {
      [`up-${wire.label}`]: { [wire.model]: prices },
      [`flat-${wire.label}`]: { [wire.model]: { input: 0, output: 0, perRequest: costUsd.flat } }
    })
  }
  const channel = await started(startChannel)
  alerts = channel.alerts
  await company.manage("POST", "/api/webhooks", { url: channel.url, events: ["quota.exceeded"] })
  await company.found(room * costUsd.flat)
  people = await company.signInAll()
  secrets = await company.giveKeys(people)
}, 900_000)

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** The same answer, which is put on the account of the provider once it was given. */
const counted =
  (provider: string, answer: Fake.Answer): Fake.Answer =>
  (response, request) => {
    response.on("finish", () => {
      if (request.method === "POST" && response.statusCode === 200)
        account.set(provider, (account.get(provider) ?? 0) + 1)
    })
    return answer(response, request)
  }

interface Worked {
  readonly ran: Ran
  readonly isDone: boolean
  /** What a strict provider would have refused. */
  readonly problems: ReadonlyArray<string>
  /** The last words that it printed; those of its log where it is ended while it waits. */
  readonly shown: string
  readonly calls: number
}

const lastOfLog = (home: string): string => {
  const file = join(home, logOfOpenCode)
  return existsSync(file)
    ? (readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .findLast((line) => /error/i.test(line)) ?? "")
    : ""
}

let tasks = 0
/** Characters of words that are printed. */
const mostWords = 400

/** A person has an agent read a file and change it. */
const work = async (agent: Agent, person: Person, tariff: Tariff, patience = limitMs): Promise<Worked> => {
  const wire = ownWire(agent)
  const provider = `${tariff}-${wire.label}`
  const place = Place.make(`${agent.name}-${person.sub}`)
  const file = join(place.work, "note.txt")
  const script = Script.make(wire, agent, file, `n${process.pid}x${tasks++}`)
  writeFileSync(file, `The colour is ${script.before}.\n`)
  upstreams.get(wire.label)?.always(counted(provider, script.answer))
  const before = account.get(provider) ?? 0
  const prompt = `Read note.txt and make ${script.before} green.`
  const apiKey = secrets.get(person.sub) ?? ""
  const setting = {
    root: company.url,
    apiKey,
    model: `${provider}/${wire.model}`,
    prompt,
    retries: patience !== limitMs
  }
  const ran = await place.run(agent, setting, patience)
  const isDone = readFileSync(file, "utf8").includes(script.after) && ran.stdout.includes(script.after)
  const words = shown(ran) || lastOfLog(join(place.folder, "home"))
  place.leave(() => ({ ran, problems: script.problems }))
  const calls = (account.get(provider) ?? 0) - before
  return { ran, isDone, problems: script.problems, shown: words, calls }
}

const ofTeam = (team: number): ReadonlyArray<Person> => people.filter((person) => person.team === team)
const first = (at: number): Person => ofTeam(0)[at % ofTeam(0).length]!
/** The person of another team who works by the agent of this place in the list. */
const worker = (at: number): Person => ofTeam(1 + (at % 4))[1 + Math.floor(at / 4)]!

describe("people of a company", () => {
  for (const [at, agent] of selected.entries()) {
    it(`have a task done by ${agent.name}`, async () => {
      const { calls, isDone, problems, ran, shown: words } = await work(agent, worker(at), "up")
      tell(`${agent.name}, ${worker(at).sub}: ${isDone ? "done" : "NOT DONE"}, ${calls} answers, ${ran.ms} ms`)
      assert.isEmpty(problems, problems.join("\n"))
      assert.strictEqual(ran.code, 0, words)
      assert.isTrue(isDone, words)
    })
  }

  it("of one team work until their budget is used up, and the channel hears of its warning and its end", async () => {
    const used = () =>
      Array.from(account).reduce((sum, [name, calls]) => sum + (name.startsWith("flat-") ? calls : 0), 0)
    let isRefused = false
    for (let task = 0; task < mostTasks && !isRefused; task += 1) {
      const agent = programs[task % programs.length]!
      const {
        calls,
        isDone,
        shown: words
      } = await work(agent, first(task), "flat", waiting.has(agent.name) ? watchedMs : limitMs)
      tell(
        `${agent.name}, ${first(task).sub}: ${isDone ? "done" : `stopped: ${words}`}, ${calls} answers, ${used()} of ${room}`
      )
      isRefused = !isDone
    }
    assert.strictEqual(used(), room)
    const told = () => alerts.map(({ data }) => data["threshold"])
    await eventually("the warning and the end", told, ({ length }) => length >= 2)
    assert.deepStrictEqual(told(), ["warning", "limit"])
  }, 900_000)

  for (const [at, agent] of programs.entries()) {
    it(`are told by ${agent.name} whose budget it is`, async () => {
      const isPatient = waiting.has(agent.name)
      const patience = isPatient ? watchedMs : minuteMs
      const { calls, isDone, ran, shown: words } = await work(agent, first(at + 1), "flat", patience)
      tell(`${agent.name}, ${first(at + 1).sub}: ${ran.ms} ms, code ${ran.code}: ${words.slice(0, mostWords)}`)
      assert.isFalse(isDone)
      assert.strictEqual(calls, 0)
      assert.strictEqual(ran.code === null, isPatient)
      if (agent.name !== "qwen") assert.include(words, "Team 0")
    }, 300_000)
  }

  it("leave, and their agents are refused within a minute", async () => {
    const leaver = worker(0)
    const leftMs = performance.now()
    await company.manage("PUT", `/api/users/${leaver.userId}`, { state: "suspended" })
    for (const [at, agent] of programs.entries()) {
      const { calls, isDone, ran, shown: words } = await work(agent, leaver, "up")
      if (at === 0) assert.isBelow(performance.now() - leftMs, minuteMs)
      tell(`${agent.name}, ${leaver.sub}, who has left: ${ran.ms} ms, code ${ran.code}: ${words}`)
      assert.isFalse(isDone)
      assert.strictEqual(calls, 0)
    }
  }, 600_000)

  it("have a bill of the month that equals the ledger and what the providers say", async () => {
    const month = monthOf(new Date())
    move(month.untilNextMs)
    const costOf = ([provider, calls]: readonly [string, number]) =>
      calls * (provider.startsWith("flat-") ? costUsd.flat : costUsd.up)
    const calls = Array.from(account.values()).reduce((sum, each) => sum + each, 0)
    const total = Array.from(account).reduce((sum, each) => sum + costOf(each), 0)
    const rows = await closed(company, operate, month.name, { calls, costUsd: total })
    const paid = rows.filter((row) => row.costUsd > 0)
    assert.isTrue(rows.every((row) => row.person !== null && row.team !== null))
    for (const one of account) await reconciled(operate, join(files, `${one[0]}.json`), one[0], costOf(one), month)
    tell(
      `${month.name}: ${calls} answers, ${total.toFixed(6)} USD, ${paid.length} people; ${account.size} providers' files agree`
    )
  })
})
