/**
 * Whole outputs of tools of which compressed requests have a part. They are written behind the requests; an output that waits to be written
 * can be had already. What does not fit into the queue is not kept, and the log says so.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { claimed } from "../../plane/state/Claims.ts"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import { defaultRtkSettings, type RtkSettings, RtkSettingsInput } from "../../subjects/rtk/entity.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import type { StoreError } from "../../store/Errors.ts"
import { type RawOutput, RawOutputRepo } from "../../subjects/compression/repo.ts"
import type { SettingsRepo } from "../../subjects/settings/repo.ts"
import * as StoredSettings from "../../store/StoredSettings.ts"

export class RawOutputs extends Context.Tag("gateway/plane/compression/RawOutputs")<
  RawOutputs,
  {
    readonly settings: StoredSettings.StoredSettings<RtkSettings, RtkSettingsInput>
    /** Hot: keeps a whole output and gives its id; null when it is not one to keep, or larger than `mostBytes`. */
    readonly keep: (
      permission: ContentPermission,
      apiKeyId: string | null,
      content: string,
      isFailure: boolean
    ) => string | null
    /** Hot: the id that it would have; nothing is kept. */
    readonly idOf: (apiKeyId: string | null, content: string) => string
    /** Null when there is none. */
    readonly get: (id: string) => Effect.Effect<RawOutput | null, StoreError>
    /** Waits until what was kept before is written. */
    readonly written: Effect.Effect<void>
  }
>() {}

/** Most bytes of one output. */
export const mostBytes = 4_194_304
/** Outputs and bytes that wait to be written. */
const mostWaiting = 1_000
const mostBytesWaiting = 67_108_864
/** Ids that need not be written again in this hour. */
const mostKnown = 10_000
const hourMs = 3_600_000

const shape = {
  patch: RtkSettingsInput,
  defaults: defaultRtkSettings,
  merge: (settings: RtkSettings, patch: RtkSettingsInput): RtkSettings => ({ ...settings, ...patch })
}

const isOneToKeep = ({ rawOutputMaxBytesPerKey, rawOutputRetention }: RtkSettings, isFailure: boolean): boolean =>
  rawOutputMaxBytesPerKey > 0 && (rawOutputRetention === "always" || (rawOutputRetention === "failures" && isFailure))

export const make = Effect.gen(function* () {
  const clock = yield* Effect.clock
  const repo = yield* RawOutputRepo
  const settings = yield* StoredSettings.make({ namespace: "gateway", key: "rtk", name: "settings 'rtk'" }, shape)
  const queue = yield* Queue.dropping<readonly [ContentPermission, RawOutput]>(mostWaiting)
  const waiting = new Map<string, RawOutput>()
  const writtenAtMs = new LruMap<string, number>({ capacity: mostKnown })
  let bytesWaiting = 0
  let dropped = 0

  const keep: typeof RawOutputs.Service.keep = (permission, apiKeyId, content, isFailure) => {
    if (content.length > mostBytes || !isOneToKeep(settings.current(), isFailure)) return null
    const bytes = Buffer.byteLength(content)
    if (bytes > mostBytes) return null
    const id = repo.idOf(apiKeyId, content)
    const nowMs = clock.unsafeCurrentTimeMillis()
    if (waiting.has(id) || nowMs - (writtenAtMs.get(id) ?? -hourMs) < hourMs) return id
    const output = { id, apiKeyId, content, bytes, createdAtMs: nowMs }
    if (bytesWaiting + bytes <= mostBytesWaiting && queue.unsafeOffer([permission, output])) {
      waiting.set(id, output)
      bytesWaiting += bytes
    } else dropped += 1
    return id
  }

  const write = Effect.fnUntraced(function* ([permission, output]: readonly [ContentPermission, RawOutput]) {
    const nowMs = yield* Clock.currentTimeMillis
    yield* repo.save(permission, output, settings.current().rawOutputMaxBytesPerKey, nowMs).pipe(
      Effect.tap(() => Effect.sync(() => writtenAtMs.set(output.id, nowMs))),
      Effect.catchAll((error) => Effect.logError("A raw output of a tool could not be kept", error))
    )
    waiting.delete(output.id)
    bytesWaiting -= output.bytes
    if (dropped > 0) {
      yield* Effect.logWarning(`${dropped} raw outputs of tools were not kept: too many waited to be written`)
      dropped = 0
    }
  })
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(queue), write)))

  const sweep = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    repo.removeUnused(nowMs - settings.current().rawOutputTtlHours * hourMs)
  ).pipe(Effect.catchAll((error) => Effect.logError("Raw outputs of tools could not be swept", error)))
  yield* Effect.forkScoped(claimed("raw-outputs", Effect.repeat(sweep, Schedule.spaced("1 hour"))))

  const written: Effect.Effect<void> = Effect.suspend(() =>
    waiting.size === 0 ? Effect.void : Effect.zipRight(Effect.yieldNow(), written)
  )

  return RawOutputs.of({
    settings,
    keep,
    idOf: repo.idOf,
    get: (id) =>
      Effect.suspend(() => {
        const output = waiting.get(id)
        return output === undefined ? repo.get(id) : Effect.succeed(output)
      }),
    written
  })
})

export const layer: Layer.Layer<RawOutputs, StoreError, RawOutputRepo | SettingsRepo> = Layer.scoped(RawOutputs, make)
