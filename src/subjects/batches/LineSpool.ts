/**
 * Results of the lines of a batch, on disk as soon as they are known. A record is written with one plain write, so that it survives `kill -9`;
 * one that is not whole is cut off when the spool is opened, and its line is asked again.
 *
 *     <CRC-32 of the rest, 8 hexadecimal digits> <o for the output file, e for the file of errors> <number of the line> <JSON>
 */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { closeSync, openSync, writeSync } from "node:fs"
import { mkdir, open, readdir, rm, truncate } from "node:fs/promises"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { StoreError } from "../../store/Errors.ts"
import type { LineResult } from "./BatchLines.ts"
import { LineReader } from "./LineReader.ts"

/** Most bytes of a record: far above a model's answers. */
const maxRecordBytes = 512 * 1_048_576
const ending = ".lines"

export interface Counts {
  readonly completed: number
  readonly failed: number
}

export interface LineSpool {
  readonly has: (line: number) => boolean
  readonly counts: () => Counts
  /** Appends a result, once per line: a further record of it is left out. */
  readonly append: (result: LineResult) => Effect.Effect<void, StoreError>
  /** Calls `each` with the JSON of all records of one kind. Nothing may be appended meanwhile. */
  readonly read: <E>(
    isCompleted: boolean,
    each: (json: Buffer) => Effect.Effect<void, E>
  ) => Effect.Effect<void, E | StoreError>
}

const recordOf = ({ isCompleted, json, line }: LineResult): Buffer => {
  const rest = `${isCompleted ? "o" : "e"} ${line} ${json}`
  return Buffer.from(`${crc32(rest).toString(16).padStart(8, "0")} ${rest}\n`)
}

interface Record {
  readonly line: number
  readonly isCompleted: boolean
  readonly json: Buffer
}

const space = 0x20

/** Null when it is none, or was damaged. */
const readRecord = (bytes: Buffer): Record | null => {
  const rest = bytes.subarray(9)
  const numberEnds = rest.indexOf(space, 2)
  if (bytes.length < 14 || numberEnds === -1) return null
  if (Number.parseInt(bytes.toString("latin1", 0, 8), 16) !== crc32(rest)) return null
  return {
    line: Number(rest.toString("latin1", 2, numberEnds)),
    isCompleted: rest[0] === 0x6f,
    json: rest.subarray(numberEnds + 1)
  }
}

const onDisk = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, StoreError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StoreError({ operation, cause }) })

/** Calls `each` with the whole records of the file; the offset behind the last of them. */
const scan = <E>(
  path: string,
  each: (record: Record) => Effect.Effect<void, E>
): Effect.Effect<number, E | StoreError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Effect.acquireRelease(
        onDisk("LineSpool.open", () => open(path, "r")),
        (opened) => Effect.promise(() => opened.close())
      )
      const reader = new LineReader(file, maxRecordBytes)
      let endsAt = 0
      for (;;) {
        const line = yield* onDisk("LineSpool.read", () => reader.next())
        const record = line?.isWhole === true && line.bytes !== null ? readRecord(line.bytes) : null
        if (line === null || record === null) return endsAt
        yield* each(record)
        endsAt = line.endsAt
      }
    })
  )

const openAt = (path: string): Effect.Effect<LineSpool, StoreError, Scope> =>
  Effect.gen(function* () {
    const descriptor = yield* Effect.acquireRelease(
      Effect.try({
        try: () => openSync(path, "a", 0o600),
        catch: (cause) => new StoreError({ operation: "LineSpool.open", cause })
      }),
      (opened) => Effect.sync(() => closeSync(opened))
    )
    const done = new Set<number>()
    let completed = 0
    let failed = 0
    let bytes = 0
    const count = (line: number, isCompleted: boolean): void => {
      done.add(line)
      if (isCompleted) completed += 1
      else failed += 1
    }
    bytes = yield* scan(path, ({ isCompleted, line }) =>
      Effect.sync(() => {
        if (!done.has(line)) count(line, isCompleted)
      })
    )
    yield* onDisk("LineSpool.open", () => truncate(path, bytes))

    const append = (result: LineResult): Effect.Effect<void, StoreError> =>
      Effect.suspend(() => {
        if (done.has(result.line)) return Effect.void
        const record = recordOf(result)
        try {
          // A full disk takes a part of what it is given.
          for (let written = 0; written < record.length;) written += writeSync(descriptor, record, written)
        } catch (cause) {
          // What was begun must not be before the next record.
          const whole = bytes
          return Effect.zipRight(
            Effect.ignore(onDisk("LineSpool.append", () => truncate(path, whole))),
            new StoreError({ operation: "LineSpool.append", cause })
          )
        }
        bytes += record.length
        count(result.line, result.isCompleted)
        return Effect.void
      })

    const read: LineSpool["read"] = (isCompleted, each) => {
      const seen = new Set<number>()
      return Effect.asVoid(
        scan(path, (record) => {
          if (record.isCompleted !== isCompleted || seen.has(record.line)) return Effect.void
          seen.add(record.line)
          return each(record.json)
        })
      )
    }
    return { has: (line) => done.has(line), counts: () => ({ completed, failed }), append, read }
  })

export interface LineSpools {
  /** Makes it where there is none. */
  readonly open: (batchId: string) => Effect.Effect<LineSpool, StoreError, Scope>
  readonly remove: (batchId: string) => Effect.Effect<void>
  /** Lists the batches that have spools. */
  readonly ids: Effect.Effect<ReadonlyArray<string>, StoreError>
}

export const make = (folder: string): Effect.Effect<LineSpools, StoreError> => {
  const pathOf = (batchId: string): string => join(folder, batchId + ending)
  const prepare = async (): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Files for providers and of them, that an ended process was in the middle of: they are made anew.
    const halves = (await readdir(folder)).filter((name) => name.endsWith(".part"))
    await Promise.all(halves.map((name) => rm(join(folder, name), { force: true })))
  }
  return Effect.as(onDisk("LineSpool.make", prepare), {
    open: (batchId: string) => openAt(pathOf(batchId)),
    // What stays is removed by the next start.
    remove: (batchId: string) => Effect.ignore(onDisk("LineSpool.remove", () => rm(pathOf(batchId), { force: true }))),
    ids: Effect.map(
      onDisk("LineSpool.ids", () => readdir(folder)),
      (names) => names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length))
    )
  })
}
