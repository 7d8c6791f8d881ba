/** Access to the management plane, over the gate. Which of a request's credentials counts is the gate's decision, not the scheme's. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Forbidden, Unauthorized, UnsupportedMediaType } from "../../contract/Errors.ts"
import { askingKeys } from "../../contract/ManagementRoutes.ts"
import { match } from "../../contract/Routes.ts"
import {
  CallerAccess,
  IngestAccess,
  KnownAccess,
  LocalAccess,
  LoopbackAccess,
  ManageAccess,
  OwnerAccess,
  PublicAccess,
  SelfAccess,
  SessionAccess
} from "../../contract/Security.ts"
import { reachOf } from "../../contract/tiers/Rights.ts"
import { type CallerTier, isForThisMachine, type Tier } from "../../contract/tiers/Tier.ts"
import { actingRow } from "../../subjects/auth/ActingAs.ts"
import { AuditLog } from "../../subjects/auth/AuditLog.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { type Denied, foreignSite, mayManage } from "../../subjects/auth/Access.ts"
import { isCrossSite, isSafeMethod } from "../../subjects/auth/Csrf.ts"
import { asKeyHeader, Gate } from "../../subjects/auth/Gate.ts"
import { peerAddressOf, shownAddressOf } from "../../subjects/auth/PeerAddress.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { CurrentTrail } from "../handling/AuditTrail.ts"
import { operationOf } from "../handling/CallerBounds.ts"
import { InnerCaller } from "../listening/InnerCaller.ts"

const refusal = ({ code, message, status }: Denied): Unauthorized | Forbidden =>
  status === 401 ? new Unauthorized({ code, message }) : new Forbidden({ code, message })

const judged = (gate: typeof Gate.Service, tier: Tier) =>
  Effect.gen(function* () {
    const trail = yield* CurrentTrail
    const inner = yield* InnerCaller
    if (inner !== null) {
      // Who asks within the gateway may have come from anywhere.
      if (isForThisMachine(tier)) {
        return yield* new Forbidden({
          code: "loopback_only",
          message: "This is possible only with a direct connection from the gateway's own machine."
        })
      }
      const { principal } = inner
      if (trail !== null) trail.principal = principal
      const person = principal._tag === "Session" ? principal.person : undefined
      if (person !== undefined) {
        const { method, url } = yield* HttpServerRequest.HttpServerRequest
        if (reachOf(person.role, operationOf(method, url)) === "none") {
          return yield* new Forbidden({ code: "key_scope", message: `The role '${person.role}' does not open this.` })
        }
      }
      return
    }
    const { headers, method, socket, url } = NodeHttpServerRequest.toIncomingMessage(
      yield* HttpServerRequest.HttpServerRequest
    )
    const access = gate.judge(
      tier,
      {
        method: method ?? "GET",
        url: url ?? "/",
        headers,
        socketAddress: peerAddressOf(socket),
        category: null,
        takesSession: false,
        operation: () => operationOf(method ?? "GET", url ?? "/")
      },
      yield* Clock.currentTimeMillis
    )
    if (trail !== null) trail.principal = access.principal ?? null
    if (access._tag === "Denied") return yield* refusal(access)
  })

const jsonOnly = new UnsupportedMediaType({
  message: "Send the body as 'Content-Type: application/json'. A page may send other types without being allowed to."
})

interface Noting {
  readonly audit: typeof AuditLog.Service
  readonly ids: typeof IdGen.Service
}

/** Identifies a caller that may use inference. `isLast`: no other scheme is tried after this one, so that a refusal is one. */
const caller = (gate: typeof Gate.Service, { audit, ids }: Noting, isLast: boolean) =>
  Effect.gen(function* () {
    const trail = yield* CurrentTrail
    const inner = yield* InnerCaller
    if (inner !== null) {
      if (trail !== null) trail.principal = inner.principal
      return inner.principal
    }
    const {
      headers,
      method = "GET",
      socket,
      url = "/"
    } = NodeHttpServerRequest.toIncomingMessage(yield* HttpServerRequest.HttpServerRequest)
    // With a key or without: what a page of another site sends is not what its user wants.
    if (gate.namedOrigin(headers) === null && isCrossSite(headers)) return yield* refusal(foreignSite)
    const found = match(method, url)
    const key = found._tag === "Found" && found.route.plane === "management" ? found.route.key : null
    const nowMs = yield* Clock.currentTimeMillis
    const access = gate.judge(
      "inference",
      {
        method,
        url,
        headers,
        socketAddress: peerAddressOf(socket),
        category: (key === null ? null : askingKeys[key]) ?? null,
        takesSession: true
      },
      nowMs
    )
    if (trail !== null) trail.principal = access.principal ?? null
    // Requests that change something have a row of their own.
    else if (headers[asKeyHeader] !== undefined) {
      const named = String(headers[asKeyHeader])
      const row = actingRow(access, { requestId: ids.next(nowMs), atMs: nowMs, ip: shownAddressOf(socket), named })
      if (row !== null && (isLast || row.status === "success")) yield* audit.record(row)
    }
    if (access._tag === "Denied") return yield* refusal(access)
    const hasBody = !isSafeMethod(method) && method !== "DELETE"
    if (hasBody && !/^application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? "")) return yield* jsonOnly
    return access.principal
  })

/** Tiers of a caller for whom the gateway asks itself: those of its credential, and none of a place. */
const innerTiers = (principal: Principal): ReadonlyArray<CallerTier> => {
  const isManager =
    principal._tag === "AdminKey" ||
    (principal._tag === "Session" &&
      (principal.person === undefined || reachOf(principal.person.role, "administer") === "all")) ||
    (principal._tag === "Key" && mayManage(principal.key))
  return isManager ? ["public", "inference", "known", "manage"] : ["public", "inference", "known"]
}

/** Identifies a caller, with all that it may do. */
const identified = (gate: typeof Gate.Service) =>
  Effect.gen(function* () {
    const trail = yield* CurrentTrail
    const inner = yield* InnerCaller
    if (inner !== null) {
      if (trail !== null) trail.principal = inner.principal
      return { principal: inner.principal, tiers: innerTiers(inner.principal) }
    }
    const { headers, method, socket, url } = NodeHttpServerRequest.toIncomingMessage(
      yield* HttpServerRequest.HttpServerRequest
    )
    const request = {
      method: method ?? "GET",
      url: url ?? "/",
      headers,
      socketAddress: peerAddressOf(socket),
      category: null,
      takesSession: false
    }
    const nowMs = yield* Clock.currentTimeMillis
    const access = gate.judge("known", request, nowMs)
    if (trail !== null) trail.principal = access.principal ?? null
    if (access._tag === "Denied") return yield* refusal(access)
    return { principal: access.principal, tiers: gate.tiers(request, nowMs) }
  })

export const layer: Layer.Layer<
  | CallerAccess
  | PublicAccess
  | ManageAccess
  | SelfAccess
  | KnownAccess
  | SessionAccess
  | LocalAccess
  | LoopbackAccess
  | OwnerAccess
  | IngestAccess,
  never,
  AuditLog | Gate | IdGen
> = Layer.mergeAll(
  Layer.effect(
    PublicAccess,
    Effect.map(Gate, (gate) => judged(gate, "public"))
  ),
  Layer.effect(
    LocalAccess,
    Effect.map(Gate, (gate) => judged(gate, "local"))
  ),
  Layer.effect(
    CallerAccess,
    Effect.gen(function* () {
      const gate = yield* Gate
      const noting = { audit: yield* AuditLog, ids: yield* IdGen }
      const judge = caller(gate, noting, false)
      const last = caller(gate, noting, true)
      return { bearer: () => judge, apiKeyHeader: () => judge, session: () => last }
    })
  ),
  Layer.effect(
    ManageAccess,
    Effect.map(Gate, (gate) => {
      const judge = judged(gate, "manage")
      return { bearer: () => judge, session: () => judge }
    })
  ),
  Layer.effect(
    SelfAccess,
    Effect.map(Gate, (gate) => {
      const judge = judged(gate, "self")
      return { bearer: () => judge }
    })
  ),
  Layer.effect(
    KnownAccess,
    Effect.map(Gate, (gate) => {
      const identity = identified(gate)
      return { bearer: () => identity, session: () => identity }
    })
  ),
  Layer.effect(
    SessionAccess,
    Effect.map(Gate, (gate) => {
      const judge = judged(gate, "session")
      return { session: () => judge }
    })
  ),
  Layer.effect(
    LoopbackAccess,
    Effect.map(Gate, (gate) => {
      const judge = judged(gate, "loopback")
      return { bearer: () => judge, session: () => judge }
    })
  ),
  Layer.effect(
    OwnerAccess,
    Effect.map(Gate, (gate) => {
      const judge = judged(gate, "owner")
      return { ownerToken: () => judge }
    })
  ),
  Layer.effect(
    IngestAccess,
    Effect.map(Gate, (gate) => {
      const judge = judged(gate, "ingest")
      return { ingestToken: () => judge }
    })
  )
)
