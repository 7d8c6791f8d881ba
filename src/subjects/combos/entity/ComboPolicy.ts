/** A combo's `config` with all defaults filled in. Decoded when combos are loaded. */
import type * as Schema from "effect/Schema"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"
import { type PackName, packOfMode, settled, type Weights } from "./AutoWeights.ts"
import {
  anyFields,
  defaults,
  evalDefaults,
  fieldsWith,
  fusionDefaults,
  routerStrategyOf,
  simpleFields,
  slaDefaults
} from "./ConfigFields.ts"
import { read, typoOf } from "./Reading.ts"

/** Service levels for `sla-aware`; null where none is set. */
export interface SlaPolicy {
  readonly targetP95Ms: number | null
  /** Fraction of the calls, [0, 1]. */
  readonly maxErrorRate: number | null
  /** USD. */
  readonly maxCostPer1MTokens: number | null
  readonly hardConstraints: boolean
}

/** Policy of the strategy `auto`; null where the model id decides. */
export interface AutoPolicy {
  readonly routerStrategy: string | null
  /** Provider names. */
  readonly candidatePool: ReadonlyArray<string> | null
  /** The operator's own set; replaces every pack. */
  readonly weights: Weights | null
  readonly pack: PackName | null
  readonly budgetUsd: number | null
  readonly explorationRate: number | null
  readonly sla: SlaPolicy
}

type Simple = {
  readonly [K in keyof typeof simpleFields]:
    | Schema.Schema.Type<(typeof simpleFields)[K]>
    | (K extends keyof typeof defaults ? never : null)
}

/** Policy by which models with good results in evaluations come first. */
export interface EvalRouting {
  /** Null: all. */
  readonly suiteIds: ReadonlySet<string> | null
  readonly maxAgeHours: number
  readonly minCases: number
  readonly qualityWeight: number
  readonly latencyWeight: number
}

/** The keys of `config` under their own names, milliseconds where they end in `Ms`; null where the settings or the strategy decide. */
export interface ComboPolicy extends Omit<Simple, "handoffProviders" | "resetWindowWindows"> {
  /** Provider ids whose conversations are summarised; null: all. */
  readonly handoffProviders: ReadonlySet<string> | null
  /** Names of quota windows. */
  readonly resetWindowWindows: ReadonlyArray<string> | null
  readonly auto: AutoPolicy
  /** Null: off. */
  readonly evalRouting: EvalRouting | null
  readonly fusionTuning: { readonly [K in keyof typeof fusionDefaults]: number }
}

type PolicyFields = ReturnType<typeof read<typeof anyFields.plain, typeof anyFields.nested>>["values"]

const autoPolicy = (given: PolicyFields): AutoPolicy => {
  const { auto = {}, sla = {} } = given
  const weights = auto.weights ?? given.weights
  const pack = given.modePack ?? auto.modePack
  return {
    routerStrategy: (given.routerStrategy ?? auto.routerStrategy)?.trim() ?? null,
    candidatePool: given.candidatePool ?? auto.candidatePool ?? null,
    weights: weights === undefined ? null : settled(weights),
    pack: pack === undefined ? null : packOfMode(pack),
    budgetUsd: given.budgetCap ?? auto.budgetCap ?? null,
    explorationRate: given.explorationRate ?? auto.explorationRate ?? null,
    sla: {
      targetP95Ms: given.slaTargetP95Ms ?? sla.targetP95Ms ?? null,
      maxErrorRate: given.slaMaxErrorRate ?? sla.maxErrorRate ?? null,
      maxCostPer1MTokens: given.slaMaxCostPer1MTokens ?? sla.maxCostPer1MTokens ?? null,
      hardConstraints: given.slaHardConstraints ?? sla.hardConstraints ?? slaDefaults.hardConstraints
    }
  }
}

const evalRoutingOf = ({ evalRouting = {} }: PolicyFields): EvalRouting | null => {
  const { enabled, suiteIds = [], ...more } = { ...evalDefaults, ...evalRouting }
  if (!enabled) return null
  const { latencyWeight, maxAgeHours, minCases, qualityWeight } = more
  return {
    suiteIds: suiteIds.length === 0 ? null : new Set(suiteIds),
    maxAgeHours,
    minCases,
    qualityWeight,
    latencyWeight
  }
}

const simpleKeys = Object.keys(simpleFields) as ReadonlyArray<keyof typeof simpleFields>

const blank: Partial<Simple> = defaults

const simple = (given: PolicyFields): Simple =>
  Object.fromEntries(simpleKeys.map((key) => [key, given[key] ?? blank[key] ?? null])) as Simple

/** `session` is another word for the window of five hours. */
const windowsOf = (given: PolicyFields["resetWindowWindows"]): ReadonlyArray<string> | null =>
  given === undefined ? null : [given].flat().map((name) => (name === "session" ? "5h" : name))

const policyOf = (given: PolicyFields): ComboPolicy => {
  const { auto, fusionTuning, handoffModel, handoffProviders = [], resetWindowWindows } = given
  const lkgpEnabled = given.lkgpEnabled !== false && auto?.lkgpEnabled !== false
  const model = handoffModel?.trim() ?? ""
  return {
    ...simple(given),
    lkgpEnabled,
    handoffModel: model === "" ? null : model,
    handoffProviders: handoffProviders.length === 0 ? null : new Set(handoffProviders),
    resetWindowWindows: windowsOf(resetWindowWindows),
    auto: autoPolicy(given),
    evalRouting: evalRoutingOf(given),
    fusionTuning: { ...fusionDefaults, ...fusionTuning }
  }
}

/** A stored config. It may be older than a check: what is not valid in it counts as not given, field by field. Never fails. */
export const decodeStored = (config: unknown): ComboPolicy =>
  policyOf(read(anyFields, config, "config", () => null).values)

/** Policy for a model id that is no combo. */
export const noPolicy: ComboPolicy = decodeStored({})

/** Longest `config`, as JSON text. */
export const maxConfigChars = 65_536

/** Everything that is wrong with a config to be saved; empty when nothing is. `routerStrategies`: the names that are known now. */
export const configProblems = (
  config: Readonly<Record<string, unknown>>,
  routerStrategies: ReadonlyArray<string>
): ReadonlyArray<FieldProblem> =>
  JSON.stringify(config).length > maxConfigChars
    ? [{ field: "config", message: `must not be longer than ${maxConfigChars} characters` }]
    : read(fieldsWith(routerStrategyOf(routerStrategies)), config, "config", typoOf).problems
