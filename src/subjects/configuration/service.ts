/**
 * Carries out a plan for the configuration whole or not at all. It is tried at a copy first, so that the gateway is not touched by a plan of
 * which anything is refused. After a later failure, such as a full disk, the changes before it are undone, the last one first.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { isArray, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import { isCheckedByForm, isPart } from "./ConfigurationParts.ts"
import * as Calls from "./ConfigurationCalls.ts"

/** A change was refused, and with it the whole plan. */
export class PlanRefused extends Data.TaggedError("PlanRefused")<{
  readonly kind: Calls.WishKind
  readonly name: string
  /** Changes of the same call, which were refused with it. */
  readonly more: number
  /** HTTP status of the refusal. */
  readonly status: number
  readonly reason: string
  readonly code: string | null
  /** Changes before it that could not be undone, by kind and name. */
  readonly left: ReadonlyArray<string>
}> {
  override get message(): string {
    const { kind, left, more, name, reason } = this
    const what = `${kind} '${name}'${more === 0 ? "" : ` and ${more} more`}`
    const outcome = left.length === 0 ? "Nothing was changed." : `Not taken back: ${left.join(", ")}.`
    return `${what}: ${asSentence(reason)} ${outcome}`
  }
}

/** Secret members of a stored thing, which its endpoints show masked. */
export type SecretsOf = (kind: Calls.OwnKind, id: string) => Effect.Effect<JsonObject>

export interface Outcome {
  /** Secrets of keys that were made, by name. */
  readonly secrets: Readonly<Record<string, string>>
}

type Undo = Effect.Effect<void, Calls.CallRefused>

const refusedBy = (
  [change, ...more]: readonly [Calls.Wish, ...ReadonlyArray<Calls.Wish>],
  { code, reason, status }: Calls.CallRefused,
  left: ReadonlyArray<string>
): PlanRefused =>
  new PlanRefused({ kind: change.kind, name: change.name, more: more.length, status, reason, code, left })

/** The members of a thing as they were, of those that a change names. */
const membersOf = (former: JsonObject, body: JsonObject, secrets: JsonObject): JsonObject =>
  Object.fromEntries(Object.keys(body).map((name) => [name, secrets[name] ?? former[name] ?? null]))

/** Members that the endpoints show and do not take. */
const shownOnly: ReadonlySet<string> = new Set(["createdAt", "updatedAt", "id"])

/** Reads what is needed to take a change back, before it is made. What was made anew after a removal has another id. */
const undoOf = (
  ask: Calls.Ask,
  secretsOf: SecretsOf,
  [change, ...more]: readonly [Calls.Wish, ...ReadonlyArray<Calls.Wish>]
): Effect.Effect<(answer: JsonObject) => Undo, Calls.CallRefused> =>
  Effect.gen(function* () {
    const { action, body, kind, name } = change
    if (kind === "price") {
      const table = yield* Calls.asked(ask, { key: "pricing.get" })
      const former = Calls.formerPrices(table, [change, ...more])
      return () => Effect.asVoid(Calls.asked(ask, { key: "pricing.update", body: former }))
    }
    if (kind === "settings") {
      const former = yield* Calls.asked(ask, { key: "gatewaySettings.get" })
      return () => Effect.asVoid(Calls.asked(ask, { key: "gatewaySettings.update", body: membersOf(former, body, {}) }))
    }
    if (kind === "alias") {
      const { aliases } = yield* Calls.asked(ask, { key: "modelAliases.list" })
      const before = (isArray(aliases) ? aliases.map(objectOr) : []).find(({ alias }) => alias === name)
      const undo: Calls.Call =
        before === undefined
          ? { key: "modelAliases.remove", query: { alias: name } }
          : { key: "modelAliases.set", body: { alias: name, model: before["model"] ?? null } }
      return () => Effect.asVoid(Calls.asked(ask, undo))
    }
    if (isPart(kind)) {
      const { undo } = yield* Calls.makePart(ask, { ...change, kind })
      return () => undo
    }
    const { create, get, member, remove, update } = Calls.endpoints[kind]
    if (action === "create") {
      return (answer: JsonObject) => {
        const id = stringOr(objectOr(answer[member])["id"]) ?? ""
        return Effect.asVoid(Calls.asked(ask, { key: remove, path: { id } }))
      }
    }
    const id = change.id ?? ""
    const former = objectOr((yield* Calls.asked(ask, { key: get, path: { id } }))[member])
    const secrets = yield* secretsOf(kind, id)
    if (action === "update") {
      const before = membersOf(former, body, secrets)
      return () => Effect.asVoid(Calls.asked(ask, { key: update, path: { id }, body: before }))
    }
    const whole = Object.fromEntries(
      Object.entries({ ...former, ...secrets }).filter(([field, value]) => !shownOnly.has(field) && value !== null)
    )
    return () => Effect.asVoid(Calls.asked(ask, { key: create, body: whole }))
  })

/** Tries a plan at a copy: what is refused there would be refused here. */
export const rehearse = (ask: Calls.Ask, changes: ReadonlyArray<Calls.Wish>): Effect.Effect<void, PlanRefused> =>
  Effect.forEach(
    Calls.callsOf(changes),
    (call) =>
      Effect.mapError(isCheckedByForm(call[0].kind) ? Calls.judge(ask, call[0]) : Calls.make(ask, call), (refused) =>
        refusedBy(call, refused, [])
      ),
    { discard: true }
  )

/** Carries out a plan that was rehearsed. */
export const carryOut = (
  ask: Calls.Ask,
  changes: ReadonlyArray<Calls.Wish>,
  secretsOf: SecretsOf
): Effect.Effect<Outcome, PlanRefused> =>
  Effect.gen(function* () {
    const secrets: Record<string, string> = {}
    const undos: Array<readonly [what: string, undo: Undo]> = []

    /**
     * Undoes the changes, and lists those that could not be undone. In a loop: entities that others need are removed
     * after them, in this order and no other.
     */
    const takeBack = Effect.gen(function* () {
      const left: Array<string> = []
      for (const [what, undo] of undos.toReversed()) {
        const isDone = yield* Effect.match(undo, { onFailure: () => false, onSuccess: () => true })
        if (!isDone) left.push(what)
      }
      return left
    })
    for (const call of Calls.callsOf(changes)) {
      const [{ kind, name }] = call
      const answer = yield* undoOf(ask, secretsOf, call).pipe(
        Effect.flatMap((undo) =>
          Effect.tap(Calls.make(ask, call), (given) =>
            Effect.sync(() => void undos.push([`${kind} '${name}'`, undo(given)]))
          )
        ),
        Effect.catchAll((refused) => Effect.flatMap(takeBack, (left) => Effect.fail(refusedBy(call, refused, left))))
      )
      const secret = stringOr(answer["secret"])
      if (kind === "key" && secret !== null) secrets[name] = secret
    }
    return { secrets }
  }).pipe(Effect.uninterruptible)
