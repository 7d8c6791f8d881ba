/**
 * Files that say which programs the gateway has started, so that its next start can end those that a `kill -9` has left. A file is written
 * before its program is started, with a mark that is also in the program's environment, and again with its process.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isRunning, type ProcessIdentity, processesWith, signalProcess } from "./ProcessIdentity.ts"

/** The variable that carries the mark. */
export const markVariable = "GATEWAY_PROGRAM_MARK"

const ending = ".program.json"
const limits = {
  fileBytes: 4_096,
  files: 1_000,
  /** Times in ms from SIGTERM to SIGKILL, and from there to giving up. */
  askMs: 300,
  killMs: 300,
  everyMs: 10
}

const Process = Schema.Struct({
  pid: Schema.Number.pipe(Schema.int(), Schema.greaterThan(1)),
  startedAt: Schema.String
})
const Content = Schema.parseJson(
  Schema.Struct({ mark: Schema.String.pipe(Schema.pattern(/^[0-9a-f-]{36}$/)), process: Schema.NullOr(Process) })
)
const encode = Schema.encodeSync(Content)
const decode = Schema.decodeUnknownOption(Content)

const fileOf = (folder: string, mark: string): string => join(folder, `${mark}${ending}`)

/** Throws what the file system throws. */
export const writeRecord = (folder: string, mark: string, started: ProcessIdentity | null): void => {
  const file = fileOf(folder, mark)
  const fresh = `${file}.new`
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(fresh, encode({ mark, process: started }), { mode: 0o600 })
  renameSync(fresh, file)
}

export const removeRecord = (folder: string, mark: string): void => {
  try {
    rmSync(fileOf(folder, mark), { force: true })
  } catch {
    // It names a process that has ended, which the next start sees as well.
  }
}

const readRecord = (
  file: string
): Option.Option<{ readonly mark: string; readonly process: ProcessIdentity | null }> => {
  try {
    return statSync(file).size > limits.fileBytes ? Option.none() : decode(readFileSync(file, "utf8"))
  } catch {
    return Option.none()
  }
}

const recordFiles = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ending) || name.endsWith(`${ending}.new`))
      .slice(0, limits.files)
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** Everything that runs because of the program: its process, and what carries its mark, also outside of its group. */
const livingOf = (file: string): ReadonlyArray<ProcessIdentity> =>
  Option.match(readRecord(file), {
    onNone: () => [],
    onSome: ({ mark, process: started }) => {
      const marked = processesWith(markVariable, mark)
      return started !== null && isRunning(started) ? [started, ...marked] : marked
    }
  })

const ended = (processes: ReadonlyArray<ProcessIdentity>, withinMs: number) =>
  Effect.sync(() => !processes.some(isRunning)).pipe(
    Effect.tap((isOver) => (isOver ? Effect.void : Effect.sleep(limits.everyMs))),
    Effect.repeat({ until: (isOver) => isOver, times: withinMs / limits.everyMs })
  )

const signal = (processes: ReadonlyArray<ProcessIdentity>, name: NodeJS.Signals) =>
  Effect.sync(() => {
    for (const one of processes) signalProcess(one, name)
  })

/**
 * Ends the programs that an earlier run has left and removes their files. A process whose number is used by another program is not
 * touched. Returns how many processes it has signalled.
 */
export const endLeftovers = Effect.fn("ProgramRecords.endLeftovers")(function* (folder: string) {
  const files = yield* Effect.sync(() => recordFiles(folder))
  if (files.length === 0) return 0
  const processes = files.flatMap(livingOf)
  yield* signal(processes, "SIGTERM")
  if (!(yield* ended(processes, limits.askMs))) {
    // What was started since carries the mark too.
    const rest = [...processes, ...files.flatMap(livingOf)]
    yield* signal(rest, "SIGKILL")
    yield* ended(rest, limits.killMs)
  }
  yield* Effect.sync(() => {
    for (const file of files) rmSync(file, { force: true })
  })
  return processes.length
})
