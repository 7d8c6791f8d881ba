/**
 * Custom hosts: names that the machine's hosts file sends to this machine, where the decrypting listener takes their connections. They are
 * in one marked block, for IPv4 and IPv6; every other byte of the file stays as it is. The block is gone when the scope closes.
 */
import { rmSync } from "node:fs"
import { join } from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../../kernel/Lane.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { type HostChange, HostJournal, type OpenChange } from "./HostJournal.ts"
import { codeOf, editFile, readBounded, replaceFile, replacementCommands } from "./undo/files.mjs"
import { linesOf, readBlock, shadowedHosts, withBlock, withoutBlock } from "./undo/hostsBlock.mjs"
import { ensureJournal, journalFolder } from "./undo/restore.mjs"
import { isDenied, lockedHosts } from "./undo/steps.mjs"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export const maxHosts = 200

export interface HostsWritten {
  /**
   * Reason for which the file does not have the wanted lines, or they have no effect; a sentence or two for people.
   * Null: it has.
   */
  readonly warning: string | null
}

export class HostsFile extends Context.Tag("gateway/observe/capture/host/HostsFile")<
  HostsFile,
  {
    readonly path: string
    /** Makes these names the only ones in the block; none takes the block out. Names as `readHostName` gives them, `maxHosts` at most. */
    readonly set: (hosts: ReadonlyArray<string>) => Effect.Effect<HostsWritten>
    /** Names that are in the block now, also those that other programs put there. */
    readonly names: Effect.Effect<ReadonlySet<string>>
    /** Describes the problem of the blocks of gateways in the file, as the rest of a sentence; null: none. */
    readonly problem: Effect.Effect<string | null>
    /** Takes out blocks that are not as they were written, with all lines of their shape. False: there was nothing to repair, or no way to. */
    readonly repair: Effect.Effect<boolean>
  }
>() {}

/** Finds the path of the file: `GATEWAY_HOSTS_FILE`, else the system's. */
export const hostsPath = (environment: ReadonlyMap<string, string>): string => {
  const configured = environment.get("GATEWAY_HOSTS_FILE")
  if (configured !== undefined && configured !== "") return configured
  return process.platform === "win32"
    ? join(environment.get("SYSTEMROOT") ?? "C:\\Windows", "System32", "drivers", "etc", "hosts")
    : "/etc/hosts"
}

/** Advice for people about a file that cannot be written. */
const advice = "Start the gateway as a user who may write it, or add the lines yourself:"

const cannotWrite = (path: string, error: unknown, hosts: ReadonlyArray<string>): string => {
  const code = codeOf(error)
  const why = code !== "unknown" ? code : error instanceof Error ? error.message : "unknown reason"
  if (hosts.length === 0) return `The hosts file ${path} cannot be written (${why}).`
  return `The hosts file ${path} cannot be written (${why}). ${advice} ${hosts.flatMap(linesOf).join("; ")}`
}

const textOf = (path: string): string | null => {
  try {
    return readBounded(path).bytes.toString("latin1")
  } catch {
    return null
  }
}

/** A block that is not as it was written cannot be changed without a guess. */
class BrokenBlock extends Error {}

const edited = (bytes: Buffer, lines: ReadonlyArray<string>, ours: ReadonlyArray<string>): Buffer => {
  const text = bytes.toString("latin1")
  const block = readBlock(text)
  if (block.state === "broken") throw new BrokenBlock(block.problem)
  return Buffer.from(withBlock(text, lines, ours), "latin1")
}

/** Writes the block of the gateway; by `sudo -n` where the gateway is not root and that asks for no password. */
const makeWriting = (path: string, folder: string) =>
  Effect.gen(function* () {
    const journal = yield* HostJournal

    const writeElevated = (next: Buffer): Effect.Effect<boolean> =>
      Effect.gen(function* () {
        const fresh = join(folder, `hosts.new-${process.pid}`)
        const commands = yield* Effect.try(() => {
          replaceFile(fresh, next, 0o644)
          return replacementCommands(path, fresh)
        }).pipe(Effect.orElseSucceed(() => []))
        let isWritten = commands.length > 0
        for (const argv of commands) isWritten = isWritten && (yield* journal.run({ argv, elevate: true })).ok
        rmSync(fresh, { force: true })
        return isWritten
      })

    return (lines: ReadonlyArray<string>, ours: ReadonlyArray<string>): Effect.Effect<void, unknown> =>
      Effect.tryPromise({
        try: () =>
          lockedHosts(path, folder, () => void editFile(path, folder, (bytes: Buffer) => edited(bytes, lines, ours))),
        catch: (error) => error
      }).pipe(
        Effect.catchIf(
          (error) => isDenied(error) && process.platform !== "win32",
          (denied) =>
            Effect.try({ try: () => edited(readBounded(path).bytes, lines, ours), catch: (error) => error }).pipe(
              Effect.flatMap(writeElevated),
              Effect.flatMap((isWritten) => (isWritten ? Effect.void : Effect.fail(denied)))
            )
        )
      )
  })

const problemOf = (path: string): string | null => {
  const block = readBlock(textOf(path) ?? "")
  return block.state === "broken" ? block.problem : null
}

const shadowWarning = (path: string, hosts: ReadonlyArray<string>): string | null => {
  const text = textOf(path)
  const shadowed = text === null ? [] : shadowedHosts(text, hosts)
  return shadowed.length === 0
    ? null
    : `An earlier line of ${path} gives another address to ${shadowed.join(", ")}; that line holds.`
}

export const make = Effect.gen(function* () {
  const { dataDir, environment } = yield* AppConfig
  const journal = yield* HostJournal
  const path = hostsPath(environment)
  const folder = journalFolder(dataDir)
  const oneAtATime = makeLane(1)
  let open: OpenChange | null = null
  /** Lines that may be in the file by us. */
  let written: ReadonlyArray<string> = []

  const change = (lines: ReadonlyArray<string>): HostChange => ({
    kind: "hosts",
    what: `lines in ${path}`,
    steps: [{ do: "hostsBlock", path, lines, elevate: true }],
    facts: { path, lines }
  })
  const write = yield* makeWriting(path, folder)

  const takeOut = Effect.suspend(() => {
    const opened = open
    if (opened === null) return Effect.succeed<string | null>(null)
    return Effect.map(opened.undo, ({ failed }) => {
      const problem = failed[0]?.problem ?? null
      if (problem === null) {
        open = null
        written = []
      }
      return problem
    })
  })

  const discard = Effect.suspend(() => {
    const opened = open
    open = null
    written = []
    return opened?.discard ?? Effect.void
  })

  const put = Effect.fn("HostsFile.set")(function* (hosts: ReadonlyArray<string>) {
    if (hosts.length === 0) {
      const problem = yield* takeOut
      return problem === null ? null : `The lines in ${path} could not be taken out: ${asSentence(problem)}`
    }
    const lines = hosts.slice(0, maxHosts).flatMap(linesOf)
    const before = written
    const ours = [...new Set([...before, ...lines])]
    ensureJournal(folder)
    if (open === null) open = yield* journal.open(change(ours))
    else yield* open.update(change(ours))
    written = ours
    return yield* write(lines, ours).pipe(
      Effect.map(() => {
        written = lines
        return shadowWarning(path, hosts)
      }),
      Effect.catchAll((error) => {
        if (!(error instanceof BrokenBlock)) {
          return Effect.as(before.length === 0 ? takeOut : Effect.void, cannotWrite(path, error, hosts))
        }
        const warning = `The hosts file ${path} ${error.message}; it was left as it is. A repair takes the lines of the gateway out.`
        return Effect.as(before.length === 0 ? discard : Effect.void, warning)
      })
    )
  })

  yield* Effect.addFinalizer(() => takeOut)

  return HostsFile.of({
    path,
    set: (hosts) =>
      oneAtATime.inTurn(
        Effect.uninterruptible(put(hosts)).pipe(
          Effect.catchAll((failed) => Effect.succeed(failed.problem)),
          Effect.map((warning) => ({ warning }))
        )
      ),
    problem: Effect.sync(() => problemOf(path)),
    repair: oneAtATime.inTurn(
      Effect.suspend(() =>
        problemOf(path) === null
          ? Effect.succeed(false)
          : Effect.tryPromise(() =>
              lockedHosts(path, folder, () =>
                editFile(path, folder, (bytes: Buffer) =>
                  Buffer.from(withoutBlock(bytes.toString("latin1"), null), "latin1")
                )
              )
            ).pipe(Effect.orElseSucceed(() => false))
      )
    ),
    names: Effect.sync(() => {
      const block = readBlock(textOf(path) ?? "")
      return new Set(block.state === "one" ? block.lines.map((line) => line.split(/\s+/u)[1] ?? "") : [])
    })
  })
})

export const layer: Layer.Layer<HostsFile, never, AppConfig | HostJournal> = Layer.scoped(HostsFile, make)
