/** Serves the requests of a directory: judges their callers, reads their bodies, answers them and writes their rows of the audit log. Loaded by the first one. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage, ServerResponse } from "node:http"
import { BodyNotDecoded, describe } from "../../contract/domain/Errors.ts"
import type { ScimRoute } from "../../contract/EdgeRoutes.ts"
import type { Parameters } from "../../contract/Routes.ts"
import { Events } from "../../observe/Events.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Timers } from "../../platform/Timers.ts"
import { KeyChanges } from "../../plane/ledger/KeyChanges.ts"
import { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { ConfigSettled } from "../../plane/workers/ConfigWatch.ts"
import { isBusy, requestWaitMs, waitingAtMost } from "../../store/engine/WriteQueue.ts"
import type { Access } from "../../subjects/auth/Access.ts"
import { AuditLog } from "../../subjects/auth/AuditLog.ts"
import { requestedAddress } from "../../subjects/auth/Credentials.ts"
import { isSafeMethod } from "../../subjects/auth/Csrf.ts"
import { Gate } from "../../subjects/auth/Gate.ts"
import { peerAddressOf, shownAddressOf } from "../../subjects/auth/PeerAddress.ts"
import { Sessions } from "../../subjects/auth/sessions/Sessions.ts"
import { IssuerRepo } from "../../subjects/issuers/repo.ts"
import { directoryScope, type Principal } from "../../subjects/keys/entity.ts"
import { type Bounds, boundsOf } from "../../subjects/people/Bounds.ts"
import type { Directory } from "../../subjects/people/Owners.ts"
import { People } from "../../subjects/people/People.ts"
import { badSyntax, ScimError } from "../../subjects/scim/entity.ts"
import { Unreadable } from "../../wire/json/Bounds.ts"
import { isObject, type JsonObject, objectOr } from "../../wire/json/Json.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { makeAnswers } from "./ScimAnswers.ts"
import { rowOfScim } from "./ScimRows.ts"
import { NodeReply } from "../listening/NodeReply.ts"
import { OpenStreams } from "../listening/OpenStreams.ts"
import { readBody } from "../listening/RequestBody.ts"
import { errorAnswer, isScimBody, type ScimAnswer, sendScim } from "./ScimReply.ts"

export type ScimHandler = (
  route: ScimRoute,
  parameters: Parameters,
  request: IncomingMessage,
  response: ServerResponse
) => void

/** Bytes of a body: some ten thousand members, as directories write them. */
const maxBodyBytes = 4 * 1_048_576

/** Bounds of who asks; null: none. A key that an owner has given to a directory has none. */
const boundsOfCaller = (directory: Directory, principal: Principal): Bounds | null => {
  if (principal._tag === "Session") {
    const { person } = principal
    return person === undefined ? null : boundsOf(directory, { userId: person.userId, scopes: [] }, "pushPeople")
  }
  if (principal._tag !== "Key" || principal.key.scopes.includes(directoryScope)) return null
  return boundsOf(directory, principal.key, "pushPeople")
}

const fault = new ScimError({
  status: 500,
  detail: "The gateway failed to handle this request. Its log has the details under the request id."
})

const storeFailed = (cause: unknown): ScimError =>
  new ScimError({
    status: 503,
    detail: isBusy(cause)
      ? "Another process holds the gateway's database. Nothing was changed; try again in a moment."
      : "The gateway could not use its database; its log has the details.",
    retryAfterMs: 5_000
  })

const bodyOf = (bytes: Buffer): JsonObject | ScimError => {
  const value = readForeignBody(bytes)
  if (value instanceof Unreadable) return badSyntax(value.message)
  if (!isObject(value)) return badSyntax("The request body must be a JSON object.")
  // Names of attributes are the same in either case, so that two of them would be one with two values.
  const twice = [value, objectOr(value["name"])].some(
    (members) => new Set(Object.keys(members).map((name) => name.toLowerCase())).size < Object.keys(members).length
  )
  return twice ? badSyntax("An attribute is there twice, in another case.") : value
}

const searchOf = ({ url = "" }: IncomingMessage): URLSearchParams => {
  const at = url.indexOf("?")
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1))
}

/** A request whose caller was judged. */
interface Call {
  readonly route: ScimRoute
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly access: Access
}

/** Receives the body; `next` gets it, or why it is refused. */
const makeReceive = Effect.gen(function* () {
  const bodies = yield* BodyBudget
  const slices = yield* Slices
  const config = yield* AppConfig
  const limitBytes = Math.min(maxBodyBytes, config.maxBodyBytes)
  return ({ access, request, response }: Call, next: (body: JsonObject | ScimError) => void): void => {
    const refused = (status: number, detail: string): void => next(new ScimError({ status, detail }))
    if (!isScimBody(request.headers["content-type"])) {
      return refused(415, "Send the body as 'Content-Type: application/scim+json'.")
    }
    const apiKeyId = access._tag === "Allowed" && access.principal._tag === "Key" ? access.principal.key.id : null
    const share = bodies.share(apiKeyId)
    response.once("close", share.release)
    readBody(request, limitBytes, share, (body) => {
      if (body === "gone") return
      if (body === "too_large") return refused(413, `The request body is larger than ${limitBytes} bytes.`)
      if (body === "no_room") return refused(503, "The gateway holds too many request bodies now. Try again.")
      if (body instanceof BodyNotDecoded) return refused(describe(body).status, describe(body).message)
      slices.whenRead(body, () => next(bodyOf(body)))
    })
  }
})

/** Writes the row of a request that may change something, and tells of what was changed. */
const makeRecord = Effect.gen(function* () {
  const audit = yield* AuditLog
  const timers = yield* Timers
  const { configChanged } = yield* Events
  const settled = yield* ConfigSettled
  return Effect.fn("Scim.record")(function* (call: Call, body: JsonObject, answer: ScimAnswer) {
    const { access, id, request, requestId, route } = call
    if (isSafeMethod(route.method)) return
    const atMs = timers.nowMs()
    const principal = access._tag === "Allowed" ? access.principal : (access.principal ?? null)
    const code = access._tag === "Denied" ? access.code : undefined
    const ip = shownAddressOf(request.socket)
    const row = rowOfScim({ key: route.key, principal, code, id, body, answer, requestId, atMs, ip })
    yield* audit.record(row)
    if (row.status !== "success") return
    const kind = route.key.endsWith("User") ? "user" : "team"
    configChanged(atMs, { kind, id: row.target, by: row.actor, action: row.action })
    // The change is in force in every process before its caller has the answer.
    yield* settled
  })
})

const makeAnswer = Effect.gen(function* () {
  const deps = {
    changes: yield* KeyChanges,
    ids: yield* IdGen,
    issuers: yield* IssuerRepo,
    people: yield* People,
    sessions: yield* Sessions,
    slices: yield* Slices
  }
  const answer = makeAnswers(deps)
  return ({ access, id, request, route }: Call, body: JsonObject): Effect.Effect<ScimAnswer> => {
    if (access._tag === "Denied")
      return Effect.succeed(errorAnswer(new ScimError({ status: access.status, detail: access.message })))
    const asked = {
      key: route.key,
      id,
      headers: request.headers,
      search: searchOf(request),
      base: `${requestedAddress(request.headers) ?? ""}/scim/v2`,
      bounds: boundsOfCaller(deps.people.directory(), access.principal),
      body
    }
    return waitingAtMost(requestWaitMs)(answer(asked)).pipe(
      Effect.catchTag("StoreError", (error) =>
        Effect.zipRight(Effect.logError(error.message, error), Effect.fail(storeFailed(error.cause)))
      ),
      Effect.catchTag("ScimError", (error) => Effect.succeed(errorAnswer(error))),
      Effect.catchAllCause((cause) =>
        Effect.as(Effect.logError("A request of a directory failed", cause), errorAnswer(fault))
      )
    )
  }
})

export const makeHandler = Effect.gen(function* () {
  const gate = yield* Gate
  const ids = yield* IdGen
  const streams = yield* OpenStreams
  const timers = yield* Timers
  const receive = yield* makeReceive
  const record = yield* makeRecord
  const answerTo = yield* makeAnswer
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const serve = (call: Call, body: JsonObject | ScimError): void => {
    const { requestId, response } = call
    const sent = body instanceof ScimError ? {} : body
    const answered = body instanceof ScimError ? Effect.succeed(errorAnswer(body)) : answerTo(call, body)
    runFork(
      answered.pipe(
        Effect.tap((answer) => record(call, sent, answer)),
        Effect.map((answer) => sendScim(new NodeReply(response, streams), requestId, answer)),
        Effect.annotateLogs("requestId", requestId)
      )
    )
  }

  const handle: ScimHandler = (route, parameters, request, response) => {
    const nowMs = timers.nowMs()
    const access = gate.judge(
      "scim",
      {
        method: request.method ?? route.method,
        url: request.url ?? "/",
        headers: request.headers,
        socketAddress: peerAddressOf(request.socket),
        category: null,
        takesSession: false,
        operation: () => route.operation
      },
      nowMs
    )
    const call = { route, id: parameters["id"] ?? "", request, response, requestId: ids.next(nowMs), access }
    const hasBody = route.method === "POST" || route.method === "PUT" || route.method === "PATCH"
    if (access._tag === "Denied" || !hasBody) return serve(call, {})
    receive(call, (body) => serve(call, body))
  }

  return handle
})

export type ScimServices = Effect.Effect.Context<typeof makeHandler>
