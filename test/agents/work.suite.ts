/**
 * Real coding agents, headless, through the built gateway to a scripted upstream of every wire: each reads a file, changes it and
 * says so. Run by `npm run test:agents`; not part of `npm test`, because it installs the agents.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Fake from "../support/FakeUpstream.ts"
import { type Agent, agents } from "./Agents.ts"
import { ensure } from "./Cache.ts"
import { chosen } from "./Chosen.ts"
import * as Gateway from "./Gateway.ts"
import * as Place from "./Place.ts"
import * as Recorder from "./Recorder.ts"
import type { Ran } from "./Run.ts"
import * as Script from "./Script.ts"
import { line, type Outcome, render } from "./Table.ts"
import { wires as allWires } from "./upstream/All.ts"
import type { UpstreamWire } from "./upstream/Words.ts"

const limitMs = 90_000
const wires = allWires.filter(({ label }) => chosen("AGENTS_UP")(label))

const scope = Effect.runSync(Scope.make())
const started = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.extend(effect, scope))

const upstreams = new Map<string, Fake.FakeUpstream>()
const outcomes: Array<Outcome> = []
let gateway: Gateway.Gateway

beforeAll(async () => {
  gateway = await started(Gateway.start)
  for (const wire of wires) {
    const upstream = await started(Fake.start)
    upstreams.set(wire.label, upstream)
    await gateway.addUpstream(wire, upstream.origin, `up-${wire.label}`)
  }
})

afterAll(async () => {
  process.stdout.write(render(outcomes))
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Agents print JSON: letters may stand as escapes. */
const shows = (output: string, words: string): boolean =>
  output
    .replaceAll(/\\u([0-9a-f]{4})/giu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .includes(words)

const areCompressed = (exchanges: ReadonlyArray<Recorder.Exchange>, coding: string): boolean => {
  const turns = exchanges.filter(({ method, status }) => method === "POST" && status === 200)
  return turns.length > 0 && turns.every(({ headers }) => headers["content-encoding"] === coding)
}

const failuresOf = (
  agent: Agent,
  ran: Ran,
  script: Script.Script,
  exchanges: ReadonlyArray<Recorder.Exchange>,
  file: string
): ReadonlyArray<string> => {
  const read = script.main.at(1)?.results[0] ?? ""
  const refusals = exchanges
    .filter(({ status }) => status >= 400)
    .map(({ method, responseBody, status, url }) => `${method} ${url}: ${status} ${responseBody.slice(0, 300)}`)
  return [
    ...(ran.code === 0 ? [] : [ran.code === null ? `no end after ${limitMs} ms` : `exit code ${ran.code}`]),
    ...(shows(ran.stdout, script.lastWords) ? [] : ["the last words were not shown"]),
    ...(readFileSync(file, "utf8").includes(script.after) ? [] : ["the file was not changed"]),
    ...(read.includes(script.before) ? [] : ["the file's content did not reach the upstream"]),
    ...(script.main.some(({ results }) => results.length === 2)
      ? []
      : ["the second result did not reach the upstream"]),
    // Agents ask again: one of each kind tells enough.
    ...new Set([...refusals.slice(0, 1), ...script.problems]),
    ...(agent.compression === undefined || areCompressed(exchanges, agent.compression)
      ? []
      : [`the requests were not compressed with ${agent.compression}`]),
    ...(agent.webSocket && !exchanges.some(({ status }) => status === 101) ? ["no WebSocket was opened"] : []),
    ...(agent.webSocket && exchanges.some(({ method }) => method === "POST") ? ["it fell back to HTTP"] : [])
  ]
}

const oneRun = async (agent: Agent, wire: UpstreamWire): Promise<Outcome> => {
  const upstream = upstreams.get(wire.label)
  if (upstream === undefined) throw new Error(`No upstream for ${wire.label}`)
  const place = Place.make(`${agent.name}-${wire.label}`)
  const file = join(place.work, "note.txt")
  const nonce = `n${process.pid}x${outcomes.length}`
  const script = Script.make(wire, agent, file, nonce)
  writeFileSync(file, `The colour is ${script.before}.\n`)
  const earlier = upstream.requests.length
  const logged = gateway.log().length
  upstream.always(script.answer)
  const recorder = await Recorder.start(gateway.url)
  const prompt = `Read note.txt and make ${script.before} green.`
  const model = `up-${wire.label}/${wire.model}`
  const setting = { root: recorder.url, apiKey: gateway.apiKey, model, prompt, retries: false }
  const ran = await place.run(agent, setting, limitMs)
  await recorder.close()
  const failures = failuresOf(agent, ran, script, recorder.exchanges, file)
  place.leave(() => {
    const upstreamRequests = upstream.requests.slice(earlier).map(({ body, headers, url }) => ({ url, headers, body }))
    const log = gateway.log().slice(logged).split("\n")
    return { failures, ran, client: recorder.exchanges, upstream: upstreamRequests, log }
  })
  return {
    agent: agent.name,
    clientWire: agent.webSocket
      ? "responses, WebSocket"
      : `${agent.wire}${agent.compression === undefined ? "" : `, ${agent.compression}`}`,
    upstream: wire.label,
    requests: upstream.requests.length - earlier,
    ms: ran.ms,
    reasoning: script.reasoning(),
    failures
  }
}

for (const agent of agents.filter(({ name }) => chosen("AGENTS_ONLY")(name))) {
  describe(`${agent.name} (${agent.wire})`, () => {
    beforeAll(() => void ensure(agent.package), 600_000)
    for (const wire of wires) {
      it(`reads and changes a file, upstream ${wire.label}`, async () => {
        const outcome = await oneRun(agent, wire)
        outcomes.push(outcome)
        process.stdout.write(`${line(outcome)}\n`)
        assert.isEmpty(outcome.failures, outcome.failures.join("\n"))
      })
    }
  })
}
