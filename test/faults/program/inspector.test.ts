/** `kill -9` while a session of the traffic inspector records: what was written can be read after the next start, and only that was lost which was not. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Program from "../../support/Program.ts"
import { rowsBeside } from "../../support/postgres/Programs.ts"

const adminKey = "admin-key-of-the-program-tests"
const ingestToken = "ingest-token-of-the-program-tests"
const environment = { GATEWAY_ADMIN_KEY: adminKey, INSPECTOR_INTERNAL_INGEST_TOKEN: ingestToken }
const base = "/api/tools/traffic-inspector"

// eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
type Answer = any

const ask = async (url: string, method: string, path: string, body?: unknown, key = adminKey): Promise<Answer> => {
  const answer = await fetch(url + base + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  assert.isTrue(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
  return answer.headers.get("content-type")?.includes("json") === true && !path.includes("export")
    ? JSON.parse(text)
    : text
}

const record = (id: string, more: object = {}) => ({
  id,
  timestamp: new Date(Date.UTC(2026, 10, 24, 10)).toISOString(),
  method: "POST",
  host: "api.openai.com",
  path: "/v1/chat/completions",
  source: "http-proxy",
  requestHeaders: { "content-type": "application/json" },
  requestBody: JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: `I am ${id}` }] }),
  requestSize: 100,
  responseHeaders: { "content-type": "application/json" },
  responseBody: "{}",
  responseSize: 2,
  status: 200,
  ...more
})

/** What is on file of a session, read beside the gateway. */
const onFile = async (dataDir: string, sessionId: string): Promise<ReadonlyArray<string>> => {
  const statement = "SELECT record_id AS id FROM inspector_records WHERE session_id = ? ORDER BY seq"
  return (await rowsBeside(dataDir, statement, sessionId)).map(({ id }) => String(id))
}

describe("kill -9 while a session records", () => {
  it.scopedLive(
    "leaves a session that is interrupted, with all that was written",
    () =>
      Effect.gen(function* () {
        const program = yield* Program.start(environment)
        const handIn = (one: unknown) => ask(program.url, "POST", "/internal/ingest", one, ingestToken)
        const first = Array.from({ length: 20 }, (_, at) => `first-${at}`)
        const sessionId = yield* Effect.promise(async () => {
          const { session } = await ask(program.url, "POST", "/sessions", { name: "killed" })
          for (const id of first) await handIn(record(id))
          await handIn(record("waits", { status: "in-flight", responseBody: null, responseSize: 0 }))
          // Nobody asks for the session meanwhile: it is written by itself.
          await eventually(
            "all records on file",
            () => onFile(program.dataDir, session.id),
            (ids) => ids.length === first.length + 1
          )
          // The gateway is killed while these are written.
          const rest = Array.from({ length: 200 }, (_, at) => handIn(record(`rest-${at}`)).catch(() => null))
          await Promise.any(rest)
          program.signal("SIGKILL")
          await Promise.all(rest)
          await program.ended
          return String(session.id)
        })
        const written = yield* Effect.promise(() => onFile(program.dataDir, sessionId))
        assert.includeMembers([...written], [...first, "waits"])

        const again = yield* Program.start(environment, program.dataDir)
        yield* Effect.promise(async () => {
          const { sessions } = await ask(again.url, "GET", "/sessions")
          assert.lengthOf(sessions, 1)
          assert.deepInclude(sessions[0], {
            id: sessionId,
            name: "killed",
            state: "interrupted",
            requestCount: written.length,
            truncated: false
          })
          assert.isString(sessions[0].endedAt)
          const { requests } = await ask(again.url, "GET", `/sessions/${sessionId}`)
          assert.deepStrictEqual(
            requests.map(({ id }: Answer) => id),
            written
          )
          assert.include(requests[0].requestBody, "I am first-0")
          assert.strictEqual(requests[first.length].status, "in-flight")
          const lines = (await ask(again.url, "GET", `/sessions/${sessionId}/export.jsonl`)).trimEnd().split("\n")
          assert.lengthOf(lines, written.length)
          const { log } = JSON.parse(await ask(again.url, "GET", `/sessions/${sessionId}/export.har`))
          assert.lengthOf(log.entries, written.length)
          // It does not stand in the way of the next one.
          const next = await ask(again.url, "POST", "/sessions", {})
          assert.strictEqual(next.session.state, "recording")
          await ask(again.url, "DELETE", `/sessions/${sessionId}`)
          assert.isEmpty(await onFile(again.dataDir, sessionId))
        })
        yield* again.stop
      }),
    120_000
  )
})
