/** A gateway, two upstreams and proxies between them, all on real sockets. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as ConnectProxy from "../../support/ConnectProxy.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

export const proxies = "/api/v1/management/proxies"
export const assignments = `${proxies}/assignments`

export interface Answered {
  readonly status: number
  readonly egress: string | null
  readonly code: string | null
  readonly requestId: string
}

export const world = (environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: "hello" })))
    upstream.lists(Fake.json(Fake.models(["m"])))
    const gateway = yield* TestGateway.start({
      environment: new Map(Object.entries(environment)),
      adminPassword: Redacted.make("correct horse battery staple")
    })
    const connection = yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))

    const add = (name: string, proxy: { readonly port: number }, more: Readonly<Record<string, unknown>> = {}) =>
      Effect.promise(async () => {
        const body = { name, type: "http", host: "127.0.0.1", port: proxy.port, ...more }
        const made = await gateway.manage("POST", proxies, body)
        return String(made.proxy.id)
      })
    const assign = (scope: string, scopeId: string | null, proxyId: string | null) =>
      Effect.promise(() => gateway.manage("PUT", assignments, { scope, scopeId, proxyId }))
    const chat = (headers: Readonly<Record<string, string>> = {}) =>
      Effect.promise(async (): Promise<Answered> => {
        const body = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }
        const response = await gateway.post("/v1/chat/completions", body, headers)
        const answer = JSON.parse(await response.text())
        return {
          status: response.status,
          egress: response.headers.get("x-gateway-egress"),
          code: answer.error?.code ?? null,
          requestId: response.headers.get("x-gateway-request-id") ?? ""
        }
      })
    const goes = Effect.fnUntraced(function* (egress: string, headers: Readonly<Record<string, string>> = {}) {
      const answer = yield* chat(headers)
      assert.deepStrictEqual([answer.status, answer.egress], [200, egress])
      return answer
    })
    const fails = Effect.fnUntraced(function* (code = "PROXY_UNAVAILABLE") {
      const before = upstream.requests.length
      const answer = yield* chat()
      assert.deepStrictEqual([answer.status, answer.code], [503, code])
      assert.strictEqual(upstream.requests.length, before)
      return answer
    })
    return { upstream, gateway, connection, add, assign, chat, goes, fails, startProxy: ConnectProxy.start }
  })
