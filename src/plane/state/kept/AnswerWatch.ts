/**
 * Listens to an answer on its way to the client for what has to be kept of it. Members that nothing needs are null, so that an
 * answer that need not be remembered costs nothing.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StreamEvent } from "../../../wire/canonical/Event.ts"
import type { AnswerPart } from "../../../wire/canonical/Response.ts"
import { type ContentPermission, mayKeepContent } from "../../../contract/domain/ContentPermission.ts"
import type { Principal } from "../../../subjects/keys/entity.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import { isArray, type JsonObject, stringOr } from "../../../wire/json/Json.ts"
import { makePartCollector } from "../../../wire/canonical/PartCollector.ts"
import { proofsIn } from "./Proofs.ts"
import { OpaqueState, type Origin } from "./OpaqueState.ts"
import { finishedInEvents, ResponseStore } from "./ResponseStore.ts"

export interface AnswerWatch {
  /** The canonical events of a stream. */
  readonly onEvent: ((event: StreamEvent) => void) | null
  /** The parts of a whole answer. */
  readonly onParts: ((parts: ReadonlyArray<AnswerPart>) => void) | null
  /** Receives the bytes of a stream that are sent to the client: whole events. */
  readonly onSent: ((bytes: Buffer | string) => void) | null
  /** A whole answer as the client gets it. */
  readonly onAnswer: ((body: JsonObject, bytes: Buffer | string) => void) | null
  /** Tells whether it goes on at its provider, whether the client waits or not. */
  readonly isUnderWay?: () => boolean
  /** The answer is complete and reached the client. */
  readonly keep: () => void
}

/** Nothing has to be kept. */
export const unwatched: AnswerWatch = { onEvent: null, onParts: null, onSent: null, onAnswer: null, keep: () => {} }

/** Watches answers that are relayed: the client carries the proofs itself, we only remember whose they are. */
const proofWatch = (state: typeof OpaqueState.Service, owner: string, origin: Origin): AnswerWatch => {
  const note = (bytes: Buffer | string): void => state.noteProofs(owner, origin, proofsIn(origin.wire, bytes))
  return { ...unwatched, onSent: note, onAnswer: (_body, bytes) => note(bytes) }
}

/** Watches answers for clients of the responses wire, which may go on from an answer by its id. */
const responseWatch = (
  permission: ContentPermission,
  responses: typeof ResponseStore.Service,
  { asked, owner, parsed, remembered = parsed }: Watched,
  watch: AnswerWatch
): AnswerWatch => {
  let finished: JsonObject | null = null
  return {
    ...watch,
    onSent: (bytes) => {
      watch.onSent?.(bytes)
      finished ??= finishedInEvents(bytes)
    },
    onAnswer: (body, bytes) => {
      watch.onAnswer?.(body, bytes)
      finished = body
    },
    keep: () => {
      watch.keep()
      const id = stringOr(finished?.["id"])
      const output = finished?.["output"]
      if (id === null || !isArray(output)) return
      const previousId = stringOr(asked["previous_response_id"])
      responses.remember(permission, owner, id, { request: remembered, output, previousId })
    }
  }
}

/** Watches answers whose reasoning the client's wire cannot carry. */
const partsWatch = (
  permission: ContentPermission,
  state: typeof OpaqueState.Service,
  owner: string,
  origin: Origin
): AnswerWatch => {
  const collector = makePartCollector()
  let whole: ReadonlyArray<AnswerPart> | null = null
  return {
    ...unwatched,
    onEvent: collector.add,
    onParts: (parts) => {
      whole = parts
    },
    keep: () => {
      const parts = whole ?? collector.parts()
      if (parts !== null) state.remember(permission, owner, origin, parts)
    }
  }
}

const carriesProofs: ReadonlySet<WireName> = new Set(["messages", "responses", "gemini"])

export interface WatchFacts {
  /** The client gets the upstream's own bytes. */
  readonly relayed: boolean
  /** The upstream wants its reasoning back, and clients leave it out. */
  readonly replays: boolean
  /** The upstream knows its answers again by their id. */
  readonly keepsResponses: boolean
}

/** Facts of a request that decide how much of its answer is kept. */
export interface Watched {
  readonly exchange: { readonly wire: WireName; readonly principal: Principal }
  /** Owner of the memory that the conversation is kept in. */
  readonly owner: string
  /** Body as it was sent. */
  readonly asked: JsonObject
  readonly parsed: JsonObject
  /** Body that a later turn goes on from, where it is not `parsed`. */
  readonly remembered?: JsonObject
}

export class AnswerWatcher extends Context.Tag("gateway/plane/state/AnswerWatcher")<
  AnswerWatcher,
  {
    /** Hot: returns the watch for an answer that comes from `origin`. */
    readonly watch: (asked: Watched, origin: Origin, facts: WatchFacts) => AnswerWatch
  }
>() {}

export const make = Effect.gen(function* () {
  const state = yield* OpaqueState
  const responses = yield* ResponseStore
  return AnswerWatcher.of({
    watch: (watched, origin, facts) => {
      const { exchange, owner, parsed } = watched
      const permission = mayKeepContent(exchange.principal)
      // Of proofs only hashes are noted; they are no content.
      if (permission === null) {
        return facts.relayed && carriesProofs.has(origin.wire) ? proofWatch(state, owner, origin) : unwatched
      }
      const watch =
        !facts.relayed || facts.replays
          ? partsWatch(permission, state, owner, origin)
          : carriesProofs.has(origin.wire)
            ? proofWatch(state, owner, origin)
            : unwatched
      const isKept = facts.relayed && facts.keepsResponses
      return exchange.wire === "responses" && parsed["store"] !== false && !isKept
        ? responseWatch(permission, responses, watched, watch)
        : watch
    }
  })
})

export const layer: Layer.Layer<AnswerWatcher, never, OpaqueState | ResponseStore> = Layer.effect(AnswerWatcher, make)
