/** Planted secrets: nothing a gateway writes or tells may hold one. The real program, so that every sink is the real one. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import * as Fake from "../support/FakeUpstream.ts"
import * as Program from "../support/Program.ts"

const upstreamKey = "sk-planted-upstream-key-7f3a9c2e51d84b60"
const adminKey = "planted-admin-key-0b6d1e9a44f2c873"
const prompt = "planted prompt text 5c1d8e72"
const password = "planted password 91e2"

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesBelow(path) : [path]
  })

describe("secrets", () => {
  it.scopedLive("are in no log line, answer, metric, trace or file", () =>
    Effect.gen(function* () {
      const collector = yield* Fake.start
      collector.always(Fake.json({}))
      const upstream = yield* Fake.start
      // An upstream that repeats the credential it was sent, in its error text and in a header.
      upstream.always((response, request) => {
        const key = String(request.headers.authorization)
        response.writeHead(401, { "content-type": "application/json", "x-echo": key })
        response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } }))
      })
      const program = yield* Program.start({
        GATEWAY_ADMIN_KEY: adminKey,
        GATEWAY_ADMIN_PASSWORD: password,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin
      })
      const ownerToken: string = JSON.parse(readFileSync(join(program.dataDir, "owner-token.json"), "utf8")).token
      const told = yield* Effect.promise(async () => {
        const answers: Array<string> = []
        const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
          const response = await fetch(program.url + path, {
            method,
            headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json", ...headers },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          })
          const text = await response.text()
          answers.push(text, JSON.stringify([...response.headers]))
          return text === "" ? null : JSON.parse(text)
        }
        await call("POST", "/api/provider-nodes", {
          name: "up",
          prefix: "up",
          type: "openai-compatible",
          baseUrl: `${upstream.origin}/v1`,
          headers: { "x-secret-header": upstreamKey }
        })
        const { connection } = await call("POST", "/api/providers", {
          provider: "up",
          apiKey: upstreamKey,
          models: ["m"]
        })
        await call("GET", "/api/providers")
        await call("POST", `/api/providers/${connection.id}/test`)
        await call("GET", `/api/providers/${connection.id}/models`)
        await call("POST", "/api/providers/validate", { provider: "up", apiKey: upstreamKey })
        const ask = { model: "up/m", max_tokens: 5, messages: [{ role: "user", content: prompt }] }
        await call("POST", "/v1/chat/completions", ask)
        await call("POST", "/v1/messages", ask)
        await call("POST", `/v1/chat/completions?api_key=${adminKey}`, ask, { authorization: "" })
        await call("POST", "/api/auth/login", { password })
        await call("POST", "/api/auth/login", { password: `${password} wrong` })
        await call("GET", "/api/usage/logs")
        await call("GET", "/api/keys", undefined, { authorization: `Bearer ${ownerToken}` })
        await call("GET", `/v1/models?key=${ownerToken}`, undefined, { authorization: "" })
        const { secret } = await call("POST", "/api/keys", { name: "client" })
        answers.splice(-2)
        await call("GET", "/api/keys", undefined, { authorization: `Bearer ${secret}` })
        await call("GET", "/api/keys")
        answers.push(await (await fetch(`${program.url}/metrics`)).text())
        answers.push(await (await fetch(`${program.url}/openapi.json`)).text())
        return { answers, secret: String(secret) }
      })
      yield* program.stop
      const sinks = {
        stderr: program.stderr(),
        stdout: program.stdout(),
        answers: told.answers.join("\n"),
        otlp: collector.requests.map((request) => request.body + JSON.stringify(request.headers)).join("\n"),
        files: filesBelow(program.dataDir)
          .map((path) => readFileSync(path, "latin1"))
          .join("\n")
      }
      assert.include(sinks.stderr, '"msg":"request"')
      assert.include(sinks.otlp, "gen_ai")
      for (const [sink, text] of Object.entries(sinks)) {
        for (const planted of [upstreamKey, adminKey, prompt, password, told.secret, ownerToken]) {
          assert.notInclude(text, planted, `${sink} holds a secret`)
        }
      }
    })
  )
})
