/**
 * The filters in force: those of the project that the gateway runs in, when they are trusted, those of `DATA_DIR/rtk/filters.json`, and the
 * built-in ones. One of an earlier place replaces those with its id of later ones.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { once } from "../../../kernel/once.ts"
import type { RtkSettings } from "../../../subjects/rtk/entity.ts"
import { Flags } from "../../../subjects/flags/service.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { onDisk } from "../../../store/DataFolder.ts"
import { RawOutputs } from "../RawOutputs.ts"
import { type Compiled, compileBuiltIn } from "./Compiled.ts"
import { ordered } from "./Detect.ts"
import { builtInFilters } from "./filters/index.ts"
import { mostFileChars, type OwnFilterFault, type OwnFilters, readFilters } from "./OwnFilters.ts"

export const filterSources = ["project", "data", "built-in"] as const
export type FilterSource = (typeof filterSources)[number]

export interface SourcedFilter {
  readonly source: FilterSource
  readonly compiled: Compiled
}

export interface SourcedFault extends OwnFilterFault {
  readonly source: FilterSource
  readonly file: string
}

export class RtkFilters extends Context.Tag("gateway/plane/compression/rtk/RtkFilters")<
  RtkFilters,
  {
    /** Hot: returns the filters in force, in the order in which they are asked. */
    readonly inForce: () => ReadonlyArray<Compiled>
    /** All, the disabled ones included. */
    readonly all: () => ReadonlyArray<SourcedFilter>
    readonly faults: () => ReadonlyArray<SourcedFault>
    /** Reads the files again. */
    readonly reload: Effect.Effect<void>
  }
>() {}

interface Read {
  readonly own: OwnFilters
  /** SHA-256 of the file; null: there is none. */
  readonly hash: string | null
}

const absent: Read = { own: { filters: [], faults: [] }, hash: null }

/** Null: no file. A file that is too large is not read. */
const readText = (file: string) =>
  onDisk(file, () => {
    if (!existsSync(file)) return null
    return statSync(file).size > mostFileChars * 4 ? " ".repeat(mostFileChars + 1) : readFileSync(file, "utf8")
  })

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** `folder`: of the project that the gateway runs in. */
export const makeIn = Effect.fn("RtkFilters.makeIn")(function* (folder: string) {
  const { dataDir } = yield* AppConfig
  const flags = yield* Flags
  const { settings } = yield* RawOutputs
  const files = { data: join(dataDir, "rtk", "filters.json"), project: resolve(folder, ".rtk", "filters.json") }
  const builtIn = once(() => ordered(builtInFilters.map(compileBuiltIn)))
  let read: Record<"data" | "project", Read> = { data: absent, project: absent }
  let all: ReadonlyArray<SourcedFilter> = []
  let faults: ReadonlyArray<SourcedFault> = []
  let inForce: ReadonlyArray<Compiled> = []
  let basis: Pick<RtkSettings, "disabledFilters" | "trustedProjectFilters"> | null = null
  let isTrusting = false

  const readFile = Effect.fnUntraced(function* (source: "data" | "project") {
    const text = yield* Effect.catchAll(readText(files[source]), () => Effect.succeed(""))
    return text === null ? absent : { own: readFilters(text), hash: sha256(text) }
  })

  const faultsOf = (source: "data" | "project", own: OwnFilters): ReadonlyArray<SourcedFault> =>
    own.faults.map(({ filter, message }) => ({ source, file: files[source], filter, message }))

  const sources = (trusted: ReadonlyArray<string>): void => {
    const { data, project } = read
    const isTrusted = project.hash === null || isTrusting || trusted.includes(project.hash)
    const refused = {
      filters: [],
      faults: [{ filter: null, message: `is not trusted; its SHA-256 is ${project.hash}` }]
    }
    const own = isTrusted ? project.own : refused
    const seen = new Set<string>()
    const sourced = (source: FilterSource, filters: ReadonlyArray<Compiled>): ReadonlyArray<SourcedFilter> => {
      const unseen = filters.filter(({ filter }) => !seen.has(filter.id))
      for (const { filter } of unseen) seen.add(filter.id)
      return unseen.map((compiled) => ({ source, compiled }))
    }
    all = [
      ...sourced("project", ordered(own.filters)),
      ...sourced("data", ordered(data.own.filters)),
      ...sourced("built-in", builtIn())
    ]
    faults = [...faultsOf("project", own), ...faultsOf("data", data.own)]
  }

  /** Hot: makes the filters anew only when the flag, the settings or the files are others. */
  const current = (): void => {
    const now = settings.current()
    const trusts = flags.isOn("GATEWAY_RTK_TRUST_PROJECT_FILTERS")
    if (
      trusts === isTrusting &&
      now.disabledFilters === basis?.disabledFilters &&
      now.trustedProjectFilters === basis.trustedProjectFilters
    )
      return
    basis = now
    isTrusting = trusts
    sources(now.trustedProjectFilters)
    const off = new Set(now.disabledFilters)
    inForce = all.flatMap(({ compiled }) => (off.has(compiled.filter.id) ? [] : [compiled]))
  }

  const reload = Effect.gen(function* () {
    read = { data: yield* readFile("data"), project: yield* readFile("project") }
    const before = faults
    basis = null
    // Without files of their own the filters are compiled by the first that asks for them.
    if (read.data === absent && read.project === absent) return
    current()
    for (const { file, filter, message } of faults) {
      if (before.some((fault) => fault.file === file && fault.message === message)) continue
      yield* Effect.logWarning(`The filter ${filter ?? ""} of ${file} is not used: ${message}`)
    }
  }).pipe(Effect.withSpan("RtkFilters.reload"))
  yield* reload

  const now =
    <A>(value: () => A) =>
    (): A => {
      current()
      return value()
    }
  return RtkFilters.of({ inForce: now(() => inForce), all: now(() => all), faults: now(() => faults), reload })
})

export const layer: Layer.Layer<RtkFilters, never, AppConfig | Flags | RawOutputs> = Layer.effect(
  RtkFilters,
  makeIn(".")
)
