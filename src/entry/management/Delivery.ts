/** Gives every answer of the management what it needs on its way out: its tag, 304 for who has it, the rule for caches, and a coding that the client takes. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import type { ManagementKey, ManagementRoute } from "../../contract/ManagementRoutes.ts"
import type { Match } from "../../contract/Routes.ts"
import type { Slices } from "../../plane/resilience/Slices.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import {
  type AnswerCoding,
  codedFromBytes,
  codingFor,
  inCoding,
  isCodable,
  varyingBy
} from "../listening/AnswerCodings.ts"
import { bytesOf, codedTag, isKnown, SentVersions, tagOf } from "./Versions.ts"

/** Answers that are the same for all callers, and say nothing about this gateway's configuration. */
const forAll: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "system.openapi",
  "system.configurationSchema",
  "agentSkills.list",
  "agentSkills.get",
  "agentSkills.raw",
  "agentSkills.file",
  "agentSkills.coverage"
])

/** Answers of models, passed on by a route of the management. */
const ofModels: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "playground.improvePrompt",
  "playground.compare",
  "inspector.replay",
  "cloud.auth"
])

const notKept = "no-store"
/** Kept, and asked about each time. */
const revalidated = "no-cache"

type Response = HttpServerResponse.HttpServerResponse

/** Headers that an answer without its body repeats. */
const repeated: ReadonlySet<string> = new Set(["etag", "cache-control", "vary", "content-location", "expires"])

const notModified = (response: Response): Response => {
  const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => repeated.has(name)))
  return HttpServerResponse.empty({ status: 304, headers })
}

const contentTypeOf = ({ body }: Response): string => (body._tag === "Uint8Array" ? body.contentType : "")

/** Coded bytes of answers that all get; a handful of large ones. */
const makeCoder = () => {
  const kept = new LruMap<string, Buffer>({ capacity: 32, maxWeight: 16_777_216, weightOf: ({ length }) => length })
  return (coding: AnswerCoding, bytes: Uint8Array, keptAs: string | null) =>
    Effect.async<Buffer | null>((resume) => {
      const name = keptAs === null ? null : `${keptAs} ${coding}`
      const known = name === null ? undefined : kept.get(name)
      if (known !== undefined) return resume(Effect.succeed(known))
      inCoding(coding, bytes, name === null ? "once" : "kept", (coded) => {
        if (name !== null && coded !== null) kept.set(name, coded)
        resume(Effect.succeed(coded))
      })
    })
}

export const makeDelivery = (slices: typeof Slices.Service) => {
  const sent = new SentVersions()
  const coded = makeCoder()

  const tagged = (route: ManagementRoute, response: Response): Effect.Effect<Response> => {
    if (route.method !== "GET" || response.status !== 200 || response.headers["etag"] !== undefined) {
      return Effect.succeed(response)
    }
    return Effect.map(tagOf(slices, route.key, response), (tag) =>
      tag === null ? response : HttpServerResponse.setHeader(response, "ETag", tag)
    )
  }

  /** Tells whether the client has these bytes already. */
  const hasIt = (route: ManagementRoute, response: Response, known: string | undefined): Effect.Effect<boolean> => {
    const { etag } = response.headers
    const bytes = bytesOf(response)
    if (route.method !== "GET" || response.status !== 200 || etag === undefined || bytes === null) {
      return Effect.succeed(false)
    }
    return Effect.map(
      sent.isAsSent(slices, route.key, etag, bytes),
      (isAsSent) => known !== undefined && isAsSent && isKnown(known, etag)
    )
  }

  const encoded = Effect.fnUntraced(function* (
    route: ManagementRoute,
    response: Response,
    accepted: string | undefined
  ) {
    const bytes = bytesOf(response)
    const contentType = contentTypeOf(response)
    if (bytes === null || ofModels.has(route.key) || !isCodable(contentType)) return response
    if (response.headers["content-encoding"] !== undefined) return response
    const varying = HttpServerResponse.setHeader(
      response,
      "Vary",
      varyingBy("Accept-Encoding", response.headers["vary"])
    )
    const coding = bytes.length < codedFromBytes ? null : codingFor(accepted)
    if (coding === null) return varying
    const { etag } = response.headers
    const body = yield* coded(coding, bytes, forAll.has(route.key) && etag !== undefined ? etag : null)
    if (body === null || body.length >= bytes.length) return varying
    return varying.pipe(
      HttpServerResponse.setBody(HttpServerResponse.uint8Array(body, { contentType }).body),
      HttpServerResponse.setHeader("Content-Encoding", coding),
      // The tag of a refused change is that of the object, not of the answer.
      etag === undefined || response.status !== 200 || route.method !== "GET"
        ? (same) => same
        : HttpServerResponse.setHeader("ETag", codedTag(etag, coding))
    )
  })

  /** Finishes the answer to a request over HTTP. */
  return (found: Match, response: Response) =>
    Effect.gen(function* () {
      const route = found._tag === "Found" ? found.route : null
      if (route?.plane !== "management") return HttpServerResponse.setHeader(response, "Cache-Control", notKept)
      const request = yield* HttpServerRequest.HttpServerRequest
      const rule = forAll.has(route.key) ? revalidated : notKept
      const ruled =
        response.headers["cache-control"] === undefined
          ? HttpServerResponse.setHeader(response, "Cache-Control", rule)
          : response
      const whole = yield* tagged(route, ruled)
      // The guard may have said on node's own response what else the answer depends on; what is set here would replace it.
      const before = NodeHttpServerRequest.toServerResponse(request).getHeader("vary")
      const varied =
        typeof before === "string"
          ? HttpServerResponse.setHeader(whole, "Vary", varyingBy(before, whole.headers["vary"]))
          : whole
      const { "accept-encoding": accepted, "if-none-match": known } = request.headers
      if (yield* hasIt(route, varied, known)) {
        return notModified(
          HttpServerResponse.setHeader(varied, "Vary", varyingBy("Accept-Encoding", varied.headers["vary"]))
        )
      }
      return yield* encoded(route, varied, accepted)
    })
}
