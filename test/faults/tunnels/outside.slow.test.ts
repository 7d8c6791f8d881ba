/** What the outside may do through an open tunnel of each kind: the built program, its real child programs and sessions, and forged headers. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import * as Ws from "../../http/ws/support.ts"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import {
  adminKey,
  asOwner,
  backends,
  backendsHere,
  connectUpstream,
  manage,
  type Outside
} from "../../support/tunnels/Backends.ts"
import { whyNoSshd } from "../../support/tunnels/SshServer.ts"

const admin = { authorization: `Bearer ${adminKey}` }
const json = { "content-type": "application/json" }
const chatPath = "/v1/chat/completions"
const chatBody = (more: object = {}) =>
  JSON.stringify({ model: "up/m", messages: [{ role: "user", content: "Hi" }], ...more })

/** A well-formed key that no gateway knows. */
const wrongKey = { authorization: "Bearer gw_0000000000000000000000000000000000000000000000000000" }

/** What a client may write, to pass for a program of the gateway's machine. */
const forged = (port: string): ReadonlyArray<Readonly<Record<string, string>>> => [
  { host: `127.0.0.1:${port}` },
  { host: `localhost:${port}`, "x-forwarded-for": "127.0.0.1" },
  { host: "localhost", forwarded: "for=127.0.0.1;host=localhost;proto=http", via: "1.1 localhost" },
  { host: "[::1]", "x-real-ip": "127.0.0.1", "x-forwarded-host": "localhost", "true-client-ip": "127.0.0.1" }
]

const patienceMs = 60_000
const why = whyNoSshd()
const names = why === null ? backendsHere.join(", ") : `${backendsHere.join(", ")}; ssh skipped: ${why}`

/** A gateway with all tunnels open, and a provider behind it. */
const setUp = (requireKey: boolean) =>
  Effect.gen(function* () {
    const behind = yield* backends()
    const program = yield* Program.start({ ...behind.environment, REQUIRE_API_KEY: String(requireKey) })
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
    const apiKey = yield* Effect.promise(async () => {
      await connectUpstream(program, upstream.origin)
      const made = await manage(program, "POST", "/api/keys", { name: "of a client" })
      return { authorization: `Bearer ${made.json.secret}` }
    })
    const openAll = (body: object = {}) =>
      Effect.promise(async () => {
        const all: Array<Outside> = []
        for (const backend of backendsHere) {
          const { json: status } = await behind.open(program, backend, body)
          assert.deepInclude(status, { backend, phase: "running", running: true }, JSON.stringify(status))
          all.push(await behind.outside(backend, status.publicUrl))
        }
        return all
      })
    return { apiKey, behind, openAll, program, upstream }
  })

const codeOf = ({ body }: RawRequest.RawAnswer): unknown => JSON.parse(body).error.code

/** A request whose answer can be read while it comes. */
const streamed = (outside: Outside, headers: Readonly<Record<string, string>>, body: string) =>
  new Promise<{ readonly text: () => string; readonly ended: Promise<unknown> }>((resolve, reject) => {
    const { hostname, port } = new URL(outside.url)
    const asked = request({ hostname, port, method: "POST", path: chatPath, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece))
      resolve({ text: () => text, ended: new Promise((done) => response.on("close", done)) })
    })
    asked.on("error", reject).end(body)
  })

describe(`from outside, through the tunnels of the built program (${names})`, () => {
  it.scopedLive(
    "what is for this machine and its owner is refused to every key, and the rest needs one, whatever the headers say",
    () =>
      Effect.gen(function* () {
        const { apiKey, openAll, program, upstream } = yield* setUp(true)
        const all = yield* openAll()
        const closed = managementRoutes.filter(({ tier }) => ["local", "loopback", "owner"].includes(tier))
        const { token } = JSON.parse(readFileSync(join(program.dataDir, "owner-token.json"), "utf8"))
        const owner = { authorization: `Bearer ${token}` }
        yield* Effect.promise(async () => {
          // Each of these is what a caller on this machine is given.
          assert.strictEqual((await fetch(`${program.url}/metrics`)).status, 200)
          const local = await RawRequest.ask(program.url, { method: "GET", path: "/api/keys", headers: owner })
          assert.strictEqual(local.status, 200)
          for (const [place, { backend, publicHost, url }] of all.entries()) {
            const ask = (method: string, path: string, headers: Readonly<Record<string, string>>, body = "") =>
              RawRequest.ask(url, {
                method,
                path,
                headers: body === "" ? headers : { ...headers, ...json, "content-length": String(body.length) },
                body
              })
            for (const headers of [...forged(new URL(program.url).port), { host: publicHost }]) {
              const says = `${backend} ${JSON.stringify(headers)}`
              for (const { method, path, tier } of closed) {
                const asked = path.replaceAll(/:\w+/g, "claude")
                const body = method === "GET" ? "" : "{}"
                for (const key of [admin, owner]) {
                  const answer = await ask(method, asked, { ...key, ...headers }, body)
                  const told = `${says} ${method} ${path}: ${answer.status} ${answer.body}`
                  if (tier !== "owner")
                    assert.deepStrictEqual([answer.status, codeOf(answer)], [403, "loopback_only"], told)
                  else if (key === admin)
                    assert.deepStrictEqual([answer.status, codeOf(answer)], [403, "owner_only"], told)
                  else assert.oneOf(answer.status, [401, 403], told)
                }
              }
              for (const [method, path, body] of [
                ["GET", "/metrics", ""],
                ["GET", "/api/keys", ""],
                ["GET", "/api/tunnels", ""],
                ["GET", "/v1/models", ""],
                ["POST", chatPath, chatBody()]
              ] as const) {
                const told = `${says} ${method} ${path}`
                const without = await ask(method, path, headers, body)
                assert.strictEqual(without.status, 401, `${told}: ${without.body}`)
                const ofOwner = await ask(method, path, { ...headers, ...owner }, body)
                const ofNobody = await ask(method, path, { ...headers, ...wrongKey }, body)
                assert.deepStrictEqual([ofOwner.status, codeOf(ofOwner)], [401, codeOf(ofNobody)], told)
              }
              assert.strictEqual((await ask("GET", "/api/keys", { ...headers, ...apiKey })).status, 403, says)
            }
            assert.strictEqual(upstream.requests.length, place, backend)
            const named = { host: publicHost }
            assert.strictEqual((await ask("GET", "/metrics", { ...named, ...apiKey })).status, 403, backend)
            assert.strictEqual((await ask("GET", "/metrics", { ...named, ...admin })).status, 200, backend)
            assert.strictEqual((await ask("GET", "/api/keys", { ...named, ...admin })).status, 200, backend)
            assert.strictEqual((await ask("POST", chatPath, { ...named, ...apiKey }, chatBody())).status, 200, backend)
            assert.strictEqual(upstream.requests.length, place + 1, backend)
          }
        })
      }),
    patienceMs
  )

  it.scopedLive(
    "an answer comes event by event, and both WebSockets work with a key",
    () =>
      Effect.gen(function* () {
        const { apiKey, openAll, upstream } = yield* setUp(true)
        // Quick tunnels are said to hold streams back.
        for (const outside of (yield* openAll()).filter(({ backend }) => backend !== "quick")) {
          const named = { host: outside.publicHost, ...json }
          const latch = Fake.makeLatch()
          const [head = "", ...rest] = Fake.chatStream(["first word", " last word"])
          upstream.enqueue(Fake.sse([head, rest[0] ?? "", latch, ...rest.slice(1)]))
          yield* Effect.promise(async () => {
            const answer = await streamed(outside, { ...named, ...apiKey }, chatBody({ stream: true }))
            await eventually("the first event", answer.text, (text) => text.includes("first word"))
            assert.notInclude(answer.text(), "last word")
            latch.open()
            await answer.ended
            assert.match(answer.text(), /last word[\s\S]*\[DONE\]/, outside.backend)
            for (const headers of [{}, { host: "localhost", "x-forwarded-for": "127.0.0.1" }]) {
              assert.strictEqual((await Ws.refused(outside, "/v1/responses", headers)).status, 401)
              assert.strictEqual((await Ws.refused(outside, "/api/live", { ...headers, ...apiKey })).status, 403)
            }
          })
          upstream.enqueue(Fake.sse(Fake.chatStream(["over the socket"])))
          const socket = yield* Ws.open(outside, "/v1/responses", { host: outside.publicHost, ...apiKey })
          const live = yield* Ws.open(outside, "/api/live", { host: outside.publicHost, ...admin })
          yield* Effect.promise(async () => {
            socket.send({ type: "response.create", model: "up/m", input: "Hi" })
            assert.include(JSON.stringify(await socket.turn()), "over the socket", outside.backend)
            assert.strictEqual((await live.next()).type, "welcome")
          })
        }
      }),
    patienceMs
  )

  it.scopedLive(
    "a gateway without keys opens none unless told to, then answers to the public name only, and not to everybody's key",
    () =>
      Effect.gen(function* () {
        const { apiKey, behind, openAll, program, upstream } = yield* setUp(false)
        yield* Effect.promise(async () => {
          for (const backend of backendsHere) {
            const refused = await behind.open(program, backend)
            assert.deepStrictEqual([refused.status, refused.json.error.code], [409, "keys_required"], backend)
          }
          assert.isNull(behind.cloudflared.seen())
          assert.deepStrictEqual(behind.edge.tokens, [])
        })
        const all = yield* openAll({ allowKeyless: true })
        const hosts = new Set(all.map(({ publicHost }) => publicHost))
        const chat = ({ url }: Pick<Outside, "url">, headers: Readonly<Record<string, string>>) =>
          RawRequest.ask(url, { method: "POST", path: chatPath, headers: { ...json, ...headers }, body: chatBody() })
        yield* Effect.promise(async () => {
          for (const outside of all) {
            const named = { host: outside.publicHost }
            assert.strictEqual((await chat(outside, named)).status, 200, outside.backend)
            for (const headers of [
              ...forged(new URL(program.url).port).filter(({ host = "" }) => !hosts.has(host.split(":")[0] ?? "")),
              { host: "evil.example" },
              { host: `${outside.publicHost}.evil.example` }
            ]) {
              const told = `${outside.backend} ${JSON.stringify(headers)}`
              const answer = await chat(outside, headers)
              assert.deepStrictEqual([answer.status, codeOf(answer)], [403, "host_not_allowed"], told)
            }
            const ofPage = await chat(outside, { ...named, origin: "https://evil.example" })
            assert.deepStrictEqual([ofPage.status, codeOf(ofPage)], [403, "cross_site_request"], outside.backend)
            for (const path of ["/metrics", "/api/keys", "/api/tunnels"]) {
              const answer = await RawRequest.ask(outside.url, { method: "GET", path, headers: named })
              assert.strictEqual(answer.status, 401, `${outside.backend} ${path}`)
            }
          }
        })
        yield* Effect.promise(async () => {
          // Opened while keys were required, and without allowKeyless; then they are not required any more.
          const setKeys = (value: string) =>
            asOwner(program, "PUT", "/api/settings/feature-flags", { key: "REQUIRE_API_KEY", value })
          assert.strictEqual((await setKeys("true")).status, 200)
          const again: Array<Outside> = []
          for (const backend of backendsHere) {
            const { json: status } = await behind.open(program, backend)
            assert.deepInclude(status, { phase: "running", allowKeyless: false }, backend)
            again.push(await behind.outside(backend, status.publicUrl))
          }
          assert.strictEqual((await setKeys("false")).status, 200)
          const before = upstream.requests.length
          for (const outside of again) {
            for (const key of [{}, apiKey, admin]) {
              const answer = await chat(outside, { host: outside.publicHost, ...key })
              assert.deepStrictEqual([answer.status, codeOf(answer)], [403, "keys_required"], outside.backend)
            }
          }
          assert.strictEqual(upstream.requests.length, before)
          assert.strictEqual((await chat(program, {})).status, 200)
        })
      }),
    patienceMs
  )
})
