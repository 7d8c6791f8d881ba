/** Goes through the lines of a batch's input file. */
import * as Effect from "effect/Effect"
import type { Batch, BatchProblem } from "./entity.ts"
import type { Files } from "../files/service.ts"
import { StoreError } from "../../store/Errors.ts"
import { maxLineBytes, type ReadLine, readLine } from "./BatchLines.ts"
import { maxLines } from "./rules.ts"
import { type Line, LineReader, saysNothing } from "./LineReader.ts"

/** The batch cannot be worked on. */
export class Unworkable {
  readonly _tag = "Unworkable"
  readonly problem: BatchProblem

  constructor(code: string, message: string, param: string | null = null) {
    this.problem = { code, message, line: null, param }
  }
}

/** Lines after which others get their turn, where nothing has to be waited for. */
const turnLines = 64

/** Calls `each` with the lines that say something. `rest` lets the event loop do something else. */
const walk = <E>(
  files: typeof Files.Service,
  { inputFileId, owner }: Batch,
  rest: Effect.Effect<void>,
  each: (line: Line) => Effect.Effect<void, E>
): Effect.Effect<void, E | StoreError | Unworkable> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { handle } = yield* Effect.acquireRelease(
        Effect.catchTag(files.open(owner, inputFileId), "FileNotFound", () =>
          Effect.fail(
            new Unworkable("input_file_not_found", `The input file '${inputFileId}' is gone.`, "input_file_id")
          )
        ),
        (opened) => Effect.promise(() => opened.handle.close())
      )
      const reader = new LineReader(handle, maxLineBytes)
      let sinceRest = 0
      for (;;) {
        const line = yield* Effect.tryPromise({
          try: () => reader.next(),
          catch: (cause) => new StoreError({ operation: "InputLines.read", cause })
        })
        if (line === null) return
        sinceRest = (sinceRest + 1) % turnLines
        if (sinceRest === 0) yield* rest
        if (!saysNothing(line)) yield* each(line)
      }
    })
  )

/** Counts the lines to ask. */
export const countLines = (
  files: typeof Files.Service,
  batch: Batch,
  rest: Effect.Effect<void>
): Effect.Effect<number, StoreError | Unworkable> =>
  Effect.gen(function* () {
    let lines = 0
    yield* walk(files, batch, rest, () => {
      lines += 1
      return lines > maxLines
        ? Effect.fail(new Unworkable("too_many_lines", `A batch may have at most ${maxLines} lines.`))
        : Effect.void
    })
    return lines === 0 ? yield* Effect.fail(new Unworkable("empty_file", "The input file has no lines.")) : lines
  })

/** Calls `each` with what every line says, in their order, also with lines that are done: which ids repeat depends on them. */
export const eachLine = <E>(
  files: typeof Files.Service,
  batch: Batch,
  rest: Effect.Effect<void>,
  each: (number: number, line: ReadLine) => Effect.Effect<void, E>
): Effect.Effect<void, E | StoreError | Unworkable> =>
  Effect.suspend(() => {
    const seen = new Set<string>()
    return walk(files, batch, rest, ({ bytes, number }) => each(number, readLine(bytes, batch.endpoint, seen)))
  })
