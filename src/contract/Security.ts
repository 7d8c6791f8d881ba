/**
 * The security middleware of the management API: one per tier, with the credentials that the tier accepts. `entry/management/Access`
 * implements them over `subjects/auth/Gate`, which decides.
 */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import type { Principal } from "../subjects/keys/entity.ts"
import { ForbiddenAnswer, UnauthorizedAnswer, UnsupportedMediaTypeAnswer } from "./Errors.ts"
import type { CallerTier, Tier } from "./tiers/Tier.ts"

const bearer = HttpApiSecurity.annotate(
  HttpApiSecurity.bearer,
  OpenApi.Description,
  "An API key of this gateway, or the admin key."
)
const ownerToken = HttpApiSecurity.annotate(
  HttpApiSecurity.bearer,
  OpenApi.Description,
  "The token that the running gateway writes into its data folder; from a program on the same machine only."
)
const ingestToken = HttpApiSecurity.annotate(
  HttpApiSecurity.bearer,
  OpenApi.Description,
  "The token of `INSPECTOR_INTERNAL_INGEST_TOKEN`; over a direct connection from the gateway's machine only."
)
const session = HttpApiSecurity.annotate(
  HttpApiSecurity.apiKey({ key: "gateway_session", in: "cookie" }),
  OpenApi.Description,
  "The cookie of an admin session (`POST /api/auth/login`)."
)
const apiKeyHeader = HttpApiSecurity.annotate(
  HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }),
  OpenApi.Description,
  "An API key of this gateway, where clients of the messages wire put it."
)

const failure = Schema.Union(UnauthorizedAnswer, ForbiddenAnswer)

export class PublicAccess extends HttpApiMiddleware.Tag<PublicAccess>()("gateway/contract/PublicAccess", {
  failure
}) {}

export class ManageAccess extends HttpApiMiddleware.Tag<ManageAccess>()("gateway/contract/ManageAccess", {
  failure,
  security: { bearer, session }
}) {}

export class SessionAccess extends HttpApiMiddleware.Tag<SessionAccess>()("gateway/contract/SessionAccess", {
  failure,
  security: { session }
}) {}

export class SelfAccess extends HttpApiMiddleware.Tag<SelfAccess>()("gateway/contract/SelfAccess", {
  failure,
  security: { bearer }
}) {}

/** Anybody, over a direct connection from the gateway's machine only. */
export class LocalAccess extends HttpApiMiddleware.Tag<LocalAccess>()("gateway/contract/LocalAccess", {
  failure
}) {}

/** Access as by `ManageAccess`, and only over a direct connection from the gateway's machine. */
export class LoopbackAccess extends HttpApiMiddleware.Tag<LoopbackAccess>()("gateway/contract/LoopbackAccess", {
  failure,
  security: { bearer, session }
}) {}

export class OwnerAccess extends HttpApiMiddleware.Tag<OwnerAccess>()("gateway/contract/OwnerAccess", {
  failure,
  security: { ownerToken }
}) {}

/** Programs of the gateway's machine that hand in what they captured. */
export class IngestAccess extends HttpApiMiddleware.Tag<IngestAccess>()("gateway/contract/IngestAccess", {
  failure,
  security: { ingestToken }
}) {}

/** Describes the inference routes in `/openapi.json` only: `entry/server/Edge` calls `subjects/auth/Gate` directly. */
export class InferenceAccess extends HttpApiMiddleware.Tag<InferenceAccess>()("gateway/contract/InferenceAccess", {
  failure,
  security: { bearer, apiKeyHeader, session }
}) {}

/** Caller of the request. */
export class CurrentCaller extends Context.Tag("gateway/contract/CurrentCaller")<CurrentCaller, Principal>() {}

/** Endpoints of the contract that callers use as they use inference. Bodies have to be called JSON, which no page can do without being allowed to. */
export class CallerAccess extends HttpApiMiddleware.Tag<CallerAccess>()("gateway/contract/CallerAccess", {
  failure: Schema.Union(UnauthorizedAnswer, ForbiddenAnswer, UnsupportedMediaTypeAnswer),
  provides: CurrentCaller,
  security: { bearer, apiKeyHeader, session }
}) {}

/** Caller of the request with what it may do. */
export interface Identity {
  readonly principal: Principal
  readonly tiers: ReadonlyArray<CallerTier>
}
export class CurrentIdentity extends Context.Tag("gateway/contract/CurrentIdentity")<CurrentIdentity, Identity>() {}

/** Endpoints that tell callers about themselves. */
export class KnownAccess extends HttpApiMiddleware.Tag<KnownAccess>()("gateway/contract/KnownAccess", {
  failure,
  provides: CurrentIdentity,
  security: { bearer, session }
}) {}

/** The middleware of each tier that management endpoints have. */
export const accessOf = {
  public: PublicAccess,
  inference: CallerAccess,
  manage: ManageAccess,
  self: SelfAccess,
  known: KnownAccess,
  session: SessionAccess,
  local: LocalAccess,
  loopback: LoopbackAccess,
  owner: OwnerAccess,
  ingest: IngestAccess
} satisfies Partial<Record<Tier, unknown>>

export interface AccessOf {
  readonly public: PublicAccess
  readonly inference: CallerAccess
  readonly manage: ManageAccess
  readonly self: SelfAccess
  readonly known: KnownAccess
  readonly session: SessionAccess
  readonly local: LocalAccess
  readonly loopback: LoopbackAccess
  readonly owner: OwnerAccess
  readonly ingest: IngestAccess
}
