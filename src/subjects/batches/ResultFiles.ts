/** Writes what became of the lines of a batch into files of its owner. */
import * as Effect from "effect/Effect"
import type { Batch } from "./entity.ts"
import { FileNotFound, type Files, type FileQuotaExceeded, type Upload } from "../files/service.ts"
import { StoreError } from "../../store/Errors.ts"
import type { LineSpool } from "./LineSpool.ts"

/** Bytes that are written at once. */
const chunkBytes = 262_144
const lineFeed = Buffer.from("\n")

type Failure = StoreError | FileQuotaExceeded

/** Writes no faster than the disk takes it, in chunks. */
const writerTo = (upload: Upload) => {
  let waiting: ((over: Effect.Effect<void, StoreError>) => void) | null = null
  let failure: StoreError | null = null
  let chunk: Array<Buffer> = []
  let bytes = 0
  const goOn = (over: Effect.Effect<void, StoreError>): void => {
    waiting?.(over)
    waiting = null
  }
  upload.onDrain(() => goOn(Effect.void))
  upload.onFailure((cause) => {
    failure = new StoreError({ operation: "ResultFiles.write", cause })
    goOn(Effect.fail(failure))
  })
  const flush = Effect.async<void, StoreError>((resume) => {
    if (failure !== null) return resume(Effect.fail(failure))
    if (bytes === 0) return resume(Effect.void)
    const all = Buffer.concat(chunk)
    chunk = []
    bytes = 0
    if (upload.write(all) === false) waiting = resume
    else resume(Effect.void)
  })
  /** Copies the line: its bytes are the reader's. */
  const put = (json: Buffer): Effect.Effect<void, StoreError> => {
    chunk.push(Buffer.concat([json, lineFeed]))
    bytes += json.length + 1
    return bytes >= chunkBytes ? flush : Effect.void
  }
  return { put, flush }
}

/** Nothing is left of a file that could not be written whole. One that is there already was written before the process ended. */
export const writeResults = (
  files: typeof Files.Service,
  batch: Batch,
  spool: LineSpool,
  isCompleted: boolean
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { completed, failed } = spool.counts()
    const id = isCompleted ? batch.outputFileId : batch.errorFileId
    if (id === null || (isCompleted ? completed : failed) === 0) return
    const there = yield* Effect.either(files.find(batch.owner, id))
    if (there._tag === "Right") return
    if (!(there.left instanceof FileNotFound)) return yield* there.left
    const upload = files.begin(batch.owner, Infinity, id)
    const writer = writerTo(upload)
    yield* spool.read(isCompleted, writer.put).pipe(
      Effect.zipRight(writer.flush),
      Effect.zipRight(
        upload.finish({
          filename: `${batch.id}_${isCompleted ? "output" : "error"}.jsonl`,
          purpose: "batch_output",
          keptMs: batch.outputKeptMs
        })
      ),
      Effect.onError(() => upload.discard)
    )
  })
