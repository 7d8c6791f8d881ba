/** Batches of API keys: made, shown, cancelled and deleted. `BatchRunner` works on them. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import { knownCallerOf } from "../auth/KnownCallers.ts"
import { innerRefusalOf } from "../auth/KeyPolicy.ts"
import type { Principal } from "../keys/entity.ts"
import type { Batch } from "./entity.ts"
import { isOver } from "./entity.ts"
import { type FileNotFound, FileQuotaExceeded, Files, ownerOf } from "../files/service.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import { BatchRepo } from "./repo.ts"
import { type BatchListQuery, type BatchRequest, newBatch } from "./rules.ts"
import { endpoints } from "./Endpoints.ts"
import { BatchRunner } from "./BatchRunner.ts"

/** No batch of this id is the caller's. */
export class BatchNotFound extends Data.TaggedError("BatchNotFound")<{ readonly id: string }> {}

/** The key may not ask what the lines ask. */
export class EndpointNotAllowed extends Data.TaggedError("EndpointNotAllowed")<{ readonly reason: string }> {}

/** The file was uploaded for something else. */
export class NoBatchFile extends Data.TaggedError("NoBatchFile")<{ readonly purpose: string }> {}

/** Error of a request that cannot be fulfilled for a batch of this status. */
export class WrongBatchStatus extends Data.TaggedError("WrongBatchStatus")<{
  readonly asked: "cancel" | "delete"
  readonly status: Batch["status"]
}> {}

/** Error of a caller with too many batches that are not over. */
export class TooManyBatches extends Data.TaggedError("TooManyBatches")<{ readonly limit: number }> {}

type Missing = BatchNotFound | StoreError

export class Batches extends Context.Tag("gateway/subjects/batches/Batches")<
  Batches,
  {
    readonly create: (
      principal: Principal,
      request: BatchRequest
    ) => Effect.Effect<
      Batch,
      EndpointNotAllowed | FileNotFound | FileQuotaExceeded | NoBatchFile | TooManyBatches | StoreError
    >
    readonly list: (
      owner: string,
      query: BatchListQuery
    ) => Effect.Effect<{ readonly batches: ReadonlyArray<Batch>; readonly hasMore: boolean }, StoreError>
    readonly find: (owner: string, id: string) => Effect.Effect<Batch, Missing>
    readonly cancel: (owner: string, id: string) => Effect.Effect<Batch, Missing | WrongBatchStatus>
    /** Removes a batch; its files stay. */
    readonly remove: (owner: string, id: string) => Effect.Effect<void, Missing | WrongBatchStatus>
  }
>() {}

/** Most batches of one caller that are not over. */
export const maxOpen = 100

export const make = Effect.gen(function* () {
  const files = yield* Files
  const ids = yield* IdGen
  const repo = yield* BatchRepo
  const runner = yield* BatchRunner
  // Batches are counted and one is added without another one in between.
  const oneAtATime = makeLane(1).inTurn

  const create = Effect.fn("Batches.create")(function* (principal: Principal, request: BatchRequest) {
    const owner = ownerOf(principal)
    const nowMs = yield* Clock.currentTimeMillis
    const category = endpoints.get(request.endpoint)?.category ?? null
    const reason = principal._tag === "Key" && category !== null ? innerRefusalOf(principal.key, nowMs, category) : null
    if (reason !== null) return yield* new EndpointNotAllowed({ reason })
    const { purpose } = yield* files.find(owner, request.inputFileId)
    if (purpose !== "batch") return yield* new NoBatchFile({ purpose })
    if ((yield* repo.openOf(owner)) >= maxOpen) return yield* new TooManyBatches({ limit: maxOpen })
    // Its results are stored regardless of their size, so that it must not begin without space.
    if ((yield* files.room(owner)) === 0) return yield* new FileQuotaExceeded({ quotaBytes: files.quotaBytes() })
    const batch = newBatch(
      `batch_${ids.next(nowMs).replaceAll("-", "")}`,
      { owner, caller: knownCallerOf(principal) },
      request,
      nowMs
    )
    yield* runner.start(batch)
    return batch
  }, oneAtATime)

  const find = Effect.fn("Batches.find")(function* (owner: string, id: string) {
    const found = yield* repo.find(owner, id)
    return found === null ? yield* new BatchNotFound({ id }) : runner.now(found)
  })

  return Batches.of({
    create,
    find,
    list: Effect.fn("Batches.list")(function* (owner, query) {
      const rows = yield* repo.page({ ...query, owner, limit: query.limit + 1 })
      return { batches: rows.slice(0, query.limit).map(runner.now), hasMore: rows.length > query.limit }
    }),
    cancel: Effect.fn("Batches.cancel")(function* (owner, id) {
      const found = yield* find(owner, id)
      const cancelled = yield* runner.cancel(found)
      return cancelled ?? (yield* new WrongBatchStatus({ asked: "cancel", status: runner.now(found).status }))
    }),
    remove: Effect.fn("Batches.remove")(function* (owner, id) {
      const found = yield* find(owner, id)
      if (!isOver(found)) return yield* new WrongBatchStatus({ asked: "delete", status: found.status })
      if (!(yield* repo.remove(owner, id))) return yield* new BatchNotFound({ id })
    })
  })
})

export const layer: Layer.Layer<Batches, never, BatchRepo | BatchRunner | Files | IdGen> = Layer.effect(Batches, make)
