/** Asks a server the cases of `gateway conformance`, one after the other, and judges what it answers. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { WireName } from "../../contract/domain/Wire.ts"
import { type Answer, answerOf } from "./Answer.ts"
import { type Case, type CaseRequest, judge, type Judged } from "./Case.ts"

/** The server that is asked. */
export interface Server {
  /** Address without a slash at the end, and without the version that the paths begin with. */
  readonly url: string
  readonly key: Redacted.Redacted | null
  readonly model: string
  /** Header that carries the key: the wire's own one, or `Authorization` for all, where alone a gateway takes its owner's token. */
  readonly credential: "own" | "bearer"
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Row extends Judged {
  readonly id: string
  readonly wire: WireName
  readonly title: string
  readonly source: string
  /** A command that asks the same, with the key in `$KEY`. */
  readonly reproduce: string
}

/** Longest time of one answer. */
const timeout = "120 seconds"
/** Most bytes of an answer that are read. */
const maxAnswerBytes = 4 * 1_048_576

/** Key that no server has. */
const wrongKey = "wrong-key-of-a-conformance-test"

/** https://docs.anthropic.com/en/api/versioning */
const anthropicVersion = "2023-06-01"

const headersOf = (wire: WireName, key: string | null, server: Server): Readonly<Record<string, string>> => {
  const bearer = key === null ? {} : { authorization: `Bearer ${key}` }
  if (server.credential === "bearer") return { ...server.headers, ...bearer }
  if (wire === "messages") {
    return { "anthropic-version": anthropicVersion, ...server.headers, ...(key === null ? {} : { "x-api-key": key }) }
  }
  return { ...server.headers, ...(wire === "gemini" && key !== null ? { "x-goog-api-key": key } : bearer) }
}

const textOf = ({ body }: CaseRequest): string | null =>
  body === null || typeof body === "string" ? body : JSON.stringify(body)

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Writes a request as a command for a shell. */
export const commandOf = (server: Server, each: Case, request: CaseRequest): string => {
  const text = textOf(request)
  const key = each.credential === "wrong" ? wrongKey : server.key === null ? null : "$KEY"
  const headers = Object.entries(headersOf(each.wire, key, server)).map(([name, value]) => `-H "${name}: ${value}"`)
  return [
    `curl -sS -N -X ${request.method} ${quoted(server.url + request.path)}`,
    ...headers,
    ...(text === null ? [] : ['-H "content-type: application/json"', `-d ${quoted(text)}`])
  ].join(" ")
}

const sent = (client: HttpClient.HttpClient, server: Server, each: Case, asked: CaseRequest) => {
  const key = each.credential === "wrong" ? wrongKey : server.key === null ? null : Redacted.value(server.key)
  const text = textOf(asked)
  const plain = HttpClientRequest.setHeaders(
    HttpClientRequest.make(asked.method)(server.url + asked.path),
    headersOf(each.wire, key, server)
  )
  return client.execute(text === null ? plain : HttpClientRequest.bodyText(plain, text, "application/json")).pipe(
    Effect.flatMap((response) =>
      Stream.runFold(response.stream, { bytes: 0, parts: [] as ReadonlyArray<Uint8Array> }, (read, part) =>
        read.bytes > maxAnswerBytes ? read : { bytes: read.bytes + part.length, parts: [...read.parts, part] }
      ).pipe(
        Effect.map(({ parts }) =>
          answerOf(response.status, response.headers["content-type"] ?? "", Buffer.concat(parts).toString())
        )
      )
    ),
    Effect.timeoutFail({ duration: timeout, onTimeout: () => new Error(`there is no whole answer after ${timeout}`) }),
    Effect.mapError((error) => error.message)
  )
}

const failed = (reason: string): Judged => ({ verdict: "fail", reasons: [reason] })

/** Asks one case; a connection that fails is a `fail`. */
const asked = Effect.fn("cli.conformance.case")(function* (client: HttpClient.HttpClient, server: Server, each: Case) {
  const first = each.request(server.model)
  const rowOf = (request: CaseRequest, { reasons, verdict }: Judged): Row => ({
    id: each.id,
    wire: each.wire,
    title: each.title,
    source: each.source,
    verdict,
    reasons,
    reproduce: commandOf(server, each, request)
  })
  const judged = (answer: Answer) => judge(each, answer)
  const onFailure = (reason: string) => Effect.succeed(reason)
  const answer = yield* Effect.catchAll(sent(client, server, each, first), onFailure)
  if (typeof answer === "string") return rowOf(first, failed(answer))
  if (each.next === undefined) return rowOf(first, judged(answer))
  const second = answer.status === 200 ? each.next(answer, server.model) : null
  if (second === null) {
    return rowOf(first, answer.status === 200 ? failed("the answer has no id") : judged(answer))
  }
  const last = yield* Effect.catchAll(sent(client, server, each, second), onFailure)
  return rowOf(second, typeof last === "string" ? failed(last) : judged(last))
})

/**
 * Asks all cases, those of a wire after its plainest question: a server that has no such path is asked nothing else of that wire. `report` hears how
 * many are done.
 */
export const run = Effect.fn("cli.conformance.run")(function* (
  client: HttpClient.HttpClient,
  server: Server,
  cases: ReadonlyArray<Case>,
  report: (done: number) => void
) {
  const rows: Array<Row> = []
  const missing = new Map<WireName, ReadonlyArray<string>>()
  for (const [index, each] of cases.entries()) {
    const reasons = missing.get(each.wire)
    if (reasons === undefined) {
      const row = yield* asked(client, server, each)
      rows.push(row)
      if (row.verdict === "not offered" && each.kind === "required") missing.set(each.wire, row.reasons)
    } else {
      const { id, source, title, wire } = each
      const reproduce = commandOf(server, each, each.request(server.model))
      rows.push({ id, wire, title, source, verdict: "not offered", reasons, reproduce })
    }
    report(index + 1)
  }
  return rows
})
