/** A gateway with the token for ingest, and what tests of the inspector ask it. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AppConfigShape } from "../../../src/platform/AppConfig.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { eventuallyFound } from "../../support/eventually.ts"

export const base = "/api/tools/traffic-inspector"
export const ingestToken = "ingest-token-of-the-tests"
export const bearer = { authorization: `Bearer ${TestGateway.adminKey}` }

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
export type Answer = any

export const chatBody = (text: string, system = "Be brief.") =>
  JSON.stringify({
    model: "gpt-4o-mini",
    messages: [
      { role: "system", content: system },
      { role: "user", content: text }
    ]
  })

export const chatAnswer = JSON.stringify({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "gpt-4o-mini",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 20, completion_tokens: 2, total_tokens: 22 }
})

export const aRecord = (over: Readonly<Record<string, unknown>> = {}) => ({
  id: "r1",
  timestamp: "2026-11-24T10:00:00.000Z",
  method: "POST",
  host: "api.openai.com",
  path: "/v1/chat/completions",
  source: "http-proxy",
  requestHeaders: { "Content-Type": "application/json", Authorization: "Bearer f7Gh2kLm9Qw4Zx8Vb1Nc" },
  requestBody: chatBody("Hi"),
  requestSize: 90,
  responseHeaders: { "content-type": "application/json" },
  responseBody: chatAnswer,
  responseSize: 200,
  status: 200,
  totalLatencyMs: 500,
  ...over
})

export const start = (config: Partial<AppConfigShape> = {}, environment: Readonly<Record<string, string>> = {}) =>
  Effect.map(
    TestGateway.start({
      adminPassword: Redacted.make("correct horse battery staple"),
      environment: new Map(Object.entries({ INSPECTOR_INTERNAL_INGEST_TOKEN: ingestToken, ...environment })),
      ...config
    }),
    (gateway) => {
      const ask = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = bearer) =>
        fetch(gateway.url + base + path, {
          method,
          headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
        })
      const json = async (method: string, path: string, body?: unknown): Promise<Answer> => {
        const answer = await ask(method, path, body)
        const text = await answer.text()
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
        return text === "" ? null : JSON.parse(text)
      }
      /** Status and code of an error. */
      const refused = async (
        method: string,
        path: string,
        body?: unknown,
        headers?: Readonly<Record<string, string>>
      ) => {
        const answer = await ask(method, path, body, headers)
        const { error }: Answer = await answer.json()
        return [answer.status, error.code] as const
      }
      const handIn = (record: unknown) =>
        ask("POST", "/internal/ingest", record, { authorization: `Bearer ${ingestToken}` })
      /** Hands a record in and waits until it is whole. */
      const captured = async (over: Readonly<Record<string, unknown>> = {}): Promise<Answer> => {
        const record = aRecord(over)
        const answer = await handIn(record)
        if (!answer.ok) throw new Error(await answer.text())
        return eventuallyFound(`the record ${record.id}`, async () => {
          const found = await ask("GET", `/requests/${record.id}`)
          if (!found.ok) return undefined
          const shown: Answer = await found.json()
          return shown.status === record.status ? shown : undefined
        })
      }
      return { gateway, ask, json, refused, handIn, captured }
    }
  )
