/**
 * Certificate authorities of the gateway in the machine's trust store, one per slot. After a removal every place is checked: the usual
 * command leaves it trusted (`trust/Stores`).
 */
import { createHash, X509Certificate } from "node:crypto"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { makeLane } from "../../../kernel/Lane.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { type HostChange, HostJournal, type JournalFailed, type OpenChange } from "./HostJournal.ts"
import { programEnvironment } from "./HostPrograms.ts"
import { privilegeOf, runPrivileged } from "./Privileges.ts"
import { findProgramStores, findSystemStore } from "./trust/FindStores.ts"
import {
  type Authority,
  installCommand,
  type ProgramStores,
  programStores,
  removalSteps,
  type Slot,
  slotFile,
  type SystemStore,
  systemList,
  updateMs
} from "./trust/Stores.ts"
import { exists, readBounded, replaceFile } from "./undo/files.mjs"
import { ensureJournal, journalFolder } from "./undo/restore.mjs"
import { runProgram } from "./undo/run.mjs"
import { linksTo } from "./undo/steps.mjs"
import { asSentence } from "../../../kernel/text/Sentence.ts"

export type { Slot }

/** The authority is not trusted, and nothing of it is left. `problem` is a sentence for people. */
export class TrustFailed extends Data.TaggedError("TrustFailed")<{ readonly problem: string }> {
  override get message(): string {
    return this.problem
  }
}

export interface Install {
  readonly slot: Slot
  /** One certificate. */
  readonly pem: string
  readonly sudoPassword: Redacted.Redacted | null
  /** `session`: taken out with the gateway, however it ends. `kept`: until `remove`. */
  readonly lifetime: "session" | "kept"
}

export interface Installed {
  /** Stores of single programs that did not take it; the system's has. */
  readonly warnings: ReadonlyArray<string>
}

export interface Removed {
  /** Places where it still is; empty: gone. */
  readonly left: ReadonlyArray<string>
  readonly problem: string | null
}

export class TrustStore extends Context.Tag("gateway/observe/capture/host/TrustStore")<
  TrustStore,
  {
    readonly supported: boolean
    readonly install: (install: Install) => Effect.Effect<Installed, TrustFailed | JournalFailed>
    /** Removes this certificate from all stores. Safe when it is in none. */
    readonly remove: (slot: Slot, pem: string) => Effect.Effect<Removed, TrustFailed | JournalFailed>
    /**
     * Lists the places of the certificate: files, links, databases. The bundle of the system is what makes it trusted.
     */
    readonly places: (slot: Slot, pem: string) => Effect.Effect<ReadonlyArray<string>, TrustFailed>
    readonly isTrusted: (slot: Slot, pem: string) => Effect.Effect<boolean, TrustFailed>
  }
>() {}

const maxPemChars = 65_536

const authorityOf = (slot: Slot, pem: string): Effect.Effect<Authority, TrustFailed> =>
  Effect.try({
    try: () => {
      if (pem.length > maxPemChars) throw new Error("too long")
      const certificate = new X509Certificate(pem)
      if (!certificate.ca) throw new Error("not an authority")
      // Its own form, so that nothing else of the text comes into the store.
      const file = certificate.toString()
      return {
        slot,
        pem: file,
        fileSha256: createHash("sha256").update(file).digest("hex"),
        sha1: certificate.fingerprint.replaceAll(":", "")
      }
    },
    catch: () => new TrustFailed({ problem: "This is not the certificate of an authority in PEM form." })
  })

/** The lines between the marks. */
const bodyOf = (pem: string): string =>
  pem
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("-----"))
    .join("\n")

export interface Stores {
  readonly system: SystemStore | null
  readonly programs: ProgramStores
}

/** Finds an authority in the system's store and those of programs. */
const makePlaces = (programs: ProgramStores) =>
  Effect.gen(function* () {
    const { dataDir, environment } = yield* AppConfig
    const folder = journalFolder(dataDir)
    const inherited = programEnvironment(environment)
    const sourceOf = (slot: Slot): string => join(folder, `${slot}.pem`)

    const changeOf = (store: SystemStore, authority: Authority): HostChange => ({
      kind: "trust-store",
      what: `the authority ${authority.slot} (SHA-1 ${authority.sha1}) in the trust store`,
      steps: [
        ...removalSteps(store, programStores(programs, authority, sourceOf(authority.slot)), authority),
        { do: "removeFile", path: sourceOf(authority.slot), sha256: authority.fileSha256 }
      ],
      facts: { slot: authority.slot, sha1: authority.sha1 }
    })

    const ask = (argv: ReadonlyArray<string>) =>
      Effect.promise(() => runProgram(argv, { environment: inherited, timeoutMs: 60_000 }))

    /** Places in the system's store; those that make it trusted come first. */
    const systemPlaces = (store: SystemStore, { pem, sha1, slot }: Authority) =>
      Effect.gen(function* () {
        if (store.kind !== "anchors") {
          const listed = yield* ask(systemList(store, sha1))
          const text = listed.stdout.replaceAll(" ", "").toUpperCase()
          return listed.ok && text.includes(sha1) ? ["the system's store"] : []
        }
        const inBundle =
          existsSync(store.bundle) && readBounded(store.bundle).bytes.toString("utf8").includes(bodyOf(pem))
        const path = slotFile(store, slot)
        return [
          ...(inBundle ? [store.bundle] : []),
          ...(exists(path) && readBounded(path).bytes.toString("utf8") === pem ? [path] : []),
          ...(store.links === null ? [] : linksTo(store.links, path))
        ]
      }).pipe(Effect.catchAllDefect((defect) => Effect.fail(new TrustFailed({ problem: String(defect) }))))

    const placesOf = (store: SystemStore, authority: Authority) =>
      Effect.gen(function* () {
        const stores = programStores(programs, authority, sourceOf(authority.slot))
        const found = yield* Effect.filter(stores, ({ has }) => Effect.map(ask(has), ({ ok }) => ok), {
          concurrency: 2
        })
        return [...(yield* systemPlaces(store, authority)), ...found.map(({ place }) => place)]
      })

    const isTrusted = (store: SystemStore, authority: Authority) =>
      Effect.map(systemPlaces(store, authority), ([first]) =>
        store.kind === "anchors" ? first === store.bundle : first !== undefined
      )

    return {
      changeOf,
      isTrusted,
      placesOf,
      sourceOf,
      storesOf: (authority: Authority) => programStores(programs, authority, sourceOf(authority.slot))
    }
  })

type Places = Effect.Effect.Success<ReturnType<typeof makePlaces>>

/** Puts an authority into the stores; gives what could not be done in stores of programs. */
const makePutIn = ({ isTrusted, sourceOf, storesOf }: Places) =>
  Effect.gen(function* () {
    const { dataDir, environment } = yield* AppConfig
    const journal = yield* HostJournal
    const folder = journalFolder(dataDir)
    return ({ slot, sudoPassword }: Install, store: SystemStore, authority: Authority) =>
      Effect.gen(function* () {
        const source = sourceOf(slot)
        const warnings: Array<string> = []
        yield* Effect.try({
          try: () => {
            ensureJournal(folder)
            replaceFile(source, authority.pem, 0o644)
          },
          catch: (error) =>
            new TrustFailed({ problem: `The certificate cannot be written: ${asSentence(String(error))}` })
        })
        const ran = yield* runPrivileged(journal, environment, {
          argv: installCommand(store, source, slot),
          sudoPassword,
          timeoutMs: updateMs
        })
        if (!ran.ok)
          return yield* new TrustFailed({ problem: `The trust store was not changed: ${asSentence(ran.problem)}` })
        if (!(yield* isTrusted(store, authority))) {
          return yield* new TrustFailed({ problem: "The trust store was rebuilt, but the authority is not in it." })
        }
        for (const { add, place } of storesOf(authority)) {
          const added = yield* journal.run({ argv: add, timeoutMs: 60_000 })
          if (!added.ok) warnings.push(`${place}: ${added.problem}`)
        }
        return warnings
      })
  })

export const makeFor = ({ programs, system }: Stores) =>
  Effect.gen(function* () {
    const { dataDir, environment } = yield* AppConfig
    const journal = yield* HostJournal
    const places = yield* makePlaces(programs)
    const putIn = yield* makePutIn(places)
    const { changeOf, isTrusted, placesOf, sourceOf } = places
    const oneAtATime = makeLane(1)
    const open = new Map<Slot, OpenChange>()
    /** Command that removes it where the gateway may not: null where it may. */
    const byRoot = Effect.map(privilegeOf(environment, false), (privilege) =>
      privilege === "root" || privilege === "sudo"
        ? null
        : `A password is used once and never kept, so taking the authority out needs the rights of root again: end the gateway and run 'sudo env DATA_DIR=${dataDir} gateway capture restore'`
    )

    const storeOf = (): Effect.Effect<SystemStore, TrustFailed> =>
      system === null
        ? new TrustFailed({ problem: "The gateway knows no way to the trust store of this system." })
        : Effect.succeed(system)

    const removeNow = Effect.fn("TrustStore.remove")(function* (slot: Slot, authority: Authority) {
      const store = yield* storeOf()
      const opened = open.get(slot) ?? (yield* journal.open(changeOf(store, authority)))
      const { failed } = yield* opened.undo
      if (failed.length === 0) open.delete(slot)
      else open.set(slot, opened)
      const problem = failed[0]?.problem ?? null
      const hint = problem === null ? null : yield* byRoot
      return {
        left: yield* placesOf(store, authority),
        problem: problem === null || hint === null ? problem : `${asSentence(problem)} ${hint}.`
      }
    })

    const installNow = Effect.fn("TrustStore.install")(function* (install: Install) {
      const { lifetime, pem, slot } = install
      const store = yield* storeOf()
      const authority = yield* authorityOf(slot, pem)
      const before = open.get(slot)
      // Another certificate in the same slot goes first, everywhere.
      if (before !== undefined) {
        yield* before.undo
        open.delete(slot)
      }
      const opened = yield* journal.open(changeOf(store, authority))
      const warnings = yield* putIn(install, store, authority).pipe(
        Effect.ensuring(Effect.sync(() => rmSync(sourceOf(slot), { force: true }))),
        Effect.onError(() => opened.undo)
      )
      const hint = yield* byRoot
      if (hint !== null) {
        warnings.push(
          lifetime === "kept" ? `${hint}, after 'gateway capture cert untrust' has said what is left.` : `${hint}.`
        )
      }
      if (lifetime === "kept") yield* opened.discard
      else open.set(slot, opened)
      return { warnings }
    })

    yield* Effect.addFinalizer(() => Effect.forEach([...open.values()], ({ undo }) => undo, { discard: true }))

    return TrustStore.of({
      supported: system !== null,
      install: (install) => oneAtATime.inTurn(Effect.uninterruptible(installNow(install))),
      remove: (slot, pem) =>
        oneAtATime.inTurn(
          Effect.uninterruptible(Effect.flatMap(authorityOf(slot, pem), (authority) => removeNow(slot, authority)))
        ),
      places: (slot, pem) =>
        Effect.flatMap(Effect.all([storeOf(), authorityOf(slot, pem)]), ([store, authority]) =>
          placesOf(store, authority)
        ),
      isTrusted: (slot, pem) =>
        Effect.flatMap(Effect.all([storeOf(), authorityOf(slot, pem)]), ([store, authority]) =>
          isTrusted(store, authority)
        )
    })
  })

export const make = Effect.flatMap(AppConfig, ({ environment }) =>
  makeFor({
    system: findSystemStore(environment, process.platform),
    programs: findProgramStores(environment, process.platform)
  })
)

export const layer: Layer.Layer<TrustStore, never, AppConfig | HostJournal> = Layer.scoped(TrustStore, make)
