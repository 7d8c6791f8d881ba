/**
 * Carries messages of a client of standard input to the gateway's MCP server over HTTP, and its answers and messages back. Every request is answered,
 * with its own id, also where the gateway is not there, refuses it, or answers with what is no message; a notification never is.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { type Lane, makeLane } from "../../../kernel/Lane.ts"
import { errorMessage, idWithin, type RequestId, rpcCodes } from "../../../agents/mcp/protocol/JsonRpc.ts"
import { isArray, isObject, type Json, objectOr, parseJson, stringOr } from "../../../wire/json/Json.ts"
import { makeSseFramer } from "../../../wire/sse/SseFramer.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"

/** Longer lines are no messages of a client. */
const maxLineChars = 4 * 1_048_576
/** Bytes of one event of a stream. */
const maxEventBytes = 8 * 1_048_576
/** Pause between two attempts to listen for messages of the server. */
const listenAgainAfter = "5 seconds"

export interface Relaying {
  /** The gateway and the key, as they are now: a gateway that was restarted has another token, and may listen elsewhere. */
  readonly target: Effect.Effect<Client.Target, CliFailure>
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  /** Writes a message as a line. */
  readonly write: (message: string) => Effect.Effect<void>
  /** Prints a note for people. */
  readonly note: (text: string) => Effect.Effect<void>
}

export interface Relay {
  /** Carries one line; done when each of its requests is answered. */
  readonly send: (line: string) => Effect.Effect<void>
  readonly hasSession: () => boolean
  /** Ends the session. */
  readonly end: Effect.Effect<void>
}

/** Null: the text is no JSON, or says nothing. */
const jsonIn = (text: string): Json | null => parseJson(text) ?? null

/** The ids of the requests in a line; empty: it wants no answer. */
const requestIds = (value: Json): ReadonlyArray<RequestId> =>
  (isArray(value) ? value : [value]).flatMap((message) => {
    const { id, method } = objectOr(message)
    return method !== undefined && (typeof id === "string" || typeof id === "number") ? [id] : []
  })

const methodOf = (value: Json | null): string | null => stringOr(objectOr(value)["method"])

/** The data of an event; null when it has none, as comments. */
const dataOf = (block: string): string | null => {
  const lines = block.split(/\r\n|\r|\n/).filter((line) => line.startsWith("data:"))
  return lines.length === 0 ? null : lines.map((line) => line.slice(5).trim()).join("\n")
}

/** The messages of an answer as they come: of a stream of events, or of one JSON text. */
const messagesOf = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<Json, unknown> => {
  if (!(response.headers["content-type"] ?? "").startsWith("text/event-stream")) {
    return Stream.fromEffect(response.text).pipe(
      Stream.mapConcat((text) => {
        const value = text === "" ? null : jsonIn(text)
        return value === null ? [] : [value]
      })
    )
  }
  const framer = makeSseFramer(maxEventBytes)
  return response.stream.pipe(
    Stream.mapConcatEffect((chunk) => {
      const messages: Array<Json> = []
      framer.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), (bytes, start, end) => {
        const data = dataOf(bytes.toString("utf8", start, end))
        const value = data === null ? null : jsonIn(data)
        if (value !== null) messages.push(value)
      })
      const failure = framer.failure()
      return failure === null ? Effect.succeed(messages) : Effect.fail(failure)
    })
  )
}

const isMessage = (value: Json): boolean => isObject(value) && value["jsonrpc"] === "2.0"

/** Reads the error of an answer that answers none of the requests. */
const reasonIn = (value: Json): string | null => stringOr(objectOr(objectOr(value)["error"])["message"])

/** Nothing was sent: the port is closed. */
const isUnreached = (error: unknown): boolean =>
  objectOr((error as { readonly cause?: Json }).cause ?? null)["code"] === "ECONNREFUSED"

interface Session {
  readonly id: string
  readonly version: string
}

/** The relay's ends, and what it knows of the session. */
interface RelayState extends Relaying {
  readonly renewing: Lane
  to: Client.Target
  session: Session | null
  /** The client's own first message, to begin another session with. */
  first: string | null
  generation: number
  listener: Fiber.RuntimeFiber<void> | null
}

const sessionHeaders = ({ id, version }: Session): Readonly<Record<string, string>> => ({
  "mcp-session-id": id,
  "mcp-protocol-version": version
})

/** Sends a line to the gateway in the present session. */
const post = (relay: RelayState, message: string) =>
  Effect.suspend(() =>
    Client.httpClient(relay.to, relay.headers).execute(
      HttpClientRequest.post(`${relay.to.url}/mcp`).pipe(
        HttpClientRequest.bodyText(message, "application/json"),
        HttpClientRequest.setHeaders({
          accept: "application/json, text/event-stream",
          ...(relay.session === null ? {} : sessionHeaders(relay.session))
        })
      )
    )
  )

const written = ({ write }: RelayState, value: Json) => write(JSON.stringify(value))

/** Passes on messages that the server sends by itself, such as a changed list of tools. */
const listen = (relay: RelayState, own: Session): Effect.Effect<void> =>
  Client.httpClient(relay.to, relay.headers)
    .execute(
      HttpClientRequest.get(`${relay.to.url}/mcp`).pipe(
        HttpClientRequest.setHeaders({
          accept: "text/event-stream",
          ...(relay.session === null ? {} : sessionHeaders(relay.session))
        })
      )
    )
    .pipe(
      Effect.flatMap((response) =>
        response.status === 200
          ? Stream.runForEach(Stream.filter(messagesOf(response), isMessage), (value) => written(relay, value))
          : Effect.void
      ),
      Effect.scoped,
      Effect.ignore,
      Effect.zipRight(Effect.sleep(listenAgainAfter)),
      Effect.zipRight(Effect.suspend(() => (relay.session === own ? listen(relay, own) : Effect.void)))
    )

const begun = (relay: RelayState, response: HttpClientResponse.HttpClientResponse, answer: Json) =>
  Effect.gen(function* () {
    const id = response.headers["mcp-session-id"]
    const version = stringOr(objectOr(objectOr(answer)["result"])["protocolVersion"])
    if (id === undefined || version === null) return
    relay.session = { id, version }
    if (relay.listener !== null) yield* Fiber.interruptFork(relay.listener)
    relay.listener = yield* Effect.forkDaemon(listen(relay, relay.session))
  })

const firstMessage = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(Stream.runCollect(messagesOf(response)), (messages) => Array.from(messages)[0] ?? null)

/** Looks for the gateway again and begins another session, as the client has begun its own; once for all who wait for it. */
const renew = (relay: RelayState, before: number, isFirst: boolean) =>
  relay.renewing.inTurn(
    Effect.gen(function* () {
      if (relay.generation !== before) return
      relay.generation += 1
      const found = yield* relay.target
      // While none runs, the one before is the likeliest to come back.
      if (found.namedBy !== "default") relay.to = found
      relay.session = null
      if (relay.first === null || isFirst) return
      const response = yield* post(relay, relay.first)
      yield* begun(relay, response, yield* firstMessage(response))
      yield* post(relay, '{"jsonrpc":"2.0","method":"notifications/initialized"}')
    })
  )

/** Checks whether it was refused because the gateway was started anew since. It was not executed then. */
const isStale = ({ session, to }: RelayState, { status }: HttpClientResponse.HttpClientResponse): boolean =>
  (status === 404 && session !== null) || (status === 401 && (to.namedBy === "owner" || to.namedBy === "default"))

const asking = (relay: RelayState, message: string, isFirst: boolean) =>
  Effect.gen(function* () {
    const before = relay.generation
    const response = yield* post(relay, message).pipe(
      Effect.catchIf(isUnreached, () => Effect.zipRight(renew(relay, before, isFirst), post(relay, message)))
    )
    if (!isStale(relay, response)) return response
    yield* renew(relay, before, isFirst)
    return yield* post(relay, message)
  })

/** Writes what comes, and gives the ids that were not answered with what is known of the reason. */
const answered = (
  relay: RelayState,
  response: HttpClientResponse.HttpClientResponse,
  asked: ReadonlyArray<RequestId>
) =>
  Effect.gen(function* () {
    const open = new Set(asked)
    let reason: string | null = null
    yield* Stream.runForEach(messagesOf(response), (value) =>
      Effect.gen(function* () {
        const answers = (isArray(value) ? value : [value]).filter(isMessage)
        const isOwn = answers.some((one) => open.has(objectOr(one)["id"] as RequestId))
        for (const one of answers) open.delete(objectOr(one)["id"] as RequestId)
        // Notifications of a call come before its answer.
        if (isOwn || answers.some((one) => methodOf(one) !== null)) return yield* written(relay, value)
        reason = reasonIn(value) ?? reason
      })
    ).pipe(Effect.catchAll(() => Effect.sync(() => void (reason = "The answer of the gateway broke off."))))
    return { open, reason: reason ?? `The gateway answered with the status ${response.status}.` }
  })

const carried = (relay: RelayState, message: string, asked: ReadonlyArray<RequestId>, isFirst: boolean) =>
  Effect.gen(function* () {
    const response = yield* asking(relay, message, isFirst)
    const { status } = response
    if (!isFirst || status !== 200) return { status, ...(yield* answered(relay, response, asked)) }
    const answer = yield* firstMessage(response)
    yield* begun(relay, response, answer)
    if (answer !== null) yield* written(relay, answer)
    return { status, open: new Set(answer === null ? asked : []), reason: "It sent no answer." }
  }).pipe(
    Effect.scoped,
    Effect.catchAll(() =>
      Effect.succeed({
        status: 0,
        open: new Set(asked),
        reason: `No gateway answers at ${relay.to.url}. Start it with 'gateway serve'.`
      })
    )
  )

const refuse = (relay: RelayState, id: RequestId | null, code: number, message: string) =>
  written(relay, errorMessage(id, { code, message }))

const send = (relay: RelayState, message: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (message.length > maxLineChars) {
      const reason = `A message may have ${maxLineChars} characters.`
      return yield* refuse(relay, idWithin(message), rpcCodes.invalidRequest, reason)
    }
    const value = jsonIn(message)
    if (value === null) return yield* refuse(relay, idWithin(message), rpcCodes.parse, "The line is no JSON.")
    const asked = requestIds(value)
    const isFirst = methodOf(value) === "initialize"
    if (isFirst) relay.first = message
    const { open, reason, status } = yield* carried(relay, message, asked, isFirst)
    const code = status === 401 || status === 403 ? rpcCodes.unauthorized : rpcCodes.unavailable
    for (const id of open) yield* refuse(relay, id, code, reason)
    if (asked.length === 0 && (status === 0 || status >= 400)) {
      yield* relay.note(`A notification was not taken: ${reason}`)
    }
  })

const end = (relay: RelayState): Effect.Effect<void> =>
  Effect.suspend(() => {
    const own = relay.session
    relay.session = null
    const silenced = relay.listener === null ? Effect.void : Fiber.interrupt(relay.listener)
    if (own === null) return Effect.asVoid(silenced)
    const remove = HttpClientRequest.del(`${relay.to.url}/mcp`).pipe(HttpClientRequest.setHeaders(sessionHeaders(own)))
    return silenced.pipe(
      Effect.zipRight(Client.httpClient(relay.to, relay.headers).execute(remove)),
      Effect.scoped,
      Effect.timeout("2 seconds"),
      Effect.ignore
    )
  })

export const makeRelay = (relaying: Relaying): Effect.Effect<Relay, CliFailure> =>
  Effect.gen(function* () {
    const relay: RelayState = {
      ...relaying,
      renewing: makeLane(1),
      to: yield* relaying.target,
      session: null,
      first: null,
      generation: 0,
      listener: null
    }
    return { send: (message) => send(relay, message), hasSession: () => relay.session !== null, end: end(relay) }
  })
