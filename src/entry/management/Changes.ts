/**
 * Changes under a condition: `If-Match` names the version that the editor has seen. What is compared is what the object's own GET answers to this
 * caller. Changes of one object are made one after the other, so that nothing comes between the comparison and the change.
 */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import { BadRequest, PreconditionFailed } from "../../contract/Errors.ts"
import type { ManagementKey, ManagementRoute } from "../../contract/ManagementRoutes.ts"
import type { Found } from "../../contract/Routes.ts"
import { secretFieldsOf } from "../../contract/SecretFields.ts"
import { differences } from "../../subjects/audit/Differences.ts"
import type { FieldChange } from "../../subjects/audit/entity.ts"
import type { Slices } from "../../plane/resilience/Slices.ts"
import { ObjectTurns } from "../../subjects/ObjectTurns.ts"
import { CurrentTrail } from "../handling/AuditTrail.ts"
import { bytesOf, editedOf, isChange, isNamed, jsonIn, shownBy, tagOf, takesTurn } from "./Versions.ts"

/** Says that an endpoint is run for what it shows, within a request that changes it: the body is that request's. */
export class IsCompared extends Context.Reference<IsCompared>()("gateway/entry/management/IsCompared", {
  defaultValue: () => false
}) {}

/** A matched request of the management. */
export type FoundChange = Found & { readonly route: ManagementRoute }

interface CurrentVersion {
  readonly tag: string
  readonly body: unknown
  /** The part of the body that an editor changes; null: it is too long to be compared field by field. */
  readonly edited: { readonly value: unknown } | null
}

/** Longer answers are lists of thousands: the audit log does not say what is different in them. */
const maxComparedBytes = 262_144

/** Objects that are shown by several routes as one: a change by either is one of both. */
const familyOf = ({ key, path }: ManagementRoute): string =>
  path.startsWith("/api/settings") ? "settings" : key.slice(0, key.indexOf("."))

const nameOf = (family: string, ...ids: ReadonlyArray<string>): string => [family, ...ids].join(" ")

const objectOf = ({ parameters, route }: FoundChange): string => nameOf(familyOf(route), ...Object.values(parameters))

/** Lets one effect at a time run for each name. */
const makeTurns = () => {
  const turns = new Map<string, { readonly lock: Lane; users: number }>()
  return (name: string) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const turn = turns.get(name) ?? { lock: makeLane(1), users: 0 }
          turns.set(name, turn)
          turn.users++
          return turn
        }),
        ({ lock }) => lock.inTurn(effect),
        (turn) =>
          Effect.sync(() => {
            if (--turn.users === 0) turns.delete(name)
          })
      )
}

const unreadable = new BadRequest({
  message: `'If-Match' must be '*', or entity tags in double quotes, such as "5d41402abc4b2a76b9719d".`,
  param: "If-Match"
})

const changed = ({ body, tag }: CurrentVersion): PreconditionFailed =>
  new PreconditionFailed({
    message:
      "It was changed since the version that 'If-Match' names. Nothing was changed by this request. Compare yours with `current`, and send it again with the ETag of this answer.",
    current: body,
    etag: tag
  })

/** Compares what the change has made of the object, for the audit log. */
const madeOf = (
  { route }: FoundChange,
  before: CurrentVersion | null,
  after: CurrentVersion | null
): ReadonlyArray<FieldChange> =>
  (before === null && after === null) || before?.edited === null || after?.edited === null
    ? []
    : differences(before?.edited.value, after?.edited.value, secretFieldsOf(route.key.slice(0, route.key.indexOf("."))))

const isDone = (status: number): boolean => status >= 200 && status < 300

/**
 * Tells whether what is changed is read before and after: for its version, and for the audit log. What is changed by POST is one entry of all that GET shows,
 * however many these are: it is read only for who names a version.
 */
const isRead = ({ method }: ManagementRoute, headers: Readonly<Record<string, string | undefined>>): boolean =>
  method !== "POST" || headers["if-match"] !== undefined || headers["if-none-match"] !== undefined

/** Runs an endpoint of the plane: `key` for what it shows, with the parameters and the query of the request. */
type Show<E, R> = (key: ManagementKey) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> | null

export const makeChanges = (slices: typeof Slices.Service) => {
  const inTurn = makeTurns()

  /** Reads what is there now; null where nothing is, or this caller does not get to see it. */
  const presentOf = <E, R>(found: FoundChange, show: Show<E, R>): Effect.Effect<CurrentVersion | null, never, R> => {
    const key = shownBy(found.route.key)
    const shown = key === null ? null : show(key)
    if (key === null || shown === null) return Effect.succeed(null)
    return shown.pipe(
      Effect.provideService(IsCompared, true),
      Effect.flatMap((response) =>
        Effect.gen(function* () {
          const bytes = bytesOf(response)
          const tag = isDone(response.status) ? yield* tagOf(slices, key, response) : null
          if (tag === null || bytes === null) return null
          const body = yield* jsonIn(slices, bytes)
          return { tag, body, edited: bytes.length > maxComparedBytes ? null : { value: editedOf(key, body) } }
        })
      ),
      Effect.catchAllCause((cause) => (Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.succeed(null)))
    )
  }

  /** Refuses a change of another version than the caller has seen. */
  const compared = (found: FoundChange, present: CurrentVersion | null) =>
    Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const wanted = headers["if-match"]
      const unwanted = headers["if-none-match"]
      if (wanted === undefined && unwanted === undefined) return
      if (wanted !== undefined && isNamed(wanted, '""') === null) return yield* unreadable
      if (present === null) {
        // Where nothing is shown there is no version that could be named; what is not there, the endpoint says itself.
        if (wanted !== undefined && wanted.trim() !== "*" && shownBy(found.route.key) === null) {
          return yield* new PreconditionFailed({
            message: "What this route changes has no version that 'If-Match' could name; send it without."
          })
        }
        return
      }
      if (wanted !== undefined && isNamed(wanted, present.tag) !== true) return yield* changed(present)
      if (unwanted !== undefined && isNamed(unwanted, present.tag) === true) return yield* changed(present)
    })

  const turns = ObjectTurns.of({ inTurn: (family, id) => inTurn(nameOf(family, id)) })

  return <E, R>(
    found: FoundChange,
    made: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    show: Show<E, R>
  ) => {
    const change = Effect.provideService(made, ObjectTurns, turns)
    if (!takesTurn(found.route)) return change
    if (!isChange(found.route)) return inTurn(objectOf(found))(change)
    return Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      if (!isRead(found.route, headers)) return yield* change
      const before = yield* presentOf(found, show)
      yield* compared(found, before)
      const response = yield* change
      if (!isDone(response.status)) return response
      const after = yield* presentOf(found, show)
      const trail = yield* CurrentTrail
      if (trail !== null) trail.changes = madeOf(found, before, after)
      return after === null || found.route.method === "DELETE"
        ? response
        : HttpServerResponse.setHeader(response, "ETag", after.tag)
    }).pipe(inTurn(objectOf(found)))
  }
}
