/** The engine for outputs of commands, for people who run the gateway: its settings, its filters, and whole outputs. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RtkTest } from "./routes.ts"
import { RawOutputs } from "../../plane/compression/RawOutputs.ts"
import type { Limits } from "../../plane/compression/rtk/Apply.ts"
import type { Compiled } from "../../plane/compression/rtk/Compiled.ts"
import { readFilters } from "../../plane/compression/rtk/OwnFilters.ts"
import { reduce } from "../../plane/compression/rtk/Rtk.ts"
import { RtkFilters, type SourcedFault, type SourcedFilter } from "../../plane/compression/rtk/RtkFilters.ts"
import { limitsOf } from "../../plane/compression/rtk/Settings.ts"
import { type SelfTest, selfTests } from "../../plane/compression/rtk/SelfTests.ts"
import { defaultRtkSettings, type RtkSettings, type RtkSettingsInput } from "./entity.ts"
import { redact } from "../../plane/guard/Detectors.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { RawOutput } from "../compression/repo.ts"
import * as Errors from "../Errors.ts"

export interface TestedOutput {
  readonly text: string
  readonly filter: string | null
  readonly charsBefore: number
  readonly charsAfter: number
}

export interface TestReport {
  readonly results: ReadonlyArray<SelfTest>
  readonly output: TestedOutput | null
}

export class RtkTools extends Context.Tag("gateway/subjects/rtk/RtkTools")<
  RtkTools,
  {
    readonly settings: () => RtkSettings
    /** Replaces the settings; an absent one gets its default. */
    readonly replaceSettings: (input: RtkSettingsInput) => Effect.Effect<RtkSettings, StoreError>
    /** Lists the filters after the files are read again. */
    readonly filters: Effect.Effect<{
      readonly filters: ReadonlyArray<SourcedFilter>
      readonly faults: ReadonlyArray<SourcedFault>
    }>
    readonly test: (input: RtkTest) => Effect.Effect<TestReport, Errors.EntityNotFound | Errors.InvalidInput>
    /** `isRedacted` absent: as the settings say. */
    readonly rawOutput: (
      id: string,
      isRedacted: boolean | undefined
    ) => Effect.Effect<RawOutput & { readonly redacted: boolean }, Errors.EntityNotFound | StoreError>
  }
>() {}

/** Filters an output as a request would have it, with the id that the whole output would have; nothing is stored. */
const tried = (
  filters: ReadonlyArray<Compiled>,
  text: string,
  command: string | null,
  limits: Limits,
  idOf: (text: string) => string
): TestedOutput => {
  const reduced = reduce(filters, { text, command }, limits, idOf)
  const after = reduced?.text ?? text
  return { text: after, filter: reduced?.filter ?? null, charsBefore: text.length, charsAfter: after.length }
}

export const make = Effect.gen(function* () {
  const filters = yield* RtkFilters
  const rawOutputs = yield* RawOutputs
  const { settings } = rawOutputs

  const replaceSettings = Effect.fn("RtkTools.replaceSettings")(function* (input: RtkSettingsInput) {
    const replaced = yield* settings.patch({ ...defaultRtkSettings, ...input })
    yield* filters.reload
    return replaced
  })

  /** The filter of a caller, or why it cannot be used. */
  const given = Effect.fnUntraced(function* (filter: unknown) {
    const { faults, filters: read } = readFilters(JSON.stringify([filter]))
    const [fault] = faults
    if (fault !== undefined) yield* Errors.refuseOne({ field: "filter", message: fault.message })
    return read
  })

  const test = Effect.fn("RtkTools.test")(function* (input: RtkTest) {
    const own = input.filter === undefined || input.filter === null ? [] : yield* given(input.filter)
    const known = filters.all().map(({ compiled }) => compiled)
    const ids = new Set(own.map(({ filter }) => filter.id))
    const all = [...own, ...known.filter(({ filter }) => !ids.has(filter.id))]
    const { command = null, filterId, level, text } = input
    const output =
      text === undefined
        ? null
        : tried(
            own.length > 0 ? all : filters.inForce(),
            text,
            command,
            limitsOf({ ...settings.current(), ...(level === undefined ? {} : { level }) }),
            (whole) => rawOutputs.idOf(null, whole)
          )
    const isAsked = ({ filter }: Compiled): boolean =>
      filterId === undefined ? own.length === 0 || ids.has(filter.id) : filter.id === filterId
    const asked = all.filter(isAsked)
    if (asked.length === 0) return yield* new Errors.EntityNotFound({ entity: "filter", id: filterId ?? "" })
    const isAskedFor = new Set(asked.map(({ filter }) => filter.id))
    const results =
      text !== undefined && own.length === 0 && filterId === undefined ? [] : selfTests(all, (id) => isAskedFor.has(id))
    return { results, output }
  })

  const rawOutput = Effect.fn("RtkTools.rawOutput")(function* (id: string, isRedacted: boolean | undefined) {
    const found = yield* rawOutputs.get(id)
    if (found === null) return yield* new Errors.EntityNotFound({ entity: "raw output", id })
    const redacted = isRedacted ?? settings.current().redactRawOutput
    if (!redacted) return { ...found, redacted }
    return { ...found, redacted, content: redact(found.content, { disabled: new Set(), custom: [] }).text }
  })

  return RtkTools.of({
    settings: settings.current,
    replaceSettings,
    filters: Effect.map(filters.reload, () => ({ filters: filters.all(), faults: filters.faults() })),
    test,
    rawOutput
  })
})

export const layer: Layer.Layer<RtkTools, never, RtkFilters | RawOutputs> = Layer.effect(RtkTools, make)
