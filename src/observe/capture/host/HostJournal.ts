/**
 * Changes of the machine outside the data folder, and their undoing. Each change is written to a journal (`<data folder>/capture/journal`, a
 * file per change) and synced before it is made, and undone when its scope closes. Until then a watchdog waits: a process that outlives `kill
 * -9` of the gateway and undoes the rest. Changes that also the watchdog could not undo are found at the next start, and by `gateway capture
 * restore`. Only values that are still ours are undone.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { programEnvironment } from "./HostPrograms.ts"
import { isAlive, thisProcess } from "./undo/owner.mjs"
import {
  ensureJournal,
  entryIds,
  type JournalEntry,
  journalFolder,
  readEntry,
  removeEntry,
  restoreEnded,
  type RestoreReport,
  restoreWhere,
  writeEntry
} from "./undo/restore.mjs"
import type { Ran } from "./undo/run.mjs"
import type { UndoStep } from "./undo/steps.mjs"
import * as Watchdog from "./Watchdog.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export type { JournalEntry, Ran, RestoreReport, UndoStep }

/** The journal cannot be kept, or the watchdog not be started: the change is not made. `problem` is a sentence. */
export class JournalFailed extends Data.TaggedError("HostJournalFailed")<{ readonly problem: string }> {
  override get message(): string {
    return this.problem
  }
}

export type ChangeKind = "hosts" | "system-proxy" | "trust-store" | "firewall"

export interface HostChange {
  readonly kind: ChangeKind
  /** One line for people. */
  readonly what: string
  /** Steps that undo it, in this order. */
  readonly steps: ReadonlyArray<UndoStep>
  /** Values before and ours, as far as people or the writer want them. No secrets. */
  readonly facts?: Readonly<Record<string, unknown>>
}

/** A change that is in the journal. */
export interface OpenChange {
  readonly id: string
  /** Writes the changes that are to be undone from now on, before they are made. */
  readonly update: (change: HostChange) => Effect.Effect<void, JournalFailed>
  /** Takes it back and removes it from the journal. What fails stays in it. Safe to call twice. */
  readonly undo: Effect.Effect<RestoreReport>
  /** Removes it from the journal, because nothing was changed. */
  readonly discard: Effect.Effect<void>
}

export interface ProgramRun {
  /** `argv[0]` is an absolute path (`HostPrograms.find`). */
  readonly argv: ReadonlyArray<string>
  readonly stdin?: string
  /** Default 10,000. */
  readonly timeoutMs?: number
  /** True when it runs by `sudo -n` where the gateway is not root. */
  readonly elevate?: boolean
}

export class HostJournal extends Context.Tag("gateway/observe/capture/host/HostJournal")<
  HostJournal,
  {
    /** Writes the change to the journal. It has to be undone with `undo`; mostly `change` is the one to use. */
    readonly open: (change: HostChange) => Effect.Effect<OpenChange, JournalFailed>
    /** Writes to the journal, then runs `apply`. Undone when `apply` fails, and when the scope closes. */
    readonly change: <A, E, R>(
      change: HostChange,
      apply: (open: OpenChange) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | JournalFailed, R | Scope.Scope>
    /**
     * Runs a program that changes the machine. It is a child of the watchdog, which waits for its end before it takes anything back; the gateway's
     * own child would finish its change after that. Only while a change is open. Never fails: the result says what happened.
     */
    readonly run: (program: ProgramRun) => Effect.Effect<Ran>
    /** Finishes what ended gateways left. `everything`: also what this gateway has changed. */
    readonly restore: (which: "ended" | "everything") => Effect.Effect<RestoreReport>
    /** Lists the journal, oldest first. Entries that cannot be read are left out. */
    readonly entries: Effect.Effect<ReadonlyArray<JournalEntry>>
  }
>() {}

const problemOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const writing = (write: () => void): Effect.Effect<void, JournalFailed> =>
  Effect.try({
    try: write,
    catch: (error) =>
      new JournalFailed({ problem: `The journal of changes cannot be written: ${asSentence(problemOf(error))}` })
  })

/** A report that only says why nothing could be done. */
const failedReport = (error: unknown): RestoreReport => ({
  restored: [],
  kept: [],
  failed: [{ id: "journal", kind: "journal", what: "the journal of changes", problem: problemOf(error) }],
  live: []
})

const reporting = (restore: () => Promise<RestoreReport>): Effect.Effect<RestoreReport> =>
  Effect.tryPromise({ try: restore, catch: failedReport }).pipe(Effect.merge)

/**
 * Undoes the changes that ended gateways left in a data folder; needs no running gateway and nothing but the folder.
 */
export const restoreFolder = (dataDir: string): Effect.Effect<RestoreReport> =>
  reporting(() => restoreEnded(journalFolder(dataDir)))

export const make: Effect.Effect<typeof HostJournal.Service, never, AppConfig | Scope.Scope> = Effect.gen(function* () {
  const { dataDir, environment } = yield* AppConfig
  const folder = journalFolder(dataDir)
  const owner = thisProcess()
  const session = randomUUID()
  const childEnvironment = programEnvironment(environment)
  const watchdog = yield* Watchdog.make({ folder, session })
  const openIds = new Set<string>()
  let counter = 0

  const entryOf = (id: string, createdAtMs: number, { facts = {}, kind, steps, what }: HostChange): JournalEntry => ({
    version: 1,
    id,
    kind,
    what,
    createdAtMs,
    owner,
    session,
    environment: childEnvironment,
    steps,
    facts
  })

  /** A gateway before this one in the same process has ended as well: only one at a time has the data folder. */
  const hasEnded = (entry: JournalEntry): boolean =>
    entry.session !== session && (entry.owner.pid === owner.pid || !isAlive(entry.owner))

  const open = Effect.fn("HostJournal.open")(function* (change: HostChange) {
    const nowMs = yield* Clock.currentTimeMillis
    counter += 1
    const id = `${String(nowMs).padStart(15, "0")}-${String(counter % 1_000_000).padStart(6, "0")}-${change.kind}-${session.slice(0, 8)}`
    yield* writing(() => ensureJournal(folder))
    // First, so that the end of another change does not end the watchdog meanwhile.
    openIds.add(id)
    yield* watchdog.begin.pipe(
      Effect.mapError((problem) => new JournalFailed({ problem })),
      Effect.tapError(() => closed(id))
    )
    yield* writing(() => writeEntry(folder, entryOf(id, nowMs, change))).pipe(Effect.tapError(() => closed(id)))
    const undo = watchdog.undo(id).pipe(
      Effect.flatMap((report) =>
        report === null ? reporting(() => restoreWhere(folder, (entry) => entry.id === id)) : Effect.succeed(report)
      ),
      // The watchdog tries again to undo a failed one when it ends with this gateway.
      Effect.tap((report) => (report.failed.length === 0 ? closed(id) : Effect.void)),
      Effect.map((report) => ({ ...report, live: [] }))
    )
    return {
      id,
      update: (next: HostChange) => writing(() => writeEntry(folder, entryOf(id, nowMs, next))),
      undo,
      discard: Effect.ignore(writing(() => removeEntry(folder, id))).pipe(Effect.zipRight(closed(id)))
    } satisfies OpenChange
  })

  const closed = (id: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      openIds.delete(id)
      return openIds.size === 0 ? watchdog.end : Effect.void
    })

  return HostJournal.of({
    open,
    change: (change, apply) =>
      Effect.flatMap(
        Effect.acquireRelease(open(change), ({ undo }) => undo),
        (opened) => apply(opened).pipe(Effect.onError(() => opened.undo))
      ),
    run: (program) => watchdog.run({ ...program, environment: childEnvironment }),
    restore: (which) => reporting(() => restoreWhere(folder, (entry) => which === "everything" || hasEnded(entry))),
    entries: Effect.sync(() =>
      entryIds(folder).flatMap((id) => {
        const entry = readEntry(folder, id)
        return "problem" in entry ? [] : [entry]
      })
    )
  })
})

export const layer: Layer.Layer<HostJournal, never, AppConfig> = Layer.scoped(HostJournal, make)
