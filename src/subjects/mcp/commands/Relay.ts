/**
 * Carries messages of a client of standard input to the gateway's MCP server over HTTP, and its answers and messages back. Every request is answered,
 * with its own id, also where the gateway is not there, refuses it, or answers with what is no message; a notification never is.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
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
      return framer.failure === null ? Effect.succeed(messages) : Effect.fail(framer.failure)
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

export const makeRelay = ({ headers, note, target, write }: Relaying): Effect.Effect<Relay, CliFailure> =>
  Effect.gen(function* () {
    let to = yield* target
    let session: Session | null = null
    /** The client's own first message, to begin another session with. */
    let first: string | null = null
    let generation = 0
    let listener: Fiber.RuntimeFiber<void> | null = null
    const renewing = yield* Effect.makeSemaphore(1)

    const ofSession = (): Readonly<Record<string, string>> =>
      session === null ? {} : { "mcp-session-id": session.id, "mcp-protocol-version": session.version }

    /** Sends a line to the gateway in the present session. */
    const post = (line: string) =>
      Effect.suspend(() =>
        Client.httpClient(to, headers).execute(
          HttpClientRequest.post(`${to.url}/mcp`).pipe(
            HttpClientRequest.bodyText(line, "application/json"),
            HttpClientRequest.setHeaders({ accept: "application/json, text/event-stream", ...ofSession() })
          )
        )
      )

    const written = (value: Json) => write(JSON.stringify(value))

    /** Messages that the server sends by itself, such as a changed list of tools. */
    const listen = (own: Session): Effect.Effect<void> =>
      Client.httpClient(to, headers)
        .execute(
          HttpClientRequest.get(`${to.url}/mcp`).pipe(
            HttpClientRequest.setHeaders({ accept: "text/event-stream", ...ofSession() })
          )
        )
        .pipe(
          Effect.flatMap((response) =>
            response.status === 200
              ? Stream.runForEach(Stream.filter(messagesOf(response), isMessage), written)
              : Effect.void
          ),
          Effect.scoped,
          Effect.ignore,
          Effect.zipRight(Effect.sleep(listenAgainAfter)),
          Effect.zipRight(Effect.suspend(() => (session === own ? listen(own) : Effect.void)))
        )

    const begun = (response: HttpClientResponse.HttpClientResponse, answer: Json) =>
      Effect.gen(function* () {
        const id = response.headers["mcp-session-id"]
        const version = stringOr(objectOr(objectOr(answer)["result"])["protocolVersion"])
        if (id === undefined || version === null) return
        session = { id, version }
        if (listener !== null) yield* Fiber.interruptFork(listener)
        listener = yield* Effect.forkDaemon(listen(session))
      })

    /** Looks for the gateway again and begins another session, as the client has begun its own; once for all who wait for it. */
    const renew = (before: number, isFirst: boolean) =>
      renewing.withPermits(1)(
        Effect.gen(function* () {
          if (generation !== before) return
          generation += 1
          const found = yield* target
          // While none runs, the one before is the likeliest to come back.
          if (found.namedBy !== "default") to = found
          session = null
          if (first === null || isFirst) return
          const response = yield* post(first)
          const [answer = null] = Array.from(yield* Stream.runCollect(messagesOf(response)))
          yield* begun(response, answer)
          yield* post('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        })
      )

    /** Checks whether it was refused because the gateway was started anew since. It was not executed then. */
    const isStale = ({ status }: HttpClientResponse.HttpClientResponse): boolean =>
      (status === 404 && session !== null) || (status === 401 && (to.namedBy === "owner" || to.namedBy === "default"))

    const asking = (line: string, isFirst: boolean) =>
      Effect.gen(function* () {
        const before = generation
        const response = yield* post(line).pipe(
          Effect.catchIf(isUnreached, () => Effect.zipRight(renew(before, isFirst), post(line)))
        )
        if (!isStale(response)) return response
        yield* renew(before, isFirst)
        return yield* post(line)
      })

    /** Writes what comes, and gives the ids that were not answered with what is known of the reason. */
    const answered = (response: HttpClientResponse.HttpClientResponse, asked: ReadonlyArray<RequestId>) =>
      Effect.gen(function* () {
        const open = new Set(asked)
        let reason: string | null = null
        yield* Stream.runForEach(messagesOf(response), (value) =>
          Effect.gen(function* () {
            const answers = (isArray(value) ? value : [value]).filter(isMessage)
            const isOwn = answers.some((one) => open.has(objectOr(one)["id"] as RequestId))
            for (const one of answers) open.delete(objectOr(one)["id"] as RequestId)
            // Notifications of a call come before its answer.
            if (isOwn || answers.some((one) => methodOf(one) !== null)) return yield* written(value)
            reason = reasonIn(value) ?? reason
          })
        ).pipe(Effect.catchAll(() => Effect.sync(() => void (reason = "The answer of the gateway broke off."))))
        return { open, reason: reason ?? `The gateway answered with the status ${response.status}.` }
      })

    const carried = (line: string, asked: ReadonlyArray<RequestId>, isFirst: boolean) =>
      Effect.gen(function* () {
        const response = yield* asking(line, isFirst)
        if (!isFirst || response.status !== 200)
          return { status: response.status, ...(yield* answered(response, asked)) }
        const [answer = null] = Array.from(yield* Stream.runCollect(messagesOf(response)))
        yield* begun(response, answer)
        if (answer !== null) yield* written(answer)
        return { status: response.status, open: new Set(answer === null ? asked : []), reason: "It sent no answer." }
      })

    const refuse = (id: RequestId | null, code: number, message: string) => written(errorMessage(id, { code, message }))

    const send = (line: string): Effect.Effect<void> =>
      Effect.gen(function* () {
        if (line.length > maxLineChars) {
          return yield* refuse(
            idWithin(line),
            rpcCodes.invalidRequest,
            `A message may have ${maxLineChars} characters.`
          )
        }
        const value = jsonIn(line)
        if (value === null) return yield* refuse(idWithin(line), rpcCodes.parse, "The line is no JSON.")
        const asked = requestIds(value)
        const isFirst = methodOf(value) === "initialize"
        if (isFirst) first = line
        const { open, reason, status } = yield* carried(line, asked, isFirst).pipe(
          Effect.scoped,
          Effect.catchAll(() =>
            Effect.succeed({
              status: 0,
              open: new Set(asked),
              reason: `No gateway answers at ${to.url}. Start it with 'gateway serve'.`
            })
          )
        )
        const code = status === 401 || status === 403 ? rpcCodes.unauthorized : rpcCodes.unavailable
        for (const id of open) yield* refuse(id, code, reason)
        if (asked.length === 0 && (status === 0 || status >= 400))
          yield* note(`A notification was not taken: ${reason}`)
      })

    const end = Effect.suspend(() => {
      const own = session
      session = null
      const silenced = listener === null ? Effect.void : Fiber.interrupt(listener)
      if (own === null) return Effect.asVoid(silenced)
      const remove = HttpClientRequest.del(`${to.url}/mcp`).pipe(
        HttpClientRequest.setHeaders({ "mcp-session-id": own.id, "mcp-protocol-version": own.version })
      )
      return silenced.pipe(
        Effect.zipRight(Client.httpClient(to, headers).execute(remove)),
        Effect.scoped,
        Effect.timeout("2 seconds"),
        Effect.ignore
      )
    })

    return { send, hasSession: () => session !== null, end }
  })
