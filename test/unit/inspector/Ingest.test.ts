import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { ingest, IngestRecord } from "../../../src/inspector/Ingest.ts"
import type { RecordEnd, RecordStart, RecordUpdate } from "../../../src/inspector/Inspector.ts"

const least = {
  id: "x1",
  timestamp: "2026-11-24T10:00:00.000Z",
  method: "POST",
  host: "api.openai.com",
  path: "/v1/chat/completions",
  source: "agent-bridge",
  requestHeaders: { "Content-Type": "application/json", "Content-Encoding": "gzip" },
  requestSize: 10,
  responseHeaders: { "Content-Encoding": "br" },
  responseSize: 20,
  status: 200
}

const calls = () => {
  const made: Array<readonly [string, unknown]> = []
  return {
    made,
    begin: (start: RecordStart) => (made.push(["begin", start]), start.id ?? ""),
    update: (_id: string, update: RecordUpdate) => void made.push(["update", update]),
    finish: (_id: string, end: RecordEnd) => void made.push(["finish", end])
  }
}

const decode = Schema.decodeUnknownEither(IngestRecord)

describe("an ingested record", () => {
  it("needs what every record has, and no more", () => {
    assert.isTrue(Either.isRight(decode(least)))
    for (const name of Object.keys(least)) assert.isTrue(Either.isLeft(decode({ ...least, [name]: undefined })), name)
    for (const [name, wrong] of Object.entries({
      timestamp: "yesterday",
      status: 99,
      source: "elsewhere",
      requestSize: -1,
      requestHeaders: { a: 1 },
      requestBody: {},
      id: "",
      pid: 1.5
    })) {
      assert.isTrue(Either.isLeft(decode({ ...least, [name]: wrong })), name)
    }
  })

  it("is begun, completed and ended; its bodies are not decoded again", () => {
    const inspector = calls()
    const record = { ...least, requestBody: "{}", responseBody: "AP8=", responseEncoding: "base64", totalLatencyMs: 5 }
    ingest(inspector, Either.getOrThrow(decode(record)))
    assert.deepStrictEqual(
      inspector.made.map(([name]) => name),
      ["begin", "update", "finish"]
    )
    assert.deepInclude(inspector.made[0]?.[1], {
      id: "x1",
      headers: { "content-type": "application/json" },
      atMs: Date.parse(least.timestamp),
      bodySize: 10
    })
    assert.deepInclude(inspector.made[1]?.[1], { requestBody: Buffer.from("{}") })
    assert.deepInclude(inspector.made[2]?.[1], {
      status: 200,
      responseHeaders: {},
      responseBody: Buffer.from([0, 255]),
      responseSize: 20,
      totalLatencyMs: 5
    })
  })

  it("goes on while it is in flight", () => {
    const inspector = calls()
    ingest(inspector, Either.getOrThrow(decode({ ...least, status: "in-flight" })))
    assert.deepStrictEqual(
      inspector.made.map(([name]) => name),
      ["begin", "update"]
    )
  })
})
