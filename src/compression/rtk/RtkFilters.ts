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
import { Flags } from "../../flags/Flags.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { onDisk } from "../../store/DataFolder.ts"
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

export class RtkFilters extends Context.Tag("gateway/compression/RtkFilters")<
  RtkFilters,
  {
    /** Hot: those in force, in the order in which they are asked. */
    readonly inForce: () => ReadonlyArray<Compiled>
    /** All, the disabled ones included. */
    readonly all: () => ReadonlyArray<SourcedFilter>
    readonly faults: () => ReadonlyArray<SourcedFault>
    /** Reads the files again. */
    readonly reload: Effect.Effect<void>
  }
>() {}

const nothing: OwnFilters = { filters: [], faults: [] }

/** Null: no file. A file that is too large is not read. */
const readText = (file: string) =>
  onDisk(file, () => {
    if (!existsSync(file)) return null
    return statSync(file).size > mostFileChars * 4 ? " ".repeat(mostFileChars + 1) : readFileSync(file, "utf8")
  })

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

export const make = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig
  const flags = yield* Flags
  const { settings } = yield* RawOutputs
  const files = { data: join(dataDir, "rtk", "filters.json"), project: resolve(".rtk", "filters.json") }
  const builtIn = ordered(builtInFilters.map(compileBuiltIn))
  let all: ReadonlyArray<SourcedFilter> = []
  let faults: ReadonlyArray<SourcedFault> = []
  let disabled: ReadonlyArray<string> | null = null
  let inForce: ReadonlyArray<Compiled> = builtIn

  const read = Effect.fnUntraced(function* (source: "data" | "project") {
    const file = files[source]
    const text = yield* Effect.catchAll(readText(file), () => Effect.succeed(""))
    if (text === null) return nothing
    if (source === "project" && !flags.isOn("GATEWAY_RTK_TRUST_PROJECT_FILTERS")) {
      const hash = sha256(text)
      if (!settings.current().trustedProjectFilters.includes(hash)) {
        const message = `is not trusted; its SHA-256 is ${hash}`
        return { filters: [], faults: [{ filter: null, message }] }
      }
    }
    return readFilters(text)
  })

  const faultsOf = (source: "data" | "project", own: OwnFilters): ReadonlyArray<SourcedFault> =>
    own.faults.map(({ filter, message }) => ({ source, file: files[source], filter, message }))

  const reload = Effect.gen(function* () {
    const project = yield* read("project")
    const data = yield* read("data")
    const seen = new Set<string>()
    const sourced = (source: FilterSource, filters: ReadonlyArray<Compiled>): ReadonlyArray<SourcedFilter> => {
      const own = filters.filter(({ filter }) => !seen.has(filter.id))
      for (const { filter } of own) seen.add(filter.id)
      return own.map((compiled) => ({ source, compiled }))
    }
    all = [
      ...sourced("project", ordered(project.filters)),
      ...sourced("data", ordered(data.filters)),
      ...sourced("built-in", builtIn)
    ]
    disabled = null
    const before = faults
    faults = [...faultsOf("project", project), ...faultsOf("data", data)]
    for (const { file, filter, message } of faults) {
      if (before.some((fault) => fault.file === file && fault.message === message)) continue
      yield* Effect.logWarning(`The filter ${filter ?? ""} of ${file} is not used: ${message}`)
    }
  }).pipe(Effect.withSpan("RtkFilters.reload"))
  yield* reload

  return RtkFilters.of({
    inForce: () => {
      const { disabledFilters } = settings.current()
      if (disabled !== disabledFilters) {
        disabled = disabledFilters
        const off = new Set(disabledFilters)
        inForce = all.flatMap(({ compiled }) => (off.has(compiled.filter.id) ? [] : [compiled]))
      }
      return inForce
    },
    all: () => all,
    faults: () => faults,
    reload
  })
})

export const layer: Layer.Layer<RtkFilters, never, AppConfig | Flags | RawOutputs> = Layer.effect(RtkFilters, make)
