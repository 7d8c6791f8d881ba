import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import validator from "har-validator"
import { execFileSync } from "node:child_process"
import { codeFormats, codeOf } from "../../../../src/observe/inspector/exports/CodeExport.ts"
import { harEntryOf, harPieces, jsonlPieces } from "../../../../src/observe/inspector/exports/Har.ts"
import { maxHarEntries, readHar } from "../../../../src/observe/inspector/exports/HarImport.ts"
import type { TrafficRecord } from "../../../../src/contract/domain/TrafficRecord.ts"
import { coreOf, shapedSecrets } from "../../../support/KindsOfSecrets.ts"
import { aRecord } from "../../../support/TrafficRecords.ts"

const record = aRecord({
  id: "r1",
  path: "/v1/chat/completions?key=f7Gh2kLm9Qw4Zx8V&a=b%20c",
  requestHeaders: {
    "content-type": "application/json",
    authorization: "Bearer f7Gh2kLm9Qw4Zx8Vb1Nc",
    cookie: "a=1; b=f7Gh2kLm9Qw4Zx8Vb1Nc"
  },
  requestBody: '{"model":"gpt-5","messages":[{"role":"user","content":"It\'s $HOME & \\"ö\\""}]}',
  requestSize: 80,
  responseHeaders: { "content-type": "application/json", "set-cookie": "s=f7Gh2kLm9Qw4Zx8Vb1Nc; Path=/\nt=1" },
  responseBody: '{"id":"c1"}',
  responseSize: 11,
  upstreamLatencyMs: 80.5,
  totalLatencyMs: 100.5,
  annotation: "note to self",
  pid: 42,
  processName: "node"
})

/** An entry of every kind that the inspector has. */
const all: ReadonlyArray<TrafficRecord> = [
  record,
  aRecord({ id: "inflight", status: "in-flight" }),
  aRecord({ id: "error", status: "error", error: "ECONNRESET", host: "x.test", path: "/" }),
  aRecord({ id: "connect", method: "CONNECT", path: ":443", source: "http-proxy", detectedKind: "unknown" }),
  aRecord({ id: "port", scheme: "http", host: "127.0.0.1:8080", path: "/a b/ü?q=<>&q=2" }),
  aRecord({ id: "ws", scheme: "wss", path: "/v1/responses" }),
  aRecord({ id: "v6", host: "[::1]:9", path: "/" }),
  aRecord({ id: "odd", host: "bad host", path: "no slash" }),
  aRecord({ id: "star", method: "OPTIONS", path: "*" }),
  aRecord({
    id: "bytes",
    responseBody: "AP8=",
    responseEncoding: "base64",
    requestBody: "AP8=",
    requestEncoding: "base64"
  }),
  aRecord({
    id: "cut",
    responseBody: "abc[truncated: 3 of 5000 bytes]",
    responseTruncated: true,
    responseSize: 900,
    requestTruncated: true,
    requestBody: "x"
  }),
  aRecord({
    id: "redirect",
    status: 302,
    responseHeaders: { location: "https://example.com/next?token=f7Gh2kLm9Qw4Zx8Vb1Nc" }
  }),
  aRecord({ id: "evicted", bodyEvicted: true, requestSize: 9, responseSize: 9 }),
  aRecord({ id: "slow", upstreamLatencyMs: 50, totalLatencyMs: 20 }),
  aRecord({ id: "cookie", requestHeaders: { cookie: "" }, responseHeaders: { "set-cookie": "" } })
]

const archiveOf = (records: ReadonlyArray<TrafficRecord>) => JSON.parse([...harPieces(records, "1.2.3")].join(""))

describe("the HTTP archive", () => {
  it("is valid for every kind of entry", async () => {
    const archive = archiveOf(all)
    await validator.har(archive)
    assert.strictEqual(archive.log.entries.length, all.length)
    assert.deepStrictEqual(archive.log.creator, { name: "Gateway", version: "1.2.3" })
    await validator.har(archiveOf([]))
  })

  it("has times that add up, and absolute addresses", () => {
    for (const each of all) {
      const { request, time, timings } = harEntryOf(each)
      assert.strictEqual(timings.send + timings.wait + timings.receive, time, each.id)
      for (const ms of [time, timings.send, timings.wait, timings.receive]) assert.isAtLeast(ms, 0, each.id)
      assert.isTrue(URL.canParse(request.url), request.url)
      assert.notMatch(request.url, /\s/)
    }
    assert.deepStrictEqual(harEntryOf(record).timings, { send: 0, wait: 80.5, receive: 20 })
    assert.strictEqual(harEntryOf(all[3] ?? record).request.url, "https://api.openai.com/")
  })

  it("has what the archive has no place for in members of ours", () => {
    assert.deepInclude(harEntryOf(record), {
      _source: "http-proxy",
      _agent: null,
      _detectedKind: "llm",
      _contextKey: null,
      _sessionId: null,
      _annotation: "note to self",
      _note: null,
      _pid: 42,
      _gatewayId: "r1"
    })
    const failed = all.map(harEntryOf).filter(({ response }) => response.status === 0)
    assert.deepStrictEqual(
      failed.map((entry) => entry._error),
      ["in-flight", "ECONNRESET"]
    )
    const entries = all.map(harEntryOf)
    assert.strictEqual(entries.find(({ _gatewayId }) => _gatewayId === "bytes")?.response.content.encoding, "base64")
    assert.deepInclude(entries.find(({ _gatewayId }) => _gatewayId === "cut")?.response.content, {
      size: 5_000,
      comment: "truncated"
    })
  })

  it("holds no secret, also of records that were kept unmasked; nor does JSONL", () => {
    for (const [kind, secret] of Object.entries(shapedSecrets)) {
      const text = secret.replaceAll("\n", "\\n")
      const unmasked = aRecord({
        path: `/x?note=${encodeURIComponent(secret)}`,
        requestHeaders: { authorization: text, "x-note": text },
        responseHeaders: { "set-cookie": `a=${text}` },
        requestBody: JSON.stringify({ a: secret }),
        responseBody: `data: ${JSON.stringify({ b: secret })}\n\n`,
        error: `failed with ${text}`
      })
      for (const out of [[...harPieces([unmasked], "1")].join(""), [...jsonlPieces([unmasked])].join("")]) {
        assert.notInclude(out, coreOf(secret), kind)
        assert.notInclude(decodeURIComponent(out.replaceAll(/%(?![\dA-F]{2})/g, "")), coreOf(secret), kind)
      }
    }
    assert.deepStrictEqual(
      [...jsonlPieces(all)].map((line) => JSON.parse(line).id),
      all.map(({ id }) => id)
    )
  })
})

describe("the import of an archive", () => {
  const entry = archiveOf([record]).log.entries[0]
  const problemOf = (archive: unknown): string =>
    Either.match(readHar(typeof archive === "string" ? archive : JSON.stringify(archive)), {
      onLeft: ({ message }) => message,
      onRight: () => "no problem"
    })
  const withEntry = (change: object): unknown => ({
    log: { version: "1.2", entries: [entry, { ...entry, ...change }] }
  })

  it("gives back what was exported", () => {
    const exchanges = Either.getOrThrow(readHar(JSON.stringify(archiveOf(all))))
    assert.lengthOf(exchanges, all.length)
    const [first] = exchanges
    assert.deepInclude(first, {
      method: "POST",
      scheme: "https",
      host: "api.openai.com",
      status: 200,
      annotation: "note to self",
      upstreamLatencyMs: 80.5,
      totalLatencyMs: 100.5,
      source: "http-proxy"
    })
    assert.strictEqual(first?.requestBody?.toString(), record.requestBody)
    assert.strictEqual(first?.responseHeaders["set-cookie"], "s=***b1Nc; Path=/\nt=***")
    assert.deepStrictEqual(exchanges[9]?.responseBody, Buffer.from([0, 255]))
    assert.deepStrictEqual([exchanges[1]?.status, exchanges[2]?.error], ["error", "ECONNRESET"])
  })

  it("tells the version of HTTP, and takes it from archives in each program's own way", () => {
    const told = { ...record, httpVersion: "HTTP/2" }
    const { request, response } = harEntryOf(told)
    assert.deepStrictEqual([request.httpVersion, response.httpVersion], ["HTTP/2", "HTTP/2"])
    const versionsOf = (...written: ReadonlyArray<string>) =>
      written.map((httpVersion) => {
        const archive = { log: { version: "1.2", entries: [{ ...entry, request: { ...entry.request, httpVersion } }] } }
        return Either.getOrThrow(readHar(JSON.stringify(archive)))[0]?.httpVersion
      })
    assert.deepStrictEqual(versionsOf("HTTP/2", "h2", "http/2.0", "HTTP/1.1", "h3", "unknown", "x".repeat(1_000)), [
      "HTTP/2",
      "HTTP/2",
      "HTTP/2",
      "HTTP/1.1",
      "HTTP/3",
      null,
      null
    ])
  })

  it("reads archives of other programs, which lack what they may", () => {
    const foreign = {
      log: {
        entries: [
          {
            startedDateTime: "2026-11-24T10:00:00+01:00",
            time: -1,
            request: {
              method: "get",
              url: "https://example.com/?a=1",
              headers: [
                { name: ":method", value: "GET" },
                { name: "A", value: "1" },
                { name: "a", value: "2" }
              ],
              bodySize: -1
            },
            response: { status: 0, headers: [], content: { size: 0 } }
          }
        ]
      }
    }
    const [only] = Either.getOrThrow(readHar(`\uFEFF${JSON.stringify(foreign)}`))
    assert.deepInclude(only, {
      method: "GET",
      timestamp: "2026-11-24T09:00:00.000Z",
      totalLatencyMs: null,
      requestBody: null,
      status: "error",
      error: "failed"
    })
    assert.deepStrictEqual(only?.requestHeaders, { a: "1, 2" })
  })

  it("names what is wrong and where", () => {
    assert.strictEqual(problemOf("not json"), "The file: expected JSON")
    assert.strictEqual(problemOf([]), "The file: expected an object")
    assert.strictEqual(problemOf({}), "log: is missing, expected an object")
    assert.strictEqual(problemOf({ log: { entries: {} } }), "log.entries: expected a list")
    const cases: ReadonlyArray<readonly [object, string]> = [
      [{ request: 1 }, "log.entries[1].request: expected an object"],
      [{ response: null }, "log.entries[1].response: expected an object"],
      [{ startedDateTime: "yesterday" }, "log.entries[1].startedDateTime: expected a time in ISO 8601"],
      [{ request: { ...entry.request, method: 5 } }, "log.entries[1].request.method: expected a string"],
      [
        { request: { ...entry.request, method: "GE T" } },
        "log.entries[1].request.method: expected the name of a method"
      ],
      [
        { request: { ...entry.request, url: "/x" } },
        "log.entries[1].request.url: expected an absolute http or https address"
      ],
      [
        { request: { ...entry.request, url: "file:///etc/passwd" } },
        "log.entries[1].request.url: expected an absolute http or https address"
      ],
      [{ request: { ...entry.request, headers: "x" } }, "log.entries[1].request.headers: expected a list"],
      [
        { request: { ...entry.request, headers: [{ name: 1 }] } },
        "log.entries[1].request.headers[0].name: expected a string"
      ],
      [
        { request: { ...entry.request, postData: { text: {} } } },
        "log.entries[1].request.postData.text: expected a string"
      ],
      [{ response: { ...entry.response, status: "200" } }, "log.entries[1].response.status: expected a whole number"],
      [
        { response: { ...entry.response, content: { text: "x", encoding: "rot13" } } },
        "log.entries[1].response.content: expected the encoding base64, not 'rot13'"
      ]
    ]
    for (const [change, message] of cases) assert.strictEqual(problemOf(withEntry(change)), message)
  })

  it("refuses more entries than a session may have", () => {
    const entries = Array.from({ length: maxHarEntries + 1 }, () => 0)
    const problem = Either.flip(readHar(JSON.stringify({ log: { entries } })))
    assert.strictEqual(Either.getOrThrow(problem).reason, "too_large")
  })
})

describe("a request as code", () => {
  it("has the placeholder for its key, and no secret", () => {
    for (const format of codeFormats) {
      const code = codeOf(record, format)
      assert.include(code, "$GATEWAY_API_KEY", format)
      assert.notInclude(code, "f7Gh2kLm9Qw4Zx8V", format)
      assert.notInclude(code, "***", format)
      assert.notInclude(code.toLowerCase(), "cookie", format)
    }
    assert.include(codeOf(aRecord(), "curl"), "Bearer $GATEWAY_API_KEY")
    assert.notInclude(codeOf(aRecord({ detectedKind: "app" }), "curl"), "GATEWAY_API_KEY")
    assert.include(codeOf(aRecord({ requestTruncated: true, requestBody: "x" }), "python"), "# The body was longer")
  })

  it("is a command that a shell reads as it is meant", () => {
    const script = `curl() { printf '%s\\n' "$@"; }\nGATEWAY_API_KEY='k"1$x'\n${codeOf(record, "curl")}`
    const lines = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\n")
    assert.include(lines, record.requestBody)
    assert.include(lines, 'authorization: Bearer k"1$x')
    assert.include(lines, 'https://api.openai.com/v1/chat/completions?key=k"1$x&a=b%20c')
  })

  it("is TypeScript that runs", async () => {
    const body = codeOf(record, "typescript")
      .replace(": string", "")
      .replace("console.log(response.status, await response.text())", "return response")
    const asked = await new Function("process", "fetch", `return (async () => {${body}})()`)(
      { env: { GATEWAY_API_KEY: "k1" } },
      (url: string, options: object) => Promise.resolve({ url, ...options })
    )
    assert.deepInclude(asked, { method: "POST", body: record.requestBody })
    assert.strictEqual(asked.headers.authorization, "Bearer k1")
  })

  it("is Python that compiles, also for bytes", () => {
    for (const each of [record, all[9] ?? record]) {
      execFileSync("python3", ["-c", "import sys; compile(sys.stdin.read(), 'x', 'exec')"], {
        input: codeOf(each, "python")
      })
    }
  })
})
