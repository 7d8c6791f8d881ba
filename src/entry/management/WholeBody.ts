/** Reads the body of a management request whole, within its limits, and looks at its structure before a schema does. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { IncomingMessage } from "node:http"
import { BadRequest, TooLarge, Unavailable } from "../../contract/Errors.ts"
import { firstProblem, largeBodyBytes, takesBody } from "../../contract/LargeBodies.ts"
import { type ManagementRoute, managementRoutes, streamedBodies } from "../../contract/ManagementRoutes.ts"
import { queryNames } from "./KnownQueries.ts"
import { WholeBody } from "../../contract/WholeBody.ts"
import { BodyNotDecoded, type BufferFull, describe } from "../../contract/domain/Errors.ts"
import { keyParameters } from "../../subjects/auth/Credentials.ts"
import { isSafeMethod } from "../../subjects/auth/Csrf.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { BodyBudget, type BodyShare } from "../../plane/resilience/BodyBudget.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { notJson, readForeignJson, Unreadable } from "../../wire/json/Bounds.ts"
import { isObject } from "../../wire/json/Json.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { badInput, notDecoded, unknownNames } from "../handling/Answers.ts"
import { readBody } from "../listening/RequestBody.ts"
import { CurrentTrail, type Trail } from "../handling/AuditTrail.ts"
import { IsCompared } from "./Changes.ts"
import { InnerCaller } from "../listening/InnerCaller.ts"

const tooLarge = (limitBytes: number): TooLarge =>
  new TooLarge({ message: `The request body is larger than ${limitBytes} bytes, the limit of this route.` })

const bufferFullAnswer = (error: BufferFull): Unavailable => {
  const { code, message } = describe(error)
  return new Unavailable({ code, message, retryAfterMs: error.retryAfterMs })
}

const bytesOf = (
  message: IncomingMessage,
  limitBytes: number,
  share: BodyShare,
  refusal: () => BufferFull
): Effect.Effect<Buffer, BadRequest | TooLarge | Unavailable> =>
  Effect.async((resume) =>
    readBody(message, limitBytes, share, (result) => {
      if (result === "too_large") resume(tooLarge(limitBytes))
      else if (result === "no_room") resume(bufferFullAnswer(refusal()))
      else if (result instanceof BodyNotDecoded) resume(notDecoded(result))
      else resume(result === "gone" ? Effect.interrupt : Effect.succeed(result))
    })
  )

/** The value of a body on first use. An empty body is `null`; a byte order mark is not part of the text. */
type Read = () => unknown

const refused = ({ message, param }: Unreadable): BadRequest =>
  new BadRequest({ message, ...(param === null ? {} : { param, details: [{ field: param, message }] }) })

const readSmall = (body: Buffer): Read | BadRequest => {
  if (body.length === 0) return () => null
  const text = new TextDecoder().decode(body)
  const value = readForeignJson(text)
  if (!(value instanceof Unreadable)) return () => value
  return value === notJson ? () => JSON.parse(text) : refused(value)
}

/** Finds the first wrong field of a large body, before the schema looks for all. */
const readLarge = (key: ManagementRoute["key"], body: Buffer): Read | BadRequest => {
  const value = readForeignBody(body)
  if (value instanceof Unreadable) return refused(value)
  const problem = firstProblem(key, value)
  return problem === null ? () => value : badInput(problem)
}

const noBody = new BadRequest({ message: "This route takes no body: send none, or {}." })

/** Refuses a body on a route that has none: it would be ignored silently. */
const readNone = (body: Buffer): Read | BadRequest => {
  if (body.length >= largeBodyBytes) return noBody
  const read = readSmall(body)
  if (typeof read !== "function") return read
  try {
    const value = read()
    return value === null || (isObject(value) && Object.keys(value).length === 0) ? () => null : noBody
  } catch {
    return noBody
  }
}

const read = ({ key, method }: ManagementRoute, body: Buffer): Read | BadRequest => {
  // A body of DELETE means nothing (RFC 9110, 9.3.5), and some clients send one with every request.
  if (!isSafeMethod(method) && method !== "DELETE" && !takesBody(key)) return readNone(body)
  return body.length < largeBodyBytes ? readSmall(body) : readLarge(key, body)
}

/** Node's request, whose body was read. Every body is JSON, whatever the client calls it. */
const withBody = (
  request: HttpServerRequest.HttpServerRequest,
  body: Read,
  trail: Trail | null
): HttpServerRequest.HttpServerRequest => {
  const json = Effect.try({
    try: () => {
      const value = body()
      if (trail !== null) trail.body = value
      return value
    },
    catch: (cause) => new HttpServerError.RequestError({ request, reason: "Decode", cause })
  })
  const own = request.modify({ headers: { ...request.headers, "content-type": "application/json" } })
  return Object.defineProperty(own, "json", { value: json })
}

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`

const routeByName: ReadonlyMap<string, ManagementRoute> = new Map(
  managementRoutes.map((route) => [nameOf(route), route])
)

export const layer: Layer.Layer<WholeBody, never, AppConfig | BodyBudget | Slices> = Layer.effect(
  WholeBody,
  Effect.gen(function* () {
    const config = yield* AppConfig
    const bodies = yield* BodyBudget
    const slices = yield* Slices
    return Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const route = routeByName.get(nameOf((yield* HttpRouter.RouteContext).route))
      if (route === undefined) return request
      const names = queryNames(route.key)
      const unknown =
        names === null
          ? null
          : unknownNames(
              Object.keys(yield* HttpServerRequest.ParsedSearchParams),
              route.tier === "inference" ? [...names, ...keyParameters] : names
            )
      if (unknown !== null) return yield* unknown
      if (streamedBodies.has(route.key)) return request
      if (yield* IsCompared) return withBody(request, () => null, null)
      const inner = yield* InnerCaller
      if (inner !== null) return withBody(request, () => inner.body, yield* CurrentTrail)
      const share = bodies.share(null)
      NodeHttpServerRequest.toServerResponse(request).once("close", share.release)
      const limitBytes = Math.min(route.maxBodyBytes, config.maxBodyBytes)
      const message = NodeHttpServerRequest.toIncomingMessage(request)
      const bytes = yield* bytesOf(message, limitBytes, share, bodies.refusal)
      yield* Effect.async<void>((resume) => slices.whenRead(bytes, () => resume(Effect.void)))
      const body = read(route, bytes)
      return typeof body === "function" ? withBody(request, body, yield* CurrentTrail) : yield* body
    })
  })
)
