/**
 * Unmodified agents, headless, with the addresses of their vendors: the hosts file leads them to the gateway, which answers the models that are
 * mapped and passes all else on to the vendors. Run by `npm run test:bridge`; not part of `npm test`, because it installs the agents.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { request as askHttps } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { agents } from "../../../src/agents/bridge/agents/Agents.ts"
import type { TrafficRecord } from "../../../src/contract/domain/TrafficRecord.ts"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { chosen } from "../Chosen.ts"
import * as Gateway from "../Gateway.ts"
import * as Place from "../Place.ts"
import * as Script from "../Script.ts"
import { wires } from "../upstream/All.ts"
import { type Bridged, bridged } from "./Bridged.ts"
import * as Machine from "./Machine.ts"
import { answer, otherHosts, vendorsWords } from "./VendorAnswers.ts"
import * as Vendors from "./Vendors.ts"

const A = "/api/tools/agent-bridge"
const I = "/api/tools/traffic-inspector"
const limitMs = 90_000
const vendorsKey = "sk-ant-api03-of-the-vendor-0123456789"

const scope = Effect.runSync(Scope.make())
const started = <E>(effect: Effect.Effect<E, never, Scope.Scope>): Promise<E> =>
  Effect.runPromise(Scope.extend(effect, scope))

const folder = mkdtempSync(join(tmpdir(), "gateway-bridge-"))
const trusted = { gateway: join(folder, "gateway.pem"), both: join(folder, "both.pem") }
const upstreams = new Map<string, Fake.FakeUpstream>()
let gateway: Gateway.Gateway
let vendors: Vendors.Vendors

const manage = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${Gateway.adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return (text.startsWith("{") ? JSON.parse(text) : text) as T
}

/** All records, oldest first, once none is under way. */
const records = async (): Promise<ReadonlyArray<TrafficRecord>> => {
  const found = await eventually(
    "records that are over",
    async () => (await manage<{ requests: ReadonlyArray<TrafficRecord> }>("GET", `${I}/requests`)).requests,
    (all) => all.every(({ status }) => status !== "in-flight"),
    { withinMs: 10_000, everyMs: 100 }
  )
  return found.toReversed()
}

const map = (id: string, sourceModel: string, targetModel: string): Promise<unknown> =>
  manage("PUT", `${A}/agents/${id}/mappings`, { mappings: [{ sourceModel, targetModel }] })

const lead = (id: string, enabled: boolean): Promise<{ readonly warning?: string }> =>
  manage("POST", `${A}/agents/${id}/dns`, { enabled })

beforeAll(async () => {
  const nameServer = await Machine.prepare([...agents.flatMap(({ hosts }) => hosts), ...otherHosts])
  await started(Effect.addFinalizer(() => Effect.sync(() => void nameServer.close())))
  vendors = await Vendors.start(answer)
  gateway = await started(Gateway.start)
  for (const wire of wires) {
    const upstream = await started(Fake.start)
    upstreams.set(wire.label, upstream)
    await gateway.addUpstream(wire, upstream.origin, `up-${wire.label}`)
  }
  await manage("PUT", `${A}/upstream-ca`, { pem: vendors.authority })
  const own = await manage<string>("GET", `${A}/cert/download`)
  writeFileSync(trusted.gateway, own)
  writeFileSync(trusted.both, own + vendors.authority)
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  vendors.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Agents print JSON: letters may stand as escapes. */
const shows = (output: string, words: string): boolean =>
  output
    .replaceAll(/\\u([0-9a-f]{4})/giu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .includes(words)

const line = ({ host, method, path }: Pick<TrafficRecord, "host" | "method" | "path">): string =>
  `${method} ${host}${path}`

let runs = 0

const run = async ({ agent, id, model }: Bridged, label: string): Promise<void> => {
  const wire = wires.find((each) => each.label === label)
  const upstream = upstreams.get(label)
  if (wire === undefined || upstream === undefined) throw new Error(`No upstream ${label}`)
  const target = `up-${label}/${wire.model}`
  await map(id, `${model}*`, target)
  const place = Place.make(`bridge-${id}-${label}`)
  const file = join(place.work, "note.txt")
  const script = Script.make(wire, agent, file, `n${process.pid}x${(runs += 1)}`)
  writeFileSync(file, `The colour is ${script.before}.\n`)
  upstream.always(script.answer)
  const [asked, vendorAsked] = [upstream.requests.length, vendors.requests.length]
  const before = new Set((await records()).map((record) => record.id))
  const prompt = `Read note.txt and make ${script.before} green.`
  const setting = { root: "", apiKey: vendorsKey, model, prompt, retries: false }
  const ran = await place.run(agent, setting, limitMs)
  const made = (await records()).filter((record) => !before.has(record.id))
  const after = readFileSync(file, "utf8")
  const passed = vendors.requests.slice(vendorAsked)
  place.leave(() => ({
    ran,
    made,
    passed,
    problems: script.problems,
    upstream: upstream.requests.slice(asked),
    log: gateway.log().split("\n")
  }))
  process.stdout.write(
    `${id} → ${label}: ${script.main.length} requests of the conversation, ${passed.length} passed on, ${ran.ms} ms\n`
  )

  const told = `${ran.stdout}\n${ran.stderr}`.slice(-2_000)
  assert.strictEqual(ran.code, 0, told)
  assert.isTrue(shows(ran.stdout, script.lastWords), told)
  assert.include(after, script.after)
  assert.isEmpty(script.problems)
  // The file was read and changed: both results came to the upstream.
  assert.include(script.main.at(1)?.results[0] ?? "", script.before)
  assert.isTrue(script.main.some(({ results }) => results.length === 2))

  const bridgedCalls = made.filter(({ mappedModel }) => mappedModel !== null)
  assert.lengthOf(bridgedCalls, upstream.requests.length - asked)
  const { logs } = await manage<{ logs: ReadonlyArray<{ requestId: string; status: number }> }>(
    "GET",
    "/api/usage/logs?limit=100"
  )
  for (const record of bridgedCalls) {
    assert.deepInclude(record, { source: "agent-bridge", agent: id, status: 200, mappedModel: target })
    assert.isTrue(record.sourceModel?.startsWith(model))
    assert.strictEqual(record.llm?.mappedTo, target)
    const requestId = record.gatewayRequestId ?? ""
    assert.isTrue(
      logs.some((row) => row.requestId === requestId && row.status === 200),
      "a usage row"
    )
    const { decision } = await manage<{ decision: { requestId: string; chosen: unknown } }>(
      "GET",
      `/api/routing/decisions/${requestId}`
    )
    assert.strictEqual(decision.requestId, requestId)
    assert.isNotNull(decision.chosen)
  }
  // No secret of the vendor goes to whom its calls were mapped.
  for (const { body, headers } of upstream.requests.slice(asked)) {
    assert.notInclude(JSON.stringify(headers) + body, vendorsKey)
    assert.notInclude(JSON.stringify(headers), "faked")
  }
  // All else was passed on to the vendor, and recorded, too.
  const hosts: ReadonlyArray<string> = agents.find((each) => each.id === id)?.hosts ?? []
  const unmapped = made.filter(({ mappedModel }) => mappedModel === null)
  // A WebSocket is refused, so that the agent goes on with HTTP.
  const relayed = unmapped.filter(({ status }) => status !== 426)
  for (const record of unmapped)
    assert.deepInclude(record, { source: "agent-bridge", agent: id, mappedModel: null }, line(record))
  assert.deepStrictEqual(
    relayed.map(line).toSorted(),
    passed
      .filter(({ host }) => hosts.includes(host))
      .map(line)
      .toSorted()
  )
  if (id === "claude-code") {
    // The title of the session is written by another model, which is not mapped.
    assert.isTrue(relayed.some(({ path, status }) => path.startsWith("/v1/messages") && status === 200))
  }
}

for (const each of bridged(trusted).filter(({ id }) => chosen("AGENTS_ONLY")(id))) {
  describe(`${each.agent.name}, as ${each.id}`, () => {
    beforeAll(async () => {
      if (each.needsSystemTrust) await manage("POST", `${A}/server`, { action: "trust-cert" })
      assert.isUndefined((await lead(each.id, true)).warning)
    })

    afterAll(async () => {
      await lead(each.id, false)
      if (each.needsSystemTrust) await manage("POST", `${A}/server`, { action: "untrust-cert" })
    })

    for (const label of each.upstreams) {
      it(`reads and changes a file by its own tools, answered by ${label} in place of its vendor`, () =>
        run(each, label))
    }

    it("has completed its set-up by that", async () => {
      const { agent } = await manage<{ agent: Record<string, unknown> }>("GET", `${A}/agents/${each.id}`)
      assert.deepInclude(agent, { dnsEnabled: true, setupCompleted: true, lastError: null })
      assert.strictEqual(agent["certTrusted"], each.needsSystemTrust === true)
    })
  })
}

describe("bypass, target and passthrough, for any client of a vendor's host", () => {
  const host = "api.anthropic.com"
  const ask = (model: string): Promise<{ status: number; mapped: unknown; issuer: string; body: string }> =>
    new Promise((resolve, reject) => {
      const asked = askHttps(
        {
          host,
          path: "/v1/messages",
          method: "POST",
          agent: false,
          ca: readFileSync(trusted.both),
          headers: { "content-type": "application/json", "x-api-key": vendorsKey }
        },
        (response: IncomingMessage) => {
          // Behind its purpose an authority's name has a few digits of its own.
          const issuer = String((response.socket as TLSSocket).getPeerCertificate().issuer.CN).replace(
            / [0-9a-f]+$/,
            ""
          )
          let body = ""
          response
            .setEncoding("utf8")
            .on("data", (piece: string) => (body += piece))
            .on("end", () =>
              resolve({
                status: response.statusCode ?? 0,
                mapped: response.headers["x-gateway-mapped-model"],
                issuer,
                body
              })
            )
        }
      )
      asked.on("error", reject)
      asked.end(JSON.stringify({ model, max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }))
    })

  beforeAll(async () => {
    upstreams.get("messages")?.always(Fake.json(Fake.messagesAnswer()))
    await map("claude-code", "claude-opus*", "up-messages/scripted")
    assert.isUndefined((await lead("claude-code", true)).warning)
  })

  afterAll(async () => {
    await manage("PUT", `${A}/bypass`, { patterns: [] })
    await lead("claude-code", false)
  })

  it("answers what is mapped, passes on what is not, and reads nothing of what is bypassed", async () => {
    const before = (await records()).length
    const mapped = await ask("claude-opus-4-5")
    assert.deepInclude(mapped, { status: 200, mapped: "up-messages/scripted", issuer: "Gateway traffic inspector" })
    assert.notInclude(mapped.body, vendorsWords)

    const other = await ask("claude-haiku-4-5")
    assert.deepInclude(other, { status: 200, mapped: undefined, issuer: "Gateway traffic inspector" })
    assert.include(other.body, vendorsWords)

    await manage("PUT", `${A}/bypass`, { patterns: ["*.anthropic.com"] })
    const bypassed = await ask("claude-opus-4-5")
    assert.deepInclude(bypassed, { status: 200, mapped: undefined, issuer: "Internet" })
    assert.include(bypassed.body, vendorsWords)

    await manage("PUT", `${A}/bypass`, { patterns: [] })
    assert.deepInclude(await ask("claude-opus-4-5"), { mapped: "up-messages/scripted" })

    const made = (await records()).slice(before)
    const facts = made.map(({ agent, mappedModel, method, source }) => [source, agent, method, mappedModel])
    assert.deepStrictEqual(facts, [
      ["agent-bridge", "claude-code", "POST", "up-messages/scripted"],
      ["agent-bridge", "claude-code", "POST", null],
      ["agent-bridge", "claude-code", "CONNECT", null],
      ["agent-bridge", "claude-code", "POST", "up-messages/scripted"]
    ])
    assert.include(made[2]?.note ?? "", "never decrypted")
  })

  it("records no passthrough where that is switched off, and leaves the hosts file as it was", async () => {
    await manage("PUT", `${A}/config`, { recordPassthrough: false })
    const before = (await records()).length
    await ask("claude-haiku-4-5")
    await ask("claude-opus-4-5")
    const since = await eventually(
      "a record of the call that was mapped",
      async () => (await records()).slice(before).map(({ mappedModel }) => mappedModel),
      (found) => found.length > 0
    )
    assert.deepStrictEqual(since, ["up-messages/scripted"])
    await manage("PUT", `${A}/config`, { recordPassthrough: true })
    assert.include(readFileSync("/etc/hosts", "utf8"), host)
    await lead("claude-code", false)
    assert.strictEqual(readFileSync("/etc/hosts", "utf8"), Machine.hosts)
    // The vendor itself, as before.
    assert.deepInclude(await ask("claude-opus-4-5"), { issuer: "Internet" })
  })
})
