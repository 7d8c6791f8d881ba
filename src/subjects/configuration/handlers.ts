/** `/api/configuration`: several changes as one. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { makeLane } from "../../kernel/Lane.ts"
import type { ApplyConfiguration } from "./routes.ts"
import { Configuration } from "./routes.ts"
import { contractOf } from "../../contract/GroupContract.ts"
import { BadRequest, Conflict, Forbidden, Internal, Unavailable } from "../../contract/Errors.ts"
import type { Principal } from "../keys/entity.ts"
import type { Ask, Wish } from "./ConfigurationCalls.ts"
import { carryOut, type PlanRefused, rehearse, type SecretsOf } from "./service.ts"
import { ConnectionRepo } from "../connections/repo.ts"
import { McpServerRepo } from "../mcpServers/repo.ts"
import { NodeRepo } from "../nodes/repo.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { currentPrincipal } from "../../entry/handling/AuditTrail.ts"
import { clientAddress } from "../../entry/listening/ClientAddress.ts"
import { type AskPlane, Planes } from "../../entry/handling/Planes.ts"
import { answered } from "../../entry/handling/Answers.ts"

const wishesOf = ({ changes }: ApplyConfiguration): ReadonlyArray<Wish> =>
  changes.map(({ action, body, id, kind, name }) => ({
    action,
    kind,
    name,
    id: id ?? null,
    // Read from JSON.
    body: (body ?? {}) as JsonObject
  }))

/** Kinds that are API keys, or may name some. */
const namesKeys: ReadonlySet<Wish["kind"]> = new Set([
  "key",
  "mcpServer",
  "budget",
  "tokenLimit",
  "quotaGroup",
  "proxyAssignment"
])

const askBy =
  (ask: AskPlane, principal: Principal, ip: string): Ask =>
  ({ body = null, key, path = {}, query = {} }) =>
    ask({ key, path, query, caller: { principal, ip, body } })

/** Answers as the refusal of its part: nothing else of the request is wrong. */
const refusal = ({
  code,
  message,
  status
}: PlanRefused): Effect.Effect<never, BadRequest | Conflict | Forbidden | Internal | Unavailable> => {
  const fields = { message, ...(code === null ? {} : { code }) }
  if (status === 403) return new Forbidden(fields)
  if (status === 409 || status === 404) return new Conflict(fields)
  if (status < 500) return new BadRequest(fields)
  return status === 503 ? new Unavailable(fields) : new Internal(fields)
}

const values = (headers: Readonly<Record<string, Redacted.Redacted>> | null): JsonObject =>
  headers === null
    ? {}
    : { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Redacted.value(value)])) }

export const layer = HttpApiBuilder.group(contractOf(Configuration), "configuration", (handlers) =>
  Effect.gen(function* () {
    const planes = yield* Planes
    const connections = yield* ConnectionRepo
    const nodes = yield* NodeRepo
    const servers = yield* McpServerRepo
    // A copy takes memory, and two plans at once would be judged by a state that the other one changes.
    const oneAtATime = makeLane(1)

    const stored: Partial<Record<Parameters<SecretsOf>[0], (id: string) => Effect.Effect<JsonObject, unknown>>> = {
      connection: (id) =>
        Effect.map(connections.get(id), (found) => ({
          ...values(found?.headers ?? null),
          ...(found === null || found.apiKey === null ? {} : { apiKey: Redacted.value(found.apiKey) })
        })),
      node: (id) => Effect.map(nodes.get(id), (found) => values(found?.headers ?? null)),
      mcpServer: (id) => Effect.map(servers.get(id), (found) => values(found?.headers ?? null))
    }
    const secretsOf: SecretsOf = (kind, id) =>
      Effect.orElseSucceed(stored[kind]?.(id) ?? Effect.succeed({}), (): JsonObject => ({}))

    const apply = (payload: ApplyConfiguration) =>
      Effect.gen(function* () {
        const wishes = wishesOf(payload)
        const principal = yield* currentPrincipal
        const ip = yield* clientAddress
        const withKeys = wishes.some(({ kind }) => namesKeys.has(kind))
        yield* Effect.scoped(
          Effect.flatMap(answered(planes.rehearsal({ withKeys })), (ask) => rehearse(askBy(ask, principal, ip), wishes))
        )
        const dryRun = payload.dryRun ?? false
        const { secrets } = dryRun
          ? { secrets: {} }
          : yield* carryOut(askBy(planes.ask, principal, ip), wishes, secretsOf)
        return { dryRun, changes: wishes.length, secrets }
      }).pipe(Effect.catchTag("PlanRefused", refusal), oneAtATime.inTurn)

    return handlers.handle("apply", ({ payload }) => apply(payload))
  })
)
